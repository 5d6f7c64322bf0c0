//! Series from both formats, put together, and from garbage.

use std::{collections::BTreeMap, io::Write};

use proptest::prelude::*;

use super::*;
use crate::{Reader, Sample};

fn read_as(text: impl AsRef<[u8]>, metric: Option<Metric>) -> Result<Series, String> {
    read_wanted(text, &Wanted { metric, ..Wanted::default() })
}

fn read_wanted(text: impl AsRef<[u8]>, wanted: &Wanted) -> Result<Series, String> {
    decode_series(text.as_ref(), Path::new("dir/a.b.jsonl"), wanted).map_err(|error| error.to_string())
}

fn values(series: &Series) -> &[f64] {
    series.values.exact().unwrap()
}

fn warnings(series: &Series) -> Vec<String> {
    series.doubts.iter().filter(|doubt| !doubt.invalidates()).map(ToString::to_string).collect()
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
    assert_eq!((values(&series), series.started_s.as_deref()), (&[50.5, 30.0][..], Some(&[0.0, 0.5][..])));
    assert_eq!((series.read, series.failed, series.without_metric), (3, 1, 0));
    assert_eq!(series.header.as_ref().unwrap().start.as_deref(), Some("2025-01-01T00:00:00Z"));
    assert_eq!((warnings(&series), series.end.unwrap().failed), (vec![], 1));
}

#[test]
fn a_metric_by_name() {
    let series = read_as(PHASES, Some(Metric::Connect)).unwrap();
    // A reused connection has no connect time, which must not count as 0.
    assert_eq!((values(&series), series.without_metric), (&[20.0][..], 1));
    assert_eq!(
        read_as(PHASES, Some(Metric::Tls)).unwrap_err(),
        "dir/a.b.jsonl:3:1: found 3 samples without tls, the last with wait, ttfb, ttfb_without_dns; expected at least one \
         sample with tls"
    );
}

#[test]
fn the_first_sample_with_a_metric_decides() {
    let text = "{\"schema\":\"longhaul.recording/1\",\"label\":\"x\"}\n{\"send_ns\":1000000}\n{\"wait_ns\":1,\"latency_ns\":2000000}\n";
    let series = read_as(text, None).unwrap();
    assert_eq!((series.label.as_str(), series.metric, series.without_metric), ("x", Metric::Latency, 1));
    assert_eq!(warnings(&series), ["The recording was cut off: it has no end line, only 2 samples."]);
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
            .contains("1 sample without latency, ttfb or total, the last with tls; expected")
    );
}

#[test]
fn the_name_says_nothing() {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(PHASES.as_bytes()).unwrap();
    assert_eq!(read_series(file.path(), &Wanted::default()).unwrap().metric, Metric::Ttfb);
    let missing = read_series(Path::new("/nowhere/a.csv"), &Wanted::default()).unwrap_err();
    assert_eq!(missing.to_string(), "cannot open /nowhere/a.csv");
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(read_series(folder.path(), &Wanted::default()), Err(Error::Read { .. })));
}

#[test]
fn vantages_add_up() {
    let mut side = read_as(PHASES, None).unwrap();
    side.append(read_as("ttfb_ms,started_s\n7,1\n,2\n", None).unwrap()).unwrap();
    assert_eq!(values(&side), [50.5, 30.0, 7.0]);
    assert_eq!(side.started_s.as_deref(), Some(&[0.0, 0.5, 1.0][..]));
    assert_eq!((side.read, side.failed, side.without_metric), (5, 1, 1));

    side.append(read_as("ttfb_ms\n8\n", None).unwrap()).unwrap();
    assert_eq!((values(&side).len(), &side.started_s), (4, &None));
    assert_eq!(
        warnings(&side),
        ["Only some of the recordings have the times of samples; times are left out."]
    );

    let before = side.clone();
    let error = side.append(read_as("tls_ms\n8\n", None).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "a.b:1:1: found values of tls; expected ttfb, as in a.b");
    assert_eq!(side, before);
}

#[test]
fn failures_keep_their_page_and_their_time() {
    let text = "started_s,page,latency_ms,error\n1,7,3,\n2,7,,reset\n3,8,,reset\n4,,,reset\n";
    let mut side = read_as(text, None).unwrap();
    let pages = |side: &Series| side.failures.iter().map(|failure| failure.page).collect::<Vec<_>>();
    assert_eq!((side.pages.as_deref(), pages(&side)), (Some(&[0][..]), vec![0, 1, NO_GROUP]));
    assert_eq!(side.failures[1].started_s, Some(3.0));
    side.append(read_as(text, None).unwrap()).unwrap();
    assert_eq!(
        (side.pages.as_deref(), pages(&side)),
        (Some(&[0, 2][..]), vec![0, 1, NO_GROUP, 2, 3, NO_GROUP])
    );
    side.restrict(None, Some(Moment::SinceStart(2.5)), &[]).unwrap();
    assert_eq!((pages(&side), side.failed, side.excluded), (vec![0, 2], 2, 4));
}

#[test]
fn what_is_too_large_becomes_a_histogram() {
    let rows: String = (1..=1000).map(|i| format!("{i},{i}\n")).collect();
    let wanted = Wanted { exact_up_to: 100, ..Wanted::default() };
    let series = read_wanted(format!("latency_ms,started_s\n{rows}"), &wanted).unwrap();
    let Values::Counted { buckets, relative_error } = &series.values else { panic!("counts") };
    assert_eq!((series.read, series.values.count(), &series.started_s), (1000, 1000, &None));
    // Four digits: half of 1/16384.
    assert_eq!(*relative_error, 0.5 / 16384.0);
    for (bucket, exact) in buckets.iter().zip(1..) {
        let exact = f64::from(exact);
        assert!((bucket.value_ms - exact).abs() <= relative_error * exact, "{bucket:?}");
    }
    assert!(
        warnings(&series)[0]
            .contains("More than 100 samples: kept as a histogram, each value within 0.003 %")
    );
}

#[test]
fn a_histogram_of_dates_has_a_start_and_no_times() {
    let rows: String = (1..=200).map(|i| format!("{i},{}\n", 1_760_000_000 + i)).collect();
    let wanted = Wanted { exact_up_to: 100, ..Wanted::default() };
    let series = read_wanted(format!("latency_ms,started_s\n{rows}"), &wanted).unwrap();
    assert_eq!((series.started_s, series.start_unix_s), (None, Some(1_760_000_001.0)));
}

#[test]
fn a_period_and_a_mark() {
    let text = "started_s,latency_ms,page\n0,1,7\n10,2,7\n20,3,8\n30,4,9\n";
    let mut series = read_as(text, None).unwrap();
    let hole = Moment::SinceStart(10.0)..Moment::SinceStart(20.0);
    series.restrict(None, Some(Moment::SinceStart(30.0)), &[hole]).unwrap();
    assert_eq!((values(&series), series.started_s.as_deref()), (&[1.0, 3.0][..], Some(&[0.0, 20.0][..])));
    assert_eq!((series.pages.as_deref(), series.read, series.excluded), (Some(&[0, 1][..]), 4, 2));

    let [before, after] = read_as(text, None).unwrap().split_at(Moment::SinceStart(20.0)).unwrap();
    assert_eq!((values(&before), values(&after)), (&[1.0, 2.0][..], &[3.0, 4.0][..]));
    assert_eq!((before.label.as_str(), after.label.as_str()), ("a.b before", "a.b after"));

    let refused = |text: &str, from| {
        read_as(text, None).unwrap().restrict(Some(from), None, &[]).unwrap_err().to_string()
    };
    let mut none = read_as(text, None).unwrap();
    none.restrict(Some(Moment::SinceStart(31.0)), None, &[]).unwrap();
    assert_eq!((none.values.count(), none.excluded), (0, 4));
    assert!(refused(text, Moment::Unix(1e9)).contains("the date of its start"));
    assert!(refused("latency_ms\n1\n", Moment::SinceStart(1.0)).contains("the samples have no times"));
    // 2025-01-01T00:00:00Z is 1735689600; the second sample starts half a second later.
    let mut dated = read_as(PHASES, None).unwrap();
    dated.restrict(Some(Moment::Unix(1_735_689_600.25)), None, &[]).unwrap();
    assert_eq!(values(&dated), [30.0]);
}

#[test]
fn what_failed_is_in_a_period_too() {
    let text = "started_s,latency_ms,error\n0,1,\n1,,reset\n2,,\n10,2,\n11,,reset\n12,,reset\n";
    let [before, after] = read_as(text, None).unwrap().split_at(Moment::SinceStart(10.0)).unwrap();
    let counts = |side: &Series| (side.values.count(), side.failed, side.without_metric, side.excluded);
    assert_eq!((counts(&before), counts(&after)), ((1, 1, 1, 3), (1, 2, 0, 3)));
    let text = "started_s,latency_ms,error\n0,1,\n,,reset\n10,2,\n";
    let [before, _] = read_as(text, None).unwrap().split_at(Moment::SinceStart(10.0)).unwrap();
    assert_eq!((before.failed, warnings(&before).len()), (1, 1));
}

#[test]
fn a_phase_is_taken_out_where_there_is_one() {
    let text = "latency_ms,dns_ms\n10,4\n20,\n5,7\n";
    let wanted = Wanted { excluded_phases: vec![Metric::Dns], ..Wanted::default() };
    let series = read_wanted(text, &wanted).unwrap();
    assert_eq!((values(&series), series.taken_out), (&[6.0, 20.0, 0.0][..], 2));
    assert_eq!(
        warnings(&series),
        [
            "1 of 3 samples have no dns: nothing is subtracted from them.",
            "In 1 sample dns takes longer than the whole: the rest counts as 0."
        ]
    );
}

#[test]
fn packed_files_are_unpacked_and_bombs_are_not() {
    use flate2::{Compression, write::GzEncoder};
    let pack = |text: &[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    };
    let packed = [pack(b"latency_ms\n1\n"), pack(b"2\n")].concat();
    assert_eq!(values(&read_as(packed, None).unwrap()), [1.0, 2.0]);
    let frame =
        |text: &[u8]| ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest);
    let packed = [frame(b"latency_ms\n1\n"), frame(b"2\n")].concat();
    assert_eq!(values(&read_as(packed, None).unwrap()), [1.0, 2.0]);
    let cut = pack(b"latency_ms\n1\n2\n3\n");
    assert!(matches!(
        decode_series(&cut[..cut.len() - 12], Path::new("x.gz"), &Wanted::default()),
        Err(Error::Read { .. })
    ));
    // 100 MiB of blank lines in 100 KiB.
    let bomb = pack(&vec![b'\n'; 100 << 20]);
    let error = read_as(bomb, None).unwrap_err();
    assert!(error.contains("cannot read on"), "{error}");
}

proptest! {
    #[test]
    fn csv_values_are_read_back(values in prop::collection::vec(0.0..1e15, 1..100), unit in 0_usize..4) {
        let (suffix, scale) = [("ms", 1.0), ("us", 1e3), ("ns", 1e6), ("s", 1e-3)][unit];
        let rows: String = values.iter().map(|value| format!("{}\n", value * scale)).collect();
        let series = read_as(format!("latency_{suffix}\n{rows}"), None);
        prop_assume!(values.iter().all(|&value| value < 9.9e14));
        let series = series.unwrap();
        for (found, expected) in self::values(&series).iter().zip(&values) {
            prop_assert!((found - expected).abs() <= 4e-16 * expected, "{} {}", found, expected);
        }
        prop_assert_eq!(series.read, values.len() as u64);
    }

    #[test]
    fn garbage_is_read_or_refused(bytes in garbage()) {
        for metric in [None, Some(Metric::Wait)] {
            let wanted = Wanted { metric, ..Wanted::default() };
            let Ok(series) = decode_series(bytes.as_slice(), Path::new("x"), &wanted) else { continue };
            prop_assert!(!values(&series).is_empty());
            prop_assert!(values(&series).iter().all(|value| value.is_finite() && *value >= 0.0));
            prop_assert_eq!(series.read, values(&series).len() as u64 + series.failed + series.without_metric);
            prop_assert!(series.started_s.as_ref().is_none_or(|times| times.len() == values(&series).len()));
        }
        if let Ok(reader) = Reader::new(bytes.as_slice(), "x") {
            let _ = reader.count();
        }
    }
}

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

/// Seconds 0 to 5 with 1, 2, ... events of that many milliseconds, tagged odd and even, the last
/// without a tag.
fn log(start: Option<&str>) -> Vec<u8> {
    use crate::{Target, WriteOptions, create};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hlog");
    let options = WriteOptions { tag: Some("city".to_owned()), ..WriteOptions::default() };
    let mut recorder = create(&path, Target::Hlog, &options).unwrap();
    recorder.begin(&Header { start: start.map(str::to_owned), ..Header::default() }).unwrap();
    for second in 0..6_u64 {
        let city = if second % 2 == 0 { "even" } else { "odd" };
        let labels = if second == 5 { [].into() } else { [("city".to_owned(), city.to_owned())].into() };
        for event in 0..=second {
            let started_ns = Some(second * 1_000_000_000 + event);
            let latency_ns = Some((second + 1) * 1_000_000);
            let sample =
                Sample { started_ns, latency_ns, labels: BTreeMap::clone(&labels), ..Sample::default() };
            recorder.event(&crate::Event { number: 1, sample: &sample, exact: &[] }).unwrap();
        }
    }
    recorder.finish(&End::default()).unwrap();
    std::fs::read(&path).unwrap()
}

/// (milliseconds, events), rounded: a log of three digits is off by 0.05 %.
fn counts(series: &Series) -> Vec<(u64, u64)> {
    let Values::Counted { buckets, .. } = &series.values else { panic!("a log has counts") };
    buckets.iter().map(|bucket| (crate::unit::nanoseconds(bucket.value_ms / 1e6), bucket.count)).collect()
}

#[test]
fn intervals_of_a_log_are_a_period() {
    let since = |seconds| Some(Moment::SinceStart(seconds));
    // 2025-03-14T09:30:00Z is 1741944600.
    for start in [None, Some("2025-03-14T09:30:00Z")] {
        let series = || read_wanted(log(start), &Wanted::default()).unwrap();
        assert_eq!(counts(&series()), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6)]);
        assert_eq!(series().start_unix_s, start.map(|_| 1_741_944_600.0));
        let mut later = series();
        later.restrict(since(4.0), None, &[]).unwrap();
        assert_eq!((counts(&later), later.excluded, later.read), (vec![(5, 5), (6, 6)], 10, 21));
        let mut hole = series();
        hole.restrict(None, since(5.0), &[Moment::SinceStart(1.0)..Moment::SinceStart(4.0)]).unwrap();
        assert_eq!((counts(&hole), hole.excluded), (vec![(1, 1), (5, 5)], 15));
        let [before, after] = series().split_at(Moment::SinceStart(2.0)).unwrap();
        assert_eq!((counts(&before).len(), counts(&after).len()), (2, 4));
        let over = |series: &Series| {
            warnings(series).iter().any(|warning| warning.contains("over an end of the period"))
        };
        assert!(!over(&before) && !over(&later) && !over(&hole));
        let mut middle = series();
        middle.restrict(since(2.5), None, &[]).unwrap();
        assert_eq!(counts(&middle)[0], (4, 4));
        assert!(over(&middle), "{:?}", warnings(&middle));
        let dated = series().split_at(Moment::Unix(1_741_944_602.0));
        match start {
            Some(_) => assert_eq!(counts(&dated.unwrap()[1]), [(3, 3), (4, 4), (5, 5), (6, 6)]),
            None => assert!(dated.unwrap_err().to_string().contains("does not contain the date")),
        }
    }
    let table = "Value Percentile TotalCount 1/(1-Percentile)\n\n1.0 1.0 5\n";
    let mut series = read_as(table, None).unwrap();
    assert!(series.restrict(since(1.0), None, &[]).is_err());
}

#[test]
fn tags_of_a_log_are_a_label() {
    let wanted = |by: &str| Wanted { by: Some(by.to_owned()), ..Wanted::default() };
    let series = read_wanted(log(None), &wanted("tag")).unwrap();
    let parts = series.parts.as_ref().unwrap();
    let tags: Vec<_> = parts.iter().map(|part| (part.tag.as_deref(), part.events())).collect();
    let expected = [
        (Some("even"), 1),
        (Some("odd"), 2),
        (Some("even"), 3),
        (Some("odd"), 4),
        (Some("even"), 5),
        (None, 6),
    ];
    assert_eq!(tags, expected);
    assert!(!warnings(&series).iter().any(|warning| warning.contains("tags")), "{:?}", warnings(&series));
    let city = read_wanted(log(None), &wanted("city")).unwrap();
    let said = "The meaning of the tags is not in the file; they are read as the label \"city\".";
    assert!(warnings(&city).iter().any(|warning| warning == said), "{:?}", warnings(&city));
    let mut two = read_wanted(log(None), &wanted("tag")).unwrap();
    two.append(city).unwrap();
    assert_eq!(two.parts.as_ref().map(Vec::len), Some(12));
    two.append(read_as("latency_ms\n1\n", None).unwrap()).unwrap();
    assert_eq!(two.parts, None);
}
