//! Selection of the planet and of the command, in a network namespace without planets of other
//! tests.

use std::process::{Command, Stdio};

use crate::harness::{Ended, Folder, LONGHAUL, Running, longhaul, project};

struct Alone {
    holder: Running,
}

impl Alone {
    fn new() -> Self {
        let mut hold = Command::new("unshare");
        let mut holder = Running::start(
            hold.args(["--net", "sh", "-c", "echo alone >&2; exec sleep 1000"]).stderr(Stdio::piped()),
        );
        holder.says("alone");
        Self { holder }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--net", LONGHAUL]);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command().args(arguments).output().unwrap())
    }

    fn run_with(&self, planet: &str, arguments: &[&str]) -> Ended {
        Ended::of(self.command().env("LONGHAUL_PLANET", planet).args(arguments).output().unwrap())
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.run(&["lab", "down", "--all"]);
    }
}

#[test]
fn the_planet_that_came_up_last_is_meant_unless_another_is_named() {
    let alone = Alone::new();
    let folder = Folder::new();
    let world = folder
        .file("w.toml", "[[host]]\nname = 'a'\ncity = 'london'\n[[host]]\nname = 'b'\ncity = 'paris'\n");
    let up = |name: &str| alone.run(&["lab", "up", &world, "--detach", "--name", name]).ok();
    let none = alone.run(&["lab", "status"]).refused();
    assert!(none.contains("no planet is up") && none.contains("hint: start one with"), "{none}");

    // Their order differs from the start order.
    up("z");
    let only = alone.run(&["lab", "status", "--json"]);
    assert_eq!(only.stderr, "");
    up("m");
    let last = alone.run(&["lab", "status", "--json"]);
    assert!(last.stderr.starts_with("planet \"m\", the last started of 2;"), "{last:?}");
    assert_eq!(last.json()["name"], "m");

    let named = alone.run_with("z", &["lab", "status", "--json"]);
    assert!(named.stderr.starts_with("planet \"z\", from LONGHAUL_PLANET"), "{named:?}");
    assert_eq!(named.json()["name"], "z");
    let flagged = alone.run_with("z", &["lab", "status", "--json", "--planet", "m"]);
    assert_eq!(flagged.stderr, "");
    assert_eq!(flagged.json()["name"], "m");
    let gone = alone.run_with("y", &["lab", "status"]).refused();
    assert!(gone.contains("LONGHAUL_PLANET: no planet named \"y\" is up; running: m, z"), "{gone}");
    assert_eq!(alone.run_with("", &["lab", "status", "--json"]).json()["name"], "m");

    let fault = alone.run(&["lab", "fault", "host", "b", "--loss", "1%"]).ok();
    assert!(fault.ends_with("longhaul lab fault lift 1 --planet m\n"), "{fault}");

    let down = alone.run(&["lab", "down"]).refused();
    assert!(down.contains("several planets are up, pick one with --planet: m, z"), "{down}");
    let down = alone.run_with("z", &["lab", "down"]).stderr;
    assert_eq!(down, "planet \"z\" is gone\n");
}

#[test]
fn the_planet_of_a_fault_may_be_named_anywhere() {
    let alone = Alone::new();
    let folder = Folder::new();
    let world = folder
        .file("w.toml", "[[host]]\nname = 'a'\ncity = 'london'\n[[host]]\nname = 'b'\ncity = 'paris'\n");
    for name in ["p", "q"] {
        alone.run(&["lab", "up", &world, "--detach", "--name", name]).ok();
    }
    let p = ["--planet", "p"];
    for (number, words) in [
        [p.as_slice(), &["host", "b", "frozen"]].concat(),
        [["host"].as_slice(), p.as_slice(), &["b", "frozen"]].concat(),
        [["host", "b", "frozen"].as_slice(), p.as_slice()].concat(),
        [p.as_slice(), &["--json", "city", "london"]].concat(),
        [p.as_slice(), &["london-paris", "--loss", "1%"]].concat(),
        [["london-paris", "--loss", "1%"].as_slice(), p.as_slice()].concat(),
    ]
    .iter()
    .enumerate()
    {
        let ended = alone.run(&[&["lab", "fault"], words.as_slice()].concat());
        assert!(!ended.stderr.contains("planet"), "{words:?}: {ended:?}");
        let said = ended.ok();
        let number = number + 1;
        assert!(
            said.starts_with(&format!("fault {number}: "))
                || said.contains(&format!("\"number\": {number},")),
            "{words:?}: {said}"
        );
    }
    for words in [
        ["--loss", "1%", "host", "b"].as_slice(),
        &["--for", "1s", "city", "london"],
        &["london-paris", "list"],
    ] {
        let said = alone.run(&[&["lab", "fault", "--planet", "p"], words].concat()).refused();
        assert!(said.contains("put them after the command"), "{words:?}: {said}");
    }
    let faults = alone.run(&["lab", "fault", "list", "--planet", "p", "--json"]).json();
    assert_eq!(faults.as_array().map(Vec::len), Some(6));
}

#[test]
fn the_planet_of_a_command_may_be_named_anywhere() {
    let alone = Alone::new();
    let folder = Folder::new();
    let world = folder.file("w.toml", "[[host]]\nname = 'a'\ncity = 'london'\n");
    for name in ["p", "q"] {
        alone.run(&["lab", "up", &world, "--detach", "--name", name]).ok();
    }
    for words in [
        ["status"].as_slice(),
        &["logs"],
        &["view", "--once"],
        &["fault", "list"],
        &["fault", "lift", "all"],
        &["exec", "a", "--", "true"],
        &["map", "--json"],
    ] {
        for at in 0..=words.iter().position(|word| *word == "--").unwrap_or(words.len()) {
            let ended = alone.run(&[&["lab"], &words[..at], &["--planet", "p"], &words[at..]].concat());
            assert_eq!(ended.code, Some(0), "{words:?} at {at}: {ended:?}");
            assert!(!ended.stderr.contains("the last started of 2"), "{words:?} at {at}: {ended:?}");
        }
    }
    let up = alone.run(&["lab", "--planet", "p", "up", &world]).refused();
    assert!(up.contains("name a new one with --name"), "{up}");
    let down = alone.run(&["lab", "--planet", "p", "down", "--all"]).refused();
    assert!(down.contains("exclude each other"), "{down}");
    assert_eq!(alone.run(&["lab", "--planet", "p", "down"]).stderr, "planet \"p\" is gone\n");
    assert_eq!(alone.run(&["lab", "down"]).stderr, "planet \"q\" is gone\n");
}

#[test]
fn a_world_for_a_scenario_and_the_reverse_are_answered_with_the_right_command() {
    let folder = Folder::new();
    let world = folder.file("my world.toml", "[[host]]\nname = 'a'\ncity = 'london'\n");
    let said = longhaul(&["run", &world]).refused();
    assert!(said.contains("my world.toml': this is a world, and a scenario is expected"), "{said}");
    assert!(said.contains(&format!("hint: bring it up with: longhaul lab up '{world}'")), "{said}");
    let scenario = project("scenarios/quick.toml");
    for command in [["lab", "up", "--detach"], ["lab", "map", "--json"]] {
        let said = longhaul(&[&command[..], &[scenario.as_str()]].concat()).refused();
        assert!(said.contains("this is a scenario, and a world is expected"), "{said}");
        assert!(said.contains(&format!("hint: run it with: longhaul run {scenario}")), "{said}");
    }
    let wrong = folder.file("w.toml", "[[host]]\nname = 'a'\ncity = 'lodnon'\n");
    assert!(longhaul(&["lab", "up", &wrong]).refused().contains("unknown city \"lodnon\""));
    let wrong = folder.file("s.toml", "[scenario]\ntitel = 'x'\n");
    assert!(longhaul(&["run", &wrong]).refused().contains("unknown field `titel`"));
}

#[test]
fn names_of_files_may_have_blanks() {
    let folder = Folder::new();
    let csv = folder.file("my run.csv", "latency_ms\n1\n2\n3\n");
    let labelled = format!("first side={csv}");
    let json = longhaul(&["compare", &labelled, &csv, "--json"]).json();
    assert_eq!(json["sides"][0]["label"], "first side");
    assert_eq!(json["sides"][1]["label"], "my run");
    let example = folder.path("an example");
    let ended = longhaul(&["example", example.to_str().unwrap()]);
    let shown = ended.stderr.split_once("try: longhaul ").unwrap().1.trim();
    let script = format!("'{LONGHAUL}' {shown} --resamples 0 --json");
    let compared = Ended::of(Command::new("sh").args(["-c", &script]).output().unwrap()).json();
    // The published figure: both files hold 90 000 requests.
    assert_eq!(compared["sides"][0]["n"], 90_000);
    longhaul(&["example", example.to_str().unwrap()]).ok();
    folder.file("an example/provider-b.csv", "mine");
    let said = longhaul(&["example", example.to_str().unwrap()]).refused();
    assert!(said.contains("provider-b.csv: another file of this name is there"), "{said}");
}
