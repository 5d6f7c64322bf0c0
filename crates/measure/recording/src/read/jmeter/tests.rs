//! JTL files of JMeter and Taurus: rows, XML, and faults.

use std::path::Path;

use crate::{Counts, Error, Event, Format, Metric, Options, Sample, Sink, decode, read::Labels};

#[derive(Default)]
struct Kept(Vec<(u64, Sample)>);

impl Sink for Kept {
    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        self.0.push((event.number, event.sample.clone()));
        Ok(())
    }

    fn values(&mut self, number: u64, metric: Metric, values_ms: &[f64]) -> Result<(), Error> {
        crate::sink::one_by_one(self, number, metric, values_ms)
    }

    fn counts(&mut self, _: &Counts) -> Result<(), Error> {
        Ok(())
    }
}

type Read = (Format, Vec<(u64, Sample)>, Vec<String>);

fn read(text: &str) -> Result<Read, String> {
    let options = Options { labels: Labels::All, ..Options::default() };
    let mut kept = Kept::default();
    let origin = decode(text.as_bytes(), Path::new("x.jtl"), &options, &mut kept)
        .map_err(|error| error.to_string())?;
    Ok((origin.format, kept.0, origin.warnings))
}

const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
                      sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";

#[test]
fn a_row_is_a_request_with_its_phases() {
    let row = "1741944600000,12,home,200,OK,tg 1-1,text,true,,512,100,1,1,http://a.example/,7,0,3\n";
    let (format, samples, warnings) = read(&format!("{HEADER}{row}")).unwrap();
    assert_eq!((format, warnings), (Format::JmeterCsv, Vec::new()));
    let [(2, sample)] = &samples[..] else { panic!("{samples:?}") };
    assert_eq!((sample.latency_ns, sample.last_byte_ns), (Some(12_000_000), Some(12_000_000)));
    assert_eq!(
        (sample.ttfb_ns, sample.connect_ns, sample.load_ns),
        (Some(7_000_000), Some(3_000_000), Some(5_000_000))
    );
    assert_eq!(sample.started_ns, Some(1_741_944_600_000_000_000));
    assert_eq!((sample.status, sample.body_bytes, sample.error.as_ref()), (Some(200), Some(512), None));
    assert_eq!(sample.labels["label"], "home");
    assert_eq!(sample.labels["host"], "a.example");
}

#[test]
fn answers_failures_and_assertions_are_told_apart() {
    for (fields, status, error) in [
        ("200,OK,t,text,true,", Some(200), None),
        ("500,Internal Server Error,t,text,false,", Some(500), None),
        (
            "200,OK,t,text,false,Test failed: text expected to contain /x/",
            Some(200),
            Some("Test failed: text expected to contain /x/"),
        ),
        (
            "Non HTTP response code: java.net.ConnectException,refused,t,text,false,",
            None,
            Some("java.net.ConnectException"),
        ),
        (",,t,text,false,", None, Some("failed")),
    ] {
        let (_, samples, _) =
            read(&format!("{HEADER}1741944600000,12,home,{fields},5,1,1,1,null,7,0,3\n")).unwrap();
        let sample = &samples[0].1;
        assert_eq!((sample.status, sample.error.as_deref()), (status, error), "{fields}");
    }
}

#[test]
fn messages_span_lines_and_transactions_are_left_out() {
    let rows = "1741944600000,12,home,200,OK,t,text,false,\"first\n\"\"second\"\"\",5,1,1,1,null,7,0,3\n\
                1741944600000,30,all,,\"Number of samples in transaction : 2, number of failing samples : 1\",t,,true,,0,0,1,1,null,0,0,0\n\
                1741944600012,18,home,200,OK,t,text,true,,5,1,1,1,null,7,0,3\n";
    let (_, samples, warnings) = read(&format!("{HEADER}{rows}")).unwrap();
    let errors: Vec<_> = samples.iter().map(|(number, sample)| (*number, sample.error.as_deref())).collect();
    assert_eq!(errors, [(2, Some("first")), (5, None)]);
    assert!(warnings[0].starts_with("1 transaction controller left out"), "{warnings:?}");
}

#[test]
fn transactions_without_their_samples_are_named() {
    let sum = "1741944600000,30,all,200,\"Number of samples in transaction : 2, number of failing samples : 0\",t,,true,,0,0,1,1,null,0,0,0\n";
    let refused = read(&format!("{HEADER}{sum}")).unwrap_err();
    assert!(
        refused.contains("this is a file of JMeter with 1 transaction controller and without"),
        "{refused}"
    );
    assert!(refused.contains("--column latency=elapsed:ms"), "{refused}");
    let row = "1741944600000,12,home,200,OK,t,text,true,,5,1,1,1,null,7,0,3\n";
    let (_, samples, warnings) = read(&format!("{HEADER}{row}{sum}")).unwrap();
    assert_eq!(samples.len(), 1);
    assert!(warnings[0].contains("those are not in CSV"), "{warnings:?}");
}

#[test]
fn the_last_row_needs_no_line_end() {
    let text = format!("{HEADER}1741944600000,12,home,200,OK,t,text,true,,5,1,1,1,null,7,0,3");
    let (_, samples, warnings) = read(&text).unwrap();
    assert_eq!((samples.len(), warnings), (1, Vec::new()));
}

#[test]
fn rows_without_their_header_and_elements_of_plugins_are_named() {
    let refused = read("1741944600000,12,home,200,OK,t,text,true,5\n").unwrap_err();
    assert!(refused.contains("this is JMeter's CSV without its header row"), "{refused}");
    let plugin = "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n<a.plugin.Sample><time>5</time></a.plugin.Sample>\n</testResults>\n";
    let refused = read(plugin).unwrap_err();
    assert!(refused.contains("with <a.plugin.Sample> elements"), "{refused}");
}

#[test]
fn other_delimiters_and_dates() {
    let text = "timeStamp;elapsed;label;responseCode;success\n2025/03/14 09:26:53.589;12;home;200;true\n";
    let (_, samples, _) = read(text).unwrap();
    assert_eq!(samples[0].1.started_ns, Some(1_741_944_413_589_000_000));
    let (_, samples, _) = read(&text.replace(';', "\t")).unwrap();
    assert_eq!(samples[0].1.latency_ns, Some(12_000_000));
}

#[test]
fn what_is_wrong_has_a_place() {
    for (row, expected) in [
        (
            "x,12,home,200,OK,t,text,true,,5,1,1,1,null,7,0,3\n",
            "x.jtl:2:1: found \"x\"; expected milliseconds since 1970",
        ),
        ("1741944600000,-12,home,200,OK,t,text,true,,5,1,1,1,null,7,0,3\n", "x.jtl:2:15: found \"-12\""),
        ("1741944600000,12\n", "x.jtl:2:17: found 2 columns; expected 17"),
    ] {
        let said = read(&format!("{HEADER}{row}")).unwrap_err();
        assert!(said.starts_with(expected), "{said}");
    }
    let (_, samples, warnings) =
        read(&format!("{HEADER}1741944600000,12,home,200,OK,t,text,true,,5,1,1,1,null,7,0,3\n17419446"))
            .unwrap();
    assert_eq!(samples.len(), 1);
    assert!(warnings[0].contains("cut off"), "{warnings:?}");
}

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="12" it="0" lt="7" ct="3" ts="1741944600000" s="true" lb="a &amp; b" rc="200" rm="OK" tn="tg 1-1" dt="text" by="512" sby="100" ng="1" na="1">
  <httpSample t="5" lt="4" ts="1741944600000" s="true" lb="redirect" rc="302" rm="Found"/>
  <java.net.URL>http://a.example/x</java.net.URL>
</httpSample>
<httpSample t="15" lt="9" ts="1741944600500" s="false" lb="b" rc="200" rm="OK">
  <assertionResult>
    <name>Response Assertion</name>
    <failure>true</failure>
    <failureMessage>Test failed: text</failureMessage>
  </assertionResult>
</httpSample>
<sample t="40" ts="1741944601000" s="true" lb="all" rc="" rm="Number of samples in transaction : 1, number of failing samples : 0">
  <httpSample t="40" lt="9" ts="1741944601000" s="true" lb="c" rc="200" rm="OK"/>
</sample>
</testResults>
"#;

#[test]
fn xml_has_the_same() {
    let (format, samples, warnings) = read(XML).unwrap();
    assert_eq!(format, Format::JmeterXml);
    let seen: Vec<_> = samples
        .iter()
        .map(|(number, sample)| {
            (*number, sample.latency_ns.unwrap() / 1_000_000, sample.labels["label"].as_str())
        })
        .collect();
    assert_eq!(seen, [(3, 12, "a & b"), (7, 15, "b"), (15, 40, "c")]);
    assert_eq!(samples[0].1.labels["url"], "http://a.example/x");
    assert_eq!((samples[0].1.ttfb_ns, samples[0].1.connect_ns), (Some(7_000_000), Some(3_000_000)));
    assert_eq!(samples[1].1.error.as_deref(), Some("Test failed: text"));
    assert!(warnings[0].contains("transaction"), "{warnings:?}");
}

#[test]
fn xml_that_is_cut_off_has_what_came_before() {
    let at = XML.find("<httpSample t=\"15\"").unwrap();
    for end in [at + 8, at + 40, XML.find("<assertionResult>").unwrap()] {
        let (_, samples, warnings) = read(&XML[..end]).unwrap();
        assert_eq!(samples.len(), 1, "{end}");
        assert!(warnings.iter().any(|warning| warning.contains("cut off")), "{end}: {warnings:?}");
    }
}

#[test]
fn xml_that_is_wrong_has_a_place() {
    let said = read(&XML.replace("t=\"15\"", "t=\"fast\"")).unwrap_err();
    assert!(said.starts_with("x.jtl:7:1: found t=\"fast\"; expected"), "{said}");
    let said = read(&XML.replace("</testResults>", "</other>")).unwrap_err();
    assert!(said.starts_with("x.jtl:17:1: "), "{said}");
}
