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

/// A third host in a city of its own, a transfer and pings beside the probe.
const THREE: &str = "[scenario]\ntitle = 'x'\n[world]\nlateness = '1s'\n\
     [[host]]\nname = 'a'\ncity = 'london'\n[[host]]\nname = 'b'\ncity = 'paris'\n[[host]]\nname = 'c'\ncity = 'oslo'\n\
     [[link]]\nbetween = ['london', 'paris']\nrate = '8Mbit'\n";

#[test]
fn transfers_pings_and_faults_are_judged() {
    let folder = Folder::new();
    let out = folder.path("out");
    let file = folder.file(
        "s.toml",
        format!(
            "{THREE}[[transfer]]\nside = 'cut'\nfrom = 'a'\nto = 'b'\nduration = '3s'\n\
             [[ping]]\nside = 'mesh'\nfrom = ['*']\nto = ['c']\ncount = 2\ntimeout = '20s'\n\
             [[fault]]\nat = '1s'\nfor = '1s'\nbetween = ['london', 'paris']\ndown = true\n\
             [[claim]]\nclaim = 'whole'\nat = 'transfer.lost'\nside = 'cut'\nis = '0B'\n\
             [[claim]]\nclaim = 'silent'\nat = 'transfer.stall'\nside = 'cut'\nabove = '900ms'\n\
             [[claim]]\nclaim = 'bounded'\nat = 'transfer.goodput'\nside = 'cut'\nbelow = '8Mbit'\n\
             [[claim]]\nclaim = 'reached'\nat = 'ping.answered'\nside = 'mesh'\nis = '100%'\n\
             [[claim]]\nclaim = 'wrong'\nat = 'ping.answered'\nside = 'mesh'\nbelow = '50%'\n"
        ),
    );
    let result = longhaul(&["run", &file, "--out", out.to_str().unwrap(), "--json"]).measured();
    // While the link is down nothing passes, for 1 s; what is under way when that begins takes less than 100 ms.
    let holds: Vec<_> = result["claims"].as_array().unwrap().iter().map(|claim| &claim["holds"]).collect();
    assert_eq!(holds, [true, true, true, true, false], "{}", result["claims"]);
    assert_eq!(result["comparison"]["sides"], serde_json::json!([]));
    assert_eq!(
        (&result["transfers"][0]["side"], &result["transfers"][0]["bytes_lost"]),
        (&"cut".into(), &0.into())
    );
    // a and b each ask c twice; c asks nobody, for it does not ask itself.
    assert_eq!((&result["pings"][0]["hosts"], &result["pings"][0]["sent"]), (&2.into(), &4.into()));
    assert_eq!(
        result["faults"][0],
        serde_json::json!({ "label": "london-paris: down", "at_s": 1.0, "until_s": 2.0 })
    );
    assert!(std::fs::read_to_string(out.join("report.html")).unwrap().contains("\"side\":\"cut\""));
}

#[test]
fn commands_take_turns_and_are_judged() {
    let folder = Folder::new();
    let out = folder.path("out");
    let script = folder.file(
        "first.sh",
        r#"sleep 0.2; echo working >&2; echo '{ "runs": [{ "name": "x", "took_ms": 12 }] }'"#,
    );
    // The second finds what the first has printed, so it began after it; and its exit code says that a threshold failed.
    let file = folder.file(
        "s.toml",
        format!(
            "{THREE}[[command]]\nside = 'second'\nhost = 'b'\nafter = 'first'\ncodes = [0, 1]\n\
             run = ['sh', '-c', 'cat {{out}}/command-first-from-a.json; exit 1']\n\
             [[command]]\nside = 'first'\nhost = 'a'\nduration = '1s'\n\
             run = ['sh', '{script}']\n\
             [[command]]\nside = 'pings'\nhost = 'a'\nafter = 'second'\nduration = '1s'\n\
             run = ['longhaul', 'ping', 'b', '--count', '2', '--interval', '10ms', '--json']\n\
             [[transfer]]\nside = 'bulk'\nfrom = 'a'\nto = 'c'\nbytes = '1MB'\nduration = '1s'\nafter = 'pings'\n\
             rcvbuf = '64KiB'\nnotsent_lowat = '128KiB'\n\
             [[claim]]\nclaim = 'a'\nat = 'json.runs[name=x].took_ms'\nside = 'second'\nbelow = '13ms'\n\
             [[claim]]\nclaim = 'b'\nat = 'json.runs[name=x].took_ms'\nfaster = 'first'\nthan = 'second'\n\
             [[claim]]\nclaim = 'c'\nat = 'json.targets.0.received'\nside = 'pings'\nis = '2'\n\
             [[claim]]\nclaim = 'd'\nat = 'json.nothing'\nside = 'pings'\nis = '2'\n\
             [[claim]]\nclaim = 'e'\nat = 'transfer.duration'\nside = 'bulk'\nabove = '1ms'\n\
             [[claim]]\nclaim = 'f'\nat = 'transfer.memory'\nside = 'bulk'\nabove = '0B'\n"
        ),
    );
    let result = longhaul(&["run", &file, "--out", out.to_str().unwrap(), "--json"]).measured();
    let claims = result["claims"].as_array().unwrap();
    let holds: Vec<_> = claims.iter().map(|claim| &claim["holds"]).collect();
    assert_eq!(holds, [true, false, true, false, true, true], "{}", result["claims"]);
    assert_eq!(claims[0]["figure"], "json.runs[name=x].took_ms: second 12.0 ms, limit 13.0 ms");
    assert_eq!(claims[3]["figure"], "pings: json has no nothing");
    let commands = &result["commands"];
    assert_eq!(commands[0]["value"], commands[1]["value"]);
    assert_eq!((&commands[1]["side"], &commands[1]["host"]), (&"first".into(), &"a".into()));
    // What goes to standard error is not part of what is printed.
    let log = out.join("logs/command-first-from-a.log");
    assert_eq!(std::fs::read_to_string(log).unwrap(), "working\n");
}

#[test]
fn a_command_that_cannot_measure_ends_the_run() {
    let folder = Folder::new();
    let out = folder.path("out");
    for (command, expected) in [
        ("run = ['sh', '-c', 'echo so long >&2; exit 1']", ["exit status: 1", "| so long"]),
        (
            "run = ['sh', '-c', 'echo on it >&2; sleep 60']\nduration = '100ms'\ntimeout = '200ms'",
            ["sh -c in a did not end within 200ms, its timeout", "| on it"],
        ),
        (
            "run = ['echo', '{} done']",
            ["command-one-from-a.json: a command prints one JSON value", "column 4"],
        ),
    ] {
        let file =
            folder.file("s.toml", format!("{THREE}[[command]]\nside = 'one'\nhost = 'a'\n{command}\n"));
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
    let name = format!("interrupted-{}", std::process::id());
    let file = folder.file(
        &format!("{name}.toml"),
        format!(
            "{THREE}[[probe]]\nside = 'one'\nfrom = ['a']\nurl = 'http://b/'\nduration = '60s'\n\
             [[transfer]]\nside = 'two'\nfrom = 'a'\nto = 'c'\nduration = '60s'\n\
             [[ping]]\nside = 'three'\nfrom = ['*']\nto = ['*']\ncount = 60\n\
             [[program]]\nhost = 'b'\nrun = ['{LONGHAUL}', 'serve', '--listen', '[::]:80']\nready = 80\n"
        ),
    );
    let mut command = Command::new(LONGHAUL);
    command.args(["run", &file, "--out", out.to_str().unwrap()]).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut run = Running::start(&mut command);
    for recording in ["one-from-a.jsonl", "ping-three-from-c.jsonl"] {
        let recording = out.join(recording);
        wait_until(|| recording.metadata().is_ok_and(|data| data.len() > 0));
    }
    run.signal(Signal::SIGINT);
    run.says("interrupted; recordings so far are in");
    assert_eq!(run.wait(), Some(2));
    // The planet is gone, and with it all that ran in it.
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
    assert!(!sockets.contains(&format!("/run-{name}-")), "{sockets}");
}
