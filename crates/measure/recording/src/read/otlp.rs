//! Reads traces of OpenTelemetry as JSON (OTLP): a document, or the lines of the collector's file
//! exporter.
//!
//! A span is a sample with its name and kind as labels. A span with the status ERROR failed, unless
//! it has an HTTP status of 400 or more. One request may be several spans: of the client, of the
//! server, and those within.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Frame, Input, Labels, Options,
    json::{self, Document, Loose, Taker, label},
};
use crate::{Error, Event, Sample, Sink, error::counted};

mod batches;

use batches::Batches;

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut document = Document::new(input, "traces of OpenTelemetry as JSON")?;
    let mut spans =
        Spans { sink, labels: &options.labels, sample: Sample::default(), number: 0, kinds: BTreeMap::new() };
    let mut warnings = Vec::new();
    let mut taker =
        Taker::new(|(span, service): (Span, Option<String>)| spans.take(&span, service.as_deref()));
    while !document.is_at_end()? {
        if let Err(error) = document.next(Batches::new(&mut taker)) {
            if error.is_eof() {
                warnings.push(json::cut_off(error.line() as u64));
                break;
            }
            return Err(taker.stopped(error, &document));
        }
    }
    if spans.kinds.len() > 1 {
        let kinds: Vec<_> =
            spans.kinds.iter().map(|(kind, &count)| format!("{count} of the kind {kind}")).collect();
        warnings.push(format!(
            "Each of {} is a sample: {}. One request may have several spans; separate them with --by kind or --by name.",
            counted(spans.number, "span"),
            kinds.join(", ")
        ));
    }
    Ok(Frame { warnings, ..Frame::default() })
}

struct Spans<'s> {
    sink: &'s mut dyn Sink,
    labels: &'s Labels,
    sample: Sample,
    number: u64,
    kinds: BTreeMap<&'static str, u64>,
}

impl Spans<'_> {
    fn take(&mut self, span: &Span, service: Option<&str>) -> Result<(), Error> {
        self.number += 1;
        let kind = span.kind();
        *self.kinds.entry(kind).or_default() += 1;
        let sample = &mut self.sample;
        sample.started_ns = span.start.number();
        sample.latency_ns = json::between(sample.started_ns, span.end.number());
        sample.last_byte_ns = sample.latency_ns;
        sample.status = span.status_of_http();
        sample.error = span.error(sample.status);
        label(sample, self.labels, "name", span.name.text());
        label(sample, self.labels, "kind", Some(kind));
        label(sample, self.labels, "service", service);
        self.sink.event(&Event { number: self.number, sample, exact: &[] })
    }
}

#[derive(Deserialize)]
struct Span {
    #[serde(default)]
    name: Loose,
    #[serde(default)]
    kind: Loose,
    #[serde(default, rename = "startTimeUnixNano")]
    start: Integer,
    #[serde(default, rename = "endTimeUnixNano")]
    end: Integer,
    #[serde(default)]
    attributes: Vec<Attribute>,
    #[serde(default)]
    status: Status,
}

/// JSON of protocol buffers has 64 bits as text.
#[derive(Deserialize, Default)]
#[serde(transparent)]
struct Integer(Loose);

impl Integer {
    /// `None` for 0, which means that it is not there.
    fn number(&self) -> Option<u64> {
        self.0.text()?.parse().ok().filter(|&number| number > 0)
    }
}

#[derive(Deserialize, Default)]
struct Status {
    #[serde(default)]
    code: Loose,
    #[serde(default)]
    message: Loose,
}

#[derive(Deserialize)]
struct Attribute {
    #[serde(default)]
    key: Loose,
    #[serde(default)]
    value: Value,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Value {
    #[serde(default)]
    string_value: Loose,
    #[serde(default)]
    int_value: Loose,
}

impl Span {
    fn kind(&self) -> &'static str {
        match self.kind.text() {
            Some("1" | "SPAN_KIND_INTERNAL") => "internal",
            Some("2" | "SPAN_KIND_SERVER") => "server",
            Some("3" | "SPAN_KIND_CLIENT") => "client",
            Some("4" | "SPAN_KIND_PRODUCER") => "producer",
            Some("5" | "SPAN_KIND_CONSUMER") => "consumer",
            _ => "unspecified",
        }
    }

    /// By the name of the conventions since 2023, or before.
    fn status_of_http(&self) -> Option<u16> {
        let names = ["http.response.status_code", "http.status_code"];
        let attribute = self
            .attributes
            .iter()
            .find(|attribute| attribute.key.text().is_some_and(|key| names.contains(&key)))?;
        let text = attribute.value.int_value.text().or(attribute.value.string_value.text())?;
        text.parse().ok().filter(|status| (100..1000).contains(status))
    }

    fn error(&self, status: Option<u16>) -> Option<String> {
        let is_error = matches!(self.status.code.text(), Some("2" | "STATUS_CODE_ERROR"));
        if !is_error || status.is_some_and(|status| status >= 400) {
            return None;
        }
        Some(self.status.message.text().unwrap_or("error").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    fn line(attribute: &str, status: &str) -> String {
        format!(
            r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":{{"stringValue":"cart"}}}}]}},"scopeSpans":[{{"scope":{{"name":"x"}},"spans":[{{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","parentSpanId":"","name":"GET /cart","kind":2,"startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712660012000000","attributes":[{attribute}],"status":{status}}},{{"name":"select","kind":"SPAN_KIND_CLIENT","startTimeUnixNano":1544712660001000000,"endTimeUnixNano":1544712660005000000}}]}}]}}]}}"#
        ) + "\n"
    }

    #[test]
    fn spans_are_samples() {
        let text = line(r#"{"key":"http.response.status_code","value":{"intValue":"200"}}"#, "{}");
        let kept = read(text.repeat(2)).unwrap();
        assert_eq!((kept.format, &kept.numbers[..]), (Some(Format::Otlp), &[1, 2, 3, 4][..]));
        let [server, client, ..] = &kept.samples[..] else { panic!("{:?}", kept.samples) };
        assert_eq!(
            (server.started_ns, server.latency_ns),
            (Some(1_544_712_660_000_000_000), Some(12_000_000))
        );
        assert_eq!((server.status, server.error.as_deref()), (Some(200), None));
        assert_eq!((client.latency_ns, client.status), (Some(4_000_000), None));
        let labels =
            |sample: &crate::Sample| ["name", "kind", "service"].map(|name| sample.labels[name].clone());
        assert_eq!(labels(server), ["GET /cart", "server", "cart"]);
        assert_eq!(labels(client), ["select", "client", "cart"]);
        assert!(
            kept.warnings[0].contains("2 of the kind client, 2 of the kind server"),
            "{:?}",
            kept.warnings
        );
        assert_eq!(read(text.replace(",\"", ",\n\"")).unwrap().samples, kept.samples[..2]);
    }

    #[test]
    fn responses_and_failures_are_told_apart() {
        let code = |code: u16| format!(r#"{{"key":"http.status_code","value":{{"intValue":{code}}}}}"#);
        for (attribute, status, expected) in [
            (code(500), r#"{"code":2,"message":"x"}"#, (Some(500), None)),
            (code(200), r#"{"code":2,"message":"late"}"#, (Some(200), Some("late"))),
            (String::new(), r#"{"code":"STATUS_CODE_ERROR"}"#, (None, Some("error"))),
            (String::new(), r#"{"code":1}"#, (None, None)),
        ] {
            let kept = read(line(&attribute, status)).unwrap();
            let sample = &kept.samples[0];
            assert_eq!((sample.status, sample.error.as_deref()), expected);
        }
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let text = line("", "{}");
        let kept = read(format!("{text}{}", &text[..300])).unwrap();
        assert_eq!(kept.samples.len(), 2);
        assert!(kept.warnings.iter().any(|warning| warning.contains("cut off")), "{:?}", kept.warnings);
        let refused = read(text.replace("\"spans\":[", "\"spans\":[7,")).unwrap_err();
        assert!(refused.starts_with("x:1:") && refused.contains("traces of OpenTelemetry"), "{refused}");
        let refused = read("{\"resourceMetrics\":[]}\n").unwrap_err();
        assert!(refused.contains("metrics of OpenTelemetry"), "{refused}");
    }
}
