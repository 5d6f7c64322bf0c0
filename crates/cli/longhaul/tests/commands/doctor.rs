//! `longhaul doctor` on the machine that runs the tests.

use crate::harness::{longhaul, number};

#[test]
fn this_machine_can_emulate_and_each_check_says_what_was_found() {
    let findings = longhaul(&["doctor", "--json"]).json();
    assert_eq!(findings["can_emulate"], true, "{findings}");
    let checks = findings["checks"].as_array().unwrap();
    assert_eq!(checks[0]["name"], "namespaces");
    for check in checks {
        assert_eq!(check["state"] == "ok", check.get("remedy").is_none(), "{check}");
        assert_ne!(check["found"], "");
    }
}

#[test]
fn the_trial_says_what_the_machine_is_good_for_by_what_it_measured() {
    let findings = longhaul(&["doctor", "--json"]).json();
    let trial = &findings["trial"];
    for part in ["idle", "busy"] {
        let errors = |field: &str| number(trial, &format!("/{part}/{field}"));
        assert!(errors("answered") <= errors("sent") && errors("answered") > 0.0, "{trial}");
        // Precise to 1 % above a hundred times the error, in steps of 1, 2, 5.
        for (error, above) in [("median_us", "medians_above_ms"), ("p99_us", "p99_above_ms")] {
            assert!(errors(above) * 10.0 >= errors(error), "{trial}");
        }
    }
    let said = longhaul(&["doctor"]).ok();
    assert!(said.contains("good for: medians of round trips above "), "{said}");
    let quick = longhaul(&["doctor", "--quick", "--json"]).json();
    assert!(quick["can_emulate"] == true && quick.get("trial").is_none(), "{quick}");
}
