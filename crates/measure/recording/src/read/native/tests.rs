//! The native format: a round trip, errors, and truncated files, which are read up to the last
//! complete line.

use std::{collections::BTreeMap, io};

use proptest::prelude::*;

use super::*;
use crate::Writer;

const HEADER: &str = "{\"schema\":\"longhaul.recording/1\",\"label\":\"edge\",\"later\":[1]}\n";

type Whole = (Vec<Sample>, Option<End>, Vec<String>);

fn read(text: impl AsRef<[u8]>) -> Result<Whole, String> {
    let mut reader = Reader::new(text.as_ref(), "a.jsonl").map_err(|error| error.to_string())?;
    let samples = reader.by_ref().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    assert!(reader.next().is_none());
    Ok((samples, reader.end().cloned(), reader.warnings().to_vec()))
}

fn latency(nanos: u64) -> Sample {
    Sample { latency_ns: Some(nanos), ..Sample::default() }
}

#[test]
fn as_a_shell_loop_writes_it() {
    let text = format!(
        "{HEADER}{{\"latency_ns\":7}}\n\n {{ \"latency_ns\" : 8, \"city\": {{\"x\":1}} }}\n{{ \"end\": {{}}}}\n"
    );
    let reader = Reader::new(text.as_bytes(), "a.jsonl").unwrap();
    assert_eq!(reader.header().label.as_deref(), Some("edge"));
    assert_eq!(read(&text).unwrap(), (vec![latency(7), latency(8)], Some(End::default()), vec![]));
}

#[test]
fn cut_off_in_mid_write() {
    let text = format!("{HEADER}{{\"latency_ns\":7}}\n{{\"latency_ns\":8,\"err");
    let (samples, end, warnings) = read(text).unwrap();
    assert_eq!((samples, end), (vec![latency(7)], None));
    assert_eq!(
        warnings,
        [
            "Line 3, the last, is cut off in mid-write; read up to the line before it.",
            "The recording was cut off: it has no end line, only 1 sample.",
        ]
    );
    assert_eq!(read(format!("{HEADER}{{\"latency_ns\":7}}")).unwrap().0.len(), 1);
    assert_eq!(read(format!("{HEADER}{{\"latency_ns\":7}}\n{{\"end\":{{\"sam")).unwrap().2.len(), 2);
}

#[test]
fn the_end_is_believed_and_checked() {
    let text = format!("{HEADER}{{\"latency_ns\":7}}\n{{\"end\":{{\"samples\":2}}}}\n");
    assert_eq!(read(text).unwrap().2, ["The end line counts 2 samples; the file has 1."]);
}

#[test]
fn an_interrupted_recording_is_whole_and_says_so() {
    let end = |interrupted| {
        format!("{HEADER}{{\"latency_ns\":7}}\n{{\"end\":{{\"samples\":1,\"interrupted\":{interrupted}}}}}\n")
    };
    let (samples, last, warnings) = read(end(true)).unwrap();
    assert_eq!((samples, last.map(|end| end.interrupted)), (vec![latency(7)], Some(true)));
    assert_eq!(warnings, ["The recording was interrupted: there is less of it than was meant to be."]);
    assert_eq!(read(end(false)).unwrap().2, Vec::<String>::new());
}

#[test]
fn broken_lines_are_named() {
    let broken = |line: &str| read(format!("{HEADER}{{}}\n{line}\n{{}}\n")).unwrap_err();
    assert_eq!(
        broken("{\"latency_ns\":7"),
        "a.jsonl:3:15: EOF while parsing an object; expected a sample, as one JSON object on one line"
    );
    assert!(
        broken("{\"latency_ns\":-7}").starts_with("a.jsonl:3:16: invalid value: integer `-7`, expected u64;")
    );
    assert!(broken("{\"latency_ns\":1.5}").contains("expected u64"));
    assert!(broken("12.7").starts_with("a.jsonl:3:4: invalid type"));
    assert!(broken("{}{}").contains("trailing characters"));
    assert!(broken("\u{0}").starts_with("a.jsonl:3:1: expected value"));
    assert!(read(format!("{HEADER}{{\"latency_ns\":\"7\"")).unwrap_err().contains("invalid type"));
    assert!(
        read(format!("{HEADER}{{\"end\":{{}}}}\n{{\"latency_ns\":7}}\n"))
            .unwrap_err()
            .starts_with("a.jsonl:3:1: a line after the end; expected nothing more")
    );
}

#[test]
fn other_schemas_are_named() {
    assert_eq!(
        read("{\"schema\":\"longhaul.recording/2\",\"label\":7}\n").unwrap_err(),
        "a.jsonl:1:1: the schema is \"longhaul.recording/2\"; expected \"longhaul.recording/1\", the only schema that this \
         version reads"
    );
    for text in ["", "{\n", "{\"log\":{}}\n", "{\"latency_ns\":7}\n", "latency_ms\n"] {
        assert!(
            read(text).unwrap_err().starts_with("a.jsonl:1:1: the first line is not a header; expected"),
            "{text}"
        );
    }
    let wrong = "{\"schema\":\"longhaul.recording/1\",\"label\":7}\n";
    assert!(read(wrong).unwrap_err().ends_with("expected a header of this schema"));
}

#[test]
fn a_line_that_never_ends_is_an_error() {
    let text = format!("{HEADER}{{\"server_timing\":\"{}\"}}\n", "x".repeat(2 << 20));
    assert!(read(text).unwrap_err().starts_with("a.jsonl:2:1048576: the line is longer"));
}

#[test]
fn a_disk_that_fails_is_named() {
    #[derive(Debug)]
    struct Failing;
    impl io::Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = Writer::new(Failing, &Header::default()).unwrap_err();
    assert_eq!(error.to_string(), "cannot write line 1 of the recording");
    let mut writer = Writer::new(Vec::new(), &Header::default()).unwrap();
    let long = Sample { server_timing: Some("x".repeat(2 << 20)), ..Sample::default() };
    assert!(matches!(writer.write(&long), Err(Error::Write { line: 2, .. })));
}

prop_compose! {
    fn any_sample()(
        numbers in prop::collection::vec(prop::option::of(any::<u64>()), 17),
        stated in prop::option::of(any::<u64>()),
        status in any::<Option<u16>>(),
        reused in any::<Option<bool>>(),
        led in any::<(Option<String>, Option<String>, Option<bool>)>(),
        server_timing in any::<Option<String>>(),
        error in any::<Option<String>>(),
        labels in any::<BTreeMap<String, String>>(),
    ) -> Sample {
        Sample {
            intended_ns: numbers[0],
            started_ns: numbers[1],
            latency_ns: numbers[2],
            dns_ns: numbers[3],
            connect_ns: numbers[4],
            tls_ns: numbers[5],
            quic_ns: numbers[16],
            send_ns: numbers[6],
            wait_ns: numbers[7],
            load_ns: numbers[8],
            ttfb_ns: numbers[15],
            stated_ns: stated.map(|ns| (crate::Metric::Ttfb, ns)).into_iter().collect(),
            first_interim_ns: numbers[9],
            final_headers_ns: numbers[10],
            first_body_byte_ns: numbers[11],
            last_byte_ns: numbers[12],
            body_bytes: numbers[13],
            wire_sent_bytes: numbers[13],
            wire_received_bytes: numbers[14],
            chain: numbers[14],
            page: numbers[0],
            status,
            reused,
            remote: led.0.clone(),
            local: led.0,
            family: led.1.clone(),
            fallback: led.2,
            bytes_out: numbers[14],
            cache: led.1.clone(),
            tier: led.1.clone(),
            zone: led.1.clone(),
            own_error_ns: numbers[15],
            server_timing,
            error,
            labels,
        }
    }
}

fn written(samples: &[Sample], header: &Header, end: &End) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), header).unwrap();
    for sample in samples {
        writer.write(sample).unwrap();
    }
    writer.finish(end).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(
        samples in prop::collection::vec(any_sample(), 0..20),
        label in any::<Option<String>>(),
        conditions in any::<BTreeMap<String, String>>(),
        invalid in any::<Vec<String>>(),
    ) {
        let header = Header { schema: SCHEMA.to_owned(), label, conditions, ..Header::default() };
        let failed = samples.iter().filter(|sample| sample.error.is_some()).count() as u64;
        let end = End { samples: samples.len() as u64, failed, invalid, cpu_share: Some(0.25), ..End::default() };
        let text = written(&samples, &header, &end);
        let reader = Reader::new(text.as_slice(), "a").unwrap();
        prop_assert_eq!(reader.header(), &header);
        let (read_samples, read_end, warnings) = read(&text).unwrap();
        prop_assert_eq!(read_samples, samples);
        prop_assert_eq!(warnings, Vec::<String>::new());
        prop_assert_eq!(read_end, Some(end));
    }

    #[test]
    fn a_recording_cut_anywhere_gives_its_whole_lines(
        samples in prop::collection::vec(any_sample(), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let header = Header { schema: SCHEMA.to_owned(), ..Header::default() };
        let text = written(&samples, &header, &End::default());
        let cut = &text[..cut.index(text.len())];
        let whole = cut.iter().filter(|&&byte| byte == b'\n').count();
        match read(cut) {
            Err(message) => prop_assert!(whole == 0, "{}", message),
            Ok((read, end, _)) => {
                let lost = (whole.max(1) - 1).min(samples.len());
                prop_assert!(read.len() == lost || read.len() == lost + 1);
                prop_assert_eq!(&read[..], &samples[..read.len()]);
                prop_assert!(end.is_none() || read.len() == samples.len());
            }
        }
    }
}
