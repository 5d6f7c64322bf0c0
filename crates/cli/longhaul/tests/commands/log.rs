//! `--log`: events on standard error.

use std::{fs::File, process::Command};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::harness::{Folder, LONGHAUL, Running, World, longhaul, wait_until};

#[test]
fn a_planet_tells_what_happens_in_it_as_text_or_as_objects() {
    for (format, is_object) in [("json", true), ("text", false)] {
        let world = World::named(&format!("log-{format}")).host("a", "london").host("b", "paris");
        let folder = Folder::new();
        let file = folder.file("w.toml", world.text());
        let log = folder.path("log");
        let arguments =
            ["lab", "up", &file, "--name", world.name(), "--log", "debug", "--log-format", format];
        let up = Running::start(Command::new(LONGHAUL).args(arguments).stderr(File::create(&log).unwrap()));
        let text = || std::fs::read_to_string(&log).unwrap();
        wait_until(|| text().contains("is up: 2 hosts"));
        longhaul(&["lab", "fault", "london-paris", "down", "--planet", world.name()]).ok();
        longhaul(&["lab", "status", "--planet", world.name()]).ok();
        up.signal(Signal::SIGINT);
        assert_eq!(up.wait(), Some(0));
        let events = text();
        let told: Vec<&str> = events.lines().filter(|line| line.contains("the planet is up")).collect();
        assert_eq!(told.len(), 1, "{events}");
        assert!(events.contains("asked") && events.contains("a fault began"), "{events}");
        let object: Result<Value, _> = serde_json::from_str(told[0]);
        assert_eq!(object.is_ok(), is_object, "{events}");
        if let Ok(object) = object {
            assert_eq!((&object["level"], &object["hosts"]), (&"INFO".into(), &2.into()), "{object}");
            assert!(object["timestamp"].as_str().unwrap().ends_with('Z'), "{object}");
        }
    }
}

#[test]
fn without_the_flag_nothing_is_told() {
    let world = World::named("log-off").host("a", "london");
    let folder = Folder::new();
    let file = folder.file("w.toml", world.text());
    let up = longhaul(&["lab", "up", &file, "--detach", "--name", world.name()]);
    assert!(!up.stderr.contains("INFO"), "{up:?}");
    longhaul(&["lab", "down", "--planet", world.name()]).ok();
    let wrong = longhaul(&["lab", "up", &file, "--log", "loud"]).refused();
    assert!(wrong.contains("[possible values: error, warn, info, debug, trace]"), "{wrong}");
}
