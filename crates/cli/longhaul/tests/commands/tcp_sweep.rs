//! `longhaul tcp sweep`: measured, kept, continued and interrupted cells.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{
    documents,
    harness::{Ended, Folder, LONGHAUL, Running, is_up, longhaul, number, wait_until},
};

const SMALL: &str = "rtt = ['5ms', '20ms']\nrate = ['20Mbit']\nrmem = ['4MiB']\nprogramme = ['steady']\nfor = '1s'\n\
     [world]\nlateness = '1s'\n";

fn sweep(out: &Path, arguments: &[&str]) -> Ended {
    longhaul(&[&["tcp", "sweep", "--out", out.to_str().unwrap()], arguments].concat())
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn records(out: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(out.join("cells")).unwrap().map(|entry| entry.unwrap().path().join("cell.json"));
    let mut records: Vec<_> = entries.filter(|path| path.exists()).collect();
    records.sort();
    records
}

#[test]
fn a_sweep_is_measured_once_and_goes_on_where_something_is_missing() {
    let folder = Folder::new();
    let (file, out) = (folder.file("s.toml", SMALL), folder.path("out"));
    let result = sweep(&out, &[&file, "--json"]).measured();
    assert_eq!(result["schema"], "longhaul.tcp.sweep/1");
    assert_eq!(result, json(&out.join("sweep.json")));
    for (cell, rtt_ms) in [(0, 5.0), (1, 20.0)] {
        let cell = &result["cells"][cell];
        assert_eq!(
            cell["parameters"],
            json!({ "rtt_ms": rtt_ms, "rate_mbps": 20.0, "rmem_bytes": 4 << 20, "programme": "steady" })
        );
        assert_eq!(cell["n"], 1);
        assert!(number(cell, "/bytes") > 0.0 && number(cell, "/window_bytes") >= 65_535.0, "{cell}");
        assert!(number(cell, "/rcvbuf_bytes") <= f64::from(4 << 20), "{cell}");
    }
    let csv = fs::read_to_string(out.join("sweep.csv")).unwrap();
    let rows: Vec<_> = csv.lines().map(|line| line.split(',').take(3).collect::<Vec<_>>()).collect();
    assert_eq!(
        rows,
        [["rtt_ms", "rate_mbps", "rmem_bytes"], ["5.0", "20.0", "4194304"], ["20.0", "20.0", "4194304"]]
    );
    assert!(fs::read_to_string(out.join("sweep.html")).unwrap().contains("A reader in 2 worlds"));

    // Results of a busy machine may be invalid; this test is about valid ones.
    for path in records(&out) {
        let mut record = json(&path);
        (record["fidelity"]["valid"], record["read"]["reasons"]) = (true.into(), json!([]));
        fs::write(&path, record.to_string()).unwrap();
    }
    let before: Vec<_> = records(&out).iter().map(|path| fs::metadata(path).unwrap().ino()).collect();
    let again = sweep(&out, &[&file]);
    assert!(again.stderr.contains("2 cells, 2 runs, all measured already"), "{again:?}");
    assert!(again.ok().contains("20ms"));
    let after: Vec<_> = records(&out).iter().map(|path| fs::metadata(path).unwrap().ino()).collect();
    assert_eq!(before, after);

    // A damaged result, or one of another cell, does not count.
    fs::write(&records(&out)[0], "{").unwrap();
    let said = sweep(&out, &[&file, "--rtt", "5ms,20ms,30ms", "--dry-run"]).ok();
    assert!(said.contains("3 cells, 3 runs, of which 1 are measured already"), "{said}");
    let said = sweep(&out, &[&file, "--for", "2s", "--dry-run"]).ok();
    assert!(said.contains("2 cells, 2 runs; about "), "{said}");
}

fn under_way(out: &Path) -> (Running, String) {
    let mut command = Command::new(LONGHAUL);
    command.args([
        "tcp",
        "sweep",
        "--rtt",
        "5ms",
        "--rate",
        "1Mbit",
        "--rmem",
        "default",
        "--out",
        out.to_str().unwrap(),
    ]);
    let running = Running::start(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    let planet = format!("run-cell-1-{}", running.id());
    wait_until(|| is_up(&planet));
    (running, planet)
}

#[test]
fn ctrl_c_ends_a_sweep_in_order() {
    let folder = Folder::new();
    let out = folder.path("out");
    let (mut running, planet) = under_way(&out);
    running.signal(Signal::SIGINT);
    running.says("interrupted; 0 of 1 are measured, and the same command continues");
    assert_eq!(running.wait(), Some(2));
    assert!(!is_up(&planet));
    let result = json(&out.join("sweep.json"));
    documents::keep(&result.to_string());
    assert_eq!(
        (&result["valid"], &result["cells"][0]["runs"][0]["state"]),
        (&false.into(), &"missing".into())
    );
    assert!(records(&out).is_empty());
}

#[test]
fn a_sweep_that_is_killed_leaves_no_planet() {
    let folder = Folder::new();
    let out = folder.path("out");
    let (running, planet) = under_way(&out);
    running.signal(Signal::SIGKILL);
    assert_eq!(running.wait(), None);
    wait_until(|| !is_up(&planet));
    assert!(records(&out).is_empty());
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let folder = Folder::new();
    let out = folder.path("out");
    for (arguments, expected) in [
        (["--congestion", "bbrr"].as_slice(), "--congestion: this kernel has no congestion control \"bbrr\""),
        (&["--rate", "0Mbit"], "\"0Mbit\""),
        (&["--rtt", ""], "--rtt"),
        (&["--rtt", "0ms"], "--rtt: 0ms is not from 10us to 60s"),
        (&["--rtt", "1ms,1ms"], "--rtt: 1ms is listed twice"),
        (&["--rmem", "much"], "\"much\""),
        (&["--programme", "ocillating"], "did you mean \"oscillating\"?"),
        (&["--repeat", "25000"], "100000 runs and more than the limit of 10000"),
        (&["--jobs", "0"], "expected auto or a number of 1 or more"),
        (&[&folder.file("s.toml", "rtt = ['fast']\n")], "s.toml:1:8: \"fast\""),
        (&[&folder.file("link.toml", "[link]\nlos = '1%'\n")], "unknown field `los`"),
        (&["missing.toml"], "missing.toml: No such file"),
    ] {
        let said = sweep(&out, arguments).refused();
        assert!(said.contains(expected), "{arguments:?}: expected {expected}: {said}");
    }
    assert!(!out.join("sweep.json").exists());
}
