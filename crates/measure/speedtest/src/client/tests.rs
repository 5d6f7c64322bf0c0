//! Complete tests over loopback. The measured values depend on the machine; the reported fields do
//! not.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    thread,
    time::Duration,
};

use http_stack::client::{Protocol, Trust};

use super::*;
use crate::{
    plan::{Direction, Limits, Plan},
    serve::{self, tests::Served},
};

/// Even on a busy machine no transfer lasts long enough for a latency probe.
fn small() -> Plan {
    let transfer = |direction, bytes, count| Step::Transfer { direction, bytes, count };
    Plan {
        name: "small".to_owned(),
        steps: vec![
            Step::WarmUp { bytes: 1000 },
            Step::Latency { samples: 5 },
            transfer(Direction::Download, 200_000, 3),
            transfer(Direction::Upload, 200_000, 2),
            Step::Loss { messages: 20 },
        ],
        limits: Limits {
            stop_after: Duration::from_secs(1),
            stop_after_round_trips: 10,
            longest_set: Duration::from_secs(5),
        },
        larger: None,
        probe_every: Duration::from_millis(20),
        loaded_from: Duration::from_secs(3600),
    }
}

fn config(url: &str, protocol: Protocol) -> Config {
    Config { plan: small(), protocol, trust: Trust::Anyone, ..Config::of(url).unwrap() }
}

fn made(config: &Config) -> Result<Measurement, Error> {
    run(config, &Progress::default(), &ShutdownSignal::new())
}

#[test]
fn each_version_of_http_is_measured() {
    let served = Served::over_tls();
    for (protocol, name) in [(Protocol::Http1, "http/1.1"), (Protocol::Http2, "h2"), (Protocol::Http3, "h3")]
    {
        let Measurement { outcome, samples, .. } = made(&config(&served.url("https"), protocol)).unwrap();
        assert_eq!((outcome.protocol.as_str(), outcome.plan.as_str()), (name, "small"));
        let sets = |bandwidth: &crate::bandwidth::Bandwidth| -> Vec<_> {
            bandwidth.sets.iter().map(|set| (set.bytes, set.n)).collect()
        };
        assert_eq!(sets(&outcome.download), [(200_000, 3)]);
        assert_eq!(sets(&outcome.upload), [(200_000, 2)]);
        assert_eq!(outcome.latency.idle_ms.unwrap().n, 5);
        assert!(outcome.latency.idle_ms.unwrap().min > 0.0);
        assert_eq!(outcome.loss.map(|loss| (loss.sent, loss.lost)), Some((20, 0)));
        assert_eq!(samples.len(), 10);
        assert!(!outcome.interrupted && outcome.took_s > 0.0);
        let limited = outcome.missing.iter().any(|missing| missing.what == "download.limited_by");
        assert_eq!(limited, protocol == Protocol::Http3, "{:?}", outcome.missing);
    }
    let totals = served.end();
    assert_eq!((totals.tests, totals.bytes_up), (3, 3 * 400_000));
}

#[test]
fn several_streams_are_one_transfer_each() {
    let served = Served::with(Served::config());
    let config = Config { streams: 4, ..config(&served.url("http"), Protocol::Negotiated) };
    let Measurement { outcome, samples, .. } = made(&config).unwrap();
    assert_eq!((outcome.streams, outcome.protocol.as_str()), (4, "http/1.1"));
    assert_eq!(outcome.download.sets[0].n, 3);
    let of_downloads = samples.iter().filter(|sample| sample.label("what").as_deref() == Some("download"));
    assert_eq!(of_downloads.map(|sample| sample.body_bytes.unwrap()).sum::<u64>(), 600_000);
    assert!(outcome.upload.limited_by.is_some(), "{:?}", outcome.missing);
}

#[test]
fn latency_under_load_is_missing_where_nothing_takes_long_and_scores_are_ranges() {
    let served = Served::with(Served::config());
    let Measurement { outcome, .. } = made(&config(&served.url("http"), Protocol::Http1)).unwrap();
    assert_eq!((outcome.latency.loaded_down_ms, outcome.rpm.value), (None, None));
    let missing: Vec<_> = outcome.missing.iter().map(|missing| missing.what.as_str()).collect();
    for expected in ["latency.loaded_down_ms", "latency.loaded_up_ms", "rpm"] {
        assert!(missing.contains(&expected), "{missing:?}");
    }
    assert!(outcome.scores.gaming.points < outcome.scores.gaming.points_at_best);
}

#[test]
fn a_test_that_is_stopped_says_so_and_has_what_there_was() {
    let served = Served::with(Served::config());
    let stop = ShutdownSignal::new();
    stop.request();
    let config = config(&served.url("http"), Protocol::Http1);
    let Measurement { outcome, samples, .. } = run(&config, &Progress::default(), &stop).unwrap();
    assert!(outcome.interrupted && samples.is_empty());
    assert_eq!(outcome.download.bps_p90, None);
}

fn answering(answers: &'static [&'static str]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut held = Vec::new();
        for (stream, answer) in listener.incoming().flatten().zip(answers.iter()) {
            let mut stream = stream;
            let mut room = [0; 4096];
            let _ = stream.read(&mut room);
            let _ = stream.write_all(answer.as_bytes());
            held.push(stream);
        }
        thread::park();
    });
    address
}

fn error(answers: &'static [&'static str]) -> Error {
    let mut config = config(&format!("http://{}", answering(answers)), Protocol::Http1);
    config.patience = Duration::from_secs(1);
    made(&config).unwrap_err()
}

const GREETING: &str = "HTTP/1.1 200 OK\r\ncontent-length: 111\r\n\r\n{\"schema\":\"longhaul.speed.test/1\",\"test\":\"00000000000000000000000000000000\",\"loss_port\":null,\"largest\":1000000}";

#[test]
fn who_is_no_speed_server_is_told_apart() {
    let other = error(&["HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"]);
    assert!(matches!(&other, Error::NotSpeedServer { what, .. } if what.contains("404")), "{other}");
    let page = error(&["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"]);
    assert!(matches!(page, Error::NotSpeedServer { .. }), "{page}");
    let garbled = error(&["220 mail.example ESMTP\r\n"]);
    assert!(matches!(garbled, Error::NotSpeedServer { .. }), "{garbled}");
    let silent = error(&[""]);
    assert!(matches!(silent, Error::Unreachable { .. }), "{silent}");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = made(&config(&format!("http://{nobody}"), Protocol::Http1)).unwrap_err();
    assert!(closed.to_string().contains("is `longhaul speed serve` running"), "{closed}");
    assert!(!closed.is_of_measurement());
}

#[test]
fn a_server_that_stalls_or_goes_in_mid_test_ends_it_with_a_sentence() {
    let stalled = error(&[GREETING, "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nsome"]);
    assert_eq!(stalled.to_string(), "the download failed: nothing moved for 1s; --timeout waits longer");
    assert!(stalled.is_of_measurement());
    let short = error(&[GREETING, "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsome"]);
    assert!(short.to_string().contains("another size than requested"), "{short}");
    let busy = error(&[GREETING, "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 9\r\n\r\ntoo many\n"]);
    assert!(matches!(&busy, Error::Busy { why, .. } if why == "too many"), "{busy}");
}

#[test]
fn a_plan_that_is_too_large_for_the_server_is_refused_before_it_begins() {
    let limits = serve::Limits { largest: units::Bytes(100_000), ..serve::Limits::default() };
    let served = Served::with(serve::Config { limits, ..Served::config() });
    let said = made(&config(&served.url("http"), Protocol::Http1)).unwrap_err().to_string();
    assert!(said.contains("at most 100KB") && said.contains("requires 200KB"), "{said}");
    let clear = made(&config(&served.url("http"), Protocol::Http3)).unwrap_err();
    assert!(matches!(clear, Error::NoClearHttp3 { .. }));
    assert!(Config::of("ftp://a").is_err() && Config::of("http://a/b").is_err());
}
