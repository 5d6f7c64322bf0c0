//! Transfers over loopback, with our server and with misbehaving peers.

use std::{
    cell::Cell,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use units::Bytes;

use super::{wire::Reply, *};
use crate::payload::{BLOCK, Pattern};

struct Server {
    address: SocketAddr,
    log: mpsc::Receiver<String>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Server {
    fn start() -> Self {
        Self::with(&Serving::default())
    }

    fn with(config: &Serving) -> Self {
        let (stop, (ready, address), (said, log)) =
            (Arc::new(AtomicBool::new(false)), mpsc::channel(), mpsc::channel());
        let asked = Arc::clone(&stop);
        let config = Serving { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), ..config.clone() };
        let thread = thread::spawn(move || {
            let log = move |line: &str| drop(said.send(line.to_owned()));
            let watch =
                || if asked.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            serve(&config, |address| ready.send(address).unwrap(), log, watch)
        });
        Self { address: address.recv().unwrap(), log, stop, thread: Some(thread) }
    }

    fn says(&self) -> String {
        self.log.recv().unwrap().split_once(": ").unwrap().1.to_owned()
    }

    fn told(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

fn never() -> Stopping {
    Stopping::No
}

fn reply(stream: &TcpStream) -> Reply {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

fn fake(then: impl FnOnce(&mut TcpStream) + Send + 'static) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        BufReader::with_capacity(1, &stream).read_line(&mut String::new()).unwrap();
        stream.write_all(b"\"ready\"\n").unwrap();
        then(&mut stream);
    });
    (address, thread)
}

fn of(bytes: u64) -> Sending {
    Sending { bytes: Some(Bytes(bytes)), ..Sending::default() }
}

const GREETING: &str = "{\"schema\":\"longhaul.transfer/2\",\"interval_ns\":1000000}\n";

#[test]
fn every_byte_arrives_and_is_accounted_for() {
    let server = Server::start();
    let bytes = 50 * BLOCK as u64 + 12_345;
    for congestion in [None, Some("reno".to_owned())] {
        let sending = Sending { congestion: congestion.clone(), ..of(bytes) };
        let summary = send(&server.address.to_string(), &sending, |_| {}, never).unwrap();
        assert_eq!((summary.bytes_sent, summary.bytes_received), (bytes, Some(bytes)));
        assert!(summary.is_whole() && summary.unfinished.is_none(), "{summary:?}");
        assert_eq!(summary.intervals.iter().map(|interval| interval.bytes).sum::<u64>(), bytes);
        assert!(summary.retransmits.is_some() && summary.subflows.is_none(), "{summary:?}");
        assert!(congestion.is_none() || summary.congestion == congestion, "{summary:?}");
        assert_eq!(server.says(), format!("{bytes} bytes received"));
    }
}

#[test]
fn what_the_ends_are_told_they_do() {
    let tell = |config: &Serving, sending: &Sending| {
        let server = Server::with(config);
        send(&server.address.to_string(), sending, |_| {}, never).unwrap()
    };
    let plain = tell(&Serving::default(), &of(3_000_000));
    let memory = plain.memory.unwrap();
    assert!(memory.looks > 0 && memory.mean_bytes <= memory.most_bytes as f64, "{memory:?}");
    assert!(plain.took_s >= plain.duration_s && plain.omitted_s.is_none(), "{plain:?}");
    let told = tell(
        &Serving { rcvbuf: Some(Bytes(65_536)), window: Some(Bytes(32_768)), ..Serving::default() },
        &Sending { notsent_lowat: Some(Bytes(131_072)), omit: Duration::from_secs(3600), ..of(3_000_000) },
    );
    assert!(told.is_whole(), "{told:?}");
    assert_eq!((told.omitted_s, told.goodput_mbps), (Some(3600.0), None));
    assert_eq!(told.intervals.iter().map(|interval| interval.bytes).sum::<u64>(), 3_000_000);
}

#[test]
fn sizes_that_cannot_be_had_are_refused() {
    let serving = |rcvbuf: Option<u64>, window: Option<u64>| {
        let config = Serving {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            rcvbuf: rcvbuf.map(Bytes),
            window: window.map(Bytes),
            ..Serving::default()
        };
        serve(&config, |_| {}, |_| {}, || ControlFlow::Break(())).unwrap_err().to_string()
    };
    assert_eq!(serving(None, Some(0)), "window cannot be 0B; expected 1B to 2GB");
    let too_large = serving(Some(1 << 31), None);
    assert!(too_large.ends_with("; expected 1B to 2GB"), "{too_large}");
    let too_large = serving(Some(2_000_000_000), None);
    assert!(too_large.contains("net.core.rmem_max=2000000000"), "{too_large}");
    let sending = Sending { notsent_lowat: Some(Bytes(0)), ..of(1) };
    let said = send("127.0.0.1:1", &sending, |_| {}, never).unwrap_err().to_string();
    assert_eq!(said, "limit of unsent bytes cannot be 0B; expected 1B to 2GB");
}

#[test]
fn several_transfers_go_on_at_once() {
    let server = Server::start();
    let first = server.told(GREETING);
    assert!(matches!(reply(&first), Reply::Ready));
    let summary = send(&server.address.to_string(), &of(1_000_000), |_| {}, never).unwrap();
    assert!(summary.is_whole(), "{summary:?}");
    first.shutdown(Shutdown::Write).unwrap();
    assert!(matches!(reply(&first), Reply::Received(receipt) if receipt.bytes == 0));
}

#[test]
fn multipath_tcp_falls_back_where_the_server_has_none() {
    let server = Server::start();
    let sending = Sending { protocol: Protocol::Mptcp, ..of(1_000_000) };
    match send(&server.address.to_string(), &sending, |_| {}, never) {
        Ok(summary) => {
            assert!(summary.is_whole() && summary.fell_back, "{summary:?}");
            assert_eq!((summary.protocol.as_str(), summary.subflows), ("mptcp", None));
        }
        Err(error) => assert!(error.to_string().contains("net.mptcp.enabled"), "{error}"),
    }
}

#[test]
fn damaged_bytes_are_counted() {
    let server = Server::start();
    let mut stream = server.told(GREETING);
    assert!(matches!(reply(&stream), Reply::Ready));
    let mut payload = Pattern::new().at(0).to_vec();
    for at in [0, 1000, BLOCK - 1] {
        payload[at] = !payload[at];
    }
    stream.write_all(&payload).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let Reply::Received(receipt) = reply(&stream) else { panic!("no receipt") };
    assert_eq!((receipt.bytes, receipt.bytes_bad), (BLOCK as u64, 3));
    assert_eq!(server.says(), format!("{BLOCK} bytes received, 3 of them BAD"));
}

#[test]
fn nonsense_is_refused_with_a_sentence() {
    let server = Server::start();
    for (said, why) in [
        ("GET / HTTP/1.1\r\n\r\n", "greeting of `longhaul transfer send`"),
        (&GREETING.replace("transfer/2", "transfer/9"), "longhaul.transfer/2"),
        (&GREETING.replace("1000000", "1"), "an interval must be from 1ms to 1h"),
        (&"x".repeat(5000), "greeting of `longhaul transfer send`"),
    ] {
        let stream = server.told(said);
        assert!(server.says().contains(why), "{why}");
        drop(stream);
    }
    drop(server.told(""));
    assert_eq!(server.says(), "refused: it sent nothing");
}

#[test]
fn a_server_that_loses_bytes_is_found_out() {
    let (address, thread) = fake(|stream| {
        let mut payload = Vec::new();
        stream.read_to_end(&mut payload).unwrap();
        let receipt = r#"{"received":{"bytes":90,"bytes_bad":0,"interval_ns":1000000,"intervals":[90]}}"#;
        writeln!(stream, "{receipt}").unwrap();
    });
    let summary = send(&address, &of(100), |_| {}, never).unwrap();
    assert_eq!((summary.bytes_lost, summary.is_whole()), (Some(10), false));
    // The receipt has no arrival times: the values are absent, not 0.
    assert_eq!((summary.duration_s, summary.goodput_mbps, summary.stall), (None, None, None));
    thread.join().unwrap();
}

#[test]
fn a_server_that_never_answers_leaves_a_transfer_unfinished() {
    let (done, finished) = mpsc::channel::<()>();
    let (address, thread) = fake(move |_| finished.recv().unwrap());
    // More than the buffers of both kernels hold, and the peer reads nothing: it cannot be
    // acknowledged.
    let sending = Sending { grace: Duration::from_millis(300), ..of(1 << 30) };
    let summary = send(&address, &sending, |_| {}, never).unwrap();
    let why = summary.unfinished.as_deref().unwrap();
    assert!(why.contains("nothing was acknowledged and no receipt arrived for 300ms"), "{why}");
    assert!(summary.bytes_sent < 1 << 30 && summary.bytes_unacknowledged > Some(0), "{summary:?}");
    assert_eq!((summary.bytes_lost, summary.bytes_received), (None, None));
    done.send(()).unwrap();
    thread.join().unwrap();
}

#[test]
fn a_server_that_dies_is_named_with_what_it_had() {
    let (address, thread) = fake(|stream| {
        stream.read_exact(&mut vec![0; 100_000]).unwrap();
    });
    let summary = send(&address, &of(1 << 30), |_| {}, never).unwrap();
    assert!(summary.unfinished.is_some() && !summary.is_whole(), "{summary:?}");
    assert!(summary.bytes_unacknowledged.unwrap() <= summary.bytes_sent, "{summary:?}");
    thread.join().unwrap();
}

#[test]
fn a_stop_ends_the_sending_and_the_receipt_still_comes() {
    let (server, is_asked) = (Server::start(), Cell::new(false));
    let sending = Sending { duration: Some(Duration::from_secs(3600)), ..Sending::default() };
    let ask = |sent| is_asked.set(is_asked.get() || sent > 0);
    let stop = || if is_asked.get() { Stopping::Asked } else { Stopping::No };
    let summary = send(&server.address.to_string(), &sending, ask, stop).unwrap();
    assert!(summary.is_whole() && summary.bytes_sent > 0, "{summary:?}");
}

#[test]
fn mistakes_are_answered_with_a_remedy() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let said =
        |server: &str, sending: &Sending| send(server, sending, |_| {}, never).unwrap_err().to_string();
    assert!(said(&nobody, &of(1)).contains("longhaul transfer serve"));
    assert!(said("localhost", &of(1)).contains("expected HOST:PORT"));
    let congestion = Sending { congestion: Some("hope".to_owned()), ..of(1) };
    let refused = said(&nobody, &congestion);
    assert!(refused.contains("\"hope\"") && refused.contains("reno"), "{refused}");
    let interval = Sending { interval: Duration::ZERO, ..of(1) };
    assert_eq!(said(&nobody, &interval), "an interval must be from 1ms to 1h");
    let omit = Sending { omit: Duration::from_secs(10), ..Sending::default() };
    assert_eq!(
        said(&nobody, &omit),
        "of 10s the first 10s do not count, so that nothing would; send for longer"
    );
}
