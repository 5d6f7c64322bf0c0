//! Faults by command, and errors for invalid input.

use crate::harness::{Planet, World, number, sleeper, wait_until};

fn atlantic(name: &str) -> Planet {
    World::named(name)
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", "rtt = \"4ms\"")
        .up()
}

fn passes(planet: &Planet) -> bool {
    planet.exec("visitor", &["ping", "-4", "-q", "-c", "3", "-i", "0.01", "-W", "1", "origin"]).code
        == Some(0)
}

#[test]
fn a_link_is_down_until_it_is_lifted() {
    let planet = atlantic("fault-link");
    assert!(passes(&planet));
    let said = planet.lab(&["fault", "london-newyork", "down"]).ok();
    assert!(
        said.starts_with("fault 1: london-newyork: down, until it is lifted: longhaul lab fault lift 1 "),
        "{said}"
    );
    assert!(!passes(&planet));
    let list = planet.lab(&["fault", "list"]).ok();
    assert!(list.contains(" 1       until it is lifted   london-newyork: down\n"), "{list}");
    planet.lab(&["fault", "lift", "1"]).ok();
    assert!(passes(&planet));
    assert!(planet.lab(&["fault", "list"]).ok().starts_with("nothing is wrong"));
}

#[test]
fn a_fault_ends_by_itself_after_its_time() {
    let planet = atlantic("fault-for");
    let fault = planet.lab(&["fault", "london-newyork", "--loss", "100%", "--for", "50ms", "--json"]).json();
    let lasts = number(&fault, "/until_s") - number(&fault, "/at_s");
    assert!((lasts - 0.05).abs() < 1e-9, "{fault}");
    assert_eq!((&fault["what"], &fault["is_active"]), (&"london-newyork: loss 100%".into(), &true.into()));
    wait_until(|| planet.status()["faults"] == serde_json::json!([]));
    assert!(passes(&planet));
}

#[test]
fn a_planned_fault_waits_for_its_time() {
    let planet = atlantic("fault-at");
    let said = planet.lab(&["fault", "city", "newyork", "--at", "1h", "--for", "1min"]).ok();
    assert_eq!(said, "fault 1: newyork: down, in 3600s for 60s\n");
    planet.lab(&["fault", "partition", "newyork", "london", "--at", "2h"]).ok();
    assert!(passes(&planet));
    let planned = planet.status()["faults"].clone();
    assert_eq!(planned[0]["is_active"], false);
    assert_eq!(planned[0]["fault"]["city"], "newyork");
    assert_eq!(planned[1]["fault"]["partition"], serde_json::json!([["newyork"], ["london"]]));
    planet.lab(&["fault", "lift", "all"]).ok();
    assert_eq!(planet.status()["faults"], serde_json::json!([]));
}

#[test]
fn a_host_in_a_data_centre_can_be_cut_off() {
    let planet = atlantic("fault-cut");
    for how in [["--loss", "100%"], ["--down", "silent"], ["--down", "unreachable"]] {
        planet.lab(&[&["fault", "host", "origin"], how.as_slice()].concat()).ok();
        assert!(!passes(&planet), "{how:?}");
        planet.lab(&["fault", "lift", "all"]).ok();
        assert!(passes(&planet), "{how:?}");
    }
}

#[test]
fn a_killed_host_loses_its_programs() {
    let planet = atlantic("fault-host");
    let program = sleeper(planet.name(), "origin");
    planet.lab(&["fault", "host", "origin", "killed"]).ok();
    assert_eq!(program.wait(), Some(128 + 9));
    assert!(!passes(&planet));
    planet.lab(&["fault", "lift", "all"]).ok();
    assert!(passes(&planet));
}

#[test]
fn a_device_that_its_host_switched_off_is_not_the_emulators_loss() {
    let planet = atlantic("fault-device-off");
    planet.exec("origin", &["ip", "link", "set", "net0", "down"]).ok();
    assert!(!passes(&planet));
    let fidelity = planet.status()["fidelity"].clone();
    // Three pings of 20 + 8 + 56 bytes.
    assert_eq!((number(&fidelity, "/own_drops"), number(&fidelity, "/bytes_dropped")), (0.0, 252.0));
}

#[test]
fn a_planet_survives_faults_of_a_device_that_its_host_removed() {
    let planet = atlantic("fault-device-gone");
    planet.exec("origin", &["ip", "link", "del", "net0"]).ok();
    planet.lab(&["fault", "host", "origin", "down"]).ok();
    planet.lab(&["fault", "lift", "all"]).ok();
    assert_eq!(planet.status()["faults"], serde_json::json!([]));
}

#[test]
fn a_router_does_not_answer_a_damaged_ping() {
    let planet = World::named("fault-damaged")
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", "rtt = \"4ms\"\ncorrupt = \"100%\"")
        .up();
    let said = planet.exec("visitor", &["ping", "-4", "-q", "-c", "1", "-W", "1", "newyork.router"]);
    assert_eq!(said.code, Some(1));
}

#[test]
fn nonsense_is_answered_with_what_there_is() {
    let planet = atlantic("fault-nonsense");
    for (words, expected) in [
        (vec!["lodnon-newyork", "down"], "no city \"lodnon\" on planet "),
        (vec!["lodnon-newyork", "down"], "did you mean \"london\"?"),
        (vec!["london-atlantis", "down"], "its cities are newyork, london\n"),
        (vec!["london-newyork"], "this fault changes nothing; expected loss, rtt, rate or down"),
        (vec!["london"], "expected two cities with a hyphen between them"),
        (vec!["london-newyork", "--loss", "120%"], "a share must be from 0% to 100%"),
        (vec!["london-newyork", "down", "--for", "3 parsecs"], "has the unknown unit \"parsecs\""),
        (vec!["host", "bob", "down"], "its hosts are origin, visitor\n"),
        (
            vec!["host", "visitor", "--access", "lte", "--down"],
            "host \"visitor\" has no access line \"lte\"; it has net0",
        ),
        (vec!["withdraw", "cdn"], "no anycast prefix \"cdn\" on planet "),
        (vec!["lift", "7"], "there is no fault 7"),
        (vec!["lift", "some"], "expected the number of a fault, or all"),
    ] {
        let said = planet.lab(&[&["fault"], words.as_slice()].concat()).refused();
        assert!(said.contains(expected), "{words:?}: {said}");
    }
    assert_eq!(planet.status()["faults"], serde_json::json!([]));
}
