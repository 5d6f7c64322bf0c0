//! Invalid files are rejected with the position and a remedy, and no planet starts.

use crate::harness::{Folder, is_up, longhaul, project};

const HOSTS: &str = "[[host]]\nname = 'a'\ncity = 'london'\n[[host]]\nname = 'b'\ncity = 'paris'\n";

#[test]
fn world_files() {
    let folder = Folder::new();
    let name = format!("test-mistakes-{}", std::process::id());
    for (text, expected) in [
        ("", "w.toml:1:1: the world has no hosts"),
        (&HOSTS.replace("city", "ciyt"), "w.toml:3:1: unknown field `ciyt`"),
        (&HOSTS.replace("paris", "pariss"), "w.toml:6:8: unknown city \"pariss\"; did you mean \"paris\"?"),
        (&HOSTS.replace("'b'", "'a'"), "w.toml:5:8: host \"a\" is declared twice"),
        (&format!("{HOSTS}[[link]]\nbetween = ['london', 'rome']\n"), "w.toml:8:22: a link to nowhere"),
        (
            &format!("{HOSTS}[[link]]\nbetween = ['london', 'london']\n"),
            "w.toml:8:22: both ends of a link are \"london\"",
        ),
        (
            &format!("{HOSTS}[[link]]\nbetween = ['london', 'paris']\nrtt = '-3ms'\n"),
            "w.toml:9:7: \"-3ms\" is out of range",
        ),
        (&format!("{HOSTS}[[link]]\nbetween = ['london', 'paris']\nrtt = '10 parsecs'\n"), "w.toml:9:7: "),
        (&format!("{HOSTS}[[link]]\nbetween = ['london', 'paris']\nloss = '120 %'\n"), "w.toml:9:8: "),
        (&format!("{HOSTS}[[link]]\nbetween = ['london']\n"), "w.toml:8:11: "),
        ("[world\n", "w.toml:1:7: "),
    ] {
        let file = folder.file("w.toml", text);
        let said = longhaul(&["lab", "up", &file, "--detach", "--name", &name]).refused();
        assert!(said.starts_with("error: ") && said.contains(expected), "expected {expected}: {said}");
        assert!(!is_up(&name));
    }
}

#[test]
fn files_that_are_none() {
    let folder = Folder::new();
    let binary = folder.file("w.toml", b"\x7fELF\0\xff");
    for path in
        [binary.as_str(), folder.path("").to_str().unwrap(), folder.path("missing.toml").to_str().unwrap()]
    {
        for command in [["lab", "up", path].as_slice(), &["run", path]] {
            let said = longhaul(command).refused();
            assert!(said.contains(path.trim_end_matches('/')), "{said}");
        }
    }
}

#[test]
fn the_worlds_scenarios_and_networks_that_ship_are_right() {
    for entry in std::fs::read_dir(project("scenarios/worlds")).unwrap() {
        let path = entry.unwrap().path();
        let document = world::Document::open(&path).unwrap();
        world::World::read(&document).unwrap();
    }
    for entry in std::fs::read_dir(project("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            scenario::Plan::read(&path).unwrap();
        }
    }
    for folder in ["scenarios/networks", "docs/operation"] {
        let files = std::fs::read_dir(project(folder)).unwrap().map(|entry| entry.unwrap().path());
        for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
            longhaul(&["edge", "check", path.to_str().unwrap()]).ok();
        }
    }
}
