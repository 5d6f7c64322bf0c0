//! Output of oha, and what must be refused.

use std::path::Path;

use proptest::prelude::*;

use crate::{
    Bucket, Metric, Options, Values, Wanted, decode_series,
    read::{
        Format,
        json::testing::{Kept, damaged, read, read_with, refused_by_sink},
    },
};

const CSV: &str = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n\
                   0.0005,0.01,0.0705,0.1205,0.13175,5120,200\n\
                   0.2,0,0,0.05,0.060000001,0,503\n\
                   0.3,0,0,0,0.04,0,204\n";

/// Ten answers of 1 to 10 ms, and three failures of which one is the end of the test.
const JSON: &str = r#"{
  "summary": {"successRate": 0.83, "total": 2.5, "slowest": 0.01, "fastest": 0.001, "average": 0.0055,
              "requestsPerSec": 5.2, "totalData": 100, "sizePerRequest": 10, "sizePerSec": 40.0},
  "metrics": {"success_rate": 0.83, "requests_per_sec": 5.2, "latency_ms": {"min": 1, "mean": 5.5}},
  "responseTimeHistogram": {
    "0.001": 1, "0.0019": 0, "0.0028": 1, "0.0037": 1, "0.0046": 1, "0.0055": 1, "0.0064": 1, "0.0073": 1,
    "0.0082": 1, "0.0091": 1, "0.01": 1
  },
  "latencyPercentiles": {"p10": 0.002, "p25": 0.003, "p50": 0.006, "p75": 0.008, "p90": 0.01, "p95": 0.01,
                         "p99": 0.01, "p99.9": 0.01, "p99.99": 0.01},
  "firstByteHistogram": {"0.001": 1, "0.002": 9},
  "firstBytePercentiles": {"p50": 0.0015},
  "rps": {"mean": 1.0, "stddev": null, "max": 2.0, "min": 1.0, "percentiles": {"p10": null}},
  "details": {"DNSDialup": {"average": 0.1, "fastest": 0.1, "slowest": 0.1},
              "DNSLookup": {"average": 0.1, "fastest": 0.1, "slowest": 0.1},
              "firstByte": {"average": 0.0015, "fastest": 0.001, "slowest": 0.002}},
  "statusCodeDistribution": {"200": 10},
  "errorDistribution": {"aborted due to deadline": 1, "timeout": 2}
}
"#;

#[test]
fn rows() {
    let Kept { samples, warnings, numbers, .. } = read(CSV).unwrap();
    assert_eq!(numbers, [2, 3, 4]);
    assert_eq!(warnings, ["oha's CSV leaves out requests that got no answer: failures are not counted."]);
    let fresh = &samples[0];
    assert_eq!((fresh.started_ns, fresh.latency_ns), (Some(500_000), Some(131_750_000)));
    assert_eq!((fresh.dns_ns, fresh.connect_ns, fresh.tls_ns), (Some(10_000_000), None, None));
    assert_eq!((fresh.get(Metric::Ttfb), fresh.get(Metric::Total)), (Some(120_500_000), None));
    assert_eq!((fresh.reused, fresh.status, fresh.body_bytes), (Some(false), Some(200), Some(5120)));
    assert_eq!(
        (samples[1].dns_ns, samples[1].reused, samples[1].latency_ns),
        (None, Some(true), Some(60_000_001))
    );
    assert_eq!((samples[2].ttfb_ns, samples[2].error.as_deref()), (None, None));
}

#[test]
fn rows_without_the_first_byte() {
    let old = "request-start,DNS,DNS+dialup,request-duration,bytes,status\n\
               0.002219628,0.000309806,0.001021632,0.002023073,11,200\n\
               0.2,0,0,0.06,0,503\n";
    let Kept { samples, format, .. } = read(old).unwrap();
    assert_eq!(format, Some(Format::OhaCsv));
    let fresh = &samples[0];
    assert_eq!((fresh.started_ns, fresh.latency_ns), (Some(2_219_628), Some(2_023_073)));
    assert_eq!((fresh.dns_ns, fresh.ttfb_ns, fresh.reused), (Some(309_806), None, Some(false)));
    assert_eq!((fresh.status, fresh.body_bytes), (Some(200), Some(11)));
    assert_eq!((samples[1].status, samples[1].reused), (Some(503), Some(true)));
    let refused = |row: &str| read(format!("{old}{row}\n")).unwrap_err();
    assert_eq!(refused("1,0,0,0,0.1,5,200"), "x:4:15: found 7 columns; expected 6, as in the first row");
    assert_eq!(refused("1,0,0,0.1,5,ok"), "x:4:13: found \"ok\"; expected an HTTP status");
}

#[test]
fn broken_rows() {
    let refused = |row: &str| read(format!("{CSV}{row}\n")).unwrap_err();
    assert_eq!(refused("1,0,0,0,0.1,5"), "x:5:14: found 6 columns; expected 7, as in the first row");
    assert_eq!(refused("1,0,0,0,0.1,5,200,x"), "x:5:19: found 8 columns; expected 7, as in the first row");
    assert_eq!(
        refused("1,0,0,0,-0.1,5,200"),
        "x:5:9: found \"-0.1\"; expected a number of seconds from 0 to 1e12"
    );
    assert!(refused("1,0,0,0,NaN,5,200").starts_with("x:5:9: found \"NaN\""));
    assert_eq!(refused("1,0,0,0,1,5,ok"), "x:5:13: found \"ok\"; expected an HTTP status");
    assert!(refused("1,0,0,0,1,-5,200").contains("expected a number of bytes"));
    for cut in ["1,0,0,0,0.1", "1,0,0,0,0.1,5,20", "1,0,0,0,0.1,"] {
        let kept = read(format!("{CSV}{cut}")).unwrap();
        assert_eq!(kept.samples.len(), 3, "{cut}");
        assert_eq!(
            kept.warnings[1],
            "Line 5, the last, is cut off in mid-write; read up to the line before it."
        );
    }
    assert_eq!(read(format!("{CSV}1,0,0,0,0.1,5,200")).unwrap().samples.len(), 4);
    assert_eq!(refused_by_sink(CSV), "cannot write line 2 of the recording");
}

#[test]
fn a_summary_becomes_counts() {
    let kept = read(JSON).unwrap();
    assert_eq!(kept.metric, Some(Metric::Latency));
    let [counts] = kept.counts.as_slice() else { panic!("{:?}", kept.counts) };
    assert_eq!((counts.length_s, counts.started_s), (Some(2.5), None));
    let bucket = Bucket::exact;
    let within = |value_ms, low_ms, high_ms, count| Bucket { value_ms, low_ms, high_ms, count };
    // The 1st, 2nd, 3rd, 6th, 8th and 10th value are stated. The 4th, 5th and 7th are neighbours
    // that p25, p50 and p75 interpolate with, and the 9th is in the middle of its bin.
    assert_eq!(
        counts.buckets,
        [
            bucket(1.0, 1),
            bucket(2.0, 1),
            within(3.0, 3.0, 4.6, 2),
            within(6.0, 4.6, 6.0, 2),
            within(8.0, 6.4, 8.0, 2),
            within(8.65, 8.200_000_000_000_001, 9.1, 1),
            bucket(10.0, 1)
        ]
    );
    assert!((counts.relative_error - 1.6 / 3.0).abs() < 1e-9, "{}", counts.relative_error);
    // 11 bins, of which two are the extremes, and of the percentiles 2, 3, 6 and 8. The sum is
    // 55.65.
    assert_eq!(
        kept.warnings,
        [
            "oha's JSON has no samples: only 15 points of the distribution are known, and between them values may be \
          wrong by up to 53.3 %. The mean comes out as 5.56 ms, where the file states 5.50 ms. Record with oha's CSV to \
          compare."
        ]
    );
    let failures: Vec<_> = kept.samples.iter().filter_map(|sample| sample.error.as_deref()).collect();
    assert_eq!(failures, ["timeout", "timeout"]);
}

#[test]
fn a_series_of_a_summary() {
    let wanted = |metric| Wanted { metric, ..Wanted::default() };
    let series = decode_series(JSON.as_bytes(), Path::new("x"), &wanted(None)).unwrap();
    assert_eq!((series.metric, series.read, series.failed), (Metric::Latency, 12, 2));
    assert_eq!(series.values.count(), 10);
    let series = decode_series(JSON.as_bytes(), Path::new("x"), &wanted(Some(Metric::Ttfb))).unwrap();
    let Values::Counted { buckets, .. } = &series.values else { panic!("{:?}", series.values) };
    assert_eq!((series.metric, buckets.last().unwrap().value_ms), (Metric::Ttfb, 2.0));
    assert_eq!(
        decode_series(JSON.as_bytes(), Path::new("x"), &wanted(Some(Metric::Wait))).unwrap_err().to_string(),
        "x:1:1: found oha's JSON, which has only latency and, in later versions, ttfb; expected samples with wait; \
         oha's CSV has more"
    );
}

#[test]
fn a_summary_without_answers() {
    let text = "{\"summary\":{\"total\":1.0,\"slowest\":null,\"fastest\":null},\"responseTimeHistogram\":{\"NaN\":0},\
                \"latencyPercentiles\":{\"p10\":null},\"errorDistribution\":{\"refused\":3}}";
    let kept = read(text).unwrap();
    assert_eq!((kept.samples.len(), kept.counts, kept.warnings), (3, vec![], vec![]));
    assert_eq!(
        decode_series(text.as_bytes(), Path::new("x"), &Wanted::default()).unwrap_err().to_string(),
        "x:1:1: found 3 samples, all failed; expected at least one sample with latency"
    );
}

#[test]
fn broken_summaries() {
    let refused = |text: &str| read(text).unwrap_err();
    let cut = refused(&JSON[..JSON.find("\"rps\"").unwrap()]);
    assert!(
        cut.contains("EOF while parsing a value; expected what oha --output-format json writes"),
        "{cut}"
    );
    assert!(refused(&JSON.replace("\"p50\": 0.006", "\"p50\": -1")).contains("floating point `-1.0`"));
    assert!(refused(&JSON.replace("\"0.0019\": 0", "\"0.0019\": -1")).contains("expected u64"));
    let counts =
        "x:1:1: found a histogram with keys or counts that cannot be; expected seconds, and counts of up to";
    assert!(refused(&JSON.replace("\"0.0019\": 0", "\"x\": 1")).starts_with(counts));
    assert!(refused(&JSON.replace("\"0.0019\": 0", "\"0.0019\": 18446744073709551615")).starts_with(counts));
    assert!(refused(&format!("{JSON}x")).contains("trailing characters"));
    let wanted = Options { metric: Some(Metric::Ttfb), ..Options::default() };
    assert!(
        read_with(JSON.replace("firstByteHistogram", "x"), &wanted).unwrap_err().contains("only latency")
    );
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes in prop_oneof![damaged(CSV), damaged(JSON)]) {
        let Ok(kept) = read(&bytes) else { return Ok(()) };
        for counts in &kept.counts {
            prop_assert!(counts.relative_error.is_finite() && counts.relative_error >= 0.0);
            prop_assert!(counts.buckets.iter().all(|bucket| bucket.count > 0 && bucket.value_ms >= 0.0));
            prop_assert!(counts.buckets.is_sorted_by(|a, b| a.value_ms < b.value_ms), "{:?}", counts.buckets);
        }
    }
}
