//! Several recordings in one: what remains separate, is aligned, or is refused.

use super::*;
use crate::{Series, Unit, Values, Wanted, Writer, read_series};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn native(&self, name: &str, header: &Header, pages: &[u64]) -> PathBuf {
        let path = self.path(name);
        let mut writer = Writer::new(std::fs::File::create(&path).unwrap(), header).unwrap();
        for (index, &page) in pages.iter().enumerate() {
            let started_ns = Some(index as u64 * 1_000_000_000);
            let sample = Sample {
                started_ns,
                page: Some(page),
                chain: Some(9),
                latency_ns: Some(5),
                ..Sample::default()
            };
            writer.write(&sample).unwrap();
        }
        let samples = pages.len() as u64;
        let end = End { duration_ns: 3_000_000_000, samples, cpu_share: Some(0.5), ..End::default() };
        writer.finish(&end).unwrap();
        path
    }

    fn text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn merged(inputs: &[PathBuf], output: &Path) -> Result<Merged, Error> {
    let target = Target::of(output).unwrap();
    let reading = Options {
        unit: inputs.iter().any(|input| is_foreign(input)).then_some(Unit::Ns),
        ..Options::default()
    };
    merge(inputs, output, target, &reading, &WriteOptions::default(), &AtomicBool::new(false))
}

fn is_foreign(path: &Path) -> bool {
    path.starts_with(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hlog"))
}

fn samples(path: &Path) -> (Header, Vec<Sample>, End) {
    let mut reader = crate::open(path).unwrap();
    let samples = reader.by_ref().map(Result::unwrap).collect();
    (reader.header().clone(), samples, reader.end().unwrap().clone())
}

fn started(start: &str) -> Header {
    let conditions = [("url".to_owned(), "x".to_owned()), ("run".to_owned(), start.to_owned())].into();
    Header { start: Some(start.to_owned()), label: Some("edge".to_owned()), conditions, ..Header::default() }
}

#[test]
fn times_are_aligned_and_pages_stay_apart() {
    let folder = Folder::new();
    let late = folder.native("late.jsonl", &started("2025-03-14T09:26:55.500Z"), &[7, 7]);
    let early = folder.native("early.jsonl", &started("2025-03-14T09:26:53Z"), &[7, 1 << 63]);
    let output = folder.path("all.jsonl");
    let said = merged(&[late, early], &output).unwrap();
    assert_eq!((said.read, said.written, said.failed, said.doubts.len(), said.lost.len()), (4, 4, 0, 0, 0));
    let (header, samples, end) = samples(&output);
    assert_eq!(header.start.as_deref(), Some("2025-03-14T09:26:53Z"));
    assert_eq!((header.label.as_deref(), header.conditions.len()), (Some("edge"), 1));
    let rows: Vec<_> = samples
        .iter()
        .map(|s| (s.started_ns.unwrap() / 1_000_000, s.page.unwrap(), s.chain.unwrap()))
        .collect();
    assert_eq!(rows, [(2500, 0, 0), (3500, 0, 0), (0, 1, 1), (1000, 2, 1)]);
    assert_eq!((end.duration_ns, end.samples, end.cpu_share), (5_500_000_000, 4, Some(0.5)));
}

#[test]
fn without_a_start_times_stay() {
    let folder = Folder::new();
    let one = folder.native("one.jsonl", &started("2025-03-14T09:26:55Z"), &[1]);
    let other = folder.text("other.csv", "started_s,latency_ms\n3,12\n");
    let output = folder.path("all.jsonl");
    let said = merged(&[one, other], &output).unwrap();
    assert!(said.doubts[0].to_string().starts_with("Not all inputs have a start time"), "{said:?}");
    let (header, samples, _) = samples(&output);
    assert_eq!((header.start, header.tool.as_str()), (None, "longhaul"));
    assert_eq!(
        samples.iter().map(|sample| sample.started_ns).collect::<Vec<_>>(),
        [Some(0), Some(3_000_000_000)]
    );
}

#[test]
fn one_input_is_converted_as_it_is() {
    let folder = Folder::new();
    let input = folder.native("one.jsonl", &started("2025-03-14T09:26:55Z"), &[7, 1 << 63]);
    for name in ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"] {
        let output = folder.path(name);
        assert_eq!(merged(std::slice::from_ref(&input), &output).unwrap().written, 2);
        let again = folder.path("again.jsonl");
        merged(&[output], &again).unwrap();
        assert_eq!(std::fs::read(&again).unwrap(), std::fs::read(&input).unwrap(), "{name}");
    }
}

#[test]
fn csv_and_back() {
    let folder = Folder::new();
    let header = Header { tool: "longhaul".to_owned(), ..Header::default() };
    let path = folder.path("in.jsonl");
    let mut writer = Writer::new(std::fs::File::create(&path).unwrap(), &header).unwrap();
    let labels = [("city".to_owned(), "Oslo".to_owned())].into();
    let failed = Sample { error: Some("reset".to_owned()), dns_ns: Some(7), ..Sample::default() };
    let written = [
        Sample {
            started_ns: Some(1),
            latency_ns: Some(12_345_678),
            status: Some(200),
            labels,
            ..Sample::default()
        },
        failed,
        Sample { latency_ns: Some(u64::from(u32::MAX)), page: Some(3), ..Sample::default() },
    ];
    written.iter().for_each(|sample| writer.write(sample).unwrap());
    writer.finish(&End::default()).unwrap();
    let (csv, back) = (folder.path("a.csv"), folder.path("back.jsonl"));
    let said = merged(&[path], &csv).unwrap();
    assert_eq!((said.read, said.written, said.failed), (3, 3, 1));
    merged(&[csv], &back).unwrap();
    assert_eq!(samples(&back).1, written);
}

#[test]
fn logs_merge_without_loss() {
    let folder = Folder::new();
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hlog"));
    let inputs = ["v2.hlog", "tagged.hlog", "v0.hlog"].map(|name| data.join(name));
    let output = folder.path("all.hlog");
    let said = merged(&inputs, &output).unwrap();
    assert_eq!((said.read, said.written), (900 + 2700 + 900, 4500));
    assert!(said.doubts.is_empty(), "{said:?}");
    let wanted = Wanted { unit: Some(Unit::Ns), ..Wanted::default() };
    let read = |path: &Path| read_series(path, &wanted).unwrap();
    let mut apart = read(&inputs[0]);
    inputs[1..].iter().for_each(|path| apart.append(read(path)).unwrap());
    let counts = |series: Series| {
        let Values::Counted { buckets, .. } = series.values else { panic!("a log has counts") };
        let mut counts = std::collections::BTreeMap::new();
        buckets
            .iter()
            .for_each(|bucket| *counts.entry(bucket.value_ms.to_bits()).or_insert(0) += bucket.count);
        counts
    };
    assert_eq!(counts(read(&output)), counts(apart));
    assert_eq!(
        std::fs::read_to_string(&output).unwrap().lines().filter(|line| line.contains("HIST")).count(),
        9
    );
}

#[test]
fn counts_cannot_become_samples_and_nothing_is_left() {
    let folder = Folder::new();
    let log = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hlog/v2.hlog")).to_owned();
    let csv = folder.text("a.csv", "latency_ms\n1\n");
    let output = folder.path("all.csv");
    assert!(matches!(merged(&[csv.clone(), log], &output), Err(Error::Write { .. })));
    assert!(matches!(merged(&[csv, folder.path("none")], &output), Err(Error::Open { .. })));
    let names: Vec<_> =
        std::fs::read_dir(folder.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.csv"]);
}

#[test]
fn who_is_stopped_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("a.csv"), folder.path().join("b.jsonl"));
    std::fs::write(&input, "latency_ms\n1\n2\n").unwrap();
    let log = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hlog/v2.hlog")).to_owned();
    let stopped = AtomicBool::new(true);
    let (reading, writing) =
        (Options { unit: Some(Unit::Ns), ..Options::default() }, WriteOptions::default());
    for (inputs, target) in [(vec![input], Target::Native), (vec![log], Target::Hlog), (vec![], Target::Csv)]
    {
        let error = merge(&inputs, &output, target, &reading, &writing, &stopped).unwrap_err();
        assert!(matches!(error, Error::Stopped { .. }), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn every_sample_read_is_somewhere() {
    let folder = Folder::new();
    let input = folder.text("a.csv", "latency_ms,dns_ms,error\n1,,\n2,,\n,3,\n,4,reset\n,5,\n");
    for (name, written, without_metric, missing) in [
        ("a.jsonl", 5, 0, 0),
        ("b.csv", 5, 0, 0),
        ("c.prom", 3, 2, 0),
        ("d.hlog", 2, 2, 1),
        ("e.hgrm", 2, 2, 1),
    ] {
        let said = merged(std::slice::from_ref(&input), &folder.path(name)).unwrap();
        assert_eq!((said.read, said.failed), (5, 1), "{name}");
        assert_eq!((said.written, said.without_metric), (written, without_metric), "{name}");
        assert_eq!(said.written + said.without_metric + missing, said.read);
    }
}

#[test]
fn an_input_is_not_replaced() {
    let folder = Folder::new();
    let text = "latency_ms\n1\n2\n";
    let (first, second) = (folder.text("a.csv", text), folder.text("b.csv", text));
    let (link, other_name) = (folder.path("link.csv"), folder.path("hard.csv"));
    std::os::unix::fs::symlink(&first, &link).unwrap();
    std::fs::hard_link(&first, &other_name).unwrap();
    let inside = folder.path("x");
    std::fs::create_dir(&inside).unwrap();
    let inputs = [second.clone(), first.clone()];
    for output in [first.clone(), link.clone(), other_name, inside.join("../a.csv")] {
        let error = merged(&inputs, &output).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("is not written: it is the input") && said.contains("write to another name"),
            "{said}"
        );
        assert!(matches!(error, Error::WouldReplace { input, .. } if input == first));
        assert_eq!(std::fs::read_to_string(&first).unwrap(), text);
    }
    assert!(merged(&[link], &first).is_err());
    let third = folder.text("c.csv", "latency_ms\n9\n");
    assert_eq!(merged(&inputs, &third).unwrap().written, 4);
    assert_eq!(merged(&inputs, &folder.path("d.csv")).unwrap().written, 4);
}
