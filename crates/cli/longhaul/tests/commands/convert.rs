//! `longhaul convert` and `longhaul merge`, and the formats of other tools in `compare`.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::harness::{Ended, Folder, LONGHAUL, longhaul, number, wait_until};

fn recording(folder: &Folder, name: &str, base_ms: u32) -> String {
    let row = |i: u32| format!("{}.5,{},200,oslo,{}\n", i, i / 5, base_ms + i);
    folder.file(
        name,
        "started_s,page,status,city,latency_ms\n".to_owned() + &(0..10).map(row).collect::<String>(),
    )
}

fn path(folder: &Folder, name: &str) -> String {
    folder.path(name).display().to_string()
}

#[test]
fn a_recording_goes_through_every_format_and_keeps_its_numbers() {
    let folder = Folder::new();
    let csv = recording(&folder, "side.csv", 100);
    let mean = |file: &str| {
        let json = longhaul(&["compare", file, "--json", "--metric", "latency"]).json();
        assert_eq!(number(&json, "/sides/0/n"), 10.0);
        number(&json, "/sides/0/expected_request_ms")
    };
    assert_eq!(mean(&csv), 104.5);
    for (name, tolerance) in
        [("a.jsonl", 1e-9), ("a.jsonl.zst", 1e-9), ("b.csv.gz", 1e-9), ("c.tsv", 1e-9), ("d.hlog", 0.06)]
    {
        let output = path(&folder, name);
        let json = longhaul(&["convert", &csv, &output, "--json"]).json();
        assert_eq!((number(&json, "/read"), number(&json, "/written")), (10.0, 10.0), "{name}");
        // A log of three digits stores each value within 0.05 %.
        assert!((mean(&output) - 104.5).abs() <= tolerance, "{name}: {}", mean(&output));
    }
    let text = path(&folder, "e.prom");
    longhaul(&["convert", &csv, &text]).ok();
    let text = std::fs::read_to_string(text).unwrap();
    assert!(text.contains("_bucket{le=\"+Inf\"} 10\n") && text.contains("_count 10\n"), "{text}");
}

#[test]
fn a_recording_goes_from_standard_input_to_standard_output() {
    let folder = Folder::new();
    let csv = recording(&folder, "side.csv", 100);
    let piped = |arguments: &[&str]| {
        let input = std::fs::File::open(&csv).unwrap();
        Ended::of(Command::new(LONGHAUL).args(arguments).stdin(input).output().unwrap())
    };
    let converted = piped(&["convert", "-", "-"]);
    assert!(converted.stderr.contains("10 samples of 10 read"), "{converted:?}");
    let file = path(&folder, "a.jsonl");
    longhaul(&["convert", &csv, &file]).ok();
    assert_eq!(converted.ok(), std::fs::read_to_string(file).unwrap());
    assert!(piped(&["merge", "-", &csv, "-o", "-", "--to", "csv"]).ok().starts_with("started_s,"));
    assert!(piped(&["convert", "-", "-", "--json"]).refused().contains("write the recording to a file"));
    assert!(piped(&["merge", "-", "-", "-o", "-"]).refused().contains("read once"));
}

#[test]
fn pages_of_different_files_stay_different() {
    let folder = Folder::new();
    let (first, second) = (recording(&folder, "a.csv", 100), recording(&folder, "b.csv", 200));
    let merged = path(&folder, "all.jsonl");
    longhaul(&["merge", &first, &second, "-o", &merged]).ok();
    let json = longhaul(&["compare", &merged, "--json"]).json();
    assert_eq!(number(&json, "/sides/0/n"), 20.0);
    assert_eq!(number(&json, "/independence/sides/0/pages/pages"), 4.0);
    // Not an average of percentiles.
    let whole = longhaul(&["compare", &format!("x={first}"), &format!("x={second}"), "--json"]).json();
    assert_eq!(json["sides"][0]["request_percentiles_ms"], whole["sides"][0]["request_percentiles_ms"]);
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let folder = Folder::new();
    let csv = recording(&folder, "side.csv", 100);
    let log = path(&folder, "side.hlog");
    longhaul(&["convert", &csv, &log]).ok();
    let said = longhaul(&["convert", &log, &path(&folder, "back.csv")]).refused();
    assert!(said.contains("hlog"), "{said}");
    assert!(longhaul(&["convert", &csv, &path(&folder, "side.xls")]).refused().contains(".jsonl, .csv"));
    assert!(longhaul(&["convert", &csv, &path(&folder, "no/where.csv")]).refused().contains("where.csv"));
    let broken = folder.file("broken.csv", "latency_ms\n1\nfast\n");
    assert!(
        longhaul(&["convert", &broken, &path(&folder, "out.jsonl")]).refused().contains("broken.csv:3:1")
    );
    let mut left: Vec<_> = std::fs::read_dir(folder.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["broken.csv", "side.csv", "side.hlog"]);
}

#[test]
fn an_input_that_stalls_can_be_interrupted() {
    for signals in [&[Signal::SIGINT][..], &[Signal::SIGTERM, Signal::SIGINT]] {
        let folder = Folder::new();
        let mut child = Command::new(LONGHAUL)
            .args(["convert", "/dev/stdin", &path(&folder, "x.csv")])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"latency_ms\n1\n").unwrap();
        let part = folder.path(&format!(".x.csv.{}.part", child.id()));
        wait_until(|| part.exists());
        let pid = Pid::from_raw(child.id().try_into().unwrap());
        signals.iter().for_each(|&signal| kill(pid, signal).unwrap());
        let output = child.wait_with_output().unwrap();
        drop(input);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.starts_with("error: stopped: ") && said.contains("x.csv is not written"), "{said}");
        assert_eq!(std::fs::read_dir(folder.path(".")).unwrap().count(), 0);
    }
}

#[test]
fn what_a_format_leaves_out_is_a_number() {
    let folder = Folder::new();
    let csv = folder.file("a.csv", "latency_ms,dns_ms,error\n1,,\n,3,\n,4,reset\n,5,\n");
    let counted = |name: &str| {
        let json = longhaul(&["convert", &csv, &path(&folder, name), "--json"]).json();
        ["/read", "/written", "/failed", "/without_metric"].map(|field| number(&json, field))
    };
    assert_eq!(counted("a.jsonl"), [4.0, 4.0, 1.0, 0.0]);
    assert_eq!(counted("a.prom"), [4.0, 2.0, 1.0, 2.0]);
    assert_eq!(counted("a.hlog"), [4.0, 1.0, 1.0, 2.0]);
}

#[test]
fn an_output_that_is_full_is_named() {
    let folder = Folder::new();
    let csv = recording(&folder, "side.csv", 100);
    let said = longhaul(&["convert", &csv, "/dev/full", "--to", "csv"]).refused();
    assert!(said.contains("of /dev/full: "), "{said}");
}

#[test]
fn what_others_write_is_read() {
    let folder = Folder::new();
    let har = r#"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"pages":[],"entries":[
        {"startedDateTime":"2025-03-14T09:26:53.000Z","time":50,"request":{"method":"GET","url":"http://a/","httpVersion":"HTTP/1.1"},
         "response":{"status":200,"bodySize":5},"timings":{"blocked":-1,"dns":5,"connect":10,"ssl":-1,"send":1,"wait":30,"receive":4}}]}}"#;
    let curl = r#"{"time_namelookup":0.005,"time_connect":0.015,"time_appconnect":0,"time_pretransfer":0.015,"time_starttransfer":0.045,"time_total":0.05,"http_code":200,"num_connects":1,"exitcode":0}"#;
    let vegeta = r#"{"attack":"","seq":0,"code":200,"timestamp":"2025-03-14T09:26:53Z","latency":50000000,"bytes_out":0,"bytes_in":5,"error":"","method":"GET","url":"http://a/"}"#;
    for (content, metric, expected, format) in [
        (har, "total", 50.0, "HAR"),
        // 5 + 10 + 1 of sending + 30.
        (har, "ttfb", 46.0, "HAR"),
        (curl, "ttfb", 45.0, "curl"),
        (curl, "total", 50.0, "curl"),
        (vegeta, "latency", 50.0, "vegeta"),
    ] {
        let file = folder.file("file", format!("{content}\n"));
        let json = longhaul(&["compare", &file, "--metric", metric, "--json"]).json();
        assert!((number(&json, "/sides/0/max_ms") - expected).abs() < 1e-9, "{format} {metric}: {json}");
        assert_eq!(json["sides"][0]["format"], format);
    }
    let log = "::1 - - [14/Mar/2025:09:26:53 +0000] \"GET / HTTP/1.1\" 200 5 0.050\n";
    let file = folder.file("access.log", log);
    assert!(longhaul(&["compare", &file]).refused().contains("--log-format"));
    let format = r#"$remote_addr - - [$time_local] "$request" $status $body_bytes_sent $request_time"#;
    let json = longhaul(&["compare", &file, "--log-format", format, "--json"]).json();
    assert!((number(&json, "/sides/0/max_ms") - 50.0).abs() < 1e-9);
    let wrong = "nothing of the kind\n";
    let file = folder.file("access.log", log.to_owned() + wrong);
    let json = longhaul(&["compare", &file, "--log-format", format, "--json"]).json();
    assert!(json["warnings"].to_string().contains("line 2"), "{json}");
    let file = folder.file("access.log", log.to_owned() + &wrong.repeat(2));
    assert!(longhaul(&["compare", &file, "--log-format", format]).refused().contains("access.log:2:"));
}

#[test]
fn conversion_keeps_every_metric() {
    let folder = Folder::new();
    // The queue is in the time of the first byte but not in the sum of the phases.
    let transfer = |i: u32| {
        let at = |ms: u32| f64::from(ms + i % 7) / 1e3;
        format!(
            "{{\"url\":\"http://a/\",\"exitcode\":0,\"num_connects\":1,\"http_code\":200,\"time_queue\":{},\"time_namelookup\":{},\
             \"time_connect\":{},\"time_appconnect\":0,\"time_pretransfer\":{},\"time_posttransfer\":{},\"time_starttransfer\":{},\
             \"time_total\":{}}}\n",
            at(10),
            at(15),
            at(25),
            at(26),
            at(40),
            at(70),
            at(90)
        )
    };
    let curl = folder.file("curl.jsonl", (0..30).map(transfer).collect::<String>());
    let numbers = |file: &str, metric: &[&str]| {
        let json = longhaul(&[&["compare", file, "--json", "--resamples", "0"], metric].concat()).json();
        (json["metric"].clone(), json["sides"][0]["request_percentiles_ms"].clone())
    };
    for name in ["a.csv", "a.tsv.gz", "b.jsonl", "b.json.zst"] {
        let output = path(&folder, name);
        let json = longhaul(&["convert", &curl, &output, "--json"]).json();
        assert_eq!(json["lost"], serde_json::json!([]), "{name}");
        for metric in ["ttfb", "ttfb_without_dns", "total", "dns", "connect", "send", "wait", "load"] {
            assert_eq!(
                numbers(&curl, &["--metric", metric]),
                numbers(&output, &["--metric", metric]),
                "{name} {metric}"
            );
        }
        assert_eq!(numbers(&curl, &[]), numbers(&output, &[]), "{name}");
    }
    // 5 + 10 + 14 + 30.
    assert_eq!(numbers(&curl, &[]).1["50"], 59.0);
    let said = longhaul(&["convert", &curl, &path(&folder, "c.hlog")]);
    assert!(said.stderr.contains("note: The file does not contain the name of its metric, ttfb"), "{said:?}");
}

#[test]
fn an_input_is_never_the_output() {
    let folder = Folder::new();
    let (first, second) = (recording(&folder, "a.csv", 100), recording(&folder, "b.csv", 200));
    let before = std::fs::read_to_string(&first).unwrap();
    let page = folder.file("page.html", "mine");
    for arguments in [
        &["convert", &first, &first][..],
        &["merge", &first, &second, "-o", &first],
        &["merge", &second, &first, "-o", &first],
        &["compare", &first, &second, "--html", &first],
        &["compare", &second, &format!("x={first}"), "--markdown", &first],
    ] {
        let said = longhaul(arguments).refused();
        assert!(said.contains("which would be lost; write to another name"), "{said}");
        assert_eq!(std::fs::read_to_string(&first).unwrap(), before);
    }
    longhaul(&["compare", &first, &second, "--resamples", "0", "--html", &page]).ok();
}

#[test]
fn the_interval_log_has_periods_and_tags() {
    let folder = Folder::new();
    let row = |i: u32| {
        format!("{}.25,{},{}\n", i / 50, if i.is_multiple_of(2) { "oslo" } else { "lima" }, 10 + i / 50 * 10)
    };
    let csv = folder
        .file("a.csv", "started_s,city,latency_ms\n".to_owned() + &(0..200).map(row).collect::<String>());
    let log = path(&folder, "a.hlog");
    longhaul(&["convert", &csv, &log, "--tag", "city"]).ok();
    let n = |arguments: &[&str]| {
        let json = longhaul(&[&["compare", "--json", "--resamples", "0"], arguments].concat()).json();
        json["sides"].as_array().unwrap().iter().map(|side| number(side, "/n")).collect::<Vec<f64>>()
    };
    assert_eq!(n(&[&log]), [200.0]);
    assert_eq!((n(&[&log, "--from", "2s"]), n(&[&csv, "--from", "2s"])), (vec![100.0], vec![100.0]));
    assert_eq!(n(&[&log, "--mark", "1s"]), [50.0, 150.0]);
    for by in ["tag", "city"] {
        let json = longhaul(&["compare", &log, &log, "--by", by, "--json", "--resamples", "0"]).json();
        let groups = json["breakdown"]["groups"].as_array().unwrap();
        let mut names: Vec<&str> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["lima", "oslo"]);
        assert_eq!(number(&groups[0], "/first/n"), 100.0);
    }
}

#[test]
fn a_share_is_decimal() {
    let folder = Folder::new();
    let csv = recording(&folder, "side.csv", 100);
    for (requests, required, effective) in
        [("200", "28.5%", 57.0), ("100", "28.5%", 29.0), ("100", "0.285", 29.0), ("1000", "28.57%", 286.0)]
    {
        let json = longhaul(&[
            "compare",
            &csv,
            "--requests",
            requests,
            "--required",
            required,
            "--json",
            "--resamples",
            "0",
        ])
        .json();
        assert_eq!(number(&json, "/page/effective_requests"), effective, "{requests} {required}");
    }
}
