//! Abusive HTTP/2 clients, frame by frame (RFC 9113): each is throttled or disconnected, its resources
//! are bounded, and other clients are served.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use http_stack::{
    Body, Failure, Request, Response,
    client::{Limits, Protocol},
    server::{self, Handler},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
};

use crate::support::{Security, Serving, client, fetch, serve};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// ":method: GET", ":scheme: http", ":path: /" and ":authority: a" (RFC 7541 appendix A).
const GET: [u8; 6] = [0x82, 0x86, 0x84, 0x41, 1, b'a'];

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn get(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &GET)
}

struct Rude {
    from: OwnedReadHalf,
    to: OwnedWriteHalf,
}

#[derive(Debug)]
struct Seen {
    kind: u8,
    stream: u32,
}

impl Rude {
    async fn connect(server: &Serving, settings: &[u8]) -> Self {
        let (from, to) = TcpStream::connect(server.address).await.unwrap().into_split();
        let mut rude = Self { from, to };
        rude.say(&[PREFACE, &frame(SETTINGS, 0, 0, settings)].concat()).await.unwrap();
        rude
    }

    async fn say(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.to.write_all(bytes).await
    }

    /// Type, flags, stream and payload.
    async fn frame(&mut self) -> Option<([u8; 2], u32, Vec<u8>)> {
        let mut head = [0; 9];
        self.from.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        self.from.read_exact(&mut payload).await.ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(([head[3], head[4]], stream, payload))
    }

    async fn next(&mut self) -> Option<Seen> {
        loop {
            match self.frame().await? {
                ([PING, 0], _, payload) => self.say(&frame(PING, ACK, 0, &payload)).await.ok()?,
                ([kind, _], stream, _) => return Some(Seen { kind, stream }),
            }
        }
    }

    async fn pinged(&mut self) -> Option<Vec<u8>> {
        loop {
            if let ([PING, 0], _, payload) = self.frame().await? {
                return Some(payload);
            }
        }
    }

    /// Sends a piece repeatedly: 1 GB, or until the server closes the connection or stops reading.
    /// Returns the number of bytes sent; responses are read only if `reads`.
    async fn flood(mut self, piece: &[u8], reads: bool) -> u64 {
        let mut sent = 0;
        let (mut from, mut sink) = (self.from, tokio::io::sink());
        let reading = async {
            if reads {
                let _ = tokio::io::copy(&mut from, &mut sink).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        let writing = async {
            while sent < 1 << 30 {
                match tokio::time::timeout(Duration::from_millis(500), self.to.write_all(piece)).await {
                    Ok(Ok(())) => sent += piece.len() as u64,
                    _ => return,
                }
            }
        };
        tokio::select! {
            () = reading => {}
            () = writing => {}
        }
        sent
    }
}

fn brief() -> server::Config {
    server::Config { read_timeout: Duration::from_millis(100), ..server::Config::default() }
}

async fn plain(_: Request<Body>) -> Result<Response<Body>, Failure> {
    Ok(Response::new(Body::whole("plain")))
}

fn serving(config: server::Config, handler: impl Handler) -> Serving {
    serve(Security::Clear, config, handler)
}

async fn is_well(server: &Serving) {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        assert!(
            fetch(&client(protocol, Limits::default()), &server.origin, "GET").await.last_byte().is_some()
        );
    }
}

/// The most data in the kernel's two buffers in one direction: the maximum of tcp_wmem and tcp_rmem, 4
/// and 6 MiB by default; 32 MiB each as a margin for tuned systems.
const BUFFERS: u64 = 64 << 20;

#[tokio::test]
async fn who_has_much_answered_and_reads_no_answers_is_not_read_either() {
    let server = serving(server::Config::default(), plain);
    for (name, piece) in [
        ("pings", frame(PING, 0, 0, &[7; 8])),
        ("settings", frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])),
        ("resets of nothing", frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])),
    ] {
        let rude = Rude::connect(&server, &[]).await;
        let sent = rude.flood(&piece.repeat(1000), false).await;
        assert!(sent < 2 * BUFFERS, "{name}: {sent} bytes");
        is_well(&server).await;
    }
}

#[tokio::test]
async fn a_header_without_end_is_given_up_early() {
    let server = serving(server::Config::default(), plain);
    let field = [&[0x00, 1, b'x', 0x7f, 0x81, 0x7d][..], &[b'y'; 16_128]].concat();
    for piece in [frame(CONTINUATION, 0, 1, &field), frame(CONTINUATION, 0, 1, &[])] {
        let mut rude = Rude::connect(&server, &[]).await;
        rude.say(&frame(HEADERS, END_STREAM, 1, &GET)).await.unwrap();
        let sent = rude.flood(&piece, true).await;
        assert!(sent < BUFFERS, "{sent} bytes");
        is_well(&server).await;
    }
}

#[tokio::test]
async fn a_header_that_is_small_on_the_wire_alone_reaches_no_handler() {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let server = serving(server::Config::default(), move |request: Request<Body>| {
        counted.fetch_add(1, Relaxed);
        plain(request)
    });
    // A field of 3900 bytes that enters the dynamic table, followed by ten thousand references to it: 39
    // MB in 14 KB.
    let field = [&[0x40, 1, b'x', 0x7f, 0xbd, 0x1d][..], &[b'y'; 3900]].concat();
    let bomb = [&GET[..], &field, &[0x80 | 62; 10_000]].concat();
    let mut rude = Rude::connect(&server, &[]).await;
    rude.say(&frame(HEADERS, END_STREAM | END_HEADERS, 1, &bomb)).await.unwrap();
    while rude.next().await.is_some_and(|seen| seen.stream != 1) {}
    assert_eq!(seen.load(Relaxed), 0);
    is_well(&server).await;
}

struct Endless {
    begun: mpsc::UnboundedSender<()>,
    waiting: Arc<AtomicUsize>,
}

struct Waits(Arc<AtomicUsize>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Handler for Endless {
    type Observer = ();

    async fn handle(&self, request: Request<Body>) -> Result<Response<Body>, Failure> {
        if request.uri().host() != Some("a") {
            return plain(request).await;
        }
        self.waiting.fetch_add(1, Relaxed);
        let _waits = Waits(Arc::clone(&self.waiting));
        let _ = self.begun.send(());
        std::future::pending().await
    }
}

#[tokio::test]
async fn who_takes_back_what_it_asks_for_is_cut_off() {
    let waiting = Arc::new(AtomicUsize::new(0));
    let (begun, mut begins) = mpsc::unbounded_channel();
    let server = serving(server::Config::default(), Endless { begun, waiting: Arc::clone(&waiting) });
    let reset = |stream| frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes());
    let rude = Rude::connect(&server, &[]).await;
    let many: Vec<_> = (0..100_000).flat_map(|number| [get(2 * number + 1), reset(2 * number + 1)]).collect();
    let sent = rude.flood(&many.concat(), true).await;
    let began = std::iter::from_fn(|| begins.try_recv().ok()).count();
    assert!(sent < BUFFERS && began < 1000, "{sent} bytes, {began} requests");
    let mut rude = Rude::connect(&server, &[]).await;
    let mut asked = 0;
    while asked < 10_000 && rude.say(&get(2 * asked + 1)).await.is_ok() {
        tokio::select! {
            _ = begins.recv() => {}
            () = async { while rude.next().await.is_some() {} } => break,
        }
        if rude.to.write_all(&reset(2 * asked + 1)).await.is_err() {
            break;
        }
        asked += 1;
    }
    assert!((200..300).contains(&asked), "{asked}");
    while waiting.load(Relaxed) > 0 {
        tokio::task::yield_now().await;
    }
    is_well(&server).await;
}

#[tokio::test]
async fn who_answers_pings_and_does_nothing_else_loses_the_connection() {
    let endless = async |_: Request<Body>| {
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move { while sender.send(vec![0; 10_000]).await.is_ok() {} });
        Ok(Response::new(body))
    };
    let server = serving(brief(), endless);
    let mut idle = Rude::connect(&server, &[]).await;
    while idle.next().await.is_some() {}
    // SETTINGS_INITIAL_WINDOW_SIZE of 0, and of 20 000 bytes, with an endless response body.
    for (window, pieces) in [(0_u32, 0), (20_000, 2)] {
        let mut reader = Rude::connect(&server, &[&[0, 4][..], &window.to_be_bytes()].concat()).await;
        reader.say(&get(1)).await.unwrap();
        let (mut heads, mut came) = (0, 0);
        while let Some(seen) = reader.next().await {
            heads += usize::from(seen.kind == HEADERS);
            came += usize::from(seen.kind == DATA);
        }
        assert_eq!(heads, 1);
        assert!(came >= pieces, "{came}");
    }
    let upload = serving(brief(), async |request: Request<Body>| {
        request.into_body().collect(1 << 20).await.map(|_| Response::new(Body::empty()))
    });
    let mut writer = Rude::connect(&upload, &[]).await;
    let post = [&[0x83][..], &GET[1..]].concat();
    writer.say(&frame(HEADERS, END_HEADERS, 1, &post)).await.unwrap();
    writer.say(&frame(DATA, 0, 1, b"half")).await.unwrap();
    let mut ends = 0;
    while let Some(seen) = writer.next().await {
        ends += usize::from(seen.kind == RST_STREAM && seen.stream == 1);
    }
    assert_eq!(ends, 1);
}

#[tokio::test]
async fn who_waits_for_us_is_pinged_and_gone_when_it_does_not_answer() {
    let waiting = Arc::new(AtomicUsize::new(0));
    let (begun, mut begins) = mpsc::unbounded_channel();
    let server = serving(brief(), Endless { begun, waiting: Arc::clone(&waiting) });
    let mut rude = Rude::connect(&server, &[]).await;
    rude.say(&get(1)).await.unwrap();
    begins.recv().await.unwrap();
    for _ in 0..4 {
        let payload = rude.pinged().await.unwrap();
        assert_eq!(waiting.load(Relaxed), 1);
        rude.say(&frame(PING, ACK, 0, &payload)).await.unwrap();
    }
    rude.pinged().await.unwrap();
    assert!(rude.pinged().await.is_none());
    while waiting.load(Relaxed) > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn thousands_who_say_nothing_are_in_nobodys_way_and_not_for_long() {
    let server =
        serving(server::Config { read_timeout: Duration::from_secs(1), ..Default::default() }, plain);
    let words = ["", "GET / HTTP/1.1\r\nHo", "GET / HTTP/1.1\r\nHost: b\r\n\r\n"];
    let mut idle = Vec::new();
    for words in words.into_iter().cycle().take(3000) {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(words.as_bytes()).await.unwrap();
        idle.push(stream);
    }
    is_well(&server).await;
    for (mut stream, begin) in
        idle.into_iter().zip(["", "HTTP/1.1 408 ", "HTTP/1.1 200 "].into_iter().cycle())
    {
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert!(said.starts_with(begin) && said.is_empty() == begin.is_empty(), "{said}");
    }
}
