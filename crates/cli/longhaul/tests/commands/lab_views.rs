//! Views of a planet: status, catchments, maps and the live view.

use std::process::Stdio;

use crate::harness::{Folder, Planet, Running, World, longhaul, number, wait_until};

fn with_anycast(name: &str) -> Planet {
    let tables = "
        [[anycast]]
        name = 'cdn'
        prefix = ['192.0.2.0/24', '2001:db8::/48']
        hosts = ['pop-nyc', 'pop-fra']
        convergence = '1ms'
    ";
    World::named(name)
        .host("pop-nyc", "newyork")
        .host("pop-fra", "frankfurt")
        .host("visitor", "paris")
        .link("newyork", "paris", "rtt = \"4ms\"\nrate = \"100Mbit\"")
        .link("frankfurt", "paris", "rtt = \"2ms\"")
        .link("frankfurt", "newyork", "rtt = \"5ms\"")
        .tables(tables)
        .up()
}

fn ping(planet: &Planet, host: &str) {
    planet.exec("visitor", &["ping", "-4", "-q", "-c", "3", "-i", "0.01", host]).ok();
}

#[test]
fn status_has_the_links_that_carried_something() {
    let planet = with_anycast("view-status");
    assert!(planet.status()["links"].as_array().unwrap().is_empty());
    ping(&planet, "pop-nyc");
    let status = planet.status();
    let links = status["links"].as_array().unwrap();
    let there = links.iter().find(|link| link["from"] == "paris" && link["to"] == "newyork").unwrap();
    // Three echo requests of 84 bytes, with 38 bytes of Ethernet overhead.
    assert_eq!(number(there, "/delivered/segments"), 3.0);
    assert_eq!(number(there, "/delivered/bytes"), 3.0 * (84.0 + 38.0));
    assert_eq!(number(there, "/rate_bps"), 100e6);
    assert_eq!(number(there, "/delay_us"), 2000.0);

    let text = planet.lab(&["status"]).ok();
    let row = text.lines().find(|line| line.starts_with(" paris → newyork")).unwrap();
    let words: Vec<_> = row.split_whitespace().skip(3).collect();
    assert_eq!(words.join(" "), "2.00 ms 100 Mbit/s 366 B 0 0 0 B", "{text}");
}

#[test]
fn what_waits_is_what_waits_now_also_on_a_long_link() {
    let link = "rate = '200Kbit'\nrtt = '2s'\nqueue = '10s'";
    let planet =
        World::named("view-queue").host("a", "london").host("b", "paris").link("london", "paris", link).up();
    // 41 fragments, which the kernel sends in one burst.
    let _ping =
        Running::start(planet.command("a", &["ping", "-c", "1", "-s", "60000", "b"]).stdout(Stdio::null()));
    wait_until(|| {
        let status = planet.status();
        let links = status["links"].as_array().unwrap();
        let Some(link) = links.iter().find(|link| link["from"] == "london") else { return false };
        let bytes = |what: &serde_json::Value| what.as_u64().unwrap();
        let (offered, waiting) = (bytes(&link["offered"]["bytes"]), bytes(&link["waiting"]["bytes"]));
        let there = bytes(&status["fidelity"]["bytes_out"]);
        // The data left the queue at least 1 s ago; the wire takes 25 000 bytes in 1 s.
        assert!(
            [waiting, there].contains(&0) || waiting + there + 25_000 <= offered,
            "{waiting} of {offered}, {there} there"
        );
        waiting == 0 && there > 0
    });
}

#[test]
fn status_has_what_its_readers_need() {
    let status = with_anycast("view-schema").status();
    assert_eq!((&status["ready"], status["hosts"].as_array().unwrap().len()), (&true.into(), 3));
    for field in ["valid", "lateness_us", "own_drops", "bytes_in", "bytes_out", "bytes_dropped"] {
        assert!(!status["fidelity"][field].is_null(), "{field}: {status}");
    }
}

#[test]
fn a_catchment_says_who_serves_whom() {
    let planet = with_anycast("view-catchment");
    let said = planet.lab(&["catchment", "cdn"]).ok();
    let expected = "\
cdn: 192.0.2.0/24 and 2001:db8::/48

 site      in          cities   share
──────────────────────────────────────
 pop-nyc   newyork          1    33 %
 pop-fra   frankfurt        2    67 %
";
    assert!(said.starts_with(expected) && said.contains("\n paris       pop-fra   2.00 ms\n"), "{said}");

    planet.lab(&["fault", "withdraw", "cdn", "--host", "pop-fra"]).ok();
    let of_paris = || {
        let catchment = planet.lab(&["catchment", "192.0.2.0/24", "--json"]).json();
        let cities = catchment["cities"].as_array().unwrap().clone();
        cities.into_iter().find(|city| city["city"] == "paris").unwrap()
    };
    wait_until(|| of_paris()["transient"].is_null());
    assert_eq!(of_paris()["site"], "pop-nyc");
    let said = planet.lab(&["catchment", "cdn"]).ok();
    assert!(said.contains(" pop-fra, withdrawn   frankfurt        0     0 %\n"), "{said}");
    let said = planet.lab(&["catchment", "cdm"]).refused();
    assert!(
        said.contains("no anycast prefix \"cdm\" on planet ") && said.contains("did you mean \"cdn\"?"),
        "{said}"
    );
}

#[test]
fn maps_are_drawn_of_files_planets_and_catchments() {
    let planet = with_anycast("view-map");
    planet.lab(&["fault", "frankfurt-paris", "down"]).ok();
    let folder = Folder::new();
    for (command, expected) in [(vec!["map"], "fault"), (vec!["catchment", "cdn", "--map"], "cdn")] {
        let path = folder.path("map.svg").display().to_string();
        let output = if command[0] == "map" { vec!["-o", &path] } else { vec![path.as_str()] };
        planet.lab(&[command, output].concat()).ok();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains(planet.name()) && svg.contains(expected), "{svg}");
    }
    let file = folder.file("w.toml", "[[host]]\nname = 'a'\ncity = 'oslo'\n");
    let svg = longhaul(&["lab", "map", &file, "--width", "400"]).ok();
    assert!(svg.contains("width=\"400\"") && svg.contains("oslo"), "{svg}");
    let nowhere = folder.path("no/such/folder.svg").display().to_string();
    let said = longhaul(&["lab", "map", &file, "-o", &nowhere]).refused();
    assert!(said.contains("cannot write ") && said.contains("no/such/folder.svg"), "{said}");
}

#[test]
fn a_view_is_printed_once_or_needs_a_terminal() {
    let planet = with_anycast("view-once");
    ping(&planet, "pop-nyc");
    let tables = planet.lab(&["view", "--once"]).ok();
    assert!(tables.starts_with(&format!("planet \"{}\"", planet.name())), "{tables}");
    assert!(tables.contains("\n paris → newyork   ") && tables.contains("100 Mbit/s"), "{tables}");
    let map = planet.lab(&["view", "--once", "--map"]).ok();
    assert!(map.contains("● newyork") && map.contains("moving"), "{map}");
    let said = planet.lab(&["view"]).refused();
    assert!(said.contains("a live view needs a terminal"), "{said}");
}
