//! Runs tests in separate network namespaces, in which all ports are free.
//!
//! A port that one program has bound is unavailable to all other programs of the namespace,
//! whatever its addresses are.

use std::process::Command;

/// Needs root or user namespaces, and the programs `unshare` and `ip`.
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

const MARK: &str = "LONGHAUL_TEST_IS_ALONE";
