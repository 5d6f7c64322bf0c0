//! Valid worlds, and errors with position and remedy.

use config_file::Document;
use link::{Limit, Loss, Rate};
use units::Probability;

use super::*;
use crate::{World, file::LAST_MILE};

fn layout(text: &str) -> Result<Layout, String> {
    let document = Document::new("w.toml", text);
    World::read(&document).map(|(_, layout)| layout).map_err(|mistake| mistake.to_string())
}

fn refused(text: &str) -> String {
    layout(text).unwrap_err()
}

const TWO: &str = "
[[host]]
name = 'origin'
city = 'newyork'
[[host]]
name = 'visitor'
city = 'london'
";

#[test]
fn two_hosts_are_a_world() {
    let layout = layout(TWO).unwrap();
    assert_eq!(layout.ports[0].v4, Ipv4Addr::new(10, 0, 0, 1));
    assert_eq!(layout.ports[1].v6.to_string(), "fd6c:6f6e:6768::2");
    // 5570 km at 200 000 km/s, with an inflation of 1.5, both ways: 83.6 ms.
    let rtt = layout.rtt(0, 1);
    assert!((rtt.as_secs_f64() - 0.0836).abs() < 0.0005, "{rtt:?}");
}

#[test]
fn people_have_a_last_mile_and_longer_ways() {
    let access = format!("{TWO}network = 'access'\n");
    // 5570 km with an inflation of 2.1 instead of 1.5: 117.0 ms, and 10 ms of last mile.
    let rtt = layout(&access).unwrap().rtt(0, 1);
    assert!((rtt.as_secs_f64() - 0.1270).abs() < 0.0007, "{rtt:?}");
    let fixed = format!("{access}[[link]]\nbetween = ['london', 'newyork']\nrtt = '72ms'\n");
    assert_eq!(layout(&fixed).unwrap().rtt(0, 1), Duration::from_millis(82));
}

#[test]
fn a_link_is_what_the_file_says() {
    let text = format!(
        "{TWO}[[link]]\nbetween = ['newyork', 'london']\nrtt = '72ms'\nrate = '1Gbit'\nqueue = '50ms'\nloss = '0.1%'\n"
    );
    let link = layout(&text).unwrap().link(1, 0);
    assert_eq!(link.propagation, Duration::from_millis(36));
    assert_eq!(
        (link.rate, link.queue),
        (Rate::Constant("1Gbit".parse().unwrap()), Limit::Time(Duration::from_millis(50)))
    );
    assert_eq!(link.loss, Loss::Bernoulli(Probability::new(0.001).unwrap()));
}

#[test]
fn a_named_link_wins_over_a_wild_one() {
    let text = format!(
        "{TWO}[[link]]\nbetween = ['london', '*']\nrtt = '10ms'\n[[link]]\nbetween = ['newyork', 'london']\nrtt = '20ms'\n"
    );
    assert_eq!(layout(&text).unwrap().rtt(0, 1), Duration::from_millis(20));
}

#[test]
fn a_named_link_decides_between_two_wild_ones() {
    let wild = "[[link]]\nbetween = ['london', '*']\nrtt = '10ms'\n[[link]]\nbetween = ['newyork', '*']\nrtt = '30ms'\n";
    assert!(refused(&format!("{TWO}{wild}")).contains("is described twice"));
    let decided = format!("{TWO}{wild}[[link]]\nbetween = ['newyork', 'london']\nrtt = '20ms'\n");
    assert_eq!(layout(&decided).unwrap().rtt(0, 1), Duration::from_millis(20));
}

#[test]
fn a_city_is_the_same_by_all_its_names() {
    let text = TWO.replace("'london'", "'LHR'") + "[[link]]\nbetween = ['London', 'JFK']\nrtt = '20ms'\n";
    let layout = layout(&text).unwrap();
    assert_eq!((layout.cities.len(), layout.rtt(0, 1)), (2, Duration::from_millis(20)));
    assert_eq!(layout.city("lhr"), Some(1));
}

#[test]
fn a_world_survives_being_written_and_read() {
    let text = format!(
        "{TWO}network = 'access'\n[[link]]\nbetween = ['newyork', 'london']\ndelay = '36ms'\nrate = '1Gbit'\nqueue = '6MB'\n"
    );
    let (world, layout) = World::read(&Document::new("a.toml", text)).unwrap();
    let (_, again) = World::read(&Document::new("b.toml", world.to_toml())).unwrap();
    assert_eq!(again.rtt(0, 1), layout.rtt(0, 1));
    assert_eq!(again.link(0, 1), layout.link(0, 1));
}

#[test]
fn directions_links_and_worlds_draw_their_own_losses() {
    let (one, two) = (layout(TWO).unwrap(), layout(&format!("[world]\nseed = 2\n{TWO}")).unwrap());
    let seeds = [one.link_seed(0, 1), one.link_seed(1, 0), one.link_seed(0, 2), two.link_seed(0, 1)];
    for (i, seed) in seeds.iter().enumerate() {
        assert!(!seeds[i + 1..].contains(seed));
    }
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let link = |line: &str| format!("{TWO}[[link]]\nbetween = ['newyork', 'london']\n{line}\n");
    for (text, expected) in [
        (String::new(), "w.toml:1:1: the world has no hosts; add a [[host]]"),
        (TWO.replace("london", "lodnon"), "w.toml:7:8: unknown city \"lodnon\"; did you mean \"london\"?"),
        (TWO.replace("'visitor'", "'origin'"), "w.toml:6:8: host \"origin\" is declared twice"),
        (TWO.replace("'visitor'", "'a b'"), "w.toml:6:8: \"a b\" cannot be a host's name"),
        (link("rtt = '-3ms'"), "w.toml:10:7: \"-3ms\" is out of range"),
        (link("rtt = '10 parsecs'"), "w.toml:10:7: \"10 parsecs\" has the unknown unit \"parsecs\""),
        (link("loss = '120%'"), "w.toml:10:8: \"120%\" is out of range"),
        (link("loss = 0.002"), "floating point `0.002`, expected a value in quotes"),
        (link("via = ['paris']\njitter = '1ms'"), "w.toml:10:8: a link with via consists of other links"),
        (link("rato = '1Gbit'"), "w.toml:10:1: unknown field `rato`"),
        (
            format!("{TWO}[[link]]\nbetween = ['newyork', 'london', 'paris']\n"),
            "w.toml:9:11: 3 names; two cities are expected, one for each end",
        ),
        (format!("{TWO}[[link]]\nbetween = ['newyork']\n"), "w.toml:9:11: 1 name; two cities are expected"),
        (
            format!("{TWO}[[fault]]\nat = '1s'\nbetween = ['newyork', 'london', 'london']\ndown = true\n"),
            "w.toml:10:11: 3 names; two cities are expected, one for each end",
        ),
        (
            link("overhead = 70000"),
            "w.toml:10:12: invalid value: integer `70000`, expected a whole number from 0 to 65535",
        ),
        (
            format!("[world]\nthreads = 0\n{TWO}"),
            "w.toml:2:11: invalid value: integer `0`, expected a whole number from 1",
        ),
        (
            format!("[world]\nseed = -1\n{TWO}"),
            "w.toml:2:8: invalid value: integer `-1`, expected a whole number from 0",
        ),
        (
            format!("[world]\ninflation = '2'\n{TWO}"),
            "w.toml:2:13: invalid type: string \"2\", expected a number such as 1.5, without quotes",
        ),
        (link("queue = '50ms'"), "w.toml:9:12: a link without a rate never queues"),
        (
            format!("[world]\nsysctl = {{ 'vm.swappiness' = '1' }}\n{TWO}"),
            "w.toml:2:12: \"vm.swappiness\" is not a setting of a host's network",
        ),
        (format!("[world]\nsysctl = {{ '/etc/passwd' = '1' }}\n{TWO}"), "\"/etc/passwd\" is not a setting"),
        (TWO.replace("'visitor'", "'2'"), "w.toml:6:8: \"2\" cannot be a host's name"),
        (link("rtt = '1ms'\ndelay = '1ms'"), "w.toml:9:12: a link has a delay (one way) or an rtt"),
        (
            link("").replace("['newyork', 'london']", "['london', 'london']"),
            "w.toml:9:22: both ends of a link are \"london\"",
        ),
        (link("").replace("['newyork', 'london']", "['newyork', 'tokyo']"), "w.toml:9:23: a link to nowhere"),
        (format!("{}{}", link(""), "[[link]]\nbetween = ['london', 'newyork']\n"), "is described twice"),
        (
            format!("{TWO}[[city]]\nname = 'x'\nlat = 91\nlon = 0\n"),
            "w.toml:9:8: coordinates are out of range",
        ),
        (format!("{TWO}[[city]]\nname = 'x'\nlat = 9\n"), "w.toml:9:8: a city needs both lat and lon"),
        (
            format!("{TWO}[[city]]\nname = 'oslo'\n[[city]]\nname = 'oslo'\n"),
            "w.toml:11:8: city \"oslo\" is declared twice",
        ),
        (format!("[world]\ninflation = 0.5\n{TWO}"), "inflation = 0.5: no way is shorter"),
        (format!("[wrold]\n{TWO}"), "w.toml:1:2: unknown field `wrold`"),
    ] {
        let said = refused(&text);
        assert!(said.contains(expected), "expected {expected}\n  but got {said}\n  for {text}");
    }
    assert!(refused(&link("rato = '1Gbit'")).ends_with("did you mean \"rate\"?"));
}

#[test]
fn visitors_are_people_in_many_cities() {
    let text = "[[visitors]]\ncount = 5\ncities = ['london', 'paris']\naccess = 'cable'\n[[visitors]]\ncount = 2000\nname = 'user'\nspread = 'internet-users'\n";
    let document = Document::new("w.toml", text);
    let (world, layout) = World::read(&document).unwrap();
    assert_eq!((layout.hosts.len(), layout.hosts[4].name.as_str()), (2005, "visitor-5"));
    let cities: Vec<_> =
        layout.hosts[..5].iter().map(|host| layout.cities[host.city].name.as_str()).collect();
    assert_eq!(cities, ["london", "london", "london", "paris", "paris"]);
    assert!(layout.hosts.iter().all(|host| host.network == Network::Access));
    assert_eq!(layout.first_port(0).line.as_ref().unwrap().name.as_deref(), Some("cable"));
    let users = layout.host("user-1").unwrap();
    assert_eq!(layout.first_port(users).line.as_ref().unwrap().up.propagation, LAST_MILE / 2);
    let again = World::read(&Document::new("again.toml", world.to_toml())).unwrap().1;
    assert_eq!(again.hosts.len(), 2005);
}

#[test]
fn visitors_are_refused_with_a_remedy() {
    for (text, expected) in [
        ("count = 2", "w.toml:2:9: visitors have either spread"),
        (
            "count = 2\nspread = 'internet-users'\ncities = ['paris']",
            "w.toml:2:9: visitors have either spread",
        ),
        (
            "count = 4294967295\ncities = ['paris']",
            "w.toml:2:9: with 4294967295 visitors there are more hosts than the limit of 5000",
        ),
        ("count = 2\ncities = ['parris']", "w.toml:3:11: unknown city \"parris\"; did you mean \"paris\"?"),
        ("count = 2\nname = 'A'\ncities = ['paris']", "w.toml:3:8: \"A-1\" cannot be a host's name"),
        ("count = 2\nspread = 'people'", "w.toml:3:10: unknown variant `people`, expected `internet-users`"),
    ] {
        let said = refused(&format!("[[visitors]]\n{text}\n"));
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
    let twice = format!(
        "{TWO}[[host]]\nname = 'visitor-1'\ncity = 'rome'\n[[visitors]]\ncount = 1\ncities = ['rome']\n"
    );
    assert!(
        refused(&twice).contains("w.toml:12:9: host \"visitor-1\" is declared twice"),
        "{}",
        refused(&twice)
    );
}

#[test]
fn an_access_line_is_what_the_file_says() {
    let text = "[[access]]\nname = 'wifi'\ndown = '80Mbit'\nup = '20Mbit'\nrtt = '6ms'\njitter = '2ms'\naqm = 'fq_codel'\nloss = '0.1%'\n";
    let text = format!("{TWO}access = 'wifi'\n{text}");
    let (world, _) = World::read(&Document::new("w.toml", &text)).unwrap();
    for text in [text, world.to_toml()] {
        let layout = layout(&text).unwrap();
        let line = layout.first_port(1).line.clone().unwrap();
        assert_eq!(line.up.jitter.map(|jitter| jitter.spread), Some(Duration::from_millis(2)));
        assert_eq!(line.down.discipline, link::Discipline::FQ_CODEL);
        assert_eq!(line.down.propagation, Duration::from_millis(3));
        assert_eq!(line.up.rate.mean(), "20Mbit".parse().ok());
    }
    let said = refused(&format!("{TWO}access = 'x'\n[[access]]\nname = 'x'\naqm = 'red'\n"));
    assert_eq!(said, "w.toml:11:7: \"red\" is not a queue discipline; expected droptail, codel or fq_codel");
}
