//! Randomly damaged files: a decoder gives samples or an error, and never panics.

use proptest::prelude::*;

use super::json::testing::{damaged, read};
use crate::Format;

const FILES: [(Format, &str); 23] = [
    (Format::Ab, include_str!("../../../../../fuzz/seeds/recording_tools/ab.tsv")),
    (Format::Artillery, include_str!("../../../../../fuzz/seeds/recording_tools/artillery.json")),
    (Format::Atlas, include_str!("../../../../../fuzz/seeds/recording_tools/atlas.json")),
    (Format::Autocannon, include_str!("../../../../../fuzz/seeds/recording_tools/autocannon.json")),
    (Format::Bombardier, include_str!("../../../../../fuzz/seeds/recording_tools/bombardier.json")),
    (Format::Fortio, include_str!("../../../../../fuzz/seeds/recording_tools/fortio.json")),
    (Format::Fping, include_str!("../../../../../fuzz/seeds/recording_tools/fping.txt")),
    (Format::Gatling, include_str!("../../../../../fuzz/seeds/recording_tools/gatling.log")),
    (Format::Ghz, include_str!("../../../../../fuzz/seeds/recording_tools/ghz.json")),
    (Format::Hey, include_str!("../../../../../fuzz/seeds/recording_tools/hey.csv")),
    (Format::K6Summary, include_str!("../../../../../fuzz/seeds/recording_tools/k6-summary.json")),
    (Format::Lighthouse, include_str!("../../../../../fuzz/seeds/recording_tools/lighthouse.json")),
    (Format::Locust, include_str!("../../../../../fuzz/seeds/recording_tools/locust.csv")),
    (Format::LocustHistory, include_str!("../../../../../fuzz/seeds/recording_tools/locust-history.csv")),
    (Format::LocustJson, include_str!("../../../../../fuzz/seeds/recording_tools/locust.json")),
    (Format::Mtr, include_str!("../../../../../fuzz/seeds/recording_tools/mtr.txt")),
    (Format::Nighthawk, include_str!("../../../../../fuzz/seeds/recording_tools/nighthawk.json")),
    (Format::Otlp, include_str!("../../../../../fuzz/seeds/recording_tools/otlp.json")),
    (Format::Ping, include_str!("../../../../../fuzz/seeds/recording_tools/ping.txt")),
    (Format::Prometheus, include_str!("../../../../../fuzz/seeds/recording_tools/prometheus.txt")),
    (Format::Smokeping, include_str!("../../../../../fuzz/seeds/recording_tools/smokeping.txt")),
    (Format::WindowsPing, include_str!("../../../../../fuzz/seeds/recording_tools/windows-ping.txt")),
    (Format::Wrk, include_str!("../../../../../fuzz/seeds/recording_tools/wrk.txt")),
];

#[test]
fn each_is_recognised_and_has_values() {
    for (format, text) in FILES {
        let kept = read(text).unwrap();
        assert_eq!(kept.format, Some(format));
        let is_value = kept.samples.iter().any(|sample| sample.latency_ns.is_some());
        assert!(is_value || kept.counts.iter().any(|counts| counts.events() > 0), "{format:?}");
        for counts in &kept.counts {
            assert!(counts.buckets.is_sorted_by(|one, other| one.value_ms < other.value_ms), "{format:?}");
            assert!((0.0..1.0).contains(&counts.relative_error), "{format:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damage_is_an_error_or_leaves_values(text in prop::sample::select(FILES.to_vec()).prop_flat_map(|(_, text)| damaged(text))) {
        if let Ok(kept) = read(text) {
            for counts in &kept.counts {
                prop_assert!((0.0..1.0).contains(&counts.relative_error));
                prop_assert!(counts.buckets.iter().all(|bucket| bucket.value_ms.is_finite() && bucket.value_ms >= 0.0 && bucket.count > 0));
            }
        }
    }
}
