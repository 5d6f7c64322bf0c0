//! `longhaul doctor` on the machine that runs the tests: it can emulate, or the other tests would fail.

use crate::harness::longhaul;

#[test]
fn this_machine_can_emulate_and_each_check_says_what_was_found() {
    let findings = longhaul(&["doctor", "--json"]).json();
    assert_eq!(findings["can_emulate"], true, "{findings}");
    let checks = findings["checks"].as_array().unwrap();
    assert_eq!(checks[0]["name"], "namespaces");
    // Every check that is not well has a remedy, and only those.
    for check in checks {
        assert_eq!(check["state"] == "ok", check.get("remedy").is_none(), "{check}");
        assert_ne!(check["found"], "");
    }
}
