//! Reads Lighthouse's JSON: the requests of the audit `network-requests`, all of one page view.
//!
//! Times are in milliseconds since the page began, and have names that depend on the version. A
//! request that was not finished, or has no status, failed.

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{Loose, host, label, length, status, whole},
};
use crate::{Error, Event, Sample, Sink, Unit};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let (Report { audits }, place): (Report, _) = whole(input, "Lighthouse's report as JSON")?;
    let items =
        audits.requests.and_then(|audit| audit.details).map(|details| details.items).unwrap_or_default();
    if items.is_empty() {
        let found = "Lighthouse's report without its requests".to_owned();
        return Err(Error::Empty { place, found, expected: "the audit network-requests with its details" });
    }
    let mut sample = Sample { page: Some(1), ..Sample::default() };
    for (item, number) in items.iter().zip(1..) {
        let start = item.network_request_time.or(item.start_time);
        let end = item.network_end_time.or(item.end_time);
        let took = start.zip(end).filter(|(start, end)| end >= start).map(|(start, end)| end - start);
        sample.started_ns = start.and_then(|ms| length(Unit::Ms, ms));
        sample.latency_ns = took.and_then(|ms| length(Unit::Ms, ms));
        sample.last_byte_ns = sample.latency_ns;
        sample.status = status(item.status_code);
        let has_response = sample.status.is_some() && item.finished != Some(false) && took.is_some();
        sample.error = (!has_response).then(|| "no response".to_owned());
        let url = item.url.text();
        for (name, value) in [
            ("url", url),
            ("host", url.and_then(host)),
            ("type", item.resource_type.text()),
            ("protocol", item.protocol.text()),
        ] {
            label(&mut sample, &options.labels, name, value);
        }
        sink.event(&Event { number, sample: &sample, exact: &[] })?;
    }
    Ok(Frame::default())
}

#[derive(Deserialize)]
struct Report {
    audits: Audits,
}

#[derive(Deserialize)]
struct Audits {
    #[serde(rename = "network-requests")]
    requests: Option<Audit>,
}

#[derive(Deserialize)]
struct Audit {
    details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    #[serde(default)]
    url: Loose,
    #[serde(default)]
    protocol: Loose,
    #[serde(default)]
    resource_type: Loose,
    status_code: Option<i64>,
    finished: Option<bool>,
    network_request_time: Option<f64>,
    network_end_time: Option<f64>,
    /// Until version 10.
    start_time: Option<f64>,
    end_time: Option<f64>,
}

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const REPORT: &str = r#"{"lighthouseVersion":"12.2.1","requestedUrl":"https://a.example/","fetchTime":"2025-03-14T09:26:53.589Z","audits":{
        "server-response-time":{"numericValue":63.1},"network-requests":{"id":"network-requests","details":{"type":"table","items":[
        {"url":"https://a.example/","protocol":"h2","rendererStartTime":0,"networkRequestTime":0.5,"networkEndTime":100.5,"finished":true,"transferSize":1234,"statusCode":200,"resourceType":"Document"},
        {"url":"https://cdn.example/x.js","protocol":"h3","networkRequestTime":120,"networkEndTime":130.25,"finished":true,"statusCode":404,"resourceType":"Script"},
        {"url":"https://b.example/","networkRequestTime":120,"networkEndTime":130.25,"finished":true,"statusCode":-1}]}}}}"#;

    #[test]
    fn requests_of_a_page() {
        let kept = read(REPORT).unwrap();
        assert_eq!(kept.format, Some(Format::Lighthouse));
        let seen: Vec<_> = kept
            .samples
            .iter()
            .map(|sample| {
                (sample.started_ns, sample.latency_ns, sample.status, sample.error.as_deref(), sample.page)
            })
            .collect();
        assert_eq!(
            seen,
            [
                (Some(500_000), Some(100_000_000), Some(200), None, Some(1)),
                (Some(120_000_000), Some(10_250_000), Some(404), None, Some(1)),
                (Some(120_000_000), Some(10_250_000), None, Some("no response"), Some(1)),
            ]
        );
        assert_eq!(kept.samples[1].labels["host"], "cdn.example");
        let older = REPORT.replace("networkRequestTime", "startTime").replace("networkEndTime", "endTime");
        assert_eq!(read(older).unwrap().samples, kept.samples);
        let refused = read(REPORT.replace("\"network-requests\":", "\"other\":")).unwrap_err();
        assert!(refused.contains("Lighthouse's report without its requests"), "{refused}");
    }

    #[test]
    fn shares_of_an_unknown_number_of_page_loads_are_refused() {
        let refused = read(
            r#"{"record":{"key":{"origin":"https://a.example"},"metrics":{"experimental_time_to_first_byte":{"histogram":[{"start":0,"end":800,"density":0.8}],"percentiles":{"p75":650}}}}}"#,
        )
        .unwrap_err();
        assert!(refused.contains("CrUX"), "{refused}");
    }
}
