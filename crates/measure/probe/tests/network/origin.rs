//! All protocols and address families against our own origin, and the measurements.

use std::{
    io::{BufRead, BufReader, Write},
    time::Duration,
};

use probe::{
    Error, Family,
    client::{Config, Connections, Lookups, Protocol, Target, Trust},
    serve::{self, Tls},
};
use recording::{Metric, Sample};
use units::Bytes;

use crate::support::{Origin, Security, V4, V6, config, fetch, fetch_one, origin, responder};

const SERVICE: Duration = Duration::from_millis(20);
const SERVICE_NS: u64 = 20_000_000;

fn slow(config: &mut serve::Config) {
    config.service_time = serve::ServiceTime::Constant(SERVICE);
}

fn assert_whole(sample: &Sample, protocol: &str, security: Security) {
    assert_eq!(sample.error, None);
    assert_eq!((sample.status, sample.body_bytes), (Some(200), Some(1000)));
    assert_eq!(sample.labels["protocol"], protocol);
    assert_eq!(sample.reused, Some(false));
    assert_eq!(sample.dns_ns, None, "the address is literal");
    assert_eq!(sample.fallback, Some(false));
    assert_eq!(sample.connect_ns > Some(0), security != Security::Quic);
    assert_eq!(sample.tls_ns > Some(0), security == Security::Tls);
    assert_eq!(sample.quic_ns > Some(0), security == Security::Quic);
    // The service time starts after the request's first byte and ends before the header's first
    // byte.
    assert!(sample.get(Metric::Ttfb).unwrap() >= SERVICE_NS, "{sample:?}");
    let worked_ms: f64 =
        sample.server_timing.as_ref().unwrap().strip_prefix("app;dur=").unwrap().parse().unwrap();
    assert!(worked_ms >= 20.0, "{worked_ms}");
    assert!(
        sample.final_headers_ns <= sample.first_body_byte_ns
            && sample.first_body_byte_ns <= sample.last_byte_ns
    );
    let phases = sample.get(Metric::Ttfb).unwrap() + sample.load_ns.unwrap();
    assert!(phases <= sample.get(Metric::Total).unwrap(), "{sample:?}");
}

#[test]
fn every_protocol_over_both_families() {
    for address in [V4, V6] {
        for security in [Security::Clear, Security::Tls, Security::Quic] {
            let origin = origin(address, security, slow);
            let versions: &[_] = match security {
                Security::Quic => &[(Protocol::Http3, "h3")],
                _ => &[(Protocol::Http1, "http/1.1"), (Protocol::Http2, "h2")],
            };
            for &(protocol, spoken) in versions {
                let config = origin.client_with(|http| http.protocol = protocol);
                let sample = fetch_one(&config, &origin.target());
                assert_whole(&sample, spoken, security);
                assert_eq!(sample.remote, Some(origin.ready.addresses[0].to_string()));
                assert_eq!(sample.family.as_deref(), Some(if address == V4 { "ipv4" } else { "ipv6" }));
            }
        }
    }
}

#[test]
fn hints_are_stamped_before_the_response_in_every_protocol() {
    for security in [Security::Clear, Security::Tls, Security::Quic] {
        for early_hints in [true, false] {
            let origin = origin(V4, security, |config| {
                slow(config);
                config.early_hints = early_hints;
            });
            let versions: &[_] = match security {
                Security::Quic => &[Protocol::Http3],
                _ => &[Protocol::Http1, Protocol::Http2],
            };
            for &protocol in versions {
                let config = origin.client_with(|http| http.protocol = protocol);
                let sample = fetch_one(&config, &origin.target());
                assert_eq!((sample.error.as_deref(), sample.status), (None, Some(200)), "{protocol:?}");
                assert_eq!(sample.first_interim_ns.is_some(), early_hints, "{protocol:?}");
                assert!(sample.first_interim_ns <= sample.final_headers_ns, "{sample:?}");
                assert_eq!(sample.body_bytes, Some(1000));
            }
        }
    }
}

#[test]
fn each_response_says_which_version_it_is() {
    for (security, protocol) in [
        (Security::Clear, Protocol::Http1),
        (Security::Tls, Protocol::Http2),
        (Security::Quic, Protocol::Http3),
    ] {
        let origin = origin(V4, security, |config| config.versions = true);
        let mut config =
            origin.client_with(|http| (http.protocol, http.connections) = (protocol, Connections::Reuse));
        config.record = vec!["ETag".parse().unwrap()];
        let change = origin.target().method("POST").unwrap();
        let known = |tag| origin.target().header("if-none-match", tag).unwrap();
        let targets = [origin.target(), origin.target(), change, known("\"1\""), known("\"2\"")];
        let samples = fetch(&config, &targets);
        let seen = samples.iter().map(|sample| (sample.status, sample.labels["etag"].as_str()));
        let expected = [(200, "\"1\""), (200, "\"1\""), (200, "\"2\""), (200, "\"2\""), (304, "\"2\"")];
        assert!(seen.eq(expected.map(|(status, tag)| (Some(status), tag))), "{samples:?}");
    }
}

#[test]
fn a_response_has_the_fields_that_were_asked_for() {
    let lines = ["Cache-Control: max-age=60", "Cache-Tag: a", "Cache-Tag: b"];
    let origin = origin(V4, Security::Clear, |config| {
        let set = lines.iter().try_fold(config.clone(), |config, line| config.header_line(line));
        *config = set.unwrap();
    });
    let mut config = origin.client();
    config.record = ["cache-control", "cache-tag", "etag"].map(|name| name.parse().unwrap()).into();
    let sample = fetch_one(&config, &origin.target());
    assert_eq!((&*sample.labels["cache-control"], &*sample.labels["cache-tag"]), ("max-age=60", "a, b"));
    assert!(!sample.labels.contains_key("etag"), "{sample:?}");
    for line in ["x", "a b: c", "Content-Length: 5", "A: \u{1}"] {
        assert!(serve::Config::default().header_line(line).is_err(), "{line}");
    }
}

#[test]
fn negotiation_prefers_http2_where_there_is_any() {
    for (security, spoken) in [(Security::Clear, "http/1.1"), (Security::Tls, "h2")] {
        let origin = origin(V4, security, |_| {});
        assert_eq!(fetch_one(&origin.client(), &origin.target()).labels["protocol"], spoken);
    }
}

#[test]
fn a_reused_connection_has_no_handshake() {
    for security in [Security::Clear, Security::Tls, Security::Quic] {
        let origin = origin(V4, security, |_| {});
        for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http3] {
            if (protocol == Protocol::Http3) != (security == Security::Quic) {
                continue;
            }
            let config =
                origin.client_with(|http| (http.protocol, http.connections) = (protocol, Connections::Reuse));
            let samples = fetch(&config, &[origin.target(), origin.target(), origin.target()]);
            assert_eq!(samples[0].reused, Some(false));
            assert!(samples[0].connect_ns.or(samples[0].quic_ns).is_some());
            for sample in &samples[1..] {
                assert_eq!((sample.status, sample.reused), (Some(200), Some(true)), "{sample:?}");
                assert_eq!((sample.connect_ns, sample.tls_ns, sample.quic_ns), (None, None, None));
                assert_eq!((&sample.remote, sample.fallback), (&samples[0].remote, None));
                assert!(sample.wait_ns.is_some() && sample.load_ns.is_some());
            }
        }
    }
}

#[test]
fn a_session_is_resumed_only_where_it_may_be() {
    for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http3] {
        let security = if protocol == Protocol::Http3 { Security::Quic } else { Security::Tls };
        let origin = origin(V4, security, |_| {});
        let resumed = |connections| {
            let config =
                origin.client_with(|http| (http.protocol, http.connections) = (protocol, connections));
            let samples = fetch(&config, &[origin.target(), origin.target(), origin.target()]);
            samples
                .into_iter()
                .map(|sample| {
                    assert!(
                        sample.tls_ns.or(sample.quic_ns).is_some() && sample.reused == Some(false),
                        "{sample:?}"
                    );
                    sample.labels.get("resumed").cloned()
                })
                .collect::<Vec<_>>()
        };
        let [no, yes] = ["false", "true"].map(|word| Some(word.to_owned()));
        assert_eq!(resumed(Connections::Resume), [no, yes.clone(), yes]);
        assert_eq!(resumed(Connections::New), [None, None, None]);
    }
}

#[test]
fn a_name_is_looked_up_once_or_each_time() {
    let origin = origin(V4, Security::Clear, |_| {});
    let port = origin.ready.addresses[0].port();
    let target: Target = format!("http://localhost:{port}/").parse().unwrap();
    for (lookups, second_has_dns) in [(Lookups::Once, false), (Lookups::EachConnection, true)] {
        let config = origin.client_with(|http| http.lookups = lookups);
        let samples = fetch(&config, &[target.clone(), target.clone()]);
        assert_eq!((samples[0].error.as_deref(), samples[1].error.as_deref()), (None, None));
        assert!(samples[0].dns_ns.is_some());
        assert_eq!(samples[1].dns_ns.is_some(), second_has_dns);
    }
}

#[test]
fn one_family_of_a_name_can_be_asked_for() {
    // The origin listens on one family only; Happy Eyeballs tries the other.
    let origin = origin(V4, Security::Clear, |_| {});
    let port = origin.ready.addresses[0].port();
    let target: Target = format!("http://localhost:{port}/").parse().unwrap();
    let with = |family, target: &Target| fetch_one(&origin.client_with(|http| http.family = family), target);
    let only = with(Family::V4, &target);
    assert_eq!((only.error, only.family.as_deref(), only.fallback), (None, Some("ipv4"), Some(false)));
    let literal = with(Family::V6, &origin.target());
    assert_eq!(literal.error.as_deref(), Some("dns: no IPv6 address"));
    assert_eq!((literal.remote, literal.fallback), (None, None));
}

#[test]
fn a_host_header_reaches_either_protocol() {
    let server = responder(|stream| {
        let mut reader = BufReader::new(&stream);
        let mut head = String::new();
        while reader.read_line(&mut head).unwrap() > 2 {}
        let host = head.lines().find(|line| line.to_ascii_lowercase().starts_with("host:")).unwrap();
        let answer =
            format!("HTTP/1.1 200 OK\r\nserver-timing: {}\r\ncontent-length: 0\r\n\r\n", host.trim());
        (&stream).write_all(answer.as_bytes()).unwrap();
    });
    let target = server.target().header_line("Host: shop.example").unwrap();
    let sample = fetch_one(&Config::default(), &target);
    assert!(sample.server_timing.unwrap().to_ascii_lowercase().ends_with("host: shop.example"));
    // HTTP/2 sends `:authority`, and an additional Host field would be refused.
    let origin = origin(V4, Security::Clear, |_| {});
    let config = origin.client_with(|http| http.protocol = Protocol::Http2);
    let sample = fetch_one(&config, &origin.target().header_line("Host: shop.example").unwrap());
    assert_eq!((sample.status, sample.error), (Some(200), None));
}

#[test]
fn any_name_can_be_sent_to_an_address() {
    let origin = origin(V4, Security::Tls, |config| {
        config.tls.as_mut().unwrap().names = vec!["shop.example".to_owned()];
    });
    let config = origin.client_with(|http| http.connect_to = Some(origin.ready.addresses[0]));
    let sample = fetch_one(&config, &"https://shop.example/".parse().unwrap());
    assert_eq!((sample.status, sample.dns_ns, sample.error), (Some(200), None, None));
    let sample = fetch_one(&config, &"https://other.example/".parse().unwrap());
    assert_eq!(sample.error.as_deref(), Some("tls: certificate for another name"));
}

#[test]
fn trust_is_needed_or_waived() {
    let origin = origin(V4, Security::Tls, |_| {});
    let with = |trust| fetch_one(&origin.client_with(|http| http.trust = trust), &origin.target());
    let refused = with(Trust::System);
    assert_eq!(refused.error.as_deref(), Some("tls: unknown issuer"));
    assert!(refused.connect_ns.is_some());
    assert_eq!((refused.tls_ns, refused.status, refused.last_byte_ns), (None, None, None));
    assert_eq!(with(Trust::Anyone).status, Some(200));
}

#[test]
fn a_file_without_certificates_is_no_trust() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let config = config(|http| http.trust = Trust::File(file.path().to_owned()));
    let error = probe::client::Client::new(&config, &probe::ShutdownSignal::new()).err().unwrap();
    assert!(
        matches!(error, Error::Http(http_stack::Error::Trust { .. })) && error.to_string().contains("PEM"),
        "{error}"
    );
}

#[test]
fn methods() {
    let origin = origin(V4, Security::Clear, |config| config.body = Bytes(5000));
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let config = origin.client_with(|http| http.protocol = protocol);
        let ask = |target: Target| fetch_one(&config, &target);
        let head = ask(origin.target().method("HEAD").unwrap());
        assert_eq!(
            (head.status, head.body_bytes, head.load_ns, head.error),
            (Some(200), Some(0), None, None)
        );
        let delete = ask(origin.target().method("DELETE").unwrap());
        assert_eq!((delete.status, delete.body_bytes, delete.error), (Some(405), Some(0), None));
        let upload = ask(origin.target().method("POST").unwrap().body(vec![b'x'; 3_000_000]));
        assert_eq!((upload.status, upload.body_bytes, upload.error), (Some(200), Some(5000), None));
        assert!(upload.send_ns > Some(0) && upload.wait_ns.is_some());
    }
}

#[test]
fn large_bodies_arrive_whole() {
    let origin = origin(V4, Security::Tls, |config| config.body = Bytes(20_000_001));
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let config = origin.client_with(|http| http.protocol = protocol);
        let sample = fetch_one(&config, &origin.target());
        assert_eq!((sample.body_bytes, sample.error), (Some(20_000_001), None));
        assert!(sample.load_ns > Some(0));
    }
}

#[test]
fn the_certificate_covers_what_is_listened_on_and_the_ca_is_written() {
    let origin: Origin = origin(V4, Security::Tls, |_| {});
    let written = std::fs::read_to_string(origin.ca()).unwrap();
    assert_eq!(Some(written), origin.ready.ca_pem);
    let unwritable = serve::Config {
        listen: vec![V4.parse().unwrap()],
        tls: Some(Tls { write_ca: Some("/nonexistent/ca.pem".into()), ..Tls::default() }),
        ..serve::Config::default()
    };
    let error = serve::serve(&unwritable, |_| {}, &probe::ShutdownSignal::new()).unwrap_err();
    assert!(matches!(error, Error::WriteCa { .. }), "{error}");
}
