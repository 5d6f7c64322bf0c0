//! The effects of faults on real hosts, and their removal.

use std::process::Stdio;

use planet::Status;
use world::file::{Down, DownKind, Fault};

use crate::harness::{Folder, LONGHAUL, Planet, Running, longhaul, sleeper, wait_until};

const WORLD: &str = "
[world]
threads = 2
[[host]]
name = 'phone'
city = 'london'
access = ['cable', 'lte']
[[host]]
name = 'visitor'
city = 'paris'
access = 'fibre'
[[host]]
name = 'pop-london'
city = 'london'
[[host]]
name = 'pop-newyork'
city = 'newyork'
[[host]]
name = 'origin'
city = 'newyork'
[[link]]
between = ['london', 'newyork']
rate = '100Mbit'
aqm = 'codel'
loss = '1%'
duplicate = '1%'
[[anycast]]
name = 'cdn'
prefix = ['192.0.2.0/24', '2001:db8::/48']
hosts = ['pop-london', 'pop-newyork']
convergence = '100ms'
";

struct Faulty {
    planet: Planet,
    control: planet::Planet,
}

impl Faulty {
    fn up(name: &str, world: &str) -> Self {
        let name = format!("test-{name}-{}", std::process::id());
        let folder = Folder::new();
        let file = folder.file("world.toml", world);
        longhaul(&["lab", "up", &file, "--detach", "--name", &name]).ok();
        let control = planet::Planet::find(Some(&name)).unwrap();
        Self { planet: Planet::of(name), control }
    }

    fn status(&self) -> Status {
        self.control.status().unwrap()
    }

    fn fault(&self, fault: &str) -> u64 {
        self.control.fault(&fault_of(fault)).unwrap()
    }

    fn reaches(&self, host: &str, target: &str) -> bool {
        self.planet.exec(host, &["ping", "-q", "-c", "5", "-i", "0.02", "-W", "2", target]).code == Some(0)
    }

    fn carrier(&self, host: &str, device: &str) -> String {
        self.planet.exec(host, &["ip", "-br", "link", "show", device]).ok()
    }
}

fn fault_of(text: &str) -> Fault {
    world::Document::new("fault", text).parse().unwrap()
}

#[test]
fn a_link_is_cut_and_mended() {
    let faulty = Faulty::up("cut", WORLD);
    let number = faulty.fault("between = ['london', 'newyork']\ndown = true");
    assert!(!faulty.reaches("pop-london", "origin"));
    assert!(faulty.reaches("visitor", "pop-london"), "other links are as they were");
    faulty.control.lift(Some(number)).unwrap();
    assert!(faulty.reaches("pop-london", "origin"));
    let refused = faulty.control.lift(Some(number)).unwrap_err().to_string();
    assert!(refused.contains(&format!("there is no fault {number}")), "{refused}");
}

#[test]
fn a_router_says_that_there_is_no_way() {
    let faulty = Faulty::up("unreachable", WORLD);
    faulty.fault("between = ['london', 'newyork']\ndown = 'unreachable'");
    for version in ["-4", "-6"] {
        let said =
            faulty.planet.exec("pop-london", &["ping", version, "-c", "2", "-W", "2", "origin"]).stdout;
        assert!(said.contains("nreachable") || said.contains("No route"), "{said}");
    }
}

#[test]
fn a_killed_host_loses_its_programs_and_its_carrier_and_a_frozen_one_goes_on() {
    let faulty = Faulty::up("killed", WORLD);
    let program = sleeper(faulty.planet.name(), "origin");
    let number = faulty.fault("host = 'origin'\ndown = 'killed'");
    assert_eq!(program.wait(), Some(128 + 9));
    let said = faulty.planet.exec("origin", &["true"]).refused();
    assert!(said.contains("host \"origin\" is down by fault") && said.contains("lab fault lift"), "{said}");
    faulty.control.lift(Some(number)).unwrap();
    assert!(faulty.reaches("origin", "pop-newyork"));

    let mut counter = faulty
        .planet
        .command("origin", &["sh", "-c", "echo ready >&2; exec ping -q -c 3 -i 0.1 pop-newyork"]);
    let mut counting = Running::start(counter.stdout(Stdio::null()).stderr(Stdio::piped()));
    counting.says("ready");
    let number = faulty.fault("host = 'origin'\ndown = 'frozen'");
    faulty.control.lift(Some(number)).unwrap();
    assert_eq!(counting.wait(), Some(0), "it was stopped, and went on");
}

#[test]
fn programs_live_and_can_be_started_in_a_city_that_is_down() {
    let faulty = Faulty::up("city-exec", WORLD);
    faulty.fault("city = 'newyork'\ndown = true");
    assert_eq!(faulty.planet.exec("origin", &["sh", "-c", "exit 7"]).code, Some(7));
    assert!(!faulty.reaches("origin", "pop-london"));
    faulty.fault("host = 'origin'\ndown = 'frozen'");
    let said = faulty.planet.exec("origin", &["true"]).refused();
    assert!(said.contains("host \"origin\" is down by fault 2 (origin: frozen)"), "{said}");
}

#[test]
fn a_line_without_carrier_is_known_to_the_kernel() {
    let faulty = Faulty::up("carrier", WORLD);
    assert!(!faulty.carrier("phone", "net1").contains("NO-CARRIER"));
    let number = faulty.fault("host = 'phone'\naccess = 'lte'\ndown = 'carrier'");
    assert!(faulty.carrier("phone", "net1").contains("NO-CARRIER"));
    assert!(!faulty.carrier("phone", "net0").contains("NO-CARRIER"));
    // The host's kernel drops further packets of a program, not the emulator.
    faulty.planet.exec("phone", &["ping", "-q", "-c", "3", "-i", "0.01", "-W", "1", "-I", "net1", "origin"]);
    assert_eq!(faulty.status().fidelity.own_drops, 0);
    faulty.control.lift(Some(number)).unwrap();
    assert!(!faulty.carrier("phone", "net1").contains("NO-CARRIER"));
    assert_eq!(faulty.status().fidelity.own_drops, 0);
}

#[test]
fn visitors_of_a_withdrawn_site_are_served_by_the_other() {
    let faulty = Faulty::up("withdrawn", WORLD);
    let site = |city: &str| {
        let catchment = faulty.control.catchment("cdn").unwrap();
        catchment.cities.into_iter().find(|of| of.city == city).unwrap().site.unwrap()
    };
    assert_eq!((site("paris"), site("newyork")), ("pop-london".to_owned(), "pop-newyork".to_owned()));
    assert!(faulty.reaches("visitor", "cdn"));
    faulty.fault("withdraw = 'cdn'\nhost = 'pop-london'");
    wait_until(|| site("paris") == "pop-newyork");
    assert!(faulty.reaches("visitor", "cdn"));
    // Packets reach the other site, which does not know the connection.
    let said = faulty.planet.exec("visitor", &["ping", "-q", "-c", "3", "-i", "0.1", "cdn"]).ok();
    let least: f64 = said.rsplit("= ").next().unwrap().split('/').next().unwrap().parse().unwrap();
    assert!(least > 80.0, "Paris to New York is not done in {least} ms");
}

#[test]
fn nonsense_is_refused_with_what_there_is() {
    let faulty = Faulty::up("nonsense", WORLD);
    for (fault, expected) in [
        ("between = ['london', 'tokyo']\nloss = '5%'", "no host lives in \"tokyo\""),
        ("between = ['london', 'lodnon']\nloss = '5%'", "did you mean \"london\"?"),
        ("between = ['london', 'newyork']", "this fault changes nothing"),
        ("host = 'phone'\naccess = 'dsl'\ndown = true", "has no access line \"dsl\""),
        ("withdraw = 'cdn'", "several hosts announce this prefix"),
        ("city = 'london'\nloss = '5%'", "a city can only be down"),
        ("partition = [['london', 'paris', 'newyork']]", "divides nothing"),
    ] {
        let said = faulty.control.fault(&fault_of(fault)).unwrap_err().to_string();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
    let past = Fault { at: Some(std::time::Duration::ZERO), ..fault_of("city = 'london'\ndown = true") };
    assert!(faulty.control.fault(&past).unwrap_err().to_string().contains("is in the past"));
}

#[test]
fn a_thousand_faults_leave_nothing() {
    const SEED: u64 = 20;
    let faulty = Faulty::up("thousand", WORLD);
    let talk = |host: &str, target: &str| {
        let mut command = faulty
            .planet
            .command(host, &[LONGHAUL, "ping", target, "--interval", "5ms", "--count", "100000", "--quiet"]);
        Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()))
    };
    let talkers = [
        talk("visitor", "cdn"),
        talk("phone", "origin"),
        talk("pop-london", "origin"),
        talk("origin", "visitor"),
    ];

    wait_until(|| faulty.status().fidelity.delivered > 200);
    let mut random = Random(SEED);
    let hosts = ["phone", "visitor", "pop-london", "pop-newyork", "origin"];
    let cities = ["london", "paris", "newyork"];
    for _ in 0..1000 {
        let (host, city) = (hosts[random.below(5)], cities[random.below(3)]);
        let other = cities.iter().find(|&&other| other != city).unwrap();
        let kinds = [DownKind::Silent, DownKind::Unreachable, DownKind::Carrier];
        let mut fault = match random.below(7) {
            0 => fault_of(&format!(
                "between = ['{city}', '{other}']\nloss = '20%'\nrtt = '{}ms'",
                random.below(50)
            )),
            1 => {
                fault_of(&format!("between = ['{city}', '{other}']\nrate = '{}Kbit'", 1 + random.below(1000)))
            }
            2 => fault_of(&format!("city = '{city}'\ndown = true")),
            3 => fault_of(&format!("partition = [['{city}']]")),
            4 => fault_of(&format!("withdraw = 'cdn'\nhost = '{}'", hosts[2 + random.below(2)])),
            5 => fault_of(&format!("host = '{host}'\ndown = 'frozen'")),
            _ => Fault {
                down: Some(Down::Kind(kinds[random.below(3)])),
                ..fault_of(&format!("host = '{host}'"))
            },
        };
        fault.lasts = Some(std::time::Duration::from_millis(1 + random.below(100) as u64));
        let number = faulty.control.fault(&fault).unwrap();
        if random.below(4) == 0 {
            let _ = faulty.control.lift(Some(number));
        }
    }
    wait_until(|| faulty.status().faults.is_empty());
    drop(talkers);

    for host in hosts {
        assert!(!faulty.carrier(host, "net0").contains("NO-CARRIER"), "{host}, seed {SEED}");
        assert!(
            faulty.reaches(host, if host == "origin" { "visitor" } else { "origin" }),
            "{host}, seed {SEED}"
        );
    }
    let status = faulty.status();
    assert!(status.links.iter().all(|link| !link.is_down), "seed {SEED}: {:?}", status.links);
    let bugs: Vec<_> = status.fidelity.reasons.iter().filter(|reason| reason.contains("bug")).collect();
    assert!(bugs.is_empty(), "seed {SEED}: {bugs:?}");
    let run = &status.fidelity;
    assert_eq!(run.bytes_in + run.bytes_duplicated, run.bytes_out + run.bytes_dropped + run.bytes_in_flight);
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((value ^ (value >> 31)) % limit as u64).unwrap()
    }
}
