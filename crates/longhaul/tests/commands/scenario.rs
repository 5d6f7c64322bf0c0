//! `longhaul run`: a whole scenario, and what happens when something in it goes wrong.

use std::process::{Command, Stdio};

use nix::sys::signal::Signal;

use crate::harness::{Folder, LONGHAUL, Running, longhaul, number, project, wait_until};

#[test]
fn a_scenario_becomes_a_report() {
    let folder = Folder::new();
    let out = folder.path("out");
    let quick = project("scenarios/quick.toml");
    let result = longhaul(&["run", &quick, "--out", out.to_str().unwrap(), "--json"]).measured();
    let written: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("result.json")).unwrap()).unwrap();
    assert_eq!(result, written);
    assert_eq!(result["schema"], "longhaul.report/1");

    // 8 s at 20/s, give or take Poisson: 160 +- 4 sqrt(160).
    for side in [0, 1] {
        let n = number(&result, &format!("/comparison/sides/{side}/n"));
        assert!((109.0..=211.0).contains(&n), "{n} samples");
    }
    // While the near path is down its SYNs are lost and sent again after a second or more.
    assert!(number(&result, "/comparison/sides/0/max_ms") > 1000.0);
    for claim in result["claims"].as_array().unwrap() {
        assert_eq!(claim["holds"], true, "{claim}");
    }
    assert_eq!(result["faults"][0]["label"], "london-amsterdam: down");
    let bytes = |name: &str| number(&result, &format!("/fidelity/bytes_{name}"));
    assert_eq!(bytes("in"), bytes("out") + bytes("dropped") + bytes("in_flight"));
    assert!(std::fs::read_to_string(out.join("report.html")).unwrap().contains("A minute of bad weather"));
    for side in ["near", "far"] {
        assert!(out.join(format!("{side}-from-visitor.jsonl")).exists());
    }
}

const TWO: &str = "[scenario]\ntitle = 'x'\n[[host]]\nname = 'a'\ncity = 'london'\n[[host]]\nname = 'b'\ncity = 'paris'\n\
     [[probe]]\nside = 'one'\nfrom = ['a']\nurl = 'http://b/'\nduration = '60s'\n";

#[test]
fn a_program_that_dies_fails_the_scenario_with_its_last_words() {
    let folder = Folder::new();
    let out = folder.path("out");
    for (program, expected) in [
        (
            "host = 'b'\nrun = ['sh', '-c', 'echo so long; exit 3']\nready = 80\n",
            ["exit status: 3", "| so long"],
        ),
        ("host = 'b'\nrun = ['sh', '-c', 'sleep 1; echo farewell']\n", ["exit status: 0", "| farewell"]),
        ("host = 'b'\nrun = ['no-such-program']\n", ["exit status: 2", "no-such-program"]),
    ] {
        let file = folder.file("s.toml", format!("{TWO}[[program]]\n{program}"));
        let said = longhaul(&["run", &file, "--out", out.to_str().unwrap()]).refused();
        for words in expected {
            assert!(said.contains(words), "expected {words}: {said}");
        }
    }
}

#[test]
fn ctrl_c_ends_a_scenario_in_order() {
    let folder = Folder::new();
    let out = folder.path("out");
    let file = folder.file(
        "s.toml",
        format!(
            "{TWO}[[program]]\nhost = 'b'\nrun = ['{LONGHAUL}', 'serve', '--listen', '[::]:80']\nready = 80\n"
        ),
    );
    let mut command = Command::new(LONGHAUL);
    command.args(["run", &file, "--out", out.to_str().unwrap()]).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut run = Running::start(&mut command);
    let recording = out.join("one-from-a.jsonl");
    wait_until(|| recording.metadata().is_ok_and(|data| data.len() > 0));
    run.signal(Signal::SIGINT);
    run.says("interrupted; recordings so far are in");
    assert_eq!(run.wait(), Some(2));
}
