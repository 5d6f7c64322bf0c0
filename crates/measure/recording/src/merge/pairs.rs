//! Every input format into every output format: each metric is unchanged, or the loss is reported.

use proptest::prelude::*;

use super::*;
use crate::{Bucket, Series, Values, Wanted, read_series};

/// The phases of one request, in microseconds: queue, lookup, TCP, TLS, sending, waiting,
/// receiving.
type Took = [u32; 7];

type Render = fn(&[Took]) -> String;

const FORMATS: [(&str, Render); 13] = [
    ("native", native),
    ("csv", csv),
    ("csv of phases", csv_of_phases),
    ("har", har),
    ("timing", timing),
    ("curl", curl),
    ("k6", k6),
    ("k6 csv", k6_csv),
    ("vegeta", vegeta),
    ("vegeta csv", vegeta_csv),
    ("oha csv", oha_csv),
    ("caddy", caddy),
    ("nginx", nginx),
];

fn lines(requests: &[Took], line: impl Fn(usize, &Took) -> String) -> String {
    requests.iter().enumerate().map(|(index, took)| line(index, took) + "\n").collect()
}

fn sum(took: &Took, parts: usize) -> u64 {
    took[..parts].iter().map(|&us| u64::from(us)).sum()
}

fn s(us: u64) -> f64 {
    us as f64 / 1e6
}

fn ms(us: u64) -> f64 {
    us as f64 / 1e3
}

fn native(requests: &[Took]) -> String {
    let line = |index: usize, took: &Took| {
        let [queue, dns, tcp, tls, send, wait, load] = took.map(|us| u64::from(us) * 1000);
        let start = index as u64 * 1_000_000;
        match index % 5 {
            0 => format!(
                "{{\"intended_ns\":{start},\"started_ns\":{},\"dns_ns\":{dns},\"wait_ns\":{wait},\"ttfb_ns\":{load},\
                 \"last_byte_ns\":{}}}",
                start + queue,
                dns + wait + load
            ),
            1 => format!(
                "{{\"started_ns\":{start},\"wait_ns\":{wait},\"stated_ns\":{{\"ttfb\":{tls},\"response\":{tcp}}}}}"
            ),
            2 => format!("{{\"started_ns\":{start},\"ttfb_ns\":{send},\"connect_ns\":{tcp}}}"),
            3 => format!("{{\"started_ns\":{start},\"wait_ns\":{wait},\"error\":\"reset\"}}"),
            _ => format!(
                "{{\"started_ns\":{start},\"dns_ns\":{dns},\"connect_ns\":{tcp},\"tls_ns\":{tls},\"wait_ns\":{wait}}}"
            ),
        }
    };
    format!("{{\"schema\":\"longhaul.recording/1\"}}\n{}{{\"end\":{{}}}}\n", lines(requests, line))
}

/// Columns of every metric, independent of each other, with more decimals than nanoseconds, and
/// dates.
fn csv(requests: &[Took]) -> String {
    let header = "intended_s,started_s,latency_ms,dns_us,wait_ms,ttfb_ms,ttfb_without_dns_ms,response_ms,total_s,page\n";
    let line = |index: usize, took: &Took| {
        let [queue, dns, tcp, tls, send, wait, load] = took;
        let started = format!("1741944413.{index:06}789");
        format!(
            "1741944413.000000001,{started},{queue}.1234,{dns},{wait}.5,{tcp},{tls},{send},{},{}",
            s(u64::from(*load)),
            index / 3
        )
    };
    header.to_owned() + &lines(requests, line)
}

fn csv_of_phases(requests: &[Took]) -> String {
    let line = |_, took: &Took| {
        let [_, dns, tcp, _, _, wait, _] = took;
        let dns = if wait % 2 == 0 { dns.to_string() } else { String::new() };
        format!("{dns},{tcp},{wait},{}", sum(took, 7))
    };
    "dns_us,connect_us,wait_us,total_us\n".to_owned() + &lines(requests, line)
}

fn har(requests: &[Took]) -> String {
    let entry = |took: &Took| {
        let [queue, dns, tcp, tls, send, wait, load] = took.map(|us| ms(u64::from(us)));
        let dns = if took[1].is_multiple_of(2) { dns } else { -1.0 };
        let total = queue + dns.max(0.0) + tcp + tls + send + wait + load;
        format!(
            "{{\"startedDateTime\":\"2025-03-14T09:30:00.123Z\",\"time\":{total},\"response\":{{\"status\":200}},\"timings\":\
             {{\"blocked\":{queue},\"dns\":{dns},\"connect\":{},\"ssl\":{tls},\"send\":{send},\"wait\":{wait},\
             \"receive\":{load}}}}}",
            tcp + tls
        )
    };
    format!("{{\"log\":{{\"entries\":[{}]}}}}", requests.iter().map(entry).collect::<Vec<_>>().join(","))
}

fn timing(requests: &[Took]) -> String {
    let entry = |took: &Took| {
        let at = |parts| ms(1 + sum(took, parts));
        format!(
            "{{\"entryType\":\"resource\",\"name\":\"http://a/\",\"startTime\":0.001,\"domainLookupStart\":{},\
             \"domainLookupEnd\":{},\"connectStart\":{},\"secureConnectionStart\":{},\"connectEnd\":{},\"requestStart\":{},\
             \"responseStart\":{},\"responseEnd\":{},\"duration\":{},\"responseStatus\":200}}",
            at(1),
            at(2),
            at(2),
            at(3),
            at(4),
            at(5),
            at(6),
            at(7),
            ms(sum(took, 7))
        )
    };
    format!("[{}]", requests.iter().map(entry).collect::<Vec<_>>().join(","))
}

fn curl(requests: &[Took]) -> String {
    let line = |index: usize, took: &Took| {
        let at = |parts| s(sum(took, parts));
        let sent =
            if index.is_multiple_of(2) { format!("\"time_posttransfer\":{},", at(5)) } else { String::new() };
        format!(
            "{{\"url\":\"http://a/\",\"exitcode\":{},\"num_connects\":1,\"http_code\":200,\"time_queue\":{},\"time_namelookup\":{},\
             \"time_connect\":{},\"time_appconnect\":{},\"time_pretransfer\":{},{sent}\"time_starttransfer\":{},\"time_total\":{}}}",
            if index % 7 == 6 { 28 } else { 0 },
            at(1),
            at(2),
            at(3),
            at(4),
            at(4),
            at(6),
            at(7)
        )
    };
    lines(requests, line)
}

fn k6_points(took: &Took) -> [(&'static str, f64); 7] {
    let [_, _, tcp, tls, send, wait, load] = took.map(|us| ms(u64::from(us)));
    [
        ("http_reqs", 1.0),
        ("http_req_duration", send + wait + load),
        ("http_req_blocked", ms(sum(took, 4))),
        ("http_req_connecting", tcp),
        ("http_req_tls_handshaking", tls),
        ("http_req_sending", send),
        ("http_req_waiting", wait),
    ]
}

fn k6(requests: &[Took]) -> String {
    let line = |index: usize, took: &Took| {
        let point = |(metric, value): (&str, f64)| {
            format!(
                "{{\"metric\":\"{metric}\",\"type\":\"Point\",\"data\":{{\"time\":\"2025-03-14T09:{:02}:{:02}Z\",\"value\":{value},\
                 \"tags\":{{\"status\":\"200\"}}}}}}",
                index / 60 % 60,
                index % 60
            )
        };
        k6_points(took).map(point).join("\n")
    };
    lines(requests, line)
}

fn k6_csv(requests: &[Took]) -> String {
    let line = |_, took: &Took| {
        let point = |(metric, value): (&str, f64)| format!("{metric},1741944413,{value:.6},200,a=1&b=2,");
        k6_points(took).map(point).join("\n")
    };
    "metric_name,timestamp,metric_value,status,extra_tags,metadata\n".to_owned() + &lines(requests, line)
}

fn vegeta(requests: &[Took]) -> String {
    let line = |index: usize, took: &Took| {
        format!(
            "{{\"attack\":\"\",\"seq\":{index},\"code\":{},\"timestamp\":\"2025-03-14T09:30:00Z\",\"latency\":{},\"bytes_in\":5,\
             \"error\":\"\",\"body\":\"b2s=\"}}",
            if index % 4 == 3 { 0 } else { 200 },
            sum(took, 7) * 1000 + 1
        )
    };
    lines(requests, line)
}

fn vegeta_csv(requests: &[Took]) -> String {
    let line = |index: usize, took: &Took| {
        format!(
            "1741944413000000{index:03},200,{},0,5,,b2s=,,{index},GET,http://a/,Q29udGVudA==",
            sum(took, 7) * 1000 + 1
        )
    };
    lines(requests, line)
}

fn oha_csv(requests: &[Took]) -> String {
    let line = |index: usize, took: &Took| {
        format!(
            "{},{},{},{},{},5,200",
            s(index as u64),
            s(sum(took, 1)),
            s(sum(took, 3)),
            s(sum(took, 6)),
            s(sum(took, 7))
        )
    };
    "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n".to_owned()
        + &lines(requests, line)
}

fn caddy(requests: &[Took]) -> String {
    let line = |_, took: &Took| {
        format!(
            "{{\"ts\":1741944413.5,\"request\":{{}},\"duration\":{:?},\"status\":200}}",
            s(sum(took, 7) + 1) + 1e-9
        )
    };
    lines(requests, line)
}

fn nginx(requests: &[Took]) -> String {
    let line = |_, took: &Took| {
        format!(
            "{{\"msec\":\"1741944413.589\",\"status\":\"200\",\"request_time\":\"{:.3}\",\"upstream_connect_time\":\"{:.3}\",\
             \"upstream_header_time\":\"{:.3}, {:.3}\",\"upstream_response_time\":\"-\"}}",
            s(sum(took, 7)),
            s(u64::from(took[2])),
            s(u64::from(took[5])),
            s(u64::from(took[1]))
        )
    };
    lines(requests, line)
}

struct File {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl File {
    fn of(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        std::fs::write(&path, text).unwrap();
        Self { folder, path }
    }

    fn convert(&self, name: &str, metric: Option<Metric>) -> Result<(PathBuf, Merged), Error> {
        let output = self.folder.path().join(name);
        let target = Target::of(&output).unwrap();
        let writing = WriteOptions { metric, ..WriteOptions::default() };
        let reading = Options { labels: Labels::All, ..Options::default() };
        let input = std::slice::from_ref(&self.path);
        merge(input, &output, target, &reading, &writing, &AtomicBool::new(false))
            .map(|merged| (output, merged))
    }
}

fn series(path: &Path, metric: Option<Metric>) -> Option<Series> {
    read_series(path, &Wanted { metric, ..Wanted::default() }).ok()
}

/// Ascending where they are counts.
fn values(series: Series) -> Vec<f64> {
    match series.values {
        Values::Exact(values) => values,
        Values::Counted { buckets, .. } => {
            let repeated = |bucket: Bucket| (0..bucket.count).map(move |_| bucket.value_ms);
            buckets.into_iter().flat_map(repeated).collect()
        }
    }
}

fn said(merged: &Merged, what: &str) -> bool {
    merged.lost.iter().any(|sentence| sentence.contains(what))
}

fn samples_stay(input: &File, name: &str) -> Result<(), TestCaseError> {
    let (output, merged) = input.convert(name, None).unwrap();
    prop_assert_eq!(merged.read, merged.written);
    for metric in Metric::ALL.into_iter().map(Some).chain([None]) {
        let (before, after) = (series(&input.path, metric), series(&output, metric));
        let asked = metric.map_or("default", Metric::name);
        prop_assert_eq!(before.is_some(), after.is_some(), "{}: {}", name, asked);
        let (Some(before), Some(after)) = (before, after) else { continue };
        prop_assert_eq!(
            (before.metric, before.failed, before.without_metric),
            (after.metric, after.failed, after.without_metric),
            "{}: {}",
            name,
            asked
        );
        let (before, after) = (values(before), values(after));
        prop_assert_eq!(before.len(), after.len());
        for (before, after) in before.into_iter().zip(after) {
            // Half a nanosecond, and the rounding of f64 around it.
            prop_assert!(
                (before - after).abs() <= 0.5e-6 + before * 1e-12,
                "{name}: {asked}: {before} became {after}"
            );
        }
    }
    Ok(())
}

fn counts_stay(format: &str, input: &File, name: &str, metric: Option<Metric>) -> Result<(), TestCaseError> {
    let Some(before) = series(&input.path, metric) else {
        match input.convert(name, metric) {
            Ok((_, merged)) => {
                prop_assert!(name.ends_with(".prom") && said(&merged, "Samples without the metric"));
            }
            Err(_) => prop_assert!(!name.ends_with(".prom") || format.starts_with("csv")),
        }
        return Ok(());
    };
    let (output, merged) = input.convert(name, metric).unwrap();
    let chosen = before.metric;
    let mut others = Metric::ALL.into_iter().filter(|&other| other != chosen);
    let has_samples = before.values.exact().is_some();
    if has_samples && others.any(|other| series(&input.path, Some(other)).is_some()) {
        prop_assert!(said(&merged, "Phases and other metrics are left out"), "{}: {:?}", name, merged.lost);
    }
    let own_error = match &before.values {
        Values::Exact(_) => 0.0,
        Values::Counted { relative_error, .. } => *relative_error,
    };
    let mut before = values(before);
    before.sort_unstable_by(f64::total_cmp);
    if name.ends_with(".prom") {
        let text = std::fs::read_to_string(&output).unwrap();
        let field = |field: &str| -> f64 {
            let start = format!("longhaul_{chosen}_seconds_{field} ");
            text.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
        };
        let sum = before.iter().sum::<f64>() / 1e3;
        prop_assert_eq!(field("count"), before.len() as f64);
        prop_assert!((field("sum") - sum).abs() <= sum * 1e-9, "{} for {}", field("sum"), sum);
        return Ok(());
    }
    prop_assert_eq!(
        chosen == Metric::Latency,
        !said(&merged, "does not contain the name of its metric"),
        "{:?}",
        merged.lost
    );
    let after = series(&output, Some(chosen)).unwrap();
    prop_assert_eq!(after.metric, chosen);
    let Values::Counted { relative_error, .. } = &after.values else { panic!("a histogram has counts") };
    let error = *relative_error;
    prop_assert!(
        error + 1e-12 >= own_error || said(&merged, "The input has each value only within"),
        "{:?}",
        merged.lost
    );
    let after = values(after);
    prop_assert_eq!(before.len(), after.len());
    if name.ends_with(".hgrm") {
        prop_assert!(said(&merged, "of the distribution"), "{:?}", merged.lost);
        let (before, after) = (before[before.len() - 1], after[after.len() - 1]);
        prop_assert!((before - after).abs() <= before * 0.002 + 1e-6, "{before} became {after}");
        return Ok(());
    }
    for (before, after) in before.into_iter().zip(after) {
        prop_assert!((before - after).abs() <= before * error + 1e-6, "{name}: {before} became {after}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_metric_goes_through_every_format(requests in prop::collection::vec(prop::array::uniform7(1_u32..3_000_000), 6..40)) {
        for (format, render) in FORMATS {
            let input = File::of(&render(&requests));
            let context = |error: TestCaseError| TestCaseError::fail(format!("{format}: {error}"));
            for name in ["a.jsonl", "a.csv", "a.tsv", "a.csv.gz"] {
                samples_stay(&input, name).map_err(context)?;
            }
            for name in ["a.hlog", "a.hgrm", "a.prom"] {
                for metric in [None, Some(Metric::Ttfb), Some(Metric::Total), Some(Metric::Wait)] {
                    counts_stay(format, &input, name, metric).map_err(context)?;
                }
            }
            let (log, _) = input.convert("b.hlog", None).map_err(|error| TestCaseError::fail(format!("{format}: {error}")))?;
            let (percentiles, _) = input.convert("b.hgrm", None).unwrap();
            for path in [log, percentiles] {
                let input = File::of(&std::fs::read_to_string(path).unwrap());
                for name in ["a.hlog", "a.hgrm", "a.prom"] {
                    counts_stay(format, &input, name, None).map_err(context)?;
                }
                for name in ["a.jsonl", "a.csv", "a.tsv"] {
                    prop_assert!(input.convert(name, None).is_err(), "{format}: {name}");
                }
            }
        }
    }
}

#[test]
fn each_format_is_what_it_is_said_to_be() {
    let requests = [[1000, 2000, 3000, 4000, 5000, 6000, 7000]; 6];
    let formats =
        FORMATS.map(|(_, render)| series(&File::of(&render(&requests)).path, None).unwrap().format.name());
    let expected = [
        "native recording",
        "CSV",
        "CSV",
        "HAR",
        "Resource Timing",
        "curl",
        "k6",
        "k6 CSV",
        "vegeta",
        "vegeta CSV",
        "oha CSV",
        "Caddy access log",
        "nginx JSON access log",
    ];
    assert_eq!(formats, expected);
}
