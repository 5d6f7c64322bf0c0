//! `longhaul compare`: its numbers, its JSON, and its errors for files that are not recordings.

use std::{
    fs::File,
    process::{Command, Stdio},
};

use crate::harness::{Ended, Folder, LONGHAUL, longhaul, number};

fn sides(folder: &Folder) -> [String; 2] {
    let swift = "latency_ms\n".to_owned() + &"10\n".repeat(99) + "500\n";
    [
        folder.file("swift.csv", swift),
        folder.file("steady.csv", "latency_ms\n".to_owned() + &"20\n".repeat(100)),
    ]
}

#[test]
fn the_faster_request_can_be_the_slower_page() {
    let folder = Folder::new();
    let [swift, steady] = sides(&folder);
    let json =
        longhaul(&["compare", &swift, &steady, "--requests", "180", "--required", "0.5", "--json"]).json();
    assert_eq!(json["schema"], "longhaul.compare/1");
    assert_eq!(json["page"], serde_json::json!({"requests": 180, "required": 0.5, "effective_requests": 90}));
    // 0.5^(1/90) and 0.99^(1/90), in percent.
    assert!((number(&json, "/percentile_to_watch/50") - 99.2328).abs() < 1e-4);
    assert!((number(&json, "/percentile_to_watch/99") - 99.98883).abs() < 1e-5);
    let side = |index: usize, name: &str| number(&json, &format!("/sides/{index}/{name}"));
    assert_eq!((json["sides"][0]["label"].as_str(), side(0, "n")), (Some("swift"), 100.0));
    // (99 x 10 + 500) / 100, and 10 + 490 (1 - 0.99^90).
    assert!((side(0, "expected_request_ms") - 14.9).abs() < 1e-9);
    assert!((side(0, "expected_experienced_ms") - (10.0 + 490.0 * (1.0 - 0.99_f64.powi(90)))).abs() < 1e-9);
    assert_eq!(
        (side(1, "expected_experienced_ms"), side(1, "min_ms"), side(1, "max_ms")),
        (20.0, 20.0, 20.0)
    );
    for percentile in ["50", "75", "90", "95", "99", "99.9", "99.99"] {
        assert!(json["sides"][0]["request_percentiles_ms"][percentile].is_number(), "{percentile}");
        assert!(json["sides"][0]["experienced_percentiles_ms"][percentile].is_number(), "{percentile}");
    }
    assert_eq!(json["verdict"]["median_request"]["better"], "swift");
    assert_eq!(json["verdict"]["experienced"]["better"], "steady");
}

#[test]
fn a_report_is_one_file_that_holds_the_numbers() {
    let folder = Folder::new();
    let [swift, steady] = sides(&folder);
    let page = folder.path("report.html");
    longhaul(&["compare", &swift, &steady, "--requests", "20", "--html", page.to_str().unwrap()]).ok();
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("\"schema\":\"longhaul.report/1\"") && !text.contains("LONGHAUL-REPORT-DATA"));
}

#[test]
fn files_of_one_label_are_one_side() {
    let folder = Folder::new();
    let [swift, steady] = sides(&folder);
    let sides = [format!("both={swift}"), format!("both={steady}"), format!("steady={steady}")];
    let json = longhaul(&["compare", &sides[0], &sides[1], &sides[2], "--json"]).json();
    assert_eq!(json["sides"].as_array().unwrap().len(), 2);
    assert_eq!((number(&json, "/sides/0/n"), number(&json, "/sides/1/n")), (200.0, 100.0));
}

#[test]
fn one_recording_may_come_from_standard_input() {
    let folder = Folder::new();
    let [swift, steady] = sides(&folder);
    let piped = |arguments: &[&str], input: Stdio| {
        let arguments = [&["compare"], arguments, &["--json"]].concat();
        Ended::of(Command::new(LONGHAUL).args(arguments).stdin(input).output().unwrap())
    };
    let json = piped(&[&swift, "-"], File::open(&steady).unwrap().into()).json();
    let labels = |json: &serde_json::Value| {
        [0, 1].map(|side| json["sides"][side]["label"].as_str().unwrap().to_owned())
    };
    assert_eq!(
        (labels(&json), number(&json, "/sides/1/max_ms")),
        (["swift", "stdin"].map(str::to_owned), 20.0)
    );
    let json = piped(&["today=-", &swift], File::open(&steady).unwrap().into()).json();
    assert_eq!(labels(&json), ["today", "swift"]);
    let twice = piped(&["-", "other=-"], Stdio::null()).refused();
    assert!(twice.contains("can be read once"), "{twice}");
    let empty = piped(&["-", &swift], Stdio::null()).refused();
    assert!(empty.contains("stdin"), "{empty}");
}

#[test]
fn a_side_without_answers_is_compared_by_its_failures() {
    let folder = Folder::new();
    let [swift, _] = sides(&folder);
    let dead = folder.file("dead.csv", "latency_ms,error\n".to_owned() + &",timeout\n".repeat(20));
    let ended = longhaul(&["compare", &swift, &dead]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for part in
        ["All 20 requests of dead failed", "of swift 0 of 100 failed", "dead fails more often: 100 % sure"]
    {
        assert!(ended.stdout.replace("\n", " ").contains(part), "{part}: {ended:?}");
    }
    let summary = folder.path("summary.md").display().to_string();
    let ended =
        longhaul(&["compare", &dead, &swift, "--json", "--markdown", &summary, "--fail-if", "p99 above 1s"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let json = ended.measured();
    assert_eq!((json["sides"][0]["label"].as_str(), number(&json, "/sides/0/failed")), (Some("dead"), 20.0));
    assert_eq!((json["sides"][0].get("max_ms"), number(&json, "/sides/1/n")), (None, 100.0));
    assert_eq!(
        (json["verdict"].get("request"), &json["verdict"]["failures"]["more"]),
        (None, &"dead".into())
    );
    assert_eq!(json["thresholds"][0]["holds"], false);
    assert!(std::fs::read_to_string(&summary).unwrap().starts_with("### All 20 requests of dead failed"));
    let json = longhaul(&["compare", &format!("a={dead}"), &format!("a={swift}"), "--json"]).json();
    assert_eq!((number(&json, "/sides/0/failed"), number(&json, "/sides/0/n")), (20.0, 100.0));
    let ended = longhaul(&["compare", &dead, "--json"]);
    assert_eq!((ended.code, ended.measured()["verdict"].is_null()), (Some(1), true));
}

#[test]
fn a_copy_of_a_recording_is_named_so() {
    let folder = Folder::new();
    let [swift, steady] = sides(&folder);
    let copy = folder.file("copy.csv", std::fs::read(&swift).unwrap());
    let text = longhaul(&["compare", &swift, &copy]).ok();
    assert!(
        text.starts_with("swift and copy hold the same 100 samples: there is nothing to compare.\n"),
        "{text}"
    );
    assert!(!text.contains("sure (") && !text.contains(" *"), "{text}");
    let json = longhaul(&["compare", &swift, &steady, "--json"]).json();
    assert_eq!(json["identical"], serde_json::json!([]));
}

#[test]
fn native_recordings_are_asked_for_a_metric() {
    let folder = Folder::new();
    let recording = "{\"schema\":\"longhaul.recording/1\",\"label\":\"mine\"}\n\
         {\"wait_ns\":2000000,\"connect_ns\":1000000}\n{\"wait_ns\":4000000}\n{\"end\":{}}\n";
    let file = folder.file("r.jsonl", recording);
    let mean = |metric: &str| {
        let json = longhaul(&["compare", &file, "--metric", metric, "--json"]).json();
        assert_eq!(json["sides"][0]["label"], "mine");
        number(&json, "/sides/0/expected_request_ms")
    };
    assert_eq!(mean("wait"), 3.0);
    // The second request reuses a connection: its ttfb is the wait alone.
    assert_eq!(mean("connect"), 1.0);
    assert_eq!(mean("ttfb"), 3.5);
}

#[test]
fn what_is_no_recording_is_refused_with_its_place() {
    let folder = Folder::new();
    let good = folder.file("good.csv", "latency_ms\n1\n2\n");
    for (content, expected) in [
        (b"".as_slice(), "bad.csv:1:1: "),
        (b"latency_ms\n", "bad.csv:"),
        (b"latency_ms\n1\nNaN\n", "bad.csv:3:1: "),
        (b"latency_ms\n1\n-3\n", "bad.csv:3:1: "),
        (b"latency_ms\n1\nfast\n", "bad.csv:3:1: "),
        (b"latency_ms,city\n1,oslo\n2\n", "bad.csv:3:"),
        (b"\x7fELF\0\0\0\x01", "bad.csv:1:"),
        (b"{\"schema\":\"longhaul.recording/9\"}\n", "bad.csv:1:"),
    ] {
        let bad = folder.file("bad.csv", content);
        let said = longhaul(&["compare", &good, &bad, "--json"]).refused();
        assert!(
            said.contains(expected),
            "expected {expected} for {:?}: {said}",
            String::from_utf8_lossy(content)
        );
    }
    let missing = folder.path("missing.csv");
    assert!(longhaul(&["compare", missing.to_str().unwrap()]).refused().contains("missing.csv"));
}

#[test]
fn impossible_pages_are_refused() {
    let folder = Folder::new();
    let [swift, _] = sides(&folder);
    for flags in [
        ["--requests", "0"],
        ["--required", "120%"],
        ["--required", "0"],
        ["--required", "x"],
        ["--metric", "wiat"],
    ] {
        let said = longhaul(&["compare", &swift, flags[0], flags[1]]).refused();
        assert!(said.starts_with("error: "), "{said}");
    }
    assert!(longhaul(&["compare", &swift, "--metric", "wiat"]).refused().contains("did you mean \"wait\"?"));
}

#[test]
fn a_recording_that_was_cut_off_is_read_up_to_its_last_whole_line() {
    let folder = Folder::new();
    let file = folder
        .file("cut.jsonl", "{\"schema\":\"longhaul.recording/1\"}\n{\"latency_ns\":1000000}\n{\"latency_n");
    let json = longhaul(&["compare", &file, "--json"]).json();
    assert_eq!(number(&json, "/sides/0/n"), 1.0);
    assert!(json["warnings"].to_string().contains("cut off"), "{json}");
}

#[test]
fn the_terminal_shows_verdict_expectations_and_percentiles() {
    let folder = Folder::new();
    let [swift, steady] = sides(&folder);
    let text = longhaul(&["compare", &swift, &steady, "--requests", "180", "--required", "50%"]).ok();
    assert_eq!(text, EXPECTED, "{text}");
}

const EXPECTED: &str = "\
Undecided for the expected page of 180 requests (90 required); at the median request swift is 10.0 ms (50.0 %) faster. In these samples steady's expected page is 281.7 ms (93.4 %) faster (the samples cannot bound that): undecided (50 %); about 4.86 times as many samples would decide it, if the difference stays the same.

latency in ms; page of 180 requests, 50 % required: 90 effective
            n    expected request     expected experienced
─────────────────────────────────────────────────────────────
 swift    100   14.9 [10.0, 34.5]         301.7 [10.0, ..]
 steady   100   20.0 [20.0, 20.0]          20.0 [20.0, ..]

 request         p50      p75      p90      p95      p99    p99.9    p99.99
─────────────────────────────────────────────────────────────────────────────
 swift          10.0     10.0     10.0     10.0~    14.9~   451.5~    495.1~
 steady         20.0     20.0     20.0     20.0~    20.0~    20.0~     20.0~
 experienced
 swift         127.8~   345.2~   443.2~   472.4~   494.6~   499.5~    499.9~
 steady         20.0~    20.0~    20.0~    20.0~    20.0~    20.0~     20.0~
~ fewer than 10 samples beyond
decides for 50 % of people: p99.23 of requests; 90 %: p99.88; 99 %: p99.989

steady less swift
 request           ms          interval        %
─────────────────────────────────────────────────
 mean           +5.10     [−1.01, 11.0]    +34.2
 p50            +10.0      [10.0, 10.0]   +100.0
 p95            +10.0~   [−118.2, 10.0]   +100.0
 p99            +5.10~         [.., ..]    +34.2
 experienced
 mean          −281.7          [.., ..]    −93.4
 p50           −107.8~         [.., ..]    −84.4
 p95           −452.4~         [.., ..]    −95.8
 p99           −474.6~         [.., ..]    −96.0
~ fewer than 10 beyond

Independence is assumed, not checked: samples carry no page ids and no times.

95 % intervals, 1000 resamples, seed 1
warning: swift: 100 samples are too few for 90 effective requests: what even the median person waits for is decided by fewer than 10 of them.
warning: steady: 100 samples are too few for 90 effective requests: what even the median person waits for is decided by fewer than 10 of them.
";
