//! Compares the simulator with three data centres on a planet that serve the same requests.

use std::{fmt::Write as _, fs::File, path::Path};

use recording::{Reader, Sample};
use serde_json::Value;

use crate::harness::{Folder, LONGHAUL, Planet, Running, World, longhaul, number, wait_until};

/// New York is the upper tier of London and Frankfurt; the origin is in New York too.
const CENTRES: [(&str, &str); 3] = [("lhr", "london"), ("fra", "frankfurt"), ("nyc", "newyork")];

const TURNS: [(&str, &str, &str); 5] =
    [("lhr", "80", "1"), ("fra", "80", "2"), ("nyc", "60", "3"), ("lhr", "60", "4"), ("fra", "60", "5")];

/// Without detours: where connecting is slow, a data centre would also receive other requests.
fn network(folder: &Folder) -> String {
    let path = |name: &str| folder.path(name).display().to_string();
    longhaul(&["edge", "ca", "new", &path("authority")]).ok();
    let mut text = format!("[network]\nname = \"small\"\nauthority = \"{}\"\n", path("authority/ca.pem"));
    for ((name, city), last) in CENTRES.into_iter().zip(2..) {
        longhaul(&["edge", "ca", "issue", &path("authority"), name]).ok();
        let file = |end: &str| path(&format!("authority/{name}{end}.pem"));
        write!(
            text,
            "[[data_centre]]\nname = \"{name}\"\ncity = \"{city}\"\nlisten = [\"0.0.0.0:80\"]\n\
             admin = \"127.0.0.1:4480\"\naddress = \"10.0.0.{last}:4400\"\n\
             link_certificate = \"{}\"\nlink_key = \"{}\"\n",
            file(""),
            file("-key")
        )
        .unwrap();
    }
    text += "[[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"http://origin:80\"]\n\
             tiers = { lhr = \"nyc\", fra = \"nyc\" }\ndetours = \"off\"\n[[zone.rule]]\npath = \"/*\"\nedge_ttl = \"1h\"\n";
    folder.file("network.toml", text)
}

fn planet() -> Planet {
    let mut world = World::named("simulated").host("origin", "newyork");
    for (name, city) in CENTRES {
        world = world.host(&format!("edge-{name}"), city);
    }
    for (name, city) in CENTRES {
        world = world.host(&format!("visitor-{name}"), city);
    }
    let anycast = "[[anycast]]\nname = \"edge\"\nprefix = \"192.0.2.0/24\"\n\
                   hosts = [\"edge-lhr\", \"edge-fra\", \"edge-nyc\"]\n";
    world.tables(anycast).up()
}

fn start(planet: &Planet, network: &str, name: &str) -> Running {
    let command = [LONGHAUL, "edge", "run", network, "--data-centre", name];
    Running::listening(&mut planet.command(&format!("edge-{name}"), &command)).0
}

fn is_linked(planet: &Planet, name: &str) -> bool {
    let status = planet.exec(&format!("edge-{name}"), &[LONGHAUL, "edge", "status", "--json"]).json();
    let links = status["links"].as_array().unwrap();
    links.len() + 1 == CENTRES.len() && links.iter().all(|link| link["up"] == true)
}

fn ask(planet: &Planet, (from, count, seed): (&str, &str, &str), file: &Path) -> Vec<Sample> {
    let file = file.display().to_string();
    let mut command = vec![LONGHAUL, "probe", "http://edge/{}", "--objects", "60", "--seed", seed];
    command.extend(["--concurrency", "1", "--connections", "reuse", "--count", count]);
    command.extend(["--json", "--output", &file]);
    planet.exec(&format!("visitor-{from}"), &command).measured();
    let samples: Vec<_> =
        Reader::new(File::open(&file).unwrap(), &file).unwrap().collect::<Result<_, _>>().unwrap();
    assert!(samples.iter().all(|sample| sample.status == Some(200)), "{samples:?}");
    samples
}

#[derive(Debug, Default, PartialEq)]
struct Counts {
    lower: [f64; 2],
    upper: [f64; 2],
    origin: f64,
}

impl Counts {
    fn note(&mut self, at: &str, sample: &Sample) {
        let is_hit = sample.cache.as_deref() == Some("hit");
        let tier = sample.tier.as_deref().unwrap();
        self.lower[0] += 1.0;
        self.lower[1] += f64::from(u8::from(is_hit));
        if !is_hit && at != "nyc" {
            self.upper[0] += 1.0;
            self.upper[1] += f64::from(u8::from(tier == "nyc"));
        }
        self.origin += f64::from(u8::from(tier == "origin" && !is_hit));
    }

    fn simulated(side: &Value) -> Self {
        let tier = |name: &str| {
            let tier = side["tiers"].as_array().unwrap().iter().find(|tier| tier["name"] == name).unwrap();
            ["/asked", "/hits"].map(|field| number(tier, field))
        };
        Self { lower: tier("lower"), upper: tier("upper"), origin: number(side, "/origin/requests") }
    }
}

#[test]
fn hits_are_those_of_the_same_requests_on_a_planet() {
    let folder = Folder::new();
    let (network, planet) = (network(&folder), planet());
    let _origin = planet.serve("origin", &["--body", "1KB"]);
    let _edges = CENTRES.map(|(name, _)| start(&planet, &network, name));
    for (name, _) in CENTRES {
        wait_until(|| is_linked(&planet, name));
    }

    let mut counts = Counts::default();
    let mut trace = "time,key,size,city\n".to_owned();
    let mut time = 0;
    for (turn, asking) in TURNS.into_iter().enumerate() {
        let city = CENTRES.iter().find(|(name, _)| *name == asking.0).unwrap().1;
        for sample in ask(&planet, asking, &folder.path(&format!("{turn}.jsonl"))) {
            counts.note(asking.0, &sample);
            let object = &sample.labels["object"];
            writeln!(trace, "{time},/{object},1000,{city}").unwrap();
            time += 1;
        }
    }
    let trace = folder.file("trace.csv", trace);
    let words = ["edge", "simulate", &network, "--origin", "newyork", "--trace", &trace, "--json"];
    let result = longhaul(&words).json();
    let side = |name: &str| {
        let sides = result["topologies"].as_array().unwrap();
        sides.iter().find(|side| side["name"] == name).unwrap()
    };
    assert_eq!(counts, Counts::simulated(side("custom")), "{result}");
    // New York is the nearest to the origin, so smart tiering chooses the same map.
    assert_eq!(counts, Counts::simulated(side("smart")), "{result}");
    let [all, some, none] = [counts.lower[0], counts.upper[1], counts.origin];
    assert!(all == 340.0 && some > 0.0 && none > 0.0, "there is something to count: {counts:?}");
}
