//! `longhaul compare`: certainty, parts of the time, labels, thresholds, and output files.

use std::fmt::Write;

use crate::harness::{Folder, longhaul, number};

/// In `swift`, one request in 50 from Oslo takes 300 ms longer, and from 600 s on every one 5 ms.
fn recordings(folder: &Folder) -> [String; 2] {
    let header = "started_s,city,page,status,latency_ms\n";
    let (mut swift, mut steady) = (header.to_owned(), header.to_owned());
    for i in 0..8000_u32 {
        let (started, city, page) = (f64::from(i) / 8.0, ["oslo", "lima"][(i % 2) as usize], i / 20);
        // Two rounds: after one, neighbours would be spread more evenly than random values.
        let mixed = (i ^ 0x5bd1).wrapping_mul(2_654_435_761);
        let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519);
        let spread = f64::from(mixed ^ (mixed >> 13)) / f64::from(u32::MAX) * 10.0;
        let slow = if i * 31 % 50 == 0 && i % 2 == 0 { 300.0 } else { 0.0 };
        let late = if i >= 4800 { 5.0 } else { 0.0 };
        writeln!(swift, "{started},{city},{page},200,{}", 20.0 + spread + slow + late).unwrap();
        writeln!(steady, "{started},{city},{page},200,{}", 60.0 + spread).unwrap();
    }
    [folder.file("swift.csv", swift), folder.file("steady.csv", steady)]
}

#[test]
fn every_figure_has_its_interval_and_a_seed_gives_it_again() {
    let folder = Folder::new();
    let [swift, steady] = recordings(&folder);
    let compare = |more: &[&str]| {
        let page = ["compare", &swift, &steady, "--requests", "40", "--json"];
        longhaul(&[&page, more].concat()).json()
    };
    let json = compare(&["--level", "0.9", "--seed", "7"]);
    assert_eq!(json["intervals"], serde_json::json!({"level": 0.9, "resamples": 1000, "seed": 7}));
    for side in 0..2 {
        for figure in ["expected_request", "expected_experienced"] {
            let at = |name: &str| number(&json, &format!("/sides/{side}/{figure}_{name}"));
            assert!(at("ci_ms/0") <= at("ms") && at("ms") <= at("ci_ms/1"), "{figure} {side}");
        }
    }
    // 1 - 0.98^40 = 55 % of the views of a page of 40 contain a slow request.
    assert_eq!(json["verdict"]["request"]["better"], "swift");
    assert_eq!(json["verdict"]["experienced"]["better"], "steady");
    let experienced = |name: &str| number(&json, &format!("/verdict/experienced/{name}"));
    assert!(experienced("ci_ms/0") > 0.0 && experienced("ci_ms/0") < experienced("difference_ms"));
    assert_eq!(json["verdict"]["experienced"]["certainty"], "sure");
    // The samples name pages of 20 requests, which determine the verdict.
    assert_eq!(json["verdict"]["experienced"]["basis"], "observed pages");
    assert_eq!(json["verdict"]["model"]["basis"], "model");
    for kind in ["request", "experienced"] {
        for name in ["mean", "50", "75", "90", "95"] {
            let at = |name: String| number(&json, &format!("/differences/0/{kind}/{name}"));
            let ends = [at(format!("{name}/ci_ms/0")), at(format!("{name}/ci_ms/1"))];
            let found = at(format!("{name}/difference_ms"));
            assert!(ends[0] <= found && found <= ends[1], "{kind} {name}");
            assert!(at(format!("{name}/relative_ci/0")) <= at(format!("{name}/relative")), "{kind} {name}");
        }
    }
    assert!((0.0..=1.0).contains(&experienced("share_better")));
    let crossover = |name: &str| number(&json, &format!("/crossovers/0/{name}"));
    assert!(crossover("ci/0") <= crossover("percentile") && crossover("percentile") <= crossover("ci/1"));
    assert_eq!(json, compare(&["--level", "90%", "--seed", "7"]));

    let bare = compare(&["--resamples", "0"]);
    assert!(bare.get("intervals").is_none() && bare["sides"][0].get("expected_request_ci_ms").is_none());
    assert!(bare["verdict"]["experienced"].get("sure").is_none());
}

#[test]
fn independence_is_checked_where_samples_name_their_pages() {
    let folder = Folder::new();
    let [swift, steady] = recordings(&folder);
    let json = longhaul(&["compare", &swift, &steady, "--requests", "20", "--json"]).json();
    assert_eq!(json["independence"]["checked"], true);
    let pages = |name: &str| number(&json, &format!("/independence/sides/0/pages/{name}"));
    assert_eq!((pages("pages"), pages("requests_min"), pages("requests_max")), (400.0, 20.0, 20.0));
    assert!(json["independence"]["sentence"].as_str().unwrap().contains("400 real page views"));
    let bare = folder.file("bare.csv", "latency_ms\n1\n2\n3\n");
    let json = longhaul(&["compare", &bare, "--json"]).json();
    assert_eq!(json["independence"]["checked"], false);
    assert!(json["independence"].get("model_ms").is_none());
}

#[test]
fn a_shift_is_found_and_a_part_of_the_time_is_compared() {
    let folder = Folder::new();
    let [swift, _] = recordings(&folder);
    let json = longhaul(&["compare", &swift, "--json"]).json();
    let shift = |name: &str| number(&json, &format!("/sides/0/shifts/0/{name}"));
    // The step is at 600 s and 5 ms high; intervals are at most 20 s long.
    assert!((shift("at_s") - 600.0).abs() <= 20.0, "{json}");
    assert!((shift("after_ms") - shift("before_ms") - 5.0).abs() < 0.5);

    let json = longhaul(&["compare", &swift, "--mark", "600s", "--json"]).json();
    let labels = [0, 1].map(|side| json["sides"][side]["label"].as_str().unwrap().to_owned());
    assert_eq!(labels, ["swift before", "swift after"]);
    assert_eq!((number(&json, "/sides/0/n"), number(&json, "/sides/1/n")), (4800.0, 3200.0));
    // The standard error of a median is 5/sqrt(n): 0.07 and 0.09 ms, and 0.11 ms for the
    // difference.
    assert!((number(&json, "/verdict/median_request/difference_ms") - 5.0).abs() < 0.46);

    let cut = ["--from", "100s", "--to", "300s", "--exclude", "150s..200s"];
    let json = longhaul(&[&["compare", &swift, "--json"][..], &cut].concat()).json();
    // 200 s less 50 s, 8 per second.
    assert_eq!(number(&json, "/sides/0/n"), 1200.0);
    assert_eq!((number(&json, "/sides/0/read"), number(&json, "/sides/0/excluded")), (8000.0, 6800.0));
}

#[test]
fn failures_lie_in_a_part_of_the_time_too() {
    let folder = Folder::new();
    let row =
        |i: u32| format!("{i},{},{}\n", if i < 20 { "" } else { "5" }, if i < 20 { "reset" } else { "" });
    let file = folder.file(
        "f.csv",
        "started_s,latency_ms,error\n5,5,\n".to_owned() + &(0..100).map(row).collect::<String>(),
    );
    let after = longhaul(&["compare", &file, "--mark", "50s", "--fail-if", "failed above 1%", "--json"]);
    assert_eq!(after.code, Some(1));
    let json: serde_json::Value = serde_json::from_str(&after.stdout).unwrap();
    assert_eq!((number(&json, "/sides/0/failed"), number(&json, "/sides/1/failed")), (20.0, 0.0));
    assert_eq!((number(&json, "/sides/1/n"), number(&json, "/sides/1/excluded")), (50.0, 51.0));
}

#[test]
fn dates_are_those_of_each_file() {
    let folder = Folder::new();
    let file = |name: &str, hour: u32| {
        let header =
            format!("{{\"schema\":\"longhaul.recording/1\",\"start\":\"2025-03-14T{hour:02}:00:00Z\"}}\n");
        let sample = |s: u64| {
            format!("{{\"started_ns\":{},\"latency_ns\":{}}}\n", s * 1_000_000_000, hour * 1_000_000)
        };
        folder.file(name, header + &sample(0) + &sample(60) + "{\"end\":{}}\n")
    };
    let sides = [format!("a={}", file("d1.jsonl", 9)), format!("a={}", file("d2.jsonl", 10))];
    let n = |flags: [&str; 2]| {
        let json = longhaul(&["compare", &sides[0], &sides[1], flags[0], flags[1], "--json"]).json();
        json["sides"].as_array().unwrap().iter().map(|side| side["n"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(n(["--from", "2025-03-14T09:00:30Z"]), [3]);
    assert_eq!(n(["--from", "2025-03-14T10:00:00Z"]), [2]);
    assert_eq!(n(["--mark", "2025-03-14T09:30:00Z"]), [2, 2]);
}

#[test]
fn one_page_view_is_compared_all_the_same() {
    let folder = Folder::new();
    let file = folder.file("one.csv", "latency_ms,page\n1,/\n2,/\n3,/\n");
    let json = longhaul(&["compare", &file, "--json"]).json();
    assert_eq!(json["independence"]["checked"], false);
    assert!(json["independence"]["sentence"].as_str().unwrap().contains("there are not several page views"));
}

#[test]
fn a_breakdown_by_label_begins_where_the_first_is_worse() {
    let folder = Folder::new();
    let [swift, steady] = recordings(&folder);
    let json = longhaul(&["compare", &swift, &steady, "--requests", "40", "--by", "city", "--json"]).json();
    let groups = &json["breakdown"]["groups"];
    assert_eq!((groups[0]["name"].as_str(), groups[1]["name"].as_str()), (Some("oslo"), Some("lima")));
    assert_eq!(groups[0]["experienced"]["better"], "steady");
    assert_eq!(groups[1]["experienced"]["better"], "swift");
    assert_eq!(number(&json, "/breakdown/groups/0/share"), 0.5);
    let none = longhaul(&["compare", &swift, &steady, "--by", "town", "--json"]).json();
    assert!(none["warnings"].to_string().contains("No sample has the label"), "{none}");
}

#[test]
fn a_broken_threshold_is_exit_code_1_and_a_summary_says_so() {
    let folder = Folder::new();
    let [swift, steady] = recordings(&folder);
    let summary = folder.path("summary.md");
    let run = |condition: &str| {
        longhaul(&[
            "compare",
            &swift,
            &steady,
            "--fail-if",
            condition,
            "--markdown",
            summary.to_str().unwrap(),
        ])
    };
    let held = run("experienced.p95 worse by 300%");
    assert_eq!(held.code, Some(0), "{held:?}");
    let broken = run("request.p50 worse by 5%");
    assert_eq!(broken.code, Some(1), "{broken:?}");
    assert!(broken.stdout.contains("FAILED  request.p50 at most 5% worse"), "{}", broken.stdout);
    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(text.contains("request.p50 at most 5% worse") && text.contains("| samples |"), "{text}");
    assert!(run("p50 is bad").refused().contains("expected for example"));
    let alone = longhaul(&["compare", &swift, "--fail-if", "p50 worse by 5%"]).refused();
    assert!(alone.contains("there is only one"), "{alone}");
    assert_eq!(longhaul(&["compare", &swift, "--fail-if", "p50 above 10ms"]).code, Some(1));
}

#[test]
fn three_sides_are_a_matrix() {
    let folder = Folder::new();
    let [swift, steady] = recordings(&folder);
    let third = folder.file("third.csv", "latency_ms\n".to_owned() + &"70\n".repeat(500));
    let json = longhaul(&["compare", &swift, &steady, &third, "--json"]).json();
    let pairs = json["pairs"].as_array().unwrap();
    let named: Vec<_> = pairs.iter().map(|pair| (pair["first"].clone(), pair["second"].clone())).collect();
    assert_eq!(
        named,
        [("swift", "steady"), ("swift", "third"), ("steady", "third")].map(|(a, b)| (a.into(), b.into()))
    );
}

#[test]
fn charts_are_files_for_slides() {
    let folder = Folder::new();
    let [swift, steady] = recordings(&folder);
    let charts = folder.path("charts");
    longhaul(&["compare", &swift, &steady, "--requests", "40", "--svg", charts.to_str().unwrap()]).ok();
    for name in
        ["cdf", "cdf-nines", "qq", "effective-qq", "difference", "experienced", "over-time", "heat-swift"]
    {
        let text = std::fs::read_to_string(charts.join(name).with_extension("svg")).unwrap();
        assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"), "{name}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let folder = Folder::new();
    let [swift, steady] = recordings(&folder);
    let bare = folder.file("bare.csv", "latency_ms\n1\n2\n3\n");
    let phases = folder.file("phases.csv", "ttfb_ms,dns_ms\n5,1\n6,\n");
    for (arguments, expected) in [
        (vec![swift.as_str(), &phases], "they cannot be compared; choose with --metric"),
        (vec![&swift, "--from", "5000s"], "swift: all 8000 samples lie outside of the period"),
        (vec![&bare, "--from", "1s"], "the samples have no times"),
        (vec![&swift, "--from", "noon"], "is not a moment"),
        (vec![&swift, "--from", "9s", "--to", "3s"], "--from must lie before --to"),
        (vec![&swift, "--exclude", "9s..3s"], "ends before it begins"),
        (vec![&swift, "--mark", "2025-01-01T00:00:00Z"], "does not contain the date of its start"),
        (vec![&swift, &steady, "--mark", "5s"], "--mark divides one recording"),
        (vec![&swift, "--level", "100%"], "expected 50% to 99.9%"),
        (vec![&swift, "--resamples", "5"], "resamples"),
        (vec![&swift, "--block", "0"], "expected auto, none or a number"),
        (vec![&swift, "--exclude-phase", "body"], "unknown phase \"body\""),
        (vec![&swift, "--metric", "wait"], "such as wait_ms"),
        (vec![&phases, "--metric", "ttfb", "--exclude-phase", "load"], "ttfb does not contain it"),
        (vec![&swift, "--log-format", ""], "log"),
        (vec![&swift, "--unit", "days"], "expected ns, us, ms or s"),
    ] {
        let said = longhaul(&[&["compare"], arguments.as_slice()].concat()).refused();
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let unphased =
        longhaul(&["compare", &phases, &folder.file("t.csv", "ttfb_ms\n1\n"), "--exclude-phase", "dns"]);
    assert!(unphased.refused().contains("t knows nothing of it"));
    let twice = ["--exclude-phase", "dns", "--exclude-phase", "dns", "--json"];
    let json = longhaul(&[&["compare", &phases][..], &twice].concat()).json();
    assert_eq!((number(&json, "/sides/0/min_ms"), number(&json, "/sides/0/max_ms")), (4.0, 6.0));
    assert_eq!(json["excluded_phases"], serde_json::json!(["dns"]));
}

/// The page determines most of a latency: 1600 requests are as precise as 40 pages.
fn of_pages(columns: &[&str], seed: u32) -> String {
    let share = |i: u32| {
        let mixed = (i ^ 0x5bd1).wrapping_mul(2_654_435_761);
        let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519);
        f64::from(mixed ^ (mixed >> 13)) / f64::from(u32::MAX)
    };
    let mut text = format!("city,{},latency_ms\n", columns.join(","));
    for i in 0..1600 {
        let (page, city) = (i / 40, ["oslo", "lima"][(i / 40 % 2) as usize]);
        text += city;
        for column in columns {
            match *column {
                "started_s" => write!(text, ",{}", f64::from(page * 10) + f64::from(i % 40) / 10.0).unwrap(),
                "page" => write!(text, ",{page}").unwrap(),
                _ => text += ",",
            }
        }
        let latency = 20.0 + share(seed * 1000 + page) * 200.0 + share(seed * 100_000 + i) * 10.0;
        writeln!(text, ",{latency}").unwrap();
    }
    text
}

fn certainties(json: &serde_json::Value, at: &str, found: &mut Vec<(String, String)>) {
    match json {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str().filter(|_| name == "certainty" && at != "/verdict") {
                    Some(word) => found.push((at.to_owned(), word.to_owned())),
                    None => certainties(value, &format!("{at}/{name}"), found),
                }
            }
        }
        serde_json::Value::Array(values) => {
            values.iter().for_each(|value| certainties(value, &format!("{at}/*"), found));
        }
        _ => {}
    }
}

/// The requests depend on each other: with pages or times, no verdict may be sure. Without both
/// each is, which proves that the test can fail.
#[test]
fn no_place_is_sure_of_dependent_samples() {
    let folder = Folder::new();
    let gates = ["request.mean", "request.p50", "request.p75", "experienced.mean", "experienced.p50"];
    let gates: Vec<String> = gates.iter().map(|figure| format!("{figure} surely worse")).collect();
    let gates: Vec<&str> = gates.iter().flat_map(|gate| ["--fail-if", gate.as_str()]).collect();
    for seeds in [[3, 4], [4, 3]] {
        for columns in [&["page"][..], &["started_s"], &["note"]] {
            let sides = seeds.map(|seed| folder.file(&format!("{seed}.csv"), of_pages(columns, seed)));
            let files = [folder.path("report.html"), folder.path("summary.md")];
            let common = ["compare", &sides[0], &sides[1], "--requests", "40", "--by", "city"];
            let written = ["--html", files[0].to_str().unwrap(), "--markdown", files[1].to_str().unwrap()];
            let shown = longhaul(&[&common, &written[..], &gates].concat());
            let json = longhaul(&[&common[..], &["--json"]].concat()).json();
            let mut said = Vec::new();
            certainties(&json, "", &mut said);
            let mut texts = files.map(|file| std::fs::read_to_string(file).unwrap()).to_vec();
            texts.push(shown.stdout);
            let kinds = |wanted: fn(&str) -> bool| -> std::collections::BTreeSet<String> {
                let places = said.iter().filter(|(_, word)| wanted(word)).map(|(place, _)| place);
                places.map(|place| place.split('/').take(4).collect::<Vec<_>>().join("/")).collect()
            };
            let places = [
                "/breakdown/groups/*",
                "/differences/*/experienced",
                "/differences/*/request",
                "/verdict/experienced",
                "/verdict/median_request",
                "/verdict/model",
                "/verdict/request",
            ];
            assert!(kinds(|_| true).iter().all(|place| places.contains(&place.as_str())), "{said:?}");
            if columns == ["note"] {
                let expected = places.iter().filter(|place| **place != "/verdict/model");
                assert!(kinds(|word| word == "sure").iter().eq(expected), "{said:?}");
                assert_eq!(shown.code, Some(1), "a gate that no dependence holds back");
                assert!(texts.iter().all(|text| text.contains("sure (")));
            } else {
                assert!(kinds(|word| word == "sure").is_empty(), "{columns:?}: {said:?}");
                assert_eq!(shown.code, Some(0), "{columns:?}: a gate");
                assert!(texts.iter().all(|text| !text.contains("sure (")), "{columns:?}");
            }
        }
    }
}
