//! Traefik's access log, as JSON and in its common format.
//!
//! In JSON, durations are nanoseconds, and `StartUTC` is the begin. The common format is Apache's
//! `combined`, then the number of requests, the router, the server's URL and whole milliseconds.

use super::{
    format::{Dialect, Kind, Parsed, Scale, Stamped, pieces},
    object::{Keys, Meaning},
};
use crate::{Metric, Unit};

pub(super) static KEYS: Keys =
    Keys { required: &["Duration"], meaning, finish: |_, _| Ok(()), note: |_| None };

fn meaning(key: &str) -> Meaning {
    let label = |name: &str| Meaning::Kind(Kind::Label(name.to_owned()));
    match key {
        "StartUTC" => Meaning::Moment(Stamped::Start),
        // The same again, and when the line was written.
        "StartLocal" | "time" => Meaning::None,
        "Duration" => Meaning::Kind(Kind::Duration(Metric::Latency, Scale::Fixed(Unit::Ns))),
        "OriginDuration" => Meaning::Kind(Kind::Duration(Metric::Total, Scale::Fixed(Unit::Ns))),
        "DownstreamStatus" => Meaning::Kind(Kind::Status),
        "DownstreamContentSize" => Meaning::Kind(Kind::Bytes),
        "RequestPath" => Meaning::Kind(Kind::Path),
        "RequestMethod" => label("method"),
        "RequestHost" => label("host"),
        "RequestProtocol" => label("protocol"),
        "ClientHost" => label("remote_addr"),
        key => label(key),
    }
}

/// It does not escape text of clients.
pub(super) fn common() -> Parsed {
    pieces(Dialect::Traefik, COMMON).expect("the format is correct")
}

const COMMON: &str = "%h - %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %{requests}n \"%{router}n\" \"%{server}n\" %{ms}Tms";

#[cfg(test)]
mod tests {
    use crate::{AccessFormat, Format, Metric, read::json::testing::read};

    const JSON: &str = r#"{"ClientAddr":"10.0.0.1:5000","ClientHost":"10.0.0.1","ClientUsername":"-","DownstreamContentSize":512,"DownstreamStatus":200,"Duration":12345678,"OriginContentSize":512,"OriginDuration":11000000,"OriginStatus":200,"Overhead":1345678,"RequestAddr":"a.example","RequestHost":"a.example","RequestMethod":"GET","RequestPath":"/x?y=1","RequestProtocol":"HTTP/2.0","RouterName":"web@docker","ServiceURL":{"Scheme":"http"},"StartLocal":"2025-03-14T10:26:53.589+01:00","StartUTC":"2025-03-14T09:26:53.589000001Z","level":"info","msg":"","time":"2025-03-14T09:26:54Z"}
{"DownstreamStatus":499,"Duration":5000000000,"StartUTC":"2025-03-14T09:26:54Z"}
{"level":"info","msg":"Configuration loaded","time":"2025-03-14T09:26:54Z"}
"#;

    #[test]
    fn as_json() {
        let kept = read(JSON).unwrap();
        assert_eq!(kept.format, Some(Format::Access(AccessFormat::TraefikJson)));
        let [sample, gone] = &kept.samples[..] else { panic!("{:?}", kept.samples) };
        assert_eq!((sample.latency_ns, sample.get(Metric::Total)), (Some(12_345_678), Some(11_000_000)));
        assert_eq!(sample.started_ns, Some(1_741_944_413_589_000_001));
        assert_eq!((sample.status, sample.body_bytes), (Some(200), Some(512)));
        for (name, value) in
            [("path", "/x"), ("host", "a.example"), ("method", "GET"), ("routername", "web@docker")]
        {
            assert_eq!(sample.label(name).as_deref(), Some(value), "{name}");
        }
        assert_eq!(gone.error.as_deref(), Some("the client closed the connection (499)"));
        assert_eq!(kept.warnings.last().unwrap(), "1 line without a request left out.");
    }

    #[test]
    fn as_text() {
        let line = |size: &str, agent: &str| {
            format!(
                "10.0.0.1 - - [14/Mar/2025:09:26:53 +0000] \"GET /x?y=1 HTTP/1.1\" 200 {size} \"-\" \"{agent}\" 7 \"web@docker\" \
                 \"http://10.0.0.2:80\" 12ms\n"
            )
        };
        let kept = read(line("512", "a \\\"b\\\" c") + "time=\"x\" level=info\n" + &line("-", "-")).unwrap();
        assert_eq!(
            (kept.format, kept.numbers.as_slice()),
            (Some(Format::Access(AccessFormat::Traefik)), &[1, 3][..])
        );
        let sample = &kept.samples[0];
        assert_eq!(
            (sample.latency_ns, sample.started_ns),
            (Some(12_000_000), Some(1_741_944_413_000_000_000))
        );
        assert_eq!(
            (sample.status, sample.body_bytes, kept.samples[1].body_bytes),
            (Some(200), Some(512), None)
        );
        assert_eq!(sample.label("router").as_deref(), Some("web@docker"));
        assert!(kept.warnings[0].starts_with("1 line is left out; it is line 2"), "{:?}", kept.warnings);
    }

    proptest::proptest! {
        #[test]
        fn garbled_lines_never_panic(bytes in crate::read::json::testing::damaged(JSON)) {
            drop(read(bytes));
        }
    }
}
