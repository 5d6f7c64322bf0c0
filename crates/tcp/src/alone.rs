//! Tests in a network namespace of their own: there all ports are free, and stay so.
//!
//! A port that somebody has bound is one that no other program of the namespace gets, whatever its addresses are. So tests
//! that count ports would disturb each other, and every connection on the machine would disturb them.

use std::process::Command;

/// Runs the test of this name (its path in the crate) again, alone in a network namespace with loopback up, and there its
/// `body`. It takes root or user namespaces, and the programs `unshare` and `ip`.
#[track_caller]
pub(crate) fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let namespaces: &[&str] =
        if nix::unistd::geteuid().is_root() { &["--net"] } else { &["--net", "--map-root-user"] };
    let ran = Command::new("unshare")
        .args(namespaces)
        .args(["sh", "-c", "ip link set lo up && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(MARK, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.contains("1 passed"), "{test}: {said}{}", String::from_utf8_lossy(&ran.stderr));
}

/// Set where a test is alone.
const MARK: &str = "LONGHAUL_TEST_IS_ALONE";
