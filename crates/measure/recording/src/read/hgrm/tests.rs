//! Tables of the Java library and wrk2, and what breaks in them.

use std::path::Path;

use super::*;
use crate::{Event, Format, decode};

#[derive(Default)]
struct Kept(Option<Counts>);

impl Sink for Kept {
    fn event(&mut self, _: &Event<'_>) -> Result<(), Error> {
        panic!("a table has no events")
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        assert_eq!(self.0.replace(counts.clone()), None);
        Ok(())
    }
}

fn read_with(text: &str, unit: Option<Unit>) -> Result<(Counts, Vec<String>), String> {
    let mut kept = Kept::default();
    let options = Options { unit, ..Options::default() };
    let origin =
        decode(text.as_bytes(), Path::new("x"), &options, &mut kept).map_err(|error| error.to_string())?;
    assert_eq!(origin.format, Format::Hgrm);
    Ok((kept.0.unwrap(), origin.warnings))
}

fn read(text: &str) -> (Counts, Vec<String>) {
    read_with(text, None).unwrap()
}

fn refused(text: &str) -> String {
    read_with(text, None).unwrap_err()
}

fn at(counts: &Counts, events: f64) -> f64 {
    let mut seen = 0;
    let reached = counts.buckets.iter().find(|bucket| {
        seen += bucket.count;
        seen as f64 >= events
    });
    reached.unwrap().value_ms
}

/// Of `testdata/hlog/v2.hlog`, by `outputPercentileDistribution(out, 5, 1e6)`.
const JAVA: &str = include_str!("../../../testdata/hgrm/v2.hgrm");
const JAVA_CSV: &str = include_str!("../../../testdata/hgrm/v2.csv");

#[test]
fn every_listed_percentile_comes_out_as_listed() {
    for text in [JAVA, JAVA_CSV] {
        let (counts, _) = read(text);
        assert_eq!(counts.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 900);
        for (percentile, value) in [(0.0, 0.040), (0.1, 0.058), (0.5, 0.238), (0.75, 0.454), (1.0, 842.007)] {
            let row = text.lines().find(|line| line.contains(&format!("{percentile:.12}"))).unwrap();
            assert!(row.contains(&format!("{value:.3}")), "{row}");
            assert_eq!(at(&counts, f64::max(900.0 * percentile, 1.0)), value, "{percentile}");
        }
    }
}

#[test]
fn the_deviation_of_the_mean_is_reported() {
    let (counts, warnings) = read(JAVA);
    let sum: f64 = counts.buckets.iter().map(|bucket| bucket.value_ms * bucket.count as f64).sum();
    let mean = sum / 900.0;
    assert!((mean / 16.712 - 1.0).abs() < 0.1, "{mean}");
    assert_eq!(warnings[0], "The file does not name its unit; its values are read as milliseconds.");
    let expected = format!(
        "The mean comes out as {} ms, {} {} the 16.7 ms that the file states.",
        latency(mean),
        relative((mean / 16.712 - 1.0).abs()),
        if mean < 16.712 { "below" } else { "above" }
    );
    assert!(warnings[1].ends_with(&expected), "{warnings:?} {expected}");
    assert_eq!(warnings.len(), 2);
}

const ROWS: &str = "\
       Value   Percentile   TotalCount 1/(1-Percentile)

       1.000     0.000000            1         1.00
       2.000     0.500000           50         2.00
       2.500     0.900000           90        10.00
       4.000     1.000000          100          inf
";

#[test]
fn what_wrk2_prints_around_it() {
    let head = "Running 10s test @ http://127.0.0.1/\n  2 threads and 10 connections\n  Thread Stats   Avg      \
                Stdev     Max   +/- Stdev\n    Latency     1.14ms  355.73us   2.54ms   69.45%\n  Latency \
                Distribution (HdrHistogram - Recorded Latency)\n 50.000%    1.11ms\n\n  Detailed Percentile spectrum:\n";
    let foot = "#[Mean    =        2.200, StdDeviation   =        0.356]\n#[Max     =        4.000, Total count    \
                =          100]\n#[Buckets =           27, SubBuckets     =         2048]\n----------------------\n  \
                119956 requests in 1.00m, 98.26MB read\nRequests/sec:   1999.21\n";
    let (counts, warnings) = read(&format!("{head}{ROWS}{foot}"));
    let buckets: Vec<(f64, u64)> =
        counts.buckets.iter().map(|bucket| (bucket.value_ms, bucket.count)).collect();
    assert_eq!(buckets, [(1.0, 2), (1.5, 47), (2.0, 2), (2.25, 38), (2.5, 2), (3.25, 8), (4.0, 1)]);
    assert_eq!((counts.buckets[1].low_ms, counts.buckets[1].high_ms), (1.0, 2.0));
    // An event that counts at 1 may have 2.
    assert_eq!(counts.relative_error, Counts::LARGEST_ERROR);
    // (2 + 70.5 + 4 + 85.5 + 5 + 26 + 4) / 100 = 1.97.
    assert_eq!(
        warnings,
        [
            "Only 4 points of the distribution are known: events between two count at the middle, each within 99.9 % of its \
             value. The mean comes out as 1.97 ms, 10.5 % below the 2.20 ms that the file states."
        ]
    );
    let text = format!("{head}{ROWS}  960001 requests in 1.00m, 117.30MB read\n{head}{ROWS}{foot}");
    let (again, warnings) = read(&text);
    assert_eq!(again.buckets, counts.buckets);
    assert_eq!(warnings[1], "The file has 2 tables of percentiles; only the first is read.");
}

#[test]
fn other_units() {
    let (counts, warnings) = read_with(ROWS, Some(Unit::Us)).unwrap();
    assert_eq!(counts.buckets[6].value_ms, 0.004);
    assert_eq!(warnings.len(), 1);
}

#[test]
fn what_is_missing_is_told() {
    let whole: Vec<&str> = ROWS.lines().collect();
    let (_, warnings) = read(&format!("{}\n", whole[..5].join("\n")));
    assert_eq!(warnings[2], "The table stops at the percentile 90: the slowest are missing.");
    let (_, warnings) = read(&format!("{ROWS}#[Max = 4.000, Total count = 101]\n"));
    assert_eq!(warnings[2], "The footer counts 101 events, the last row 100: the table is not whole.");
    let (counts, _) = read(&format!("{}\n{}\n", whole[0], whole[3..].join("\n")));
    assert_eq!(counts.relative_error, Counts::LARGEST_ERROR);
    let (counts, warnings) = read(&format!("{}\n       2.5", whole[..4].join("\n")));
    assert_eq!((counts.events(), warnings[0].as_str()), (50, json::cut_off(5).as_str()));
}

#[test]
fn what_breaks_is_told_with_its_place() {
    let cases = [
        (
            "4.000     1.000000          100",
            "1.000     1.000000          100",
            "x:6:8: found \"1.000\"; expected a value no smaller",
        ),
        (
            "4.000     1.000000",
            "4.000     0.100000",
            "x:6:18: found \"0.100000\"; expected a percentile from 0 to 1",
        ),
        (
            "4.000     1.000000",
            "4.000     1.100000",
            "x:6:18: found \"1.100000\"; expected a percentile from 0 to 1",
        ),
        ("          100 ", "           10 ", "x:6:37: found \"10\"; expected a count of events up to 2^53"),
        ("          100          inf", "", "x:6:26: found the end of the line; expected a count"),
        ("4.000 ", "-4.00 ", "x:6:8: found \"-4.00\"; expected a number of milliseconds"),
        ("4.000 ", "4x000 ", "x:6:8: found \"4x000\"; expected a number of milliseconds"),
    ];
    for (from, to, message) in cases {
        assert!(ROWS.contains(from), "{from}");
        let said = refused(&ROWS.replacen(from, to, 1));
        assert!(said.starts_with(message), "{said}");
    }
    assert_eq!(
        refused("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"),
        "x:3:1: the table has no row that counts an event; expected a row such as \"1.234 0.500000000000 518 2.00\""
    );
}
