//! Written data is read back: the same samples, or the same counts within the stated error.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::{
    Bucket, Format, Histogram, Labels, Options, Sample, Unit, Values, Wanted, decode_series, read,
    read_series,
};

#[derive(Default)]
struct Kept {
    samples: Vec<Sample>,
    counts: Vec<Counts>,
}

impl Sink for Kept {
    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        self.samples.push(event.sample.clone());
        Ok(())
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        self.counts.push(counts.clone());
        Ok(())
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns the path, and the reported losses.
    fn write(&self, name: &str, samples: &[Sample], options: &WriteOptions) -> (PathBuf, Written) {
        self.write_with(name, &Header::default(), samples, options)
    }

    fn write_with(
        &self,
        name: &str,
        header: &Header,
        samples: &[Sample],
        options: &WriteOptions,
    ) -> (PathBuf, Written) {
        let path = self.0.path().join(name);
        let mut recorder = create(&path, Target::of(&path).unwrap(), options).unwrap();
        recorder.begin(header).unwrap();
        for (index, sample) in samples.iter().enumerate() {
            recorder.event(&Event { number: index as u64 + 1, sample, exact: &[] }).unwrap();
        }
        let written = recorder.finish(&End { duration_ns: 2_500_000_000, ..End::default() }).unwrap();
        (path, written)
    }

    fn text(&self, name: &str, samples: &[Sample], options: &WriteOptions) -> String {
        std::fs::read_to_string(self.write(name, samples, options).0).unwrap()
    }
}

fn kept(path: &Path) -> Kept {
    let mut kept = Kept::default();
    read(path, &Options { labels: Labels::All, ..Options::default() }, &mut kept).unwrap();
    kept
}

/// For logs of others, which do not name their unit.
fn nanoseconds() -> Options {
    Options { unit: Some(Unit::Ns), labels: Labels::All, ..Options::default() }
}

fn latency(ns: u64) -> Sample {
    Sample { latency_ns: Some(ns), ..Sample::default() }
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let ns = || prop::option::of(0..1_u64 << 45);
    let text = "[a-z][a-z ,;\"'0-9]{0,8}[a-z]";
    let one = (
        (ns(), ns(), ns(), ns(), ns()),
        (ns(), ns(), prop::option::of(100..600_u16), prop::option::of(0..5_u64), prop::option::of(text)),
        prop::collection::btree_map("[a-z]{3,6}x", text, 0..3),
    );
    let sample = one.prop_map(
        |((latency, dns, wait, ttfb, total), (started, intended, status, page, error), labels)| Sample {
            latency_ns: latency,
            dns_ns: dns,
            wait_ns: wait,
            ttfb_ns: ttfb.filter(|_| wait.is_none()),
            last_byte_ns: total,
            started_ns: started,
            intended_ns: intended,
            status,
            page,
            error,
            labels,
            ..Sample::default()
        },
    );
    prop::collection::vec(sample, 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn csv_gives_the_samples_back(samples in samples(), tabs in any::<bool>()) {
        let folder = Folder::new();
        let samples: Vec<Sample> = samples
            .into_iter()
            .map(|sample| Sample { latency_ns: sample.latency_ns.or(Some(7)), ..sample })
            .collect();
        let (path, written) = folder.write(if tabs { "a.tsv" } else { "a.csv" }, &samples, &WriteOptions::default());
        prop_assert_eq!((written.samples, written.lost), (samples.len() as u64, vec![]));
        prop_assert_eq!(kept(&path).samples, samples);
    }

    #[test]
    fn native_gives_the_samples_back(samples in samples(), ending in prop::sample::select(vec!["", ".gz", ".zst"])) {
        let folder = Folder::new();
        let (path, written) = folder.write(&format!("a.jsonl{ending}"), &samples, &WriteOptions::default());
        prop_assert_eq!((written.samples, written.lost), (samples.len() as u64, vec![]));
        prop_assert_eq!(kept(&path).samples, samples);
    }

    #[test]
    fn a_log_gives_the_counts_and_quantiles_back(values in prop::collection::vec(1..1_u64 << 40, 1..200), digits in 1..=4_u8) {
        let folder = Folder::new();
        let samples: Vec<Sample> = values.iter().map(|&value| latency(value)).collect();
        let (path, _) = folder.write("a.hlog", &samples, &WriteOptions { digits, ..WriteOptions::default() });
        let series = read_series(&path, &Wanted::default()).unwrap();
        let Values::Counted { buckets, relative_error } = series.values else { panic!("a log has counts") };
        prop_assert_eq!(relative_error, Histogram::new(digits).relative_error());
        let mut sorted = values;
        sorted.sort_unstable();
        let read = buckets.iter().flat_map(|bucket| (0..bucket.count).map(|_| bucket.value_ms));
        let read: Vec<f64> = read.collect();
        prop_assert_eq!(read.len(), sorted.len());
        for (read, value) in read.into_iter().zip(sorted) {
            let value = value as f64 / 1e6;
            prop_assert!((read - value).abs() <= value * relative_error + 1e-12, "{} for {}", read, value);
        }
    }
}

#[test]
fn targets_by_name() {
    for (name, target) in [
        ("a.jsonl", Target::Native),
        ("a.json.gz", Target::Native),
        ("A.CSV", Target::Csv),
        ("a.csv.GZ", Target::Csv),
        ("a.b.tsv.zst", Target::Tsv),
        ("a.hlog", Target::Hlog),
        ("a.hgrm", Target::Hgrm),
        ("a.prom", Target::Prometheus),
    ] {
        assert_eq!(Target::of(Path::new(name)), Ok(target), "{name}");
    }
    for name in ["a", "a.gz", "a.txt", "csv"] {
        assert!(Target::of(Path::new(name)).is_err(), "{name}");
    }
    for target in Target::ALL {
        assert_eq!(target.name().parse(), Ok(target));
    }
    assert_eq!(
        "parquet".parse::<Target>().unwrap_err().to_string(),
        "unknown format \"parquet\"; expected native, csv, tsv, hlog, hgrm or prometheus"
    );
}

#[test]
fn csv_has_the_columns_that_occur() {
    let folder = Folder::new();
    let label = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into();
    let rows = [
        Sample { latency_ns: Some(12_700_000), ..Sample::default() },
        Sample {
            error: Some("reset\nby peer".to_owned()),
            started_ns: Some(1_500_000_000),
            ..Sample::default()
        },
        Sample {
            latency_ns: Some(1),
            labels: label("city", "Oslo, N"),
            reused: Some(true),
            ..Sample::default()
        },
        Sample { labels: label("page", "x"), ..Sample::default() },
    ];
    assert_eq!(
        folder.text("a.csv", &rows, &WriteOptions::default()),
        "latency_ms,started_s,error,reused,city,label_page\n\
         12.7,,,,,\n\
         ,1.5,\"reset by peer\",,,\n\
         0.000001,,,reused,\"Oslo, N\",\n\
         ,,,,,x\n"
    );
    let led = Sample {
        latency_ns: Some(1_000_000),
        remote: Some("10.0.0.1:80".to_owned()),
        family: Some("ipv4".to_owned()),
        fallback: Some(true),
        ..Sample::default()
    };
    assert_eq!(
        folder.text("led.csv", &[led], &WriteOptions::default()),
        "latency_ms,remote,family,fallback\n1,10.0.0.1:80,ipv4,fallback\n"
    );
    let rows = [latency(5_000_000), Sample::default()];
    assert_eq!(folder.text("b.csv", &rows, &WriteOptions::default()), "latency_ms\n5\n\"\"\n");
    assert_eq!(folder.text("c.csv", &[Sample::default()], &WriteOptions::default()), "latency_ms\n\"\"\n");
}

#[test]
fn exact_values_stay_exact() {
    let folder = Folder::new();
    let path = folder.0.path().join("a.csv");
    let mut recorder = create(&path, Target::Csv, &WriteOptions::default()).unwrap();
    let exact = [(Metric::Latency, 0.123_456_789_012_345), (Metric::TtfbWithoutDns, 3.5)];
    recorder.event(&Event { number: 1, sample: &latency(123_457), exact: &exact }).unwrap();
    recorder.finish(&End::default()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "latency_ms,ttfb_without_dns_ms\n0.123456789012345,3.5\n");
    let mut recorder =
        create(&folder.0.path().join("a.jsonl"), Target::Native, &WriteOptions::default()).unwrap();
    recorder.event(&Event { number: 1, sample: &latency(123_457), exact: &exact }).unwrap();
    let written = recorder.finish(&End::default()).unwrap();
    assert_eq!(written.lost, [""; 0]);
    let sample = kept(&folder.0.path().join("a.jsonl")).samples.remove(0);
    assert_eq!((sample.latency_ns, sample.get(Metric::TtfbWithoutDns)), (Some(123_457), Some(3_500_000)));
}

#[test]
fn what_is_lost_is_said() {
    let folder = Folder::new();
    let sample = Sample {
        wait_ns: Some(1),
        last_byte_ns: Some(9),
        page: Some(1),
        chain: Some(1),
        status: Some(200),
        started_ns: Some(5),
        first_body_byte_ns: Some(3),
        labels: [("city".to_owned(), "Oslo".to_owned())].into(),
        ..Sample::default()
    };
    let failed = Sample { error: Some("reset".to_owned()), ..Sample::default() };
    let lost =
        |name: &str| folder.write(name, &[sample.clone(), failed.clone()], &WriteOptions::default()).1.lost;
    assert_eq!(lost("a.jsonl"), [""; 0]);
    assert_eq!(
        lost("a.csv"),
        [
            "Moments within the response are left out, of 1 sample.",
            "Redirect chains are left out, of 1 sample."
        ]
    );
    let common = [
        "Failures are left out, of 1 sample.",
        "Labels are left out, of 1 sample.",
        "Pages are left out, of 1 sample.",
        "Phases and other metrics are left out, of 1 sample.",
    ];
    let status = "Status, size and reuse of the connection are left out, of 1 sample.";
    let hlog = lost("a.hlog");
    assert_eq!((&hlog[..4], hlog[4].as_str()), (&common.map(str::to_owned)[..], status));
    assert!(lost("a.hgrm").contains(&"Start times are left out, of 1 sample.".to_owned()));
    assert!(!lost("a.prom").contains(&common[0].to_owned()));
}

#[test]
fn counts_need_a_format_of_counts() {
    let folder = Folder::new();
    for name in ["a.jsonl", "a.csv", "a.tsv"] {
        let path = folder.0.path().join(name);
        let target = Target::of(&path).unwrap();
        let mut recorder = create(&path, target, &WriteOptions::default()).unwrap();
        let error = recorder.counts(&Counts::default()).unwrap_err();
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(
            source,
            format!(
                "the input has only counts of latencies, and {} requires single samples; hlog, hgrm and prometheus \
                 take counts",
                target.name()
            )
        );
        drop(recorder);
        assert!(!path.exists());
    }
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 0);
}

#[test]
fn intervals_and_tags_of_a_log() {
    let folder = Folder::new();
    let header = Header { start: Some("2023-11-14T22:13:20.250Z".to_owned()), ..Header::default() };
    let at = |started_ms: u64, ms: u64, city: &str| Sample {
        started_ns: Some(started_ms * 1_000_000),
        latency_ns: Some(ms * 1_000_000),
        labels: [("city".to_owned(), city.to_owned())].into(),
        ..Sample::default()
    };
    let options = WriteOptions { tag: Some("city".to_owned()), interval_s: 0.5, ..WriteOptions::default() };
    let samples =
        [at(1600, 3, "Oslo"), at(100, 1, "Oslo"), at(400, 2, "Buenos Aires"), at(499, 4, "Oslo"), latency(9)];
    let (path, _) = folder.write_with("a.hlog", &header, &samples, &options);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..5],
        [
            "#[Histogram log format version 1.3]",
            "#[Unit: ns]",
            // date -u -d 2023-11-14T22:13:20Z +%s.
            "#[BaseTime: 1700000000.250 (seconds since epoch)]",
            "#[StartTime: 1700000000.250 (seconds since epoch)]",
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
        ]
    );
    let heads: Vec<&str> = lines[5..].iter().map(|line| line.split(",HIST").next().unwrap()).collect();
    assert_eq!(
        heads,
        [
            "0.000,2.500,0.000",
            "Tag=Buenos_Aires,0.000,0.500,2.001",
            "Tag=Oslo,0.000,0.500,4.002",
            "Tag=Oslo,1.500,0.500,3.000"
        ]
    );
    let read = kept(&path).counts;
    assert_eq!(read[2].buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 2);
    assert_eq!(read[3].started_s, Some(1_700_000_001.75));
}

#[test]
fn dates_of_events_are_a_logs_dates() {
    let folder = Folder::new();
    let at = |second: u64| Sample {
        started_ns: Some((1_700_000_000 + second) * 1_000_000_000),
        ..latency(1_000_000)
    };
    let (path, _) = folder.write("a.hlog", &[at(1), at(0), at(300)], &WriteOptions::default());
    let starts: Vec<f64> = kept(&path).counts.iter().map(|counts| counts.started_s.unwrap()).collect();
    assert_eq!(starts, [1_700_000_000.0, 1_700_000_001.0, 1_700_000_300.0]);
}

#[test]
fn intervals_that_come_again_are_one() {
    let folder = Folder::new();
    let at = |second: u64| Sample { started_ns: Some(second * 1_000_000_000), ..latency(1_000_000 + second) };
    let samples: Vec<Sample> = (0..300).chain(0..300).map(at).collect();
    let (path, _) = folder.write("a.hlog", &samples, &WriteOptions::default());
    let counts = kept(&path).counts;
    assert_eq!(counts.len(), 300);
    assert!(counts.iter().all(|counts| counts.buckets.len() == 1 && counts.buckets[0].count == 2));
}

/// The histogram behind `testdata/hlog/v2.hlog`, in the output of the Java library.
#[test]
fn percentiles_are_those_of_java() {
    let folder = Folder::new();
    let path = folder.0.path().join("a.hgrm");
    let mut recorder = create(&path, Target::Hgrm, &WriteOptions::default()).unwrap();
    let log = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hlog/v2.hlog"));
    read(log, &nanoseconds(), recorder.as_mut()).unwrap();
    let written = recorder.finish(&End::default()).unwrap();
    assert_eq!(written.samples, 900);
    let ours = std::fs::read_to_string(&path).unwrap();
    let java = include_str!("../../testdata/hgrm/v2.hgrm");
    let is_alike = |ours: &str, java: &str| {
        let number = |word: &str| word.trim_end_matches([',', ']']).parse::<f64>();
        match (number(ours), number(java)) {
            (Ok(ours), Ok(java)) => (ours - java).abs() <= 0.000_5 + 1e-9,
            _ => ours == java,
        }
    };
    for (ours, java) in ours.lines().zip(java.lines()) {
        let (ours, java) = (ours.split_whitespace(), java.split_whitespace());
        assert_eq!(ours.clone().count(), java.clone().count());
        ours.zip(java).for_each(|(ours, java)| assert!(is_alike(ours, java), "{ours} for {java}"));
    }
    assert_eq!(ours.lines().count(), java.lines().count());
    let series = read_series(&path, &Wanted::default()).unwrap();
    assert_eq!(series.values.count(), 900);
}

#[test]
fn percentiles_below_a_millisecond_stay() {
    let folder = Folder::new();
    for (ns, digits) in [(20_000, 1), (400, 3), (1, 1)] {
        let options = WriteOptions { digits, ..WriteOptions::default() };
        let (path, written) = folder.write("a.hgrm", &vec![latency(ns); 1000], &options);
        let series = read_series(&path, &Wanted::default()).unwrap();
        let Values::Counted { buckets, .. } = series.values else { panic!("percentiles are counts") };
        let [bucket] = buckets[..] else { panic!("one value") };
        let error = bucket.value_ms * 1e6 / ns as f64 - 1.0;
        assert!((-1e-9..=2.0 * Histogram::new(digits).relative_error()).contains(&error), "{bucket:?}");
        assert!(
            written.lost[0].starts_with("Only 1 point of the distribution is kept, within "),
            "{written:?}"
        );
    }
    let (_, written) = folder.write("a.hgrm", &[latency(1), latency(9)], &WriteOptions::default());
    assert_eq!(
        written.lost,
        [
            "Only 2 points of the distribution are kept, within 0.098 %: where the values between two lie is not in the \
          file."
        ]
    );
}

#[test]
fn values_that_become_others_are_counted() {
    let folder = Folder::new();
    // Two that exceed u64, one that exceeds a histogram, one that rounds to 0, and 0 and 1 ns.
    let values = [1e15, 2e13, 1e13, 1e-7, 0.0, 1e-6];
    let small = "Values above 0 and below half a nanosecond are written as 0: 1 value.".to_owned();
    for (name, large, takes_counts) in [
        ("a.jsonl", "Values above 584 years are written as 584 years: 2 values.", false),
        ("a.hlog", "Values above 292 years are written as 292 years: 3 values.", true),
        ("a.hgrm", "Values above 292 years are written as 292 years: 3 values.", true),
    ] {
        let path = folder.0.path().join(name);
        let target = Target::of(&path).unwrap();
        for as_counts in [false, takes_counts] {
            let mut recorder = create(&path, target, &WriteOptions::default()).unwrap();
            if as_counts {
                let buckets = values.iter().rev().map(|&value_ms| Bucket::exact(value_ms, 1)).collect();
                recorder.counts(&Counts { buckets, ..Counts::default() }).unwrap();
            } else {
                recorder.values(1, Metric::Latency, &values).unwrap();
            }
            let written = recorder.finish(&End::default()).unwrap();
            assert_eq!(written.lost[..2], [small.clone(), large.to_owned()], "{name}");
        }
    }
    let mut recorder = create(&folder.0.path().join("a.csv"), Target::Csv, &WriteOptions::default()).unwrap();
    recorder.values(1, Metric::Latency, &values).unwrap();
    assert_eq!(recorder.finish(&End::default()).unwrap().lost, [""; 0]);
}

#[test]
fn errors_name_the_file() {
    let folder = Folder::new();
    let path = folder.0.path().join("a.csv");
    let mut recorder = create(&path, Target::Csv, &WriteOptions::default()).unwrap();
    let error = recorder.counts(&Counts::default()).unwrap_err().to_string();
    assert_eq!(error, format!("cannot write line 2 of {}", path.display()));
    let path = folder.0.path().join("a.hlog");
    let recorder = create(&path, Target::Hlog, &WriteOptions::default()).unwrap();
    let error = recorder.finish(&End::default()).unwrap_err().to_string();
    assert_eq!(error, format!("cannot write line 1 of {}", path.display()));
}

type Line = (String, Vec<(String, String)>, f64);

fn parse_prometheus(text: &str) -> Vec<Line> {
    let line = |line: &str| {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let mut rest = labels.strip_suffix('}').unwrap();
        let mut pairs = Vec::new();
        while let Some((label, quoted)) = rest.split_once("=\"") {
            let (mut value, mut escaped, mut end) = (String::new(), false, 0);
            for (at, c) in quoted.char_indices() {
                match (escaped, c) {
                    (true, 'n') => value.push('\n'),
                    (true, c) => value.push(c),
                    (false, '\\') => {}
                    (false, '"') => {
                        end = at;
                        break;
                    }
                    (false, c) => value.push(c),
                }
                escaped = !escaped && c == '\\';
            }
            pairs.push((label.to_owned(), value));
            rest = quoted[end + 1..].trim_start_matches(',');
        }
        (name.to_owned(), pairs, value.parse().unwrap())
    };
    text.lines().filter(|line| !line.starts_with('#')).map(line).collect()
}

#[test]
fn prometheus_text() {
    let folder = Folder::new();
    let values = [0, 500_000, 1_000_000, 2_000_000, 2_000_001, 1_000_000_000, 3_000_000_000];
    let mut samples: Vec<Sample> = values.map(latency).to_vec();
    samples.push(Sample { error: Some("reset".to_owned()), ..Sample::default() });
    let side = "a \"b\"\\c\nd";
    let options = WriteOptions { side: Some(side.to_owned()), ..WriteOptions::default() };
    let text = folder.text("a.prom", &samples, &options);
    assert!(text.starts_with("# HELP longhaul_latency_seconds "));
    assert!(text.contains("\n# TYPE longhaul_latency_seconds histogram\n"));
    let parsed = parse_prometheus(&text);
    assert!(parsed.iter().all(|(_, labels, _)| labels[0] == ("side".to_owned(), side.to_owned())));
    let buckets: Vec<(f64, f64)> = parsed
        .iter()
        .filter(|(name, ..)| name == "longhaul_latency_seconds_bucket")
        .map(|(_, labels, count)| (labels[1].1.parse().unwrap(), *count))
        .collect();
    assert!(buckets.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
    for &(le, count) in &buckets {
        assert_eq!(count, values.iter().filter(|&&ns| ns as f64 / 1e9 <= le).count() as f64, "{le}");
        assert!(le.is_infinite() || ((le.log2() * 8.0).round() - le.log2() * 8.0).abs() < 1e-9);
    }
    let of = |name: &str| parsed.iter().find(|(found, ..)| found == name).unwrap().2;
    assert_eq!(buckets.last().unwrap(), &(f64::INFINITY, 7.0));
    assert_eq!((of("longhaul_latency_seconds_count"), of("longhaul_failed_total")), (7.0, 1.0));
    assert!((of("longhaul_latency_seconds_sum") - 4.005_500_001).abs() < 1e-12);
    let nothing = folder.text("b.prom", &[], &WriteOptions::default());
    assert!(nothing.contains("longhaul_latency_seconds_bucket{le=\"+Inf\"} 0\n"));
    assert!(nothing.contains("\nlonghaul_latency_seconds_count 0\n"));
}

#[test]
fn the_metric_of_formats_with_one() {
    let folder = Folder::new();
    let sample = Sample { wait_ns: Some(5_000_000), last_byte_ns: Some(9_000_000), ..Sample::default() };
    let text = folder.text("a.prom", std::slice::from_ref(&sample), &WriteOptions::default());
    assert!(text.contains("longhaul_ttfb_seconds_sum 0.005\n"), "{text}");
    let total = WriteOptions { metric: Some(Metric::Total), ..WriteOptions::default() };
    let text = folder.text("a.prom", std::slice::from_ref(&sample), &total);
    assert!(text.contains("longhaul_total_seconds_sum 0.009\n"), "{text}");
    let (_, written) = folder.write("a.hlog", &[sample, Sample::default()], &total);
    assert_eq!((written.samples, written.without_metric), (1, 1));
    assert!(written.lost.contains(&"Samples without the metric are left out, of 1 sample.".to_owned()));
}

#[test]
fn the_reference_reads_our_log() {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    let folder = Folder::new();
    let at = |second: u64, ns: u64| Sample { started_ns: Some(second * 1_000_000_000), ..latency(ns) };
    let samples = [at(0, 1_234_567), at(0, 40_000), at(1, 9_876_543_210)];
    let (path, _) = folder.write("a.hlog", &samples, &WriteOptions::default());
    let text = std::fs::read(&path).unwrap();
    let mut all = hdrhistogram::Histogram::<u64>::new(3).unwrap();
    let mut starts = Vec::new();
    for entry in IntervalLogIterator::new(&text) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            use base64::Engine;
            let bytes =
                base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
            let histogram =
                hdrhistogram::serialization::Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            all.add(&histogram).unwrap();
            starts.push((interval.start_timestamp().as_secs(), interval.duration().as_secs()));
        }
    }
    assert_eq!(starts, [(0, 1), (1, 1)]);
    let mut expected = hdrhistogram::Histogram::<u64>::new(3).unwrap();
    samples.iter().for_each(|sample| expected.record(sample.latency_ns.unwrap()).unwrap());
    assert_eq!(all, expected);
}

#[test]
fn a_log_of_a_log_has_the_same_counts() {
    let folder = Folder::new();
    let log = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hlog/tagged.hlog"));
    let path = folder.0.path().join("a.hlog.gz");
    let mut recorder = create(&path, Target::Hlog, &WriteOptions::default()).unwrap();
    read(log, &nanoseconds(), recorder.as_mut()).unwrap();
    recorder.finish(&End::default()).unwrap();
    let sorted = |path: &Path| {
        let mut kept = Kept::default();
        read(path, &nanoseconds(), &mut kept).unwrap();
        let mut counts = kept.counts;
        counts.sort_by(|a, b| {
            a.started_s.unwrap().total_cmp(&b.started_s.unwrap()).then_with(|| a.tag.cmp(&b.tag))
        });
        counts
    };
    assert_eq!(sorted(&path), sorted(log));
}

#[test]
fn counts_of_any_format_become_a_histogram() {
    let folder = Folder::new();
    let path = folder.0.path().join("a.prom");
    let mut recorder = create(&path, Target::Prometheus, &WriteOptions::default()).unwrap();
    let buckets = vec![Bucket::exact(1.5, 3), Bucket::exact(20.0, 1)];
    recorder.counts(&Counts { buckets, relative_error: 0.01, ..Counts::default() }).unwrap();
    let written = recorder.finish(&End::default()).unwrap();
    assert_eq!(written.samples, 4);
    assert!(written.lost[0].starts_with("The input has each value within 1.0 %"), "{:?}", written.lost);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("longhaul_latency_seconds_sum 0.0245\n"), "{text}");
    let series = decode_series(text.as_bytes(), Path::new("a.prom"), &Wanted::default()).unwrap();
    assert_eq!((series.format, series.values.count()), (Format::Prometheus, 4));
}
