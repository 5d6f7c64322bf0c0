//! Runs of many requests: their recordings, their ends, and their warnings about themselves.

use std::{
    io::{self, Write},
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use probe::{
    Catalogue, Error, ShutdownSignal,
    client::{Connections, Protocol, Target},
    load::{self, Arrival, Config, Pace, Progress, Replay},
    serve::ServiceTime,
    summary::Summary,
};
use recording::{End, Header, Sample, Writer};

use crate::support::{Security, V4, origin, read_request, responder};

#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Recorded {
    header: Header,
    samples: Vec<Sample>,
    end: End,
    summary: Summary,
}

fn run(target: &Target, config: &Config) -> Recorded {
    run_until(target, config, &Progress::default(), &ShutdownSignal::new())
}

fn run_until(target: &Target, config: &Config, progress: &Progress, stop: &ShutdownSignal) -> Recorded {
    let paper = Paper::default();
    let recording = Writer::new(paper.clone(), &load::header(target, config)).unwrap();
    let summary = load::run(target, config, recording, progress, stop).unwrap();
    let text = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [first, samples @ .., last] = lines.as_slice() else { panic!("{text}") };
    let last: serde_json::Value = serde_json::from_str(last).unwrap();
    Recorded {
        header: serde_json::from_str(first).unwrap(),
        samples: samples.iter().map(|line| serde_json::from_str(line).unwrap()).collect(),
        end: serde_json::from_value(last["end"].clone()).unwrap(),
        summary,
    }
}

fn open(rate: &str, arrival: Arrival, count: u64) -> Config {
    let pace = Pace::Open { rate: rate.parse().unwrap(), arrival };
    Config { pace, duration: None, count: Some(count), ..Config::default() }
}

fn closed(concurrency: usize, count: u64) -> Config {
    Config { pace: Pace::Closed { concurrency }, duration: None, count: Some(count), ..Config::default() }
}

#[test]
fn an_open_loop_keeps_its_schedule_in_the_recording() {
    let origin = origin(V4, Security::Clear, |_| {});
    let recorded = run(&origin.target(), &open("1000/s", Arrival::Constant, 50));
    assert_eq!(recorded.samples.len(), 50);
    let mut intended: Vec<u64> = recorded.samples.iter().map(|sample| sample.intended_ns.unwrap()).collect();
    intended.sort_unstable();
    // 1000 per second: exactly 1 ms apart, independent of the machine.
    assert!(intended.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000), "{intended:?}");
    for sample in &recorded.samples {
        assert_eq!((sample.status, sample.error.as_deref()), (Some(200), None));
        assert!(sample.started_ns >= sample.intended_ns);
    }
    assert_eq!((recorded.end.samples, recorded.end.failed), (50, 0));
    assert!(recorded.end.schedule_lateness_p999_ns.is_some());
    assert!(recorded.end.cpu_share > Some(0.0));
    assert!(recorded.end.duration_ns >= 49_000_000);
    assert_eq!((recorded.summary.n, recorded.summary.status["200"]), (50, 50));
    let phases: Vec<&str> = recorded.summary.phases.keys().map(String::as_str).collect();
    assert_eq!(phases, ["connect", "load", "response", "send", "total", "ttfb", "ttfb_without_dns", "wait"]);
    assert!(recorded.summary.phases.values().all(|phase| phase.n == 50));
    assert_eq!(recorded.summary.lateness_ms.as_ref().unwrap().n, 50);
}

#[test]
fn a_poisson_schedule_is_the_seed_s() {
    let origin = origin(V4, Security::Clear, |_| {});
    let offsets = |seed| {
        let config = Config { seed, ..open("2000/s", Arrival::Poisson, 40) };
        let recorded = run(&origin.target(), &config);
        let mut intended: Vec<u64> =
            recorded.samples.iter().map(|sample| sample.intended_ns.unwrap()).collect();
        intended.sort_unstable();
        intended.iter().map(|at| at - intended[0]).collect::<Vec<_>>()
    };
    assert_eq!(offsets(1), offsets(1));
    assert_ne!(offsets(1), offsets(2));
}

#[test]
fn the_header_states_the_conditions() {
    let target: Target = "http://localhost:1/".parse().unwrap();
    let header = load::header(&target, &open("50/s", Arrival::Poisson, 1));
    assert_eq!((header.schema.as_str(), header.clock.as_str()), (recording::SCHEMA, "monotonic"));
    for (name, value) in [
        ("url", "http://localhost:1/"),
        ("rate", "50/s"),
        ("loop", "open"),
        ("connections", "new"),
        ("family", "any"),
    ] {
        assert_eq!(header.conditions[name], value);
    }
    assert!(!header.conditions.contains_key("headers"));
    let secret = target.clone().header_line("Authorization: secret").unwrap();
    let header = load::header(&secret, &open("50/s", Arrival::Poisson, 1));
    assert_eq!(header.conditions["headers"], "authorization");
    let recorded = run(&target, &closed(1, 1));
    assert_eq!(recorded.header.conditions["concurrency"], "1");
    assert_eq!(recorded.summary.errors_by_reason["connection refused"], 1);
}

#[test]
fn a_closed_loop_makes_as_many_requests_as_asked() {
    let origin = origin(V4, Security::Clear, |_| {});
    let mut config = closed(4, 101);
    config.client.http.connections = Connections::Reuse;
    let recorded = run(&origin.target(), &config);
    assert_eq!(recorded.samples.len(), 101);
    assert!(recorded.samples.iter().all(|sample| sample.intended_ns.is_none() && sample.status == Some(200)));
    let fresh = recorded.samples.iter().filter(|sample| sample.reused == Some(false)).count();
    assert!((1..=4).contains(&fresh), "{fresh}");
    assert_eq!((recorded.end.schedule_lateness_p999_ns, recorded.summary.lateness_ms), (None, None));
}

#[test]
fn each_request_asks_for_an_object_and_keeps_what_a_cache_said_of_it() {
    let server = responder(|mut stream| {
        let request = read_request(&stream);
        let number = request.unwrap().split(['/', ' ']).nth(2).unwrap().to_owned();
        let status = if number == "1" { "lhr; hit" } else { "lhr; fwd=uri-miss" };
        let answer = format!("HTTP/1.1 200 OK\r\ncache-status: {status}\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let target = format!("{}{{}}", server.target()).parse().unwrap();
    let config = || Config { catalogue: Some(Catalogue { objects: 3, zipf: 0.5 }), ..closed(1, 40) };
    let drawn = |config: &Config| {
        let samples = run(&target, config).samples.into_iter();
        samples.map(|sample| (sample.labels["object"].clone(), sample.cache.unwrap())).collect::<Vec<_>>()
    };
    let first = drawn(&config());
    assert!(first.iter().all(|(object, cache)| (object == "1") == (cache == "hit")), "{first:?}");
    for object in ["1", "2", "3"] {
        assert!(
            first.iter().any(|(drawn, _)| drawn == object),
            "{object} has a chance of 29 % or more, 40 times"
        );
    }
    assert_eq!(drawn(&config()), first, "the seed decides");
    assert_ne!(drawn(&Config { seed: 2, ..config() }), first);
}

#[test]
fn http2_needs_one_connection_for_all() {
    for security in [Security::Clear, Security::Tls] {
        let origin = origin(V4, security, |config| config.service_time = "1ms".parse().unwrap());
        let mut config = closed(20, 200);
        config.client = origin.client_with(|http| {
            (http.protocol, http.connections) = (Protocol::Http2, Connections::Reuse);
        });
        let recorded = run(&origin.target(), &config);
        assert_eq!(recorded.samples.len(), 200);
        assert!(recorded.samples.iter().all(|sample| sample.status == Some(200)));
        let fresh: Vec<_> = recorded.samples.iter().filter(|sample| sample.connect_ns.is_some()).collect();
        assert_eq!(fresh.len(), 1);
        assert_eq!(fresh[0].reused, Some(false));
    }
}

#[test]
fn a_page_has_connections_of_its_own_and_no_more_than_a_browser() {
    for (protocol, connections) in [(Protocol::Http1, 6), (Protocol::Http2, 1)] {
        let origin = origin(V4, Security::Clear, |config| config.service_time = "1ms".parse().unwrap());
        let mut config = open("50/s", Arrival::Constant, 5);
        config.client = origin.client_with(|http| http.protocol = protocol);
        config.set_connections(load::Connections::Pages, NonZeroU32::new(20).unwrap());
        let recorded = run(&origin.target(), &config);
        assert_eq!(recorded.samples.len(), 100);
        for page in 0..5 {
            let of_page = || recorded.samples.iter().filter(|sample| sample.page == Some(page));
            assert_eq!(of_page().count(), 20);
            assert!(of_page().all(|sample| sample.intended_ns == of_page().next().unwrap().intended_ns));
            assert_eq!(of_page().filter(|sample| sample.connect_ns.is_some()).count(), connections);
        }
        assert_eq!(recorded.header.conditions["connections"], "pages");
        assert_eq!(recorded.header.conditions["requests of a page"], "20");
    }
}

#[test]
fn a_recording_can_be_the_schedule_of_another_run() {
    let origin = origin(V4, Security::Clear, |_| {});
    let times = [0, 30, 31, 90].map(|ms| format!("{{\"started_ns\":{},\"last_byte_ns\":1}}", ms * 1_000_000));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("earlier.jsonl");
    let header = serde_json::to_string(&load::header(&origin.target(), &Config::default())).unwrap();
    std::fs::write(&path, [&[header][..], &times].concat().join("\n")).unwrap();
    let pace = Pace::Replay(Replay::read(&path).unwrap());
    let recorded = run(&origin.target(), &Config { pace, duration: None, ..Config::default() });
    let intended: Vec<_> = recorded.samples.iter().map(|sample| sample.intended_ns.unwrap()).collect();
    let mut offsets: Vec<_> = intended.iter().map(|at| at - intended.iter().min().unwrap()).collect();
    offsets.sort_unstable();
    assert_eq!(offsets, [0, 30_000_000, 31_000_000, 90_000_000]);
    assert!(recorded.samples.iter().all(|sample| sample.started_ns >= sample.intended_ns));
    assert_eq!(recorded.header.conditions["schedule"], path.display().to_string());
}

#[test]
fn what_is_due_but_has_no_room_makes_the_run_invalid() {
    let origin =
        origin(V4, Security::Clear, |config| config.service_time = ServiceTime::Constant(ServiceTime::MAX));
    let config = Config { max_in_flight: 1, grace: Duration::ZERO, ..open("1000/s", Arrival::Constant, 3) };
    let recorded = run(&origin.target(), &config);
    assert_eq!((recorded.end.samples, recorded.end.failed), (3, 3));
    let reasons = recorded.summary.errors_by_reason;
    assert_eq!(reasons["unfinished when the run ended"], 1);
    assert_eq!(reasons["not sent: too many in flight"], 2);
    assert!(recorded.end.invalid.iter().any(|reason| reason.starts_with("2 requests were due but not sent")));
    assert_eq!(recorded.end.invalid, recorded.summary.reasons);
}

#[test]
fn asked_to_stop_it_finishes_what_is_in_flight_and_ends_the_recording() {
    let origin = origin(V4, Security::Clear, |_| {});
    for pace in [
        Pace::Open { rate: "500/s".parse().unwrap(), arrival: Arrival::Constant },
        Pace::Closed { concurrency: 2 },
    ] {
        let config = Config { pace, duration: None, ..Config::default() };
        let (progress, stop) = (Progress::default(), ShutdownSignal::new());
        let recorded = std::thread::scope(|scope| {
            let running = scope.spawn(|| run_until(&origin.target(), &config, &progress, &stop));
            while progress.done() < 10 {
                std::thread::yield_now();
            }
            stop.request();
            running.join().unwrap()
        });
        assert_eq!((recorded.end.samples, recorded.end.failed), (progress.done(), 0));
        assert_eq!(progress.sent(), progress.done());
        assert!(recorded.samples.len() >= 10);
    }
}

#[test]
fn a_run_that_is_ended_before_its_time_says_so() {
    let origin = origin(V4, Security::Clear, |_| {});
    let ended_by = |config: &Config, ask: bool| {
        let (progress, stop) = (Progress::default(), ShutdownSignal::new());
        std::thread::scope(|scope| {
            let running = scope.spawn(|| run_until(&origin.target(), config, &progress, &stop));
            while ask && progress.done() < 3 {
                std::thread::yield_now();
            }
            if ask {
                stop.request();
            }
            running.join().unwrap()
        })
    };
    let long = Some(Duration::from_secs(600));
    for config in [Config { duration: long, ..open("500/s", Arrival::Constant, 400_000) }, closed(2, 1 << 40)]
    {
        let recorded = ended_by(&config, true);
        assert!(recorded.end.interrupted && recorded.summary.interrupted);
        assert_eq!((recorded.end.failed, recorded.end.samples), (0, recorded.samples.len() as u64));
    }
    let recorded = ended_by(&open("1000/s", Arrival::Constant, 5), false);
    assert!(!recorded.end.interrupted && !recorded.summary.interrupted);
}

#[test]
fn a_rate_that_cannot_be_kept_costs_no_time_and_is_said() {
    let origin = origin(V4, Security::Clear, |_| {});
    let config = Config {
        duration: Some(Duration::from_secs(1)),
        count: None,
        max_in_flight: 20,
        ..open("10000000/s", Arrival::Constant, 0)
    };
    let nowhere = Writer::new(io::sink(), &Header::default()).unwrap();
    let summary =
        load::run(&origin.target(), &config, nowhere, &Progress::default(), &ShutdownSignal::new()).unwrap();
    assert!(summary.n < 10_000_000);
    assert!(summary.reasons[0].ends_with("the generator could not keep the rate"), "{:?}", summary.reasons);
    assert!(summary.reasons[0].contains(" of 10000000 requests"), "{:?}", summary.reasons);
    assert!(!summary.interrupted, "nobody asked for it");
    let config = Config {
        duration: Some(Duration::from_millis(100)),
        count: None,
        ..open("50/s", Arrival::Constant, 0)
    };
    let recorded = run(&origin.target(), &config);
    assert_eq!(recorded.end.samples, 5);
    assert!(!recorded.end.invalid.iter().any(|reason| reason.contains("keep the rate")));
}

#[test]
fn asked_twice_it_gives_up_what_is_in_flight() {
    let origin =
        origin(V4, Security::Clear, |config| config.service_time = ServiceTime::Constant(ServiceTime::MAX));
    let config = Config { duration: None, ..open("1000/s", Arrival::Constant, 5) };
    let (progress, stop) = (Progress::default(), ShutdownSignal::new());
    let recorded = std::thread::scope(|scope| {
        let running = scope.spawn(|| run_until(&origin.target(), &config, &progress, &stop));
        while progress.sent() < 5 {
            std::thread::yield_now();
        }
        stop.request();
        stop.request();
        running.join().unwrap()
    });
    assert_eq!(recorded.summary.errors_by_reason["unfinished when the run ended"], 5);
}

#[test]
fn a_duration_ends_a_closed_loop() {
    let origin = origin(V4, Security::Clear, |_| {});
    let config = Config {
        pace: Pace::Closed { concurrency: 2 },
        duration: Some(Duration::from_millis(50)),
        ..Config::default()
    };
    let recorded = run(&origin.target(), &config);
    assert!(!recorded.samples.is_empty());
    assert!(recorded.end.duration_ns >= 50_000_000);
}

#[test]
fn a_recording_that_cannot_be_written_ends_the_run() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let origin = origin(V4, Security::Clear, |_| {});
    let config = Config { duration: None, count: None, ..closed(2, 0) };
    let outcome = Writer::new(Full, &Header::default()).map(|recording| {
        load::run(&origin.target(), &config, recording, &Progress::default(), &ShutdownSignal::new())
    });
    match outcome {
        Err(_) => {}
        Ok(outcome) => assert!(matches!(outcome, Err(Error::Record { .. })), "{outcome:?}"),
    }
}

#[test]
fn more_workers_than_open_files_are_refused() {
    let config = closed(usize::MAX, 1);
    let recording = Writer::new(io::sink(), &Header::default()).unwrap();
    let target = "http://localhost:1/".parse().unwrap();
    let error =
        load::run(&target, &config, recording, &Progress::default(), &ShutdownSignal::new()).unwrap_err();
    assert!(error.to_string().contains("ulimit -n"), "{error}");
}
