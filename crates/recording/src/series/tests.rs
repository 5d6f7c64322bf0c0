//! Series from both formats, put together, and from garbage.

use std::io::Write;

use proptest::prelude::*;

use super::*;

fn read_as(text: impl AsRef<[u8]>, metric: Option<Metric>) -> Result<Series, String> {
    decode_series(text.as_ref(), Path::new("dir/a.b.jsonl"), metric).map_err(|error| error.to_string())
}

const PHASES: &str = concat!(
    "{\"schema\":\"longhaul.recording/1\",\"start\":\"2025-01-01T00:00:00Z\"}\n",
    "{\"started_ns\":0,\"connect_ns\":20000000,\"wait_ns\":30500000}\n",
    "{\"started_ns\":500000000,\"wait_ns\":30000000}\n",
    "{\"started_ns\":600000000,\"error\":\"reset\",\"wait_ns\":1}\n",
    "{\"end\":{\"samples\":3,\"failed\":1}}\n",
);

#[test]
fn native_with_phases_gives_ttfb() {
    let series = read_as(PHASES, None).unwrap();
    assert_eq!((series.label.as_str(), series.metric), ("a.b", Metric::Ttfb));
    assert_eq!(
        (&series.values_ms[..], series.started_s.as_deref()),
        (&[50.5, 30.0][..], Some(&[0.0, 0.5][..]))
    );
    assert_eq!((series.read, series.failed, series.without_metric), (3, 1, 0));
    assert_eq!(series.header.unwrap().start.as_deref(), Some("2025-01-01T00:00:00Z"));
    assert_eq!((series.end.unwrap().failed, series.warnings), (1, vec![]));
}

#[test]
fn a_metric_by_name() {
    let series = read_as(PHASES, Some(Metric::Connect)).unwrap();
    // The second request found its connection open: it has no connect time, and must not count as 0.
    assert_eq!((&series.values_ms[..], series.without_metric), (&[20.0][..], 1));
    assert_eq!(
        read_as(PHASES, Some(Metric::Tls)).unwrap_err(),
        "dir/a.b.jsonl:4:1: found 3 samples without tls; expected at least one sample with tls"
    );
}

#[test]
fn native_latency_goes_before_ttfb() {
    let text = "{\"schema\":\"longhaul.recording/1\",\"label\":\"x\"}\n{\"wait_ns\":1000000}\n{\"latency_ns\":2000000}\n";
    let series = read_as(text, None).unwrap();
    assert_eq!((series.label.as_str(), series.metric, series.without_metric), ("x", Metric::Latency, 1));
    assert_eq!(series.warnings, ["The recording was cut off: it has no end line, only 2 samples."]);
}

#[test]
fn nothing_to_compare() {
    let head = "{\"schema\":\"longhaul.recording/1\"}\n";
    assert_eq!(
        read_as(head, None).unwrap_err(),
        "dir/a.b.jsonl:2:1: there is a header, but no sample; expected at least one sample"
    );
    assert!(
        read_as(format!("{head}{{\"error\":\"x\"}}\n"), None)
            .unwrap_err()
            .contains("1 sample, failed; expected")
    );
    assert!(
        read_as(format!("{head}{{\"tls_ns\":5}}\n"), None)
            .unwrap_err()
            .contains("1 sample without latency or ttfb, the last with tls")
    );
}

#[test]
fn the_name_says_nothing() {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(PHASES.as_bytes()).unwrap();
    assert_eq!(read_series(file.path(), None).unwrap().metric, Metric::Ttfb);
    let missing = read_series(Path::new("/nowhere/a.csv"), None).unwrap_err();
    assert_eq!(missing.to_string(), "cannot open /nowhere/a.csv");
    // A folder opens, but cannot be read.
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(read_series(folder.path(), None), Err(Error::Read { .. })));
}

#[test]
fn vantages_add_up() {
    let mut side = read_as(PHASES, None).unwrap();
    side.append(read_as("ttfb_ms,started_s\n7,1\n,2\n", None).unwrap()).unwrap();
    assert_eq!(side.values_ms, [50.5, 30.0, 7.0]);
    assert_eq!(side.started_s.as_deref(), Some(&[0.0, 0.5, 1.0][..]));
    assert_eq!((side.read, side.failed, side.without_metric), (5, 1, 1));

    side.append(read_as("ttfb_ms\n8\n", None).unwrap()).unwrap();
    assert_eq!((side.values_ms.len(), &side.started_s), (4, &None));
    assert_eq!(side.warnings, ["Only some of the recordings say when samples started; times are left out."]);

    let before = side.clone();
    let error = side.append(read_as("tls_ms\n8\n", None).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "a.b:1:1: found values of tls; expected ttfb, as in a.b");
    assert_eq!(side, before);
}

proptest! {
    #[test]
    fn csv_values_are_read_back(values in prop::collection::vec(0.0..1e15, 1..100), unit in 0_usize..4) {
        let (suffix, scale) = [("ms", 1.0), ("us", 1e3), ("ns", 1e6), ("s", 1e-3)][unit];
        let rows: String = values.iter().map(|value| format!("{}\n", value * scale)).collect();
        let series = read_as(format!("latency_{suffix}\n{rows}"), None);
        // Scaling there and back may round above the limit by itself.
        prop_assume!(values.iter().all(|&value| value < 9.9e14));
        let series = series.unwrap();
        for (found, expected) in series.values_ms.iter().zip(&values) {
            prop_assert!((found - expected).abs() <= 4e-16 * expected, "{} {}", found, expected);
        }
        prop_assert_eq!(series.read, values.len() as u64);
    }

    /// Nothing from a file can panic; a series that is read keeps its promises.
    #[test]
    fn garbage_is_read_or_refused(bytes in garbage()) {
        for metric in [None, Some(Metric::Wait)] {
            let Ok(series) = decode_series(bytes.as_slice(), Path::new("x"), metric) else { continue };
            prop_assert!(!series.values_ms.is_empty());
            prop_assert!(series.values_ms.iter().all(|value| value.is_finite() && *value >= 0.0));
            prop_assert_eq!(series.read, series.values_ms.len() as u64 + series.failed + series.without_metric);
            prop_assert!(series.started_s.is_none_or(|times| times.len() == series.values_ms.len()));
        }
        if let Ok(reader) = native::Reader::new(bytes.as_slice(), "x") {
            let _ = reader.count();
        }
    }
}

/// Bytes, pieces of recordings in any order, and whole recordings with something wrong in them.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "{\"schema\":\"longhaul.recording/1\"}\n",
        "{\"latency_ns\":7}\n",
        "{\"end\":{}}\n",
        "{\"wait_ns\":",
        "{",
        "}",
        "\n",
        "\r\n",
        ",",
        "\"",
        "\u{feff}",
        "latency_ms",
        "started_s",
        "error",
        "wait_us",
        "1",
        "1e9",
        "-0",
        ".",
        "e",
        "nan",
        "\t",
        ";",
        "[",
        "1e308",
        "\0",
        " ",
        "null",
        "18446744073709551615",
    ];
    let piece = prop::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec());
    let mixed = prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat());
    let beheaded =
        (prop::sample::select(vec!["", pieces[0], "latency_ms\n", "started_s,wait_us,error\n"]), mixed);
    let whole = beheaded.prop_map(|(head, rest)| [head.as_bytes(), &rest].concat());
    prop_oneof![prop::collection::vec(any::<u8>(), 0..300), whole.clone(), whole]
}
