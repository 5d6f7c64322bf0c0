//! Envoy's access log without a format string: its default format, Istio's, or JSON with the keys
//! of Istio, Envoy Gateway and Envoy's documentation.

use std::borrow::Cow;

use super::{
    Parser, Problem, Taken,
    fields::Fields,
    format::{Dialect, Kind, Parsed, Scale, Stamped, envoy, pieces},
    object::{Keys, Meaning},
};
use crate::{Metric, Unit};

pub(super) static KEYS: Keys =
    Keys { required: &["response_code", "duration"], meaning, finish: |_, _| Ok(()), note: |_| None };

fn meaning(key: &str) -> Meaning {
    let duration = |metric| Meaning::Kind(Kind::Duration(metric, Scale::Fixed(Unit::Ms)));
    let label = |name: &str| Meaning::Kind(Kind::Label(name.to_owned()));
    match key {
        "start_time" => Meaning::Moment(Stamped::Start),
        "duration" => duration(Metric::Latency),
        "upstream_service_time" | "x-envoy-upstream-service-time" => duration(Metric::Wait),
        "request_duration" => duration(Metric::Send),
        "response_tx_duration" => duration(Metric::Load),
        "response_code" => Meaning::Kind(Kind::Status),
        "response_flags" => Meaning::Kind(Kind::Flags),
        "bytes_sent" => Meaning::Kind(Kind::Bytes),
        "path" | "x-envoy-origin-path" => Meaning::Kind(Kind::Path),
        "authority" | ":authority" => label("host"),
        key => label(key),
    }
}

pub(super) struct Defaults([Parsed; 2]);

impl Defaults {
    pub fn new() -> Self {
        let parsed = |format| pieces(Dialect::Envoy, format).expect("the format is correct");
        Self([envoy::DEFAULT, envoy::ISTIO].map(parsed))
    }
}

impl Parser for Defaults {
    fn take(&mut self, line: &[u8], found: &mut Fields<'_>) -> Result<Taken, Problem> {
        let Self([default, istio]) = self;
        Cow::Borrowed(&*istio).take(line, found).or_else(|_| {
            found.clear();
            Cow::Borrowed(&*default).take(line, found)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{AccessFormat, Format, read::json::testing::read};

    #[test]
    fn default_formats_without_a_format_string() {
        let envoy = r#"[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0" "locations" "tcp://10.0.2.1:80""#;
        let istio = r#"[2020-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 DC via_upstream - "-" 0 135 3 1 "-" "curl/7.73.0-DEV" "84961386" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.8000_._.httpbin.foo.svc.cluster.local default"#;
        let kept = read(format!("starting\n{envoy}\n{istio}\n{istio}\n")).unwrap();
        assert_eq!(
            (kept.format, kept.numbers.as_slice()),
            (Some(Format::Access(AccessFormat::EnvoyDefault)), &[2, 3, 4][..])
        );
        assert_eq!(
            (kept.samples[0].latency_ns, kept.samples[0].wait_ns),
            (Some(226_000_000), Some(100_000_000))
        );
        let gone = &kept.samples[1];
        assert_eq!((gone.latency_ns, gone.body_bytes, gone.status), (Some(3_000_000), Some(135), Some(418)));
        assert_eq!(gone.error.as_deref(), Some("the client closed the connection (DC)"));
        assert_eq!(gone.label("host").as_deref(), Some("httpbin:8000"));
        assert_eq!(read(format!("{envoy}\n")).unwrap().samples.len(), 1);
    }

    const JSON: &str = r#"{"authority":"a.example","bytes_received":0,"bytes_sent":135,"duration":226,"method":"GET","path":"/x?y=1","protocol":"HTTP/1.1","response_code":200,"response_flags":"-","start_time":"2025-03-14T09:26:53.589Z","upstream_service_time":"100","user_agent":"curl"}
{"response_code":0,"response_flags":"DC","duration":12,"start_time":"2025-03-14T09:26:54.000Z","upstream_service_time":null}
"#;

    #[test]
    fn as_json() {
        let kept = read(JSON).unwrap();
        assert_eq!(kept.format, Some(Format::Access(AccessFormat::EnvoyJson)));
        let [sample, gone] = &kept.samples[..] else { panic!("{:?}", kept.samples) };
        assert_eq!((sample.latency_ns, sample.wait_ns), (Some(226_000_000), Some(100_000_000)));
        assert_eq!((sample.started_ns, sample.body_bytes), (Some(1_741_944_413_589_000_000), Some(135)));
        assert_eq!(
            (sample.label("path").as_deref(), sample.label("host").as_deref()),
            (Some("/x"), Some("a.example"))
        );
        assert_eq!(gone.error.as_deref(), Some("the client closed the connection (DC)"));
    }

    #[test]
    fn within_docker() {
        let wrapped = |line: &str| {
            let line = serde_json::to_string(&format!("{line}\n")).unwrap();
            format!("{{\"log\":{line},\"stream\":\"stdout\",\"time\":\"2025-03-14T09:26:53.1Z\"}}\n")
        };
        let text: String = JSON.lines().map(wrapped).collect();
        assert_eq!(read(text).unwrap().samples, read(JSON).unwrap().samples);
    }

    proptest::proptest! {
        #[test]
        fn garbled_lines_never_panic(bytes in crate::read::json::testing::damaged(JSON)) {
            drop(read(bytes));
        }
    }
}
