//! `longhaul probe` against `longhaul serve`, on loopback.

use std::process::Command;

use crate::harness::{Folder, LONGHAUL, Running, longhaul, number};

fn serve(arguments: &[&str]) -> (Running, String) {
    Running::listening(Command::new(LONGHAUL).args(["serve", "--listen", "127.0.0.1:0"]).args(arguments))
}

#[test]
fn a_run_becomes_a_recording_and_a_summary() {
    let (_origin, url) = serve(&["--body", "3KB"]);
    let folder = Folder::new();
    let file = folder.path("run.jsonl");
    let file = file.to_str().unwrap();
    let summary = longhaul(&[
        "probe",
        &url,
        "--rate",
        "100/s",
        "--duration",
        "1s",
        "-o",
        file,
        "--label",
        "mine",
        "--json",
    ])
    .measured();
    assert_eq!(
        (summary["schema"].as_str(), number(&summary, "/requests")),
        (Some("longhaul.probe/1"), 100.0)
    );
    assert_eq!(number(&summary, "/body_bytes"), 300_000.0);
    let phases: Vec<_> =
        summary["phases"].as_array().unwrap().iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    for expected in ["connect", "send", "wait", "load", "ttfb", "total"] {
        assert!(phases.contains(&expected), "{phases:?}");
    }
    // An address needs no resolver and clear text no handshake: absent, not 0.
    assert!(!phases.contains(&"dns") && !phases.contains(&"tls"), "{phases:?}");

    let compared = longhaul(&["compare", file, "--metric", "wait", "--json"]).measured();
    assert_eq!(
        (compared["sides"][0]["label"].as_str(), number(&compared, "/sides/0/n")),
        (Some("mine"), 100.0)
    );
}

#[test]
fn tls_is_trusted_by_its_certificate_only() {
    let folder = Folder::new();
    let ca = folder.path("ca.pem");
    let ca = ca.to_str().unwrap();
    let (_origin, url) = serve(&["--tls", "--write-ca", ca]);
    let summary = longhaul(&["probe", &url, "--ca", ca, "--count", "3", "--json"]).measured();
    assert_eq!(number(&summary, "/protocol/h2"), 3.0);
    assert!(summary["phases"].to_string().contains("\"tls\""));
    let distrusted = longhaul(&["probe", &url, "--count", "1"]);
    assert_eq!(distrusted.code, Some(2));
    assert!(distrusted.stderr.contains("tls"), "{distrusted:?}");
}

#[test]
fn one_request_is_shown_phase_by_phase() {
    let (_origin, url) = serve(&[]);
    let text = longhaul(&["probe", &url]).ok();
    assert!(
        text.contains("200") && text.contains("connect") && text.contains("wait") && !text.contains("dns"),
        "{text}"
    );
}

#[test]
fn an_address_in_use_is_named_with_a_remedy() {
    let (_origin, url) = serve(&[]);
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let said = longhaul(&["serve", "--listen", address]).refused();
    assert!(said.contains(address) && said.contains("in use"), "{said}");
}

#[test]
fn nonsense_is_refused() {
    for arguments in [
        ["probe", "not a url", "--json"],
        ["probe", "ftp://example.com/", "--json"],
        ["probe", "http://127.0.0.1/", "--rate=10 parsecs"],
        ["probe", "http://127.0.0.1/", "--duration=-3s"],
        ["serve", "--service-time=sometimes", "--seed=1"],
        ["serve", "--listen=everywhere", "--seed=1"],
    ] {
        assert!(longhaul(&arguments).refused().starts_with("error: "), "{arguments:?}");
    }
}

#[test]
fn nobody_who_listens_is_an_error() {
    let (origin, url) = serve(&[]);
    drop(origin);
    let ended = longhaul(&["probe", &url, "--count", "2"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("connection refused"), "{ended:?}");
}
