//! Simulations of a planned network.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::harness::{Folder, LONGHAUL, Running, longhaul, number, project};

fn planned() -> String {
    project("scenarios/plans/tiers.toml")
}

#[test]
fn the_plan_that_ships_is_simulated_and_the_seed_decides() {
    let simulated = |seed: &str| {
        let words = ["edge", "simulate", &planned(), "--origin", "newyork", "--zipf", "0.9", "--seed", seed];
        let few = ["--requests", "5000", "--objects", "2000", "--json"];
        longhaul(&[&words[..], &few].concat()).json()
    };
    let first = simulated("1");
    assert_eq!(first, simulated("1"));
    assert_ne!(first, simulated("2"));
    let names: Vec<_> =
        first["topologies"].as_array().unwrap().iter().map(|side| side["name"].as_str()).collect();
    assert_eq!(names, ["none", "generic", "smart", "smart+regional", "custom"].map(Some));
    let requests = |side: usize| number(&first, &format!("/topologies/{side}/origin/requests"));
    // A shared upper tier fetches each object once, and without tiers each of 30 data centres does.
    assert!(requests(2) <= 2000.0 && requests(0) > requests(2), "{first}");
    assert_eq!(requests(1), requests(2));
}

#[test]
fn a_table_of_requests_is_simulated() {
    let folder = Folder::new();
    let table =
        folder.file("t.csv", "time,key,size,city\n0,/a,1000,london\n1,/a,1000,london\n2,/b,500,tokyo\n");
    let text = longhaul(&["edge", "simulate", &planned(), "--origin", "newyork", "--trace", &table]).ok();
    assert!(text.starts_with("planet, zone shop: 3 requests in 2.0 s, 2.50 KB\n"), "{text}");
    assert!(text.contains(" london (lhr)"), "{text}");
    let wide = text.lines().filter(|line| line.chars().count() > 90).collect::<Vec<_>>();
    assert!(wide.is_empty(), "{wide:?}");
}

#[test]
fn the_log_of_a_data_centre_is_simulated() {
    let folder = Folder::new();
    let (_origin, at) = Running::listening(Command::new(LONGHAUL).args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--body",
        "1KB",
    ]));
    let log = folder.path("access.log").display().to_string();
    let network = folder.file(
        "network.toml",
        format!(
            "[network]\nname = \"n\"\n[[data_centre]]\nname = \"lhr\"\ncity = \"london\"\nlisten = [\"127.0.0.1:0\"]\n\
             access_log = \"{log}\"\n[[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"{}\"]\n\
             [[zone.rule]]\npath = \"/kept/*\"\nedge_ttl = \"1h\"\n",
            at.trim_end_matches('/')
        ),
    );
    let (running, front) = Running::listening(Command::new(LONGHAUL).args(["edge", "run", &network]));
    for path in ["kept/a", "kept/b", "kept/a"] {
        longhaul(&["probe", &format!("{front}{path}"), "--count", "2", "--json"]).measured();
    }
    running.signal(Signal::SIGTERM);
    assert_eq!(running.wait(), Some(0));
    let result =
        longhaul(&["edge", "simulate", &network, "--origin", "paris", "--trace", &log, "--json"]).json();
    assert_eq!((number(&result, "/requests"), number(&result, "/bytes")), (6.0, 6000.0), "{result}");
    assert_eq!(number(&result, "/topologies/0/origin/requests"), 2.0, "{result}");
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(planned()).unwrap();
    for (from, to, expected) in [
        (
            "city = \"london\"",
            "city = \"londom\"",
            "n.toml:8:8: unknown city \"londom\"; did you mean \"london\"?",
        ),
        ("region = \"weur\"", "regoin = \"weur\"", "n.toml:9:1: unknown field `regoin`"),
        ("name = \"fra\"", "name = \"lhr\"", "data centre \"lhr\" is there twice"),
        ("tiers = { ", "tiers = { iad = \"fra\", ", "the tiers form a loop: fra -> iad, iad -> fra"),
    ] {
        let file = folder.file("n.toml", text.replacen(from, to, 1));
        let said = longhaul(&["edge", "simulate", &file, "--origin", "paris", "--zipf", "1"]).refused();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
    let refused = |more: &[&str]| longhaul(&[&["edge", "simulate", &planned()], more].concat()).refused();
    assert!(
        refused(&["--origin", "pariss", "--zipf", "1"])
            .contains("unknown city \"pariss\"; did you mean \"paris\"?")
    );
    assert!(refused(&["--origin", "paris"]).contains("--trace <FILE>|--zipf <EXPONENT>"));
    assert!(refused(&["--origin", "paris", "--zipf", "3"]).contains("expected a number from 0"));
    assert!(
        refused(&["--origin", "paris", "--zipf", "1", "--zone", "shoe"])
            .contains("no zone \"shoe\", only shop")
    );
    let broken = folder.file("t.csv", "0,/a,1000\n1,/a,many\n");
    let said = refused(&["--origin", "paris", "--trace", &broken]);
    assert!(said.contains("t.csv:2: \"many\" is not a size"), "{said}");
}

#[test]
fn what_is_simulated_is_not_run() {
    let said = longhaul(&["edge", "run", &planned(), "--data-centre", "lhr"]).refused();
    assert!(said.contains("data centre \"lhr\" has no listening address"), "{said}");
    let folder = Folder::new();
    let text = std::fs::read_to_string(planned()).unwrap();
    let listening = text.replace("\ncity", "\nlisten = [\"127.0.0.1:0\"]\ncity");
    let file = folder.file("n.toml", listening);
    for command in ["run", "check"] {
        let said = longhaul(&["edge", command, &file]).refused();
        assert!(said.contains("tiers need links between data centres"), "{said}");
    }
}
