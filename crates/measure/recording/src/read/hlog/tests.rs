//! Logs of the Java library, damaged logs, and ambiguous logs.

use std::path::Path;

use super::*;
use crate::{Event, Format, decode, histogram::encoding::encode};

#[derive(Default)]
struct Kept(Vec<Counts>);

impl Sink for Kept {
    fn event(&mut self, _: &Event<'_>) -> Result<(), Error> {
        panic!("a log has no events")
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        self.0.push(counts.clone());
        Ok(())
    }
}

fn read_with(text: impl AsRef<[u8]>, unit: Option<Unit>) -> Result<(Vec<Counts>, Vec<String>), String> {
    let mut kept = Kept::default();
    let options = Options { unit, ..Options::default() };
    let origin =
        decode(text.as_ref(), Path::new("x.hlog"), &options, &mut kept).map_err(|error| error.to_string())?;
    assert_eq!(origin.format, Format::Hlog);
    Ok((kept.0, origin.warnings))
}

fn read(text: impl AsRef<[u8]>) -> (Vec<Counts>, Vec<String>) {
    read_with(text, Some(Unit::Ns)).unwrap()
}

/// The middle of the bucket of the percentile, ns: `getValueAtPercentile` of Java gives the upper
/// end of the same bucket.
fn count_and_percentile<'c>(counts: impl IntoIterator<Item = &'c Counts>, percentile: f64) -> (u64, f64) {
    let mut buckets: Vec<Bucket> = counts.into_iter().flat_map(|counts| counts.buckets.clone()).collect();
    buckets.sort_by(|a, b| a.value_ms.total_cmp(&b.value_ms));
    let total: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let wanted = percentile / 100.0 * total as f64;
    let mut seen = 0;
    let found = buckets.iter().find(|bucket| {
        seen += bucket.count;
        seen as f64 >= wanted
    });
    (total, found.unwrap().value_ms * 1e6)
}

fn is_upper_end(middle: f64, java: u64) -> bool {
    let mut histogram = crate::Histogram::new(3);
    histogram.record(java);
    let range = histogram.ranges().next().unwrap().0;
    range.high() == java && (range.middle() - middle).abs() < 1e-3
}

/// The results of Java's library 2.2.2, printed by `testdata/hlog/Generate.java`.
#[test]
fn logs_of_every_version_say_what_java_says() {
    let logs: [(&[u8], u64, u64); 3] = [
        (include_bytes!("../../../testdata/hlog/v0.hlog"), 0x1C84_9389, 900),
        (include_bytes!("../../../testdata/hlog/v1.hlog"), 0x1C84_9382, 900),
        (include_bytes!("../../../testdata/hlog/v2.hlog"), 0x1C84_9314, 900),
    ];
    for (log, cookie, count) in logs {
        let (counts, warnings) = read(log);
        assert_eq!(counts.len(), 3, "{cookie:x}");
        for (percentile, java) in [(50.0, 237_567), (99.0, 561_512_447), (100.0, 842_006_527)] {
            let (total, middle) = count_and_percentile(&counts, percentile);
            assert_eq!(total, count);
            assert!(is_upper_end(middle, java), "{cookie:x}: p{percentile} {middle} is not {java}");
        }
        let starts: Vec<_> = counts.iter().map(|counts| (counts.started_s, counts.length_s)).collect();
        let at = |second| (Some(1_700_000_000.0 + second), Some(1.0));
        assert_eq!(starts, [at(0.0), at(1.0), at(2.0)]);
        assert_eq!(warnings, [""; 0]);
        assert!((counts[0].relative_error - 0.5 / 1024.0).abs() < 1e-12);
    }
}

/// Each is within the stated error of the log's value.
#[test]
fn the_values_themselves() {
    let (counts, _) = read(include_bytes!("../../../testdata/hlog/v2.hlog"));
    let mut state = 42_u64;
    let mut value = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (a, b) = ((state >> 33) % 1000, (state >> 43) % 1000);
        40_000 + a * b * (1 + if a % 17 == 0 { 999 } else { 0 })
    };
    for counts in counts {
        let mut expected: Vec<u64> = (0..300).map(|_| value()).collect();
        expected.sort_unstable();
        let found = counts.buckets.iter().flat_map(|bucket| (0..bucket.count).map(|_| bucket.value_ms * 1e6));
        for (found, expected) in found.zip(expected) {
            let error = (found - expected as f64).abs() / expected as f64;
            assert!(error <= counts.relative_error, "{found} for {expected}");
        }
    }
}

#[test]
fn tags_keep_histograms_apart() {
    let (counts, _) = read(include_bytes!("../../../testdata/hlog/tagged.hlog"));
    let of = |tag: Option<&'static str>| counts.iter().filter(move |counts| counts.tag.as_deref() == tag);
    for (tag, p50, p99, max) in [
        (None, 227_839, 508_035_071, 693_108_735),
        (Some("GET"), 240_639, 479_461_375, 776_994_815),
        (Some("POST"), 258_047, 497_287_167, 842_006_527),
    ] {
        assert_eq!(of(tag).count(), 3);
        for (percentile, java) in [(50.0, p50), (99.0, p99), (100.0, max)] {
            let (total, middle) = count_and_percentile(of(tag), percentile);
            assert_eq!(total, 900);
            assert!(is_upper_end(middle, java), "{tag:?}: p{percentile} {middle} is not {java}");
        }
    }
}

/// The unit is 512 ns (1 000, rounded down to a power of two), and two digits need 1/128.
#[test]
fn a_coarse_unit_is_told() {
    let (counts, warnings) = read(include_bytes!("../../../testdata/hlog/coarse.hlog"));
    assert_eq!(count_and_percentile(&counts, 50.0).0, 900);
    assert_eq!(counts[0].relative_error, 0.5 / 128.0);
    assert_eq!(
        warnings[0],
        "The log was kept in units coarser than its digits: below 65.5 us, values are less precise than stated."
    );
}

/// Java: p50 0.2375 ms, p99 561.49997, max 841.99999; the generator's maximum is 841.7 ms.
#[test]
fn histograms_of_decimals() {
    let (counts, warnings) =
        read_with(include_bytes!("../../../testdata/hlog/double.hlog"), Some(Unit::Ms)).unwrap();
    for (percentile, java) in [(50.0, 0.237_518_310_546_875), (99.0, 561.499_969_482_421_9), (100.0, 842.0)] {
        let (total, middle) = count_and_percentile(&counts, percentile);
        assert_eq!(total, 900);
        assert!((middle / 1e6 / java - 1.0).abs() < 0.001, "p{percentile}: {middle} is not {java}");
    }
    assert_eq!(warnings, [""; 0]);
}

fn event() -> String {
    let mut histogram = crate::Histogram::new(3);
    histogram.record(1_000_000);
    encode(&histogram)
}

fn starts(text: &str) -> Vec<f64> {
    read(text).0.iter().map(|counts| counts.started_s.unwrap()).collect()
}

#[test]
fn times_as_the_java_library_takes_them() {
    let one = event();
    let line = |time: &str| format!("{time},1.000,1.000,{one}\n");
    let two = |head: &str, first: &str, second: &str| format!("{head}{}{}", line(first), line(second));
    let start = "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]\n";
    assert_eq!(starts(&two(start, "0.5", "1.5")), [1_441_812_279.974, 1_441_812_280.974]);
    // Absolute, because it is near the start.
    assert_eq!(starts(&two(start, "1441812279.5", "1441812280.5")), [1_441_812_279.5, 1_441_812_280.5]);
    let base = format!("#[BaseTime: 1441812200.000 (seconds since epoch)]\n{start}");
    assert_eq!(starts(&two(&base, "80.000", "81.000")), [1_441_812_280.0, 1_441_812_281.0]);
    assert_eq!(starts(&two("", "7.5", "8.5")), [0.0, 1.0]);
    assert_eq!(starts(&two("", "1441812279.5", "1441812280.5")), [1_441_812_279.5, 1_441_812_280.5]);
    assert_eq!(
        starts(&two("#[StartTime: 11.000 (seconds since epoch)]\n", "11.1", "12.1")),
        [11.1 - 11.0, 12.1 - 11.0]
    );
}

#[test]
fn what_separates_and_what_is_passed_over() {
    let one = event();
    let text = format!(
        "\u{feff}#[Histogram log format version 1.3]\r\n\r\n\"StartTimestamp\",\"Interval_Length\"\r\n\
         Tag=a/b 0 1 1.0 {one}\r\n Tag=c,0,1,1.0,{one}"
    );
    assert_eq!(
        read_with(format!("{text}\n"), Some(Unit::Ns)).unwrap_err(),
        "x.hlog:5:2: found \"Tag=c\"; expected the interval's start in seconds"
    );
    let (counts, _) = read(text.replace(" Tag=c", "Tag=c"));
    assert_eq!(
        counts.iter().map(|counts| counts.tag.as_deref()).collect::<Vec<_>>(),
        [Some("a/b"), Some("c")]
    );
    assert_eq!(counts[0].buckets.len(), 1);
}

#[test]
fn what_breaks_is_told_with_its_place() {
    let one = event();
    let head = "#[Histogram log format version 1.3]\n";
    let cases = [
        ("x,1,1,", "x.hlog:2:1: found \"x\"; expected the interval's start in seconds"),
        ("1,-1,1,", "x.hlog:2:3: found \"-1\"; expected the interval's length in seconds"),
        ("1,1,NaN,", "x.hlog:2:5: found \"NaN\"; expected the interval's maximum"),
        ("1,1,1e999,", "x.hlog:2:5: found \"1e999\"; expected the interval's maximum"),
    ];
    for (start, message) in cases {
        assert_eq!(read_with(format!("{head}{start}{one}\n"), Some(Unit::Ns)).unwrap_err(), message);
    }
    let refused = |line: &str| read_with(format!("{head}{line}\n"), Some(Unit::Ns)).unwrap_err();
    assert_eq!(refused("1,1,1"), "x.hlog:2:6: the line ends; expected a histogram in base64");
    assert_eq!(
        refused(&format!("1,1,1,{}*{}", &one[..9], &one[10..])),
        "x.hlog:2:16: '*' is not base64; expected a histogram of HdrHistogram in base64"
    );
    assert_eq!(
        refused(&format!("1,1,1,{}", &one[..20])),
        "x.hlog:2:7: the histogram ends too early; expected a histogram of HdrHistogram in base64"
    );
    let seconds = read_with(
        format!("{head}1,1,1,{}\n", {
            let mut h = crate::Histogram::new(3);
            h.record(u64::MAX);
            encode(&h)
        }),
        Some(Unit::S),
    );
    assert_eq!(
        seconds.unwrap_err(),
        "x.hlog:2:7: the histogram has a value that cannot be a time; expected a number of seconds from 0 to 1e12"
    );
}

#[test]
fn too_many_events() {
    let mut histogram = crate::Histogram::new(3);
    histogram.record_n(5, 1 << 52);
    let line = format!("1,1,1,{}\n", encode(&histogram));
    assert!(read_with(line.repeat(2), Some(Unit::Ns)).is_ok());
    assert!(
        read_with(line.repeat(3), Some(Unit::Ns))
            .unwrap_err()
            .starts_with("x.hlog:3:7: the counts add up to more than 2^53")
    );
}

#[test]
fn a_log_that_was_cut_off_and_logs_without_anything() {
    let one = event();
    let (counts, warnings) = read(format!("1,1,1,{one}\n2,1,1,{}", &one[..20]));
    assert_eq!(counts.len(), 1);
    assert_eq!(warnings[0], "Line 2, the last, is cut off in mid-write; read up to the line before it.");
    let empty = encode(&crate::Histogram::new(3));
    let head = "#[Histogram log format version 1.3]\n";
    let refused = |text: &str| read_with(text, Some(Unit::Ns)).unwrap_err();
    assert!(
        refused(head)
            .starts_with("x.hlog:2:1: there is no interval; expected at least one interval with a value")
    );
    assert!(refused(&format!("{head}1,1,0,{empty}\n")).starts_with("x.hlog:3:1: all intervals are empty"));
    assert_eq!(read(format!("1,1,1,{one}\n2,1,0,{empty}\n")).0[1].buckets, []);
}

#[test]
fn a_unit_that_the_log_does_not_name_is_asked_for() {
    let one = event();
    // The bucket of 1 000 000 ends at 1 000 447.
    for maximum in ["1.000", "0.000", "77.7", "1000447"] {
        assert_eq!(
            read_with(format!("1,1,{maximum},{one}\n"), None).unwrap_err(),
            format!(
                "x.hlog:1:{}: the log does not name the unit of its values: the largest of this interval would be 1.00 ms in ns, \
                 1.00 s in us, 1000 s in ms; expected a unit, as with --unit us",
                6 + maximum.len()
            )
        );
    }
    let empty = encode(&crate::Histogram::new(3));
    let two = format!("0,1,0,{empty}\n1,1,1.000,{one}\n");
    assert!(read_with(&two, None).unwrap_err().starts_with("x.hlog:2:11: the log does not name the unit"));
    let (counts, warnings) = read_with(&two, Some(Unit::Us)).unwrap();
    // The bucket from 999 936 is 512 wide.
    assert_eq!((counts[1].buckets[0].value_ms, warnings), (1_000.191_5, vec![]));
}

#[test]
fn a_log_may_show_its_unit() {
    let one = event();
    let value = |text: &str, unit| {
        let (counts, warnings) = read_with(text, unit).unwrap();
        (counts[0].buckets[0].value_ms, warnings.concat())
    };
    let (milliseconds, warning) = value(&format!("1,1,1000.447,{one}\n"), None);
    assert_eq!(milliseconds, 1_000.191_5);
    assert!(warning.contains("read as microseconds (the largest is 1.00 s)"), "{warning}");
    let named = format!("#[Unit: ns]\n1,1,1.000,{one}\n");
    assert_eq!(value(&named, None), (1.000_191_5, String::new()));
    assert_eq!(value(&named, Some(Unit::Us)), (1_000.191_5, String::new()));
}
