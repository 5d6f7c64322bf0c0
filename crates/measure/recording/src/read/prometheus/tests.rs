//! Scrapes: one, two, of several histograms, and broken ones.

use crate::{
    Format, Labels, Options, Unit,
    read::json::testing::{Kept, read, read_with},
};

/// Cumulative counts up to 0.1, 0.5, 1 and beyond.
fn scrape(name: &str, labels: &str, counts: [u64; 4], sum: f64) -> String {
    let comma = if labels.is_empty() { "" } else { "," };
    let mut text = format!("# HELP {name} How long.\n# TYPE {name} histogram\n");
    for (bound, count) in ["0.1", "0.5", "1.0", "+Inf"].into_iter().zip(counts) {
        text += &format!("{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {count}\n");
    }
    let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    text + &format!(
        "{name}_sum{braces} {sum}\n{name}_count{braces} {}\nprocess_cpu_seconds_total 12.5\n",
        counts[3]
    )
}

fn buckets(kept: &Kept) -> Vec<(f64, u64)> {
    kept.points()
}

fn with_column(text: &str, column: &str) -> Result<Kept, String> {
    let columns = vec![column.parse().unwrap()];
    read_with(text, &Options { columns, labels: Labels::All, ..Options::default() })
}

const NAME: &str = "http_request_duration_seconds";

#[test]
fn one_scrape_has_all_events() {
    let kept = read(scrape(NAME, "", [2, 5, 6, 6], 1.5)).unwrap();
    assert_eq!(kept.format, Some(Format::Prometheus));
    assert_eq!(buckets(&kept), [(50.0, 2), (300.0, 3), (750.0, 1)]);
    assert_eq!(kept.counts[0].relative_error, 0.999);
    assert!(kept.warnings[0].contains("6 events since the program started"), "{:?}", kept.warnings);
    assert!(kept.warnings[0].contains("the file states 250.0 ms"), "{:?}", kept.warnings);
}

#[test]
fn two_scrapes_have_the_events_between() {
    let two = scrape(NAME, "", [2, 5, 6, 6], 1.5) + &scrape(NAME, "", [2, 9, 16, 18], 9.0);
    let kept = read(&two).unwrap();
    assert_eq!(buckets(&kept), [(300.0, 4), (750.0, 6), (1000.0, 2)]);
    assert!(
        kept.warnings[0].contains("12 events between the first scrape and the last"),
        "{:?}",
        kept.warnings
    );
    assert!(
        kept.warnings[1].starts_with("2 events took longer than the last bound, 1000 ms"),
        "{:?}",
        kept.warnings
    );
    let anew = scrape(NAME, "", [2, 5, 6, 6], 1.5) + &scrape(NAME, "", [0, 1, 1, 1], 0.2);
    let kept = read(&anew).unwrap();
    assert_eq!(buckets(&kept), [(300.0, 1)]);
    assert!(kept.warnings[0].contains("started anew"), "{:?}", kept.warnings);
    let kept = read(two.replace("0.5\"} 9\n", "0.5\"} 9 # {trace_id=\"a\"} 0.4 1741944413.5\n")).unwrap();
    assert_eq!(buckets(&kept), [(300.0, 4), (750.0, 6), (1000.0, 2)]);
}

#[test]
fn of_several_histograms_one_is_chosen() {
    let text = scrape(NAME, "method=\"GET\",path=\"/a\\\"}\"", [2, 5, 6, 6], 1.5)
        + &scrape(NAME, "method=\"PUT\"", [1, 1, 1, 1], 0.05)
        + &scrape("db_ms", "", [0, 1, 1, 1], 0.4);
    let refused = read(&text).unwrap_err();
    assert!(
        refused.starts_with("x:1:1: found the histograms db_ms, http_request_duration_seconds{method"),
        "{refused}"
    );
    assert!(refused.contains("expected --column latency=NAME"), "{refused}");
    let kept = with_column(&text, "latency=http_request_duration_seconds").unwrap();
    assert_eq!(buckets(&kept), [(50.0, 3), (300.0, 3), (750.0, 1)]);
    assert_eq!(kept.warnings[0], "2 sets of labels are summed up.");
    let kept = with_column(&text, "latency=http_request_duration_seconds{method=\"PUT\"}").unwrap();
    assert_eq!(buckets(&kept), [(50.0, 1)]);
    assert_eq!(buckets(&with_column(&text, "latency=db_ms").unwrap()), [(0.3, 1)]);
    assert!(with_column(&text, "latency=none").is_err());
}

#[test]
fn units_come_from_names() {
    let text = scrape("rpc_duration", "", [0, 1, 1, 1], 0.3);
    let refused = read(&text).unwrap_err();
    assert!(refused.contains("expected the unit of its bounds"), "{refused}");
    let kept = read_with(&text, &Options { unit: Some(Unit::S), ..Options::default() }).unwrap();
    assert_eq!(buckets(&kept), [(300.0, 1)]);
    for (name, ms) in [("rpc_milliseconds", 0.3), ("rpc_us", 0.0003), ("rpc_seconds", 300.0)] {
        let kept = read(scrape(name, "", [0, 1, 1, 1], 0.3)).unwrap();
        assert!((buckets(&kept)[0].0 - ms).abs() < 1e-12, "{name}");
    }
}

#[test]
fn what_is_wrong_is_refused() {
    let text = scrape(NAME, "", [2, 5, 6, 6], 1.5);
    for (from, to, expected) in [
        ("0.5\"} 5", "0.5\"} many", "x:4:1: found another line than a sample"),
        ("0.5\"} 5", "0.5} 5", "x:4:1: found another line than a sample"),
        ("0.5\"} 5", "0.5\"} 1", "x:1:1: found counts that fall where the bounds rise"),
    ] {
        let refused = read(text.replace(from, to)).unwrap_err();
        assert!(refused.starts_with(expected), "{refused}");
    }
    let refused = read("# TYPE up gauge\nup 1\n").unwrap_err();
    assert!(refused.contains("Prometheus text without a histogram"), "{refused}");
}
