//! `longhaul tcp ports` on planets, whose hosts use no other ports.

use serde_json::Value;

use crate::harness::{Folder, LONGHAUL, Planet, World, longhaul, number};

fn planet(name: &str) -> Planet {
    let table = "[[host]]\nname = \"client\"\ncity = \"london\"\n\
                 sysctl = { \"net.ipv4.ip_local_port_range\" = \"40000 40399\" }\n";
    World::named(name).tables(table).host("server", "paris").up()
}

fn ports(planet: &Planet, arguments: &[&str]) -> Value {
    planet.exec("client", &[&[LONGHAUL, "tcp", "ports", "--json"], arguments].concat()).measured()
}

#[test]
fn by_default_even_ports_come_first_and_the_remedies_take_both() {
    let planet = planet("parity");
    let folder = Folder::new();
    let (page, charts) = (folder.path("ports.html"), folder.path("charts"));
    let drawn = ["--html", page.to_str().unwrap(), "--svg", charts.to_str().unwrap()];
    let measured = ports(&planet, &[&["--rate", "10/s", "--window", "40"][..], &drawn].concat());
    let chart = std::fs::read_to_string(charts.join("scatter.svg")).unwrap();
    for name in ["kernel-default", "random-bind", "random-window (40 ports)", "full-range", "even", "odd"] {
        assert!(chart.contains(name), "{name}");
    }
    assert!(std::fs::read_to_string(page).unwrap().contains("What a source port costs"));
    assert_eq!((&measured["port_low"], &measured["ports"]), (&40000.into(), &400.into()));
    // 400 ports / 60 s = 6.67 per second: at 10 per second they last 40 s.
    assert_eq!(number(&measured, "/forecast/exhausted_after_s"), 40.0);
    let runs = measured["strategies"].as_array().unwrap();
    let names: Vec<_> = runs.iter().map(|run| run["strategy"].as_str().unwrap()).collect();
    assert_eq!(names, ["kernel-default", "random-bind", "random-window", "full-range"]);
    for run in runs {
        // 95 % of 400, in 19 steps of 20 ports.
        assert_eq!(number(run, "/reached_share"), 0.95, "{run}");
        assert_eq!(run["by_fill"].as_array().unwrap().len(), 19, "{run}");
        assert_eq!(run["errors"], serde_json::json!({}), "{run}");
        let odd = [number(run, "/first_half/odd_share"), number(run, "/second_half/odd_share")];
        if run["strategy"] == "kernel-default" {
            assert_eq!(odd, [0.0, 1.0], "{run}");
            assert!(run["finding"].as_str().unwrap().contains("even ports"), "{run}");
        } else {
            // 200 draws with probability 1/2: six standard deviations of sqrt(200 / 4) are a share of 0.212.
            assert!((odd[0] - 0.5).abs() < 0.212, "{run}");
        }
    }
}

#[test]
fn a_range_that_begins_with_an_odd_port_gives_odd_ones_first() {
    let table = "[[host]]\nname = \"client\"\ncity = \"london\"\n\
                 sysctl = { \"net.ipv4.ip_local_port_range\" = \"40001 40400\" }\n";
    let planet = World::named("odd").tables(table).up();
    let measured = ports(&planet, &["--strategy", "kernel-default", "--source", "::1"]);
    let run = &measured["strategies"][0];
    let odd = [number(run, "/first_half/odd_share"), number(run, "/second_half/odd_share")];
    assert_eq!(odd, [1.0, 0.0], "{run}");
}

#[test]
fn a_destination_in_another_city() {
    let planet = planet("far");
    let _server = planet.serve("server", &[]);
    let address = planet.exec("client", &["getent", "ahostsv4", "server"]).ok();
    let address = address.split_whitespace().next().unwrap();
    let measured = ports(&planet, &[&format!("{address}:80"), "--share", "5%", "--strategy", "full-range"]);
    // 5 % of 400.
    assert_eq!(measured["strategies"][0]["first_half"]["n"], 20, "{measured}");
    assert_eq!(measured["is_own_listener"], false);
    let refused = planet.exec("client", &[LONGHAUL, "tcp", "ports", &format!("{address}:81")]).refused();
    assert!(refused.contains(&format!("cannot connect to {address}:81: Connection refused")), "{refused}");
    assert!(refused.contains("hint: no server listens there"), "{refused}");
}

#[test]
fn udp_with_reuse_address_gets_ports_twice() {
    let planet = planet("udp");
    let measured = ports(&planet, &["--udp", "--share", "100%"]);
    let [default, .., shared] = measured["strategies"].as_array().unwrap().as_slice() else { panic!() };
    assert_eq!(default["duplicates"], 0, "{default}");
    // 400 draws with repetition leave 400 x (1 - 1/400)^400 = 147 ports unused; six standard
    // deviations are 37.
    assert_eq!(shared["reuse_address"], true);
    assert!((number(shared, "/duplicates") - 147.0).abs() < 37.0, "{shared}");
}

#[test]
fn more_ports_than_descriptors() {
    let planet = planet("descriptors");
    let script = format!("ulimit -n 50; exec {LONGHAUL} tcp ports --strategy full-range,random-bind --json");
    let measured = planet.exec("client", &["sh", "-c", &script]).measured();
    for run in measured["strategies"].as_array().unwrap() {
        assert_eq!(number(run, "/reached_share"), 0.95, "380 ports with 50 descriptors: {run}");
    }
}

#[test]
fn people_see_a_table_and_pictures() {
    let planet = planet("pictures");
    let text = planet.exec("client", &[LONGHAUL, "tcp", "ports", "--strategy", "kernel-default,full-range"]);
    assert!(matches!(text.code, Some(0 | 1)), "{text:?}");
    for words in ["400 ports, 40000-40399", "\nkernel-default ", "\nfull-range ", "● even", "6.67 connects/s"]
    {
        assert!(text.stdout.contains(words), "{words}: {}", text.stdout);
    }
    let samples = ports(&planet, &["--strategy", "full-range", "--samples"]);
    assert_eq!(samples["strategies"][0]["samples"].as_array().unwrap().len(), 380);
}

#[test]
fn mistakes() {
    for (arguments, words) in [
        (&["--range", "5"][..], "\"5\" is not a range of ports"),
        (&["--range", "1-100"], "the ports 1-100 are not all in"),
        (&["--strategy", "magic"], "invalid value 'magic'"),
        (&["--window", "0"], "invalid value '0'"),
        (&["--share", "101%"], "a share must be from 0% to 100%"),
        (&["--source", "192.0.2.1"], "cannot listen on 192.0.2.1: Cannot assign requested address"),
        (&["127.0.0.1:9", "--source", "::1"], "one is IPv4, the other IPv6"),
        (&["localhost"], "cannot find localhost, which should be a host and a port such as 192.0.2.1:443"),
        (&["--samples"], "--json"),
    ] {
        let said = longhaul(&[&["tcp", "ports"], arguments].concat()).refused();
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}
