//! A reader and senders over loopback, and a synthetic recording for tests of its figures.

use std::{
    io::Write,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use tcp::{Error, Info, counters::Counters, diag::State, timeline::Sample};
use units::Bytes;

use super::*;

pub(super) fn sample(t_ms: f64, bytes_received: u64, receive_queue_bytes: u32) -> Sample {
    Sample {
        t_ms,
        state: State::Established,
        receive_queue_bytes,
        send_queue_bytes: 0,
        tcp_info: Some(Info { bytes_received, ..Info::default() }),
        skmem: None,
        model: None,
        counters: None,
        tcp_memory_bytes: None,
    }
}

pub(super) fn recording(seconds: f64, bytes: u64) -> Recording {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
    let phase = Passage {
        phase: "fast".to_owned(),
        kind: Kind::Fast,
        t_s: 0.0,
        duration_s: seconds,
        bytes,
        max_pause_ms: 0.0,
        restart_s: None,
    };
    Recording {
        schema: Recording::SCHEMA.to_owned(),
        conditions: Conditions {
            version: "1".to_owned(),
            kernel: "6.18".to_owned(),
            local: address,
            remote: address,
            rtt_ms: None,
            settings: std::collections::BTreeMap::new(),
            programme: Programme::find("steady").unwrap(),
            length_s: None,
            interval_ms: 100.0,
            buffer_bytes: 1,
            rcvbuf_bytes: None,
        },
        ended: Ended::Complete,
        ended_why: None,
        valid: true,
        reasons: Vec::new(),
        warnings: Vec::new(),
        doubts: Vec::new(),
        summary: Summary { bytes, duration_s: seconds, ..Summary::default() },
        phases: vec![phase],
        seconds: Vec::new(),
        counters: Counters::new(),
        trace: None,
        samples: Vec::new(),
    }
}

struct Server {
    address: String,
    log: mpsc::Receiver<Served>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Server {
    fn start(serving: Serving) -> Self {
        let (stop, (ready, address), (said, log)) =
            (Arc::<AtomicBool>::default(), mpsc::channel(), mpsc::channel());
        let asked = Arc::clone(&stop);
        let serving = Serving { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), ..serving };
        let thread = thread::spawn(move || {
            let log = move |served| drop(said.send(served));
            let watch =
                || if asked.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            serve(&serving, |address| ready.send(address).unwrap(), log, watch)
        });
        Self { address: address.recv().unwrap().to_string(), log, stop, thread: Some(thread) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

fn fake(then: impl FnOnce(TcpStream) + Send + 'static) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (address, thread::spawn(move || then(listener.accept().unwrap().0)))
}

fn reading(phases: &str) -> Reading {
    let interval = Duration::from_millis(5);
    Reading { interval, ..Reading::new(Programme::parse("test", phases).unwrap()) }
}

fn phase(name: &str, rate: &str, ms: u64) -> String {
    format!("[[phase]]\nname = \"{name}\"\nrate = \"{rate}\"\nduration = \"{ms}ms\"\n")
}

fn go_on(_: Option<Progress<'_>>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn run(address: &str, reading: &Reading) -> Recording {
    read(address, reading, go_on).unwrap().unwrap()
}

#[test]
fn a_programme_is_gone_through_and_every_byte_is_in_one_second_and_one_phase() {
    let server = Server::start(Serving::default());
    let programme =
        phase("fast", "unlimited", 200) + &phase("slow", "5% of best", 150) + &phase("none", "stop", 100);
    let recording = run(&server.address, &reading(&format!("repeat = 2\n{programme}")));
    assert_eq!(recording.ended, Ended::Complete);
    let phases: Vec<_> = recording.phases.iter().map(|phase| phase.phase.as_str()).collect();
    assert_eq!(phases, ["fast", "slow", "none", "fast", "slow", "none"]);
    let Summary { bytes, duration_s, .. } = recording.summary;
    assert!(bytes > 0);
    assert_eq!(recording.phases.iter().map(|phase| phase.bytes).sum::<u64>(), bytes);
    assert_eq!(recording.seconds.iter().map(|second| second.bytes).sum::<u64>(), bytes);
    assert_eq!(duration_s, 0.9);
    // The fast phase is shorter than a second, so it is the best second.
    let [fast, slow, none] = [0, 1, 2].map(|number: usize| recording.phases[number].bytes);
    assert!(fast > 0 && slow <= fast / 20 && none == 0, "{fast} {slow} {none}");
    let last = recording.samples.last().unwrap().tcp_info.as_ref().unwrap();
    assert!(last.bytes_received >= bytes);
    assert!(server.log.recv().unwrap().bytes >= last.bytes_received);
}

#[test]
fn a_recording_has_what_was_promised_and_can_be_read_again() {
    let server = Server::start(Serving::default());
    let recording = run(&server.address, &reading(&phase("fast", "unlimited", 100)));
    let text = serde_json::to_string(&recording).unwrap();
    let again = Recording::parse("a.json", &text).unwrap();
    assert!(again.samples == recording.samples && again.conditions == recording.conditions);
    assert_eq!((again.seconds, again.phases.len()), (recording.seconds, recording.phases.len()));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for pointer in [
        "/seconds/0/t_s",
        "/seconds/0/bytes",
        "/seconds/0/phase",
        "/summary/fast_mbps/1",
        "/summary/max_pause_ms",
        "/counters/PruneCalled",
        "/counters/TCPRcvQDrop",
        "/samples/0/t_ms",
        "/samples/0/tcp_info/rcv_ssthresh",
        "/samples/0/skmem/rmem_alloc",
        "/conditions/settings/net.ipv4.tcp_rmem",
        "/conditions/rtt_ms",
    ] {
        assert!(json.pointer(pointer).is_some(), "{pointer}");
    }
    // Over loopback a steady reader never has a full buffer. Counters without events are 0, not
    // absent.
    assert_eq!(json["counters"]["OfoPruned"], 0);
    for (text, expected) in [
        ("{}", "a.json is not a recording of an oscillating reader: missing field `schema`"),
        (
            &text.replace("oscil/1", "oscil/2"),
            "its schema is \"longhaul.tcp.oscil/2\", not \"longhaul.tcp.oscil/1\"",
        ),
    ] {
        let said = Recording::parse("a.json", text).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_limited_rate_is_not_exceeded() {
    let server = Server::start(Serving::default());
    let recording = run(&server.address, &reading(&phase("slow", "800Kbit", 300)));
    // 800 Kbit/s in 300 ms are 30 000 bytes; a reader without CPU time misses some.
    let bytes = recording.summary.bytes;
    assert!((1..=30_000).contains(&bytes), "{bytes}");
    assert!(recording.summary.slow_mbps.is_some_and(|rate| rate <= 0.8), "{:?}", recording.summary);
}

#[test]
fn a_sender_that_closes_ends_it() {
    let server = Server::start(Serving { bytes: Some(Bytes(100_000)), ..Serving::default() });
    let recording = run(&server.address, &reading(&phase("fast", "unlimited", 600_000)));
    assert_eq!(
        (recording.ended, recording.summary.bytes, recording.is_whole()),
        (Ended::PeerClosed, 100_000, false)
    );
    let served = server.log.recv().unwrap();
    assert_eq!((served.bytes, served.why.as_str()), (100_000, "all was sent"));
    // SYN and FIN count as one byte each; the FIN may be unacknowledged.
    assert!((100_001..=100_002).contains(&served.info.unwrap().bytes_acked));
}

#[test]
fn a_connection_that_breaks_is_a_result_with_the_reason() {
    let (go, gone) = mpsc::channel::<()>();
    let (address, peer) = fake(move |mut stream| {
        stream.write_all(&[1; 1000]).unwrap();
        gone.recv().unwrap();
        // SO_LINGER with timeout 0 sends a reset.
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    });
    let watch = |progress: Option<Progress<'_>>| {
        if progress.is_some_and(|progress| progress.bytes == 1000) {
            let _ = go.send(());
        }
        ControlFlow::Continue(())
    };
    let recording = read(&address, &reading(&phase("fast", "unlimited", 600_000)), watch).unwrap().unwrap();
    peer.join().unwrap();
    assert_eq!((recording.ended, recording.summary.bytes), (Ended::ConnectionLost, 1000));
    assert!(recording.ended_why.unwrap().starts_with("Connection reset"));
}

#[test]
fn a_stopped_reader_whose_connection_has_gone_can_be_ended() {
    let (go, gone) = mpsc::channel::<()>();
    let (address, peer) = fake(move |stream| {
        gone.recv().unwrap();
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    });
    let mut has_begun = false;
    let watch = |progress: Option<Progress<'_>>| {
        has_begun |= progress.is_some();
        let _ = go.send(());
        if has_begun && progress.is_none() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let recording = read(&address, &reading(&phase("none", "stop", 600_000)), watch).unwrap().unwrap();
    peer.join().unwrap();
    assert_eq!((recording.ended, recording.summary.bytes), (Ended::Interrupted, 0));
}

#[test]
fn a_sender_that_sends_nothing_is_one_long_pause() {
    let (done, wait) = mpsc::channel::<()>();
    let (address, peer) = fake(move |_stream| assert!(wait.recv().is_err()));
    let recording = run(&address, &reading(&phase("fast", "unlimited", 200)));
    drop(done);
    peer.join().unwrap();
    let Summary { bytes, first_byte_ms, max_pause_ms, .. } = recording.summary;
    assert_eq!((recording.ended, bytes, first_byte_ms), (Ended::Complete, 0, None));
    assert!(max_pause_ms > 0.0 && max_pause_ms <= 200.0, "{max_pause_ms}");
}

#[test]
fn who_asks_for_the_end_gets_what_there_is() {
    let server = Server::start(Serving::default());
    let watch = |progress: Option<Progress<'_>>| match progress {
        Some(progress) if progress.bytes > 0 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let recording =
        read(&server.address, &reading(&phase("fast", "unlimited", 600_000)), watch).unwrap().unwrap();
    assert_eq!(recording.ended, Ended::Interrupted);
    assert!(recording.summary.bytes > 0 && recording.summary.duration_s < 600.0);
}

#[test]
fn a_receive_buffer_that_was_asked_for_is_the_connection_s() {
    let server = Server::start(Serving { sndbuf: Some(Bytes(100_000)), ..Serving::default() });
    let size = 64 << 10;
    let reading = Reading { rcvbuf: Some(Bytes(size)), ..reading(&phase("none", "stop", 100)) };
    let recording = run(&server.address, &reading);
    // socket(7): the kernel doubles the value.
    assert_eq!(recording.summary.rcvbuf_bytes.map(u64::from), Some(2 * size));
    assert_eq!(recording.conditions.rcvbuf_bytes, Some(size));
    assert!(
        !recording.warnings.iter().any(|warning| warning.contains("SO_RCVBUF")),
        "{:?}",
        recording.warnings
    );
    // The application reads nothing, so the kernel cannot receive more than the buffer.
    assert!(recording.summary.queue_bytes.is_some_and(|queue| u64::from(queue) <= 2 * size));
}

#[test]
fn mistakes_are_named_with_the_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let port = address.port();
    let serve = |serving| serve(&serving, drop, drop, || ControlFlow::Break(())).unwrap_err();
    let fast = phase("fast", "unlimited", 100);
    let read = |host: &str, reading: &Reading| read(host, reading, go_on).unwrap_err();
    let with = |change: fn(&mut Reading)| {
        let mut reading = reading(&fast);
        change(&mut reading);
        read("127.0.0.1:1", &reading)
    };
    for (error, said, hint) in [
        (
            serve(Serving { listen: address, ..Serving::default() }),
            &*format!("cannot listen on 127.0.0.1:{port}: Address already in use"),
            "ss -ltnp",
        ),
        (
            serve(Serving { congestion: Some("hope".into()), ..Serving::default() }),
            "congestion control \"hope\" cannot be chosen",
            "this kernel has ",
        ),
        (read("127.0.0.1:1", &reading(&fast)), "cannot connect to 127.0.0.1:1: Connection refused", "start"),
        (
            read("no-such-host.invalid", &reading(&fast)),
            "cannot find \"no-such-host.invalid\"",
            "example.com",
        ),
        (read("host:port", &reading(&fast)), "cannot find \"host:port\"", "example.com"),
        (
            with(|reading| reading.interval = Duration::from_micros(999)),
            "samples cannot be 999us apart",
            "1ms to 1s",
        ),
        (with(|reading| reading.buffer = Bytes(0)), "a buffer cannot have 0B", "1B to 1GiB"),
        (with(|reading| reading.rcvbuf = Some(Bytes(0))), "nothing fits into 0 bytes", "1B or more"),
        // 3600 s at 1 ms are more than a million samples.
        (
            with(|reading| {
                reading.length = Some(Duration::from_secs(3600));
                reading.interval = Duration::from_millis(1);
            }),
            "3600s at 1ms are 3600000 samples",
            "longer interval",
        ),
    ] {
        assert!(error.to_string().starts_with(said), "{error}");
        assert!(error.hint().unwrap().contains(hint), "{error}: {:?}", error.hint());
    }
}
