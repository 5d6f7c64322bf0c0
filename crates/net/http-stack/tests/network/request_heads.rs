//! Well-formed and malformed request heads: one table for HTTP/1.1, HTTP/2 and HTTP/3 servers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use http_stack::{
    Body, Request, Response,
    client::{Limits, Trace},
    qpack, server,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    bad_clients_http3,
    support::{Security, Serving, VERSIONS, client, serve, serve_as},
};

type Fields = &'static [(&'static str, &'static str)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The handler receives it with its whole body and responds.
    Accepted,
    /// The server responds with 200 without its handler.
    Answered,
    /// The handler does not receive it, or not its whole body. The response is 4xx, or the stream is reset as malformed.
    Refused,
}

use Outcome::{Accepted, Answered, Refused};

struct Row {
    name: &'static str,
    head: Fields,
    body: Option<&'static str>,
    trailers: Fields,
    outcome: Outcome,
    lines: Option<Outcome>,
    http2: Outcome,
}

const fn row(name: &'static str, outcome: Outcome, head: Fields) -> Row {
    Row { name, head, body: None, trailers: &[], outcome, lines: Some(outcome), http2: outcome }
}

impl Row {
    const fn body(self, body: &'static str) -> Self {
        Self { body: Some(body), ..self }
    }

    const fn trailers(self, trailers: Fields) -> Self {
        Self { trailers, lines: None, ..self }
    }

    const fn not_in_lines(self) -> Self {
        Self { lines: None, ..self }
    }

    const fn in_lines(self, outcome: Outcome) -> Self {
        Self { lines: Some(outcome), ..self }
    }

    const fn over_http2(self, outcome: Outcome) -> Self {
        Self { http2: outcome, ..self }
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.head.iter().find(|field| field.0 == name).map(|field| field.1)
    }

    fn written(&self) -> String {
        let host = self.value(":authority").map(|host| format!("host: {host}\r\n")).unwrap_or_default();
        let (method, path) = (self.value(":method").unwrap_or(""), self.value(":path").unwrap_or(""));
        let fields = self.head.iter().filter(|(name, value)| {
            let is_repeated = *name == "host" && self.value(":authority") == Some(value);
            !name.starts_with(':') && !is_repeated
        });
        let fields = fields.map(|(name, value)| format!("{name}: {value}\r\n")).collect::<String>();
        format!("{method} {path} HTTP/1.1\r\n{host}{fields}\r\n{}", self.body.unwrap_or(""))
    }
}

mod table;

fn counting(security: Security) -> (Serving, Arc<AtomicUsize>) {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let config = server::Config { read_timeout: Duration::from_secs(2), ..server::Config::default() };
    let server = serve(security, config, move |request: Request<Body>| {
        let counted = Arc::clone(&counted);
        async move {
            request.into_body().collect(1 << 20).await?;
            counted.fetch_add(1, Relaxed);
            Ok(Response::new(Body::whole("plain")))
        }
    });
    (server, seen)
}

type Seen = Option<u16>;

async fn compare(
    security: Security,
    outcome: fn(&Row) -> Option<Outcome>,
    ask: impl AsyncFn(&Serving, &Row) -> Seen,
) {
    let (server, seen) = counting(security);
    for row in table::ROWS {
        let Some(expected) = outcome(row) else { continue };
        let before = seen.load(Relaxed);
        let answered = ask(&server, row).await;
        let handled = seen.load(Relaxed) - before;
        let found = match (answered, handled) {
            (Some(200), 1) => Accepted,
            (Some(200), 0) => Answered,
            (None | Some(400..500), 0) => Refused,
            other => panic!("{}: {other:?}", row.name),
        };
        assert_eq!(found, expected, "{}", row.name);
    }
}

#[tokio::test]
async fn in_lines() {
    compare(
        Security::Clear,
        |row| row.lines,
        async |server: &Serving, row: &Row| {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            stream.write_all(row.written().as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut said = String::new();
            stream.read_to_string(&mut said).await.unwrap();
            said.get(9..12)?.parse().ok()
        },
    )
    .await;
}

#[tokio::test]
async fn trace_is_refused_without_an_echo() {
    for protocol in VERSIONS {
        let seen = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&seen);
        let server = serve_as(protocol, move |_: Request<Body>| {
            counted.fetch_add(1, Relaxed);
            async { Ok(Response::new(Body::whole("plain"))) }
        });
        let client = client(protocol, Limits::default());
        for (method, target, status, handled) in [("TRACE", "/", 405, 0), ("OPTIONS", "/", 200, 1)] {
            let request = Request::builder().method(method).uri(target).header("cookie", "secret=1");
            let mut trace = Trace::start(client.clock().now());
            let request = request.body(Body::empty()).unwrap();
            let response = client.send(&server.origin, request, &mut trace).await.unwrap();
            assert_eq!(response.status(), status, "{protocol:?} {method} {target}");
            if handled == 0 {
                assert!(response.headers()["allow"].to_str().unwrap().starts_with("GET, HEAD, "));
                assert!(response.into_body().collect(100).await.unwrap().is_empty());
            }
            assert_eq!(seen.swap(0, Relaxed), handled, "{protocol:?} {method} {target}");
        }
    }
}

/// A literal outside the tables (RFC 7541 section 6.2.2).
fn hpack(fields: Fields) -> Vec<u8> {
    let string = |text: &str| {
        let text = latin1(text);
        [&[u8::try_from(text.len()).unwrap()][..], &text].concat()
    };
    fields.iter().flat_map(|(name, value)| [vec![0], string(name), string(value)].concat()).collect()
}

/// The same in HTTP/3 (RFC 9204 section 4.5.6), after the prefix.
fn section(fields: Fields) -> Vec<u8> {
    let line = |&(name, value): &(&str, &str)| {
        let (name, value) = (latin1(name), latin1(value));
        let length = |text: &[u8]| u8::try_from(text.len()).unwrap();
        let of_name = match length(&name) {
            short @ 0..7 => vec![0x20 | short],
            long => vec![0x27, long - 7],
        };
        [of_name, name, vec![length(&value)], value].concat()
    };
    [vec![0, 0], fields.iter().flat_map(line).collect()].concat()
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(letter).unwrap()).collect()
}

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame2(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &1_u32.to_be_bytes(), payload].concat()
}

#[tokio::test]
async fn over_http2() {
    compare(
        Security::Clear,
        |row| Some(row.http2),
        async |server: &Serving, row: &Row| {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            let mut frames = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
            let (has_body, has_trailers) = (row.body.is_some(), !row.trailers.is_empty());
            let ends = |is_last: bool| if is_last { END_STREAM } else { 0 };
            frames.extend(frame2(1, END_HEADERS | ends(!has_body && !has_trailers), &hpack(row.head)));
            if let Some(body) = row.body {
                frames.extend(frame2(0, ends(!has_trailers), body.as_bytes()));
            }
            if has_trailers {
                frames.extend(frame2(1, END_HEADERS | END_STREAM, &hpack(row.trailers)));
            }
            stream.write_all(&frames).await.unwrap();
            loop {
                let mut head = [0; 9];
                stream.read_exact(&mut head).await.ok()?;
                let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
                stream.read_exact(&mut payload).await.ok()?;
                match head[3] {
                    // ":status: 200" and ":status: 400" are in the table of RFC 7541; other statuses are
                    // 4xx here.
                    1 => {
                        return Some(match payload[0] {
                            0x88 => 200,
                            0x8c => 400,
                            _ => 499,
                        });
                    }
                    // PROTOCOL_ERROR.
                    3 | 7 => return (payload.last() != Some(&1)).then_some(598),
                    _ => {}
                }
            }
        },
    )
    .await;
}

#[tokio::test]
async fn over_http3() {
    compare(
        Security::Quic,
        |row| Some(row.outcome),
        async |server: &Serving, row: &Row| {
            let (_endpoint, connection) = bad_clients_http3::connect(server).await;
            let (mut to, mut from) = connection.open_bi().await.unwrap();
            let mut frames = bad_clients_http3::frame(1, &section(row.head));
            if let Some(body) = row.body {
                frames.extend(bad_clients_http3::frame(0, body.as_bytes()));
            }
            if !row.trailers.is_empty() {
                frames.extend(bad_clients_http3::frame(1, &section(row.trailers)));
            }
            if to.write_all(&frames).await.is_ok() {
                let _ = to.finish();
            }
            let mut said = vec![0; 10_000];
            match from.read(&mut said).await {
                // H3_MESSAGE_ERROR.
                Err(quinn::ReadError::Reset(code)) => (code.into_inner() != 0x10e).then_some(598),
                Err(_) | Ok(None) => Some(597),
                Ok(Some(bytes)) => status(&said[..bytes]),
            }
        },
    )
    .await;
}

fn status(frame: &[u8]) -> Seen {
    // A length of up to 63 bytes takes one byte, a longer one two (RFC 9000 section 16).
    let payload = match frame[1] >> 6 {
        0 => &frame[2..2 + usize::from(frame[1])],
        _ => &frame[3..3 + (usize::from(frame[1] & 0x3f) << 8 | usize::from(frame[2]))],
    };
    let fields = qpack::decode(payload).unwrap();
    let status = fields.iter().find(|(name, _)| *name == b":status").map(|(_, value)| value.to_vec());
    String::from_utf8(status?).ok()?.parse().ok()
}
