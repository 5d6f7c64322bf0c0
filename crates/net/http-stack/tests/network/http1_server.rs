//! The server's HTTP/1.1 parser: which bytes are requests, where each ends, and the responses.

use std::{
    fs::File,
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use http_stack::{
    Body, Bytes, CompleteBody, Failure, FileRange, HeaderMap, Request, Response, StatusCode,
    client::{Limits, Protocol},
    header,
    server::{self, Handler, RequestView},
    tunnel,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{Security, Serving, client, get, serve, serve_clear};

#[derive(Clone, Default)]
struct Echo(Arc<Mutex<Vec<String>>>);

impl Echo {
    fn seen(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Handler for Echo {
    type Observer = ();

    async fn handle(&self, request: Request<Body>) -> Result<Response<Body>, Failure> {
        let (head, body) = request.into_parts();
        let line = format!("{} {}", head.method, head.uri);
        self.0.lock().unwrap().push(line.clone());
        let body = body.collect(1 << 20).await?;
        Ok(Response::new(Body::whole([line.as_bytes(), b" ", &body].concat())))
    }
}

async fn said(serving: &Serving, bytes: impl AsRef<[u8]>) -> String {
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    let mut said = Vec::new();
    stream.write_all(bytes.as_ref()).await.unwrap();
    stream.read_to_end(&mut said).await.unwrap();
    String::from_utf8(said).unwrap()
}

fn statuses(said: &str) -> Vec<u16> {
    let begins = said.match_indices("HTTP/1.").filter(|(at, _)| said[at + 8..].starts_with(' '));
    begins.map(|(at, _)| said[at + 9..at + 12].parse().unwrap()).collect()
}

/// A request that must not be recognised.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test]
async fn what_two_servers_could_read_differently_is_refused_and_ends_the_connection() {
    for (status, begin) in [
        (
            400,
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ),
        (
            400,
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        ),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 4\r\n\r\nabc"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3 0\r\n\r\nabc"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nabc"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length\r\n: 3\r\n\r\nabc"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        (
            400,
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n",
        ),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n"),
        (501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (400, "GET / HTTP/1.1\nHost: a\n\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: y\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n folded\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: user@a\r\n\r\n"),
        (400, "GET http://b/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        (400, "GET http://user@b/ HTTP/1.1\r\nHost: b\r\n\r\n"),
        (400, "CONNECT b:443 HTTP/1.1\r\nHost: a:443\r\n\r\n"),
        (505, "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "G@T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\nab"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab"),
        (505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        (400, "GET /\r\nHost: a\r\n\r\n"),
        (400, "\x16\x03\x01\r\n\r\n"),
    ] {
        let echo = Echo::default();
        let serving = serve_clear(echo.clone());
        let said = said(&serving, [begin, SMUGGLED].concat()).await;
        assert_eq!(statuses(&said), [status], "{begin:?}: {said}");
        assert!(said.contains("connection: close\r\n"), "{said}");
        assert_eq!(echo.seen(), [""; 0], "{begin:?}");
    }
}

const GARBLED: [&str; 6] = [
    "zz\r\nab\r\n",
    "-1\r\nab\r\n",
    "2\r\nabc\r\n0\r\n\r\n",
    "2\nab\n0\n\n",
    "2;a\nb\r\nab\r\n0\r\n\r\n",
    "10000000000000000\r\nab\r\n0\r\n\r\n",
];

const CHUNKED: &str = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

#[tokio::test]
async fn a_body_that_is_garbled_fails_and_ends_the_connection() {
    for garbled in GARBLED {
        let echo = Echo::default();
        let serving = serve_clear(echo.clone());
        let mut stream = TcpStream::connect(serving.address).await.unwrap();
        stream.write_all([CHUNKED, "1\r\nx\r\n"].concat().as_bytes()).await.unwrap();
        while echo.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        stream.write_all([garbled, SMUGGLED].concat().as_bytes()).await.unwrap();
        let mut said = String::new();
        let _ = stream.read_to_string(&mut said).await;
        assert_eq!((said.as_str(), echo.seen()), ("", vec!["POST /x".to_owned()]), "{garbled:?}");
    }
}

#[tokio::test]
async fn a_body_that_is_garbled_from_its_beginning_reaches_no_handler() {
    for garbled in GARBLED {
        let echo = Echo::default();
        let serving = serve_clear(echo.clone());
        let said = said(&serving, [CHUNKED, garbled, SMUGGLED].concat()).await;
        assert_eq!((statuses(&said), echo.seen()), (vec![400], vec![]), "{garbled:?}: {said}");
    }
}

#[tokio::test]
async fn an_absolute_target_names_the_host_and_a_higher_minor_version_is_http_1_1() {
    let serving = serve_clear(async |request: Request<Body>| {
        let hosts: Vec<_> =
            request.headers().get_all("host").iter().map(|host| host.to_str().unwrap()).collect();
        let text = format!("{} {} {:?}", request.uri(), hosts.join(","), request.version());
        Ok(Response::new(Body::whole(text)))
    });
    for (request, expected) in [
        ("GET http://b:81/x HTTP/1.1\r\nHost: a\r\n\r\n", "http://b:81/x b:81 HTTP/1.1"),
        ("GET /x HTTP/1.2\r\nHost: a\r\n\r\n", "/x a HTTP/1.1"),
        ("GET http://b/x HTTP/1.7\r\nHost: a\r\n\r\n", "http://b/x b HTTP/1.1"),
    ] {
        let last = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let said = said(&serving, [request, last].concat()).await;
        assert_eq!(statuses(&said), [200, 200], "{request:?}: {said}");
        assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.contains(expected), "{request:?}: {said}");
    }
}

#[tokio::test]
async fn requests_in_a_row_are_answered_in_order() {
    let echo = Echo::default();
    let serving = serve_clear(echo.clone());
    let said = said(
        &serving,
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\
         POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab\
         \r\n\r\nHEAD /3 HTTP/1.1\r\nHost: a\r\n\r\n\
         POST /4 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n2;x=y\r\ncd\r\n0\r\nDigest: x\r\n\r\n\
         OPTIONS * HTTP/1.1\r\nHost: a:80\r\n\r\n\
         GET /5 HTTP/1.1\r\nHost: a\r\nConnection: te, close\r\n\r\n\
         GET /6 HTTP/1.1\r\nHost: a\r\n\r\n",
    )
    .await;
    assert_eq!(statuses(&said), [200; 6], "{said}");
    assert!(said.contains("POST /2 ab") && said.contains("POST /4 cd"), "{said}");
    assert!(said.contains("\r\nallow: GET, HEAD, "), "{said}");
    assert_eq!(echo.seen(), ["GET /1", "POST /2", "HEAD /3", "POST /4", "GET /5"]);
    let head = &said[said.find("\r\n\r\nPOST /2 ab").unwrap()..];
    let head = &head[head.find("HTTP/1.1 200").unwrap()..];
    assert!(head.starts_with("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n"), "of HEAD: {head}");
}

#[tokio::test]
async fn old_clients_get_what_they_can_read() {
    let pieces = async |_: Request<Body>| {
        let (sender, body) = Body::channel(2);
        sender.send("abc").await.unwrap();
        sender.finish().await.unwrap();
        Ok(Response::new(body))
    };
    let serving = serve_clear(pieces);
    let said_now = said(&serving, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").await;
    assert!(said_now.contains("connection: close\r\n") && said_now.ends_with("\r\n\r\nabc"), "{said_now}");
    let echo = serve_clear(Echo::default());
    let said_now =
        said(&echo, "GET /1 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET /2 HTTP/1.0\r\n\r\n").await;
    assert_eq!(statuses(&said_now), [200; 2], "{said_now}");
    assert!(said_now.contains("connection: keep-alive\r\n"), "{said_now}");
}

#[tokio::test]
async fn a_body_whose_end_is_the_connections_is_not_ended_cleanly_when_it_breaks_off() {
    let serving = serve_clear(async |_: Request<Body>| {
        let (sender, body) = Body::channel(2);
        sender.send("abc").await.unwrap();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(sender);
        });
        Ok(Response::new(body))
    });
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
    let error = stream.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_client_that_waits_is_told_to_go_on_only_when_somebody_reads() {
    let serving = serve_clear(async |request: Request<Body>| {
        if request.uri().path() == "/no" {
            let mut response = Response::new(Body::whole("no"));
            *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
            return Ok(response);
        }
        Ok(Response::new(Body::whole(request.into_body().collect(100).await?)))
    });
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut told = [0; 25];
    stream.read_exact(&mut told).await.unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    let rest = head.replace("POST / ", "POST /no ");
    stream.write_all(["abc", &rest].concat().as_bytes()).await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    assert_eq!(statuses(&said), [200, 413], "{said}");
}

#[tokio::test]
async fn a_body_that_nobody_reads_is_in_nobodys_way_unless_it_is_large() {
    let serving = serve_clear(async |_: Request<Body>| Ok(Response::new(Body::whole("x"))));
    let upload = |bytes: usize| {
        let head = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {bytes}\r\n\r\n");
        [head, "y".repeat(bytes), "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_owned()]
            .concat()
    };
    assert_eq!(statuses(&said(&serving, upload(100_000)).await), [200, 200]);
    assert_eq!(statuses(&said(&serving, upload(600_000)).await), [200], "and the answer is not lost");
}

async fn counts(request: Request<Body>) -> Result<Response<Body>, Failure> {
    let mut body = request.into_body();
    body.only_count();
    let (mut bytes, mut is_copied) = (0, true);
    while let Some(piece) = body.data().await? {
        bytes += piece.len();
        is_copied &= piece.iter().all(|&byte| byte == b'y');
    }
    Ok(Response::new(Body::whole(format!("{bytes} {is_copied};"))))
}

#[tokio::test]
async fn a_body_of_which_only_the_length_counts_is_not_copied() {
    let serving = serve_clear(counts);
    let upload = |bytes: usize| {
        let head = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {bytes}\r\n\r\n");
        [head, "y".repeat(bytes)].concat()
    };
    let last = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nyyy\r\n0\r\n\r\n";
    let said = said(&serving, [upload(3_000_000), upload(1), last.to_owned()].concat()).await;
    assert_eq!(statuses(&said), [200, 200, 200], "{said}");
    assert!(said.contains("3000000 false;") && said.contains("1 true;"), "{said}");
    assert!(said.ends_with("3 true;"), "chunks have to be read: {said}");
}

#[tokio::test]
async fn a_counted_body_that_breaks_off_fails() {
    let (sender, failed) = std::sync::mpsc::channel();
    let serving = serve_clear(move |request: Request<Body>| {
        let sender = sender.clone();
        async move {
            let response = counts(request).await;
            sender.send(response.as_ref().err().copied()).unwrap();
            response
        }
    });
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n";
    stream.write_all([head.to_owned(), "y".repeat(400_000)].concat().as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    stream.read_to_end(&mut Vec::new()).await.unwrap();
    assert_eq!(failed.try_recv(), Ok(Some(Failure::Closed(http_stack::Stage::Body))));
}

#[tokio::test]
async fn trailers_are_for_those_who_ask() {
    let serving = serve_clear(async |_: Request<Body>| {
        let (sender, body) = Body::channel(4);
        sender.send("abc").await.unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert("digest", "x".parse().unwrap());
        sender.finish_with(trailers).await.unwrap();
        Ok(Response::new(body))
    });
    let ask = |te: &str| format!("GET / HTTP/1.1\r\nHost: a\r\n{te}Connection: close\r\n\r\n");
    assert!(said(&serving, ask("TE: trailers\r\n")).await.ends_with("3\r\nabc\r\n0\r\ndigest: x\r\n\r\n"));
    assert!(said(&serving, ask("")).await.ends_with("3\r\nabc\r\n0\r\n\r\n"));
}

#[tokio::test]
async fn a_connection_can_go_on_as_something_else() {
    let serving = serve_clear(async |request: Request<Body>| {
        assert_eq!(request.headers()[header::UPGRADE], "echo");
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        response.headers_mut().insert(header::UPGRADE, "echo".parse().unwrap());
        response.headers_mut().insert(header::CONNECTION, "upgrade".parse().unwrap());
        response.extensions_mut().insert(tunnel::Downstream::then(async |mut stream| {
            let mut bytes = [0; 4];
            stream.read_exact(&mut bytes).await.unwrap();
            stream.write_all(&bytes).await.unwrap();
        }));
        Ok(response)
    });
    let ask = "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nping";
    let said = said(&serving, ask).await;
    assert!(said.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{said}");
    assert!(said.contains("upgrade: echo\r\n") && said.contains("connection: upgrade\r\n"), "{said}");
    assert!(said.ends_with("\r\n\r\nping"), "{said}");
}

#[tokio::test]
async fn who_does_not_go_on_is_not_waited_for() {
    let config = server::Config { read_timeout: Duration::from_millis(200), ..server::Config::default() };
    let endless = async |_: Request<Body>| Ok(Response::new(Body::whole(vec![0; 64 << 20])));
    let serving = serve(Security::Clear, config, endless);
    assert_eq!(said(&serving, "").await, "", "an idle one is closed");
    assert_eq!(statuses(&said(&serving, "GET / HTTP/1.1\r\n").await), [408]);
    // A client that does not read its response does not delay the shutdown any longer.
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut byte = [0];
    while stream.peek(&mut byte).await.unwrap() == 0 {}
    serving.stop.request();
    assert_eq!(serving.ended.await.unwrap(), server::End::Complete);
}

#[tokio::test]
async fn a_header_is_bounded() {
    let serving = serve_clear(Echo::default());
    let many = "x: y\r\n".repeat(200);
    let long = format!("x: {}\r\n", "y".repeat(70_000));
    for fields in [many, long] {
        let ask = format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        assert_eq!(statuses(&said(&serving, ask).await), [431]);
    }
}

struct Quick;

impl Handler for Quick {
    type Observer = ();

    const HAS_FAST_PATH: bool = true;

    fn try_respond_h1(
        &self,
        request: &RequestView<'_>,
        head: &mut Vec<u8>,
    ) -> Option<(CompleteBody, Option<()>)> {
        head.extend_from_slice(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n");
        let is_plain = request.fields().all(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
        let is_meant = request.target == "/quick" && request.host == b"a" && is_plain;
        is_meant.then(|| (Bytes::from_static(if request.is_head { b"" } else { b"quick" }).into(), None))
    }

    async fn handle(&self, request: Request<Body>) -> Result<Response<Body>, Failure> {
        Ok(Response::new(Body::whole(format!("slow {}", request.uri()))))
    }
}

#[tokio::test]
async fn what_is_plain_can_be_answered_at_once() {
    let serving = serve_clear(Quick);
    let quick = "GET /quick HTTP/1.1\r\nHost: a\r\n";
    for (ask, is_quick) in [
        (format!("{quick}\r\n"), true),
        (format!("{quick}connection: Keep-Alive\r\n\r\n"), true),
        (quick.replace("GET", "HEAD") + "\r\n", true),
        (format!("{quick}Cookie: a\r\n\r\n"), false),
        (format!("{quick}connection: x\r\n\r\n"), false),
        (format!("{quick}content-length: 0\r\n\r\n"), false),
        (format!("{quick}expect: x\r\n\r\n"), false),
        (format!("{quick}upgrade: x\r\n\r\n"), false),
        (quick.replace("/quick", "http://a/quick") + "\r\n", false),
        (quick.replace("HTTP/1.1", "HTTP/1.0") + "connection: keep-alive\r\n\r\n", false),
    ] {
        let last = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let said = said(&serving, [&ask, last].concat()).await;
        assert_eq!(statuses(&said), [200, 200], "{ask:?}: {said}");
        assert_eq!(!said[..said.rfind("HTTP/1.1").unwrap()].contains("date: "), is_quick, "{ask:?}: {said}");
        assert!(said.ends_with("slow /last"), "{said}");
    }
    let twice = format!("{quick}Host: a\r\n\r\n");
    assert_eq!(statuses(&said(&serving, twice).await), [400]);
}

/// The range may exceed the file.
struct OfFile(Arc<File>, usize);

impl Handler for OfFile {
    type Observer = ();

    const HAS_FAST_PATH: bool = true;

    fn try_respond_h1(
        &self,
        _request: &RequestView<'_>,
        head: &mut Vec<u8>,
    ) -> Option<(CompleteBody, Option<()>)> {
        let Self(file, length) = self;
        let file = Arc::clone(file);
        head.extend_from_slice(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n").as_bytes());
        Some((CompleteBody::File(FileRange::new(file, 5, *length)), None))
    }

    async fn handle(&self, _request: Request<Body>) -> Result<Response<Body>, Failure> {
        Err(Failure::Source)
    }
}

#[tokio::test]
async fn a_part_of_a_file_is_sent_over_any_connection() {
    for length in [FileRange::LEAST, 20_000_000] {
        let body: Vec<_> = (0..length).map(|n| b'a' + u8::try_from(n % 23).unwrap()).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b"wrong", &body[..], b"wrong"].concat()).unwrap();
        let file = Arc::new(file);
        for security in [Security::Clear, Security::Tls] {
            let serving = serve(security, server::Config::default(), OfFile(Arc::clone(&file), length));
            let client = client(Protocol::Http1, Limits::default());
            let read = async |serving: &Serving| {
                let response = get(&client, &serving.origin).await.1?;
                response.into_body().collect(2 * length).await
            };
            for _ in 0..3 {
                assert!(read(&serving).await.unwrap() == body, "{length} {security:?}");
            }
            let serving = serve(security, server::Config::default(), OfFile(Arc::clone(&file), length + 6));
            assert!(read(&serving).await.is_err(), "{length} {security:?}");
        }
    }
}

#[tokio::test]
async fn a_load_balancer_says_who_the_client_is() {
    let config = server::Config { proxy_protocol: true, ..server::Config::default() };
    let serving = serve(Security::Clear, config, async |request: Request<Body>| {
        let peer = request.extensions().get::<server::Peer>().unwrap();
        Ok(Response::new(Body::whole(peer.address.to_string())))
    });
    let ask = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\x0a\0\0\x01\x12\x34\0\x50";
    assert!(said(&serving, [&header[..], ask].concat()).await.ends_with("\r\n\r\n192.0.2.7:4660"));
    let mut stranger = TcpStream::connect(serving.address).await.unwrap();
    stranger.write_all(ask).await.unwrap();
    let mut said = Vec::new();
    let _ = stranger.read_to_end(&mut said).await;
    assert_eq!(said, b"");
}
