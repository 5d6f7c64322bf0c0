//! Failing, slow and malformed origins: each fault has its status, memory is bounded, and other
//! zones are not affected.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use http_stack::{Body, Bytes, Failure, Method, Response, Server, StatusCode, server::Identity};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{Fixture, ReceivedResponse, receive, request, with};
use crate::{Network, admin::api::OriginStatus};

const FIRST_BYTE: &str = "first_byte = \"50ms\"\nnext_byte = \"50ms\"\nlargest = \"100KB\"\n";

const LONG: Duration = Duration::from_secs(60);

async fn before<A>(zone: &str, answer: impl Fn(TcpStream) -> A + Send + 'static) -> Fixture
where
    A: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    beside(zone, &format!("http://{origin}"))
}

fn beside(zone: &str, origin: &str) -> Fixture {
    let fixture = Fixture::new(zone, async |_, _| with("no-store", "well"));
    let mut network = Network::clone(&fixture.node.network());
    let mut well = network.zones[0].clone();
    well.name = "well".into();
    well.hosts = vec!["well.example".into()];
    (well.first_byte, well.next_byte) = (LONG, LONG);
    network.zones[0].origins = vec![origin.parse().unwrap()];
    network.zones.push(well);
    fixture.node.replace_network(network);
    fixture
}

impl Fixture {
    async fn is_well(&self) {
        let mut asked = request(Method::GET, "/", &[]);
        asked.headers_mut().insert("host", "well.example".parse().unwrap());
        assert_eq!(self.send(asked).await.body, "well");
    }

    fn origin(&self) -> OriginStatus {
        let network = self.node.network();
        self.node.origins.report(network.zones[0].origins.iter(), |_| 0, self.node.now()).remove(0)
    }

    fn objects(&self) -> u64 {
        self.node.store.usage().objects as u64
    }
}

async fn asked(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    Ok(())
}

async fn pour(stream: &mut TcpStream, piece: &[u8], taken: &AtomicU64) {
    while taken.load(SeqCst) < 1 << 30 && stream.write_all(piece).await.is_ok() {
        taken.fetch_add(piece.len() as u64, SeqCst);
    }
}

#[tokio::test]
async fn invalid_response_is_a_502_or_504_with_reason() {
    for (said, status, detail) in [
        ("", 502, "origin-unreachable"),
        ("220 mail.example ESMTP\r\n", 502, "origin-unreachable"),
        ("\0\u{1}\u{2}\r\n\r\n", 502, "origin-unreachable"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nab", 502, "origin-unreachable"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nab",
            502,
            "origin-unreachable",
        ),
        ("HTTP/1.1 200 OK\r\ncache-control: max", 502, "origin-unreachable"),
        ("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", 502, "origin-unreachable"),
        ("wait", 504, "origin-too-slow"),
        ("HTTP/1.1 200 OK\r\nwait", 504, "origin-too-slow"),
    ] {
        let fixture = before(FIRST_BYTE, move |mut stream| async move {
            asked(&mut stream).await?;
            stream.write_all(said.strip_suffix("wait").unwrap_or(said).as_bytes()).await?;
            if said.ends_with("wait") {
                std::future::pending::<()>().await;
            }
            stream.shutdown().await
        })
        .await;
        let refused = fixture.get("/", &[]).await;
        assert_eq!(refused.status, status, "{said:?}");
        assert!(refused.told.ends_with(&format!("detail={detail}")), "{said:?}: {}", refused.told);
        assert!(!fixture.origin().healthy && fixture.origin().in_flight == 0);
        fixture.is_well().await;
    }
}

#[tokio::test]
async fn a_response_has_one_length_or_none() {
    for (said, status, length) in [
        ("HTTP/1.1 204 No Content\r\ncontent-length: 6\r\n\r\n", 204, None),
        ("HTTP/1.1 200 OK\r\ncontent-length: 3, 3\r\n\r\nabc", 200, Some("3")),
        ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 3\r\n\r\nabc", 200, Some("3")),
        (
            "HTTP/1.1 103 Early Hints\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n\
             HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc",
            200,
            Some("3"),
        ),
    ] {
        let fixture = before("", move |mut stream| async move {
            asked(&mut stream).await?;
            stream.write_all(said.as_bytes()).await
        })
        .await;
        let response = fixture.node.serve(request(Method::GET, "/", &[])).await;
        let values = response.headers().get_all("content-length");
        let lengths: Vec<_> = values.iter().map(|value| value.to_str().unwrap()).collect();
        assert_eq!((response.status().as_u16(), lengths), (status, Vec::from_iter(length)), "{said:?}");
    }
}

#[tokio::test]
async fn endless_header_is_bounded() {
    let one = Bytes::from_static(b"HTTP/1.1 200 OK\r\n");
    let interim = Bytes::from_static(b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n");
    let fields = Bytes::from(b"x-field: a value that says nothing\r\n".repeat(100));
    let line = Bytes::from(vec![b'x'; 10_000]);
    for (begin, piece) in [(one.clone(), fields), (one, line), (interim.clone(), interim.repeat(100).into())]
    {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&taken);
        let fixture = before("", move |mut stream| {
            let (begin, piece, taken) = (begin.clone(), piece.clone(), Arc::clone(&counted));
            async move {
                asked(&mut stream).await?;
                stream.write_all(&begin).await?;
                pour(&mut stream, &piece, &taken).await;
                Ok(())
            }
        })
        .await;
        let refused = fixture.get("/", &[]).await;
        assert_eq!((refused.status, fixture.objects()), (502, 0));
        // A header's limit plus the kernel's buffers: up to 64 MiB where tcp_rmem or tcp_wmem was
        // raised.
        assert!(taken.load(SeqCst) < 65 << 20, "{} bytes", taken.load(SeqCst));
        fixture.is_well().await;
    }
}

async fn came_of(fixture: &Fixture, path: &str) -> (StatusCode, Result<Bytes, Failure>) {
    let (parts, body) = fixture.node.serve(request(Method::GET, path, &[])).await.into_parts();
    (parts.status, body.collect(1 << 20).await)
}

#[tokio::test]
async fn wrong_content_length_does_not_desynchronize() {
    const OK: &str = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\n";
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let fixture = before(FIRST_BYTE, move |mut stream| {
        let number = counted.fetch_add(1, SeqCst);
        async move {
            asked(&mut stream).await?;
            let said = match number {
                // Too short; chunked without the last chunk; a chunk longer than its size.
                0 => "content-length: 10\r\n\r\nhalf",
                1 => "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
                2 => "transfer-encoding: chunked\r\n\r\n4\r\nhalves\r\n0\r\n\r\n",
                // The excess could be mistaken for the response to another request.
                3 => {
                    "content-length: 5\r\n\r\nwhole\
                     HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 6\r\n\r\npoison"
                }
                _ => "content-length: 5\r\n\r\nother",
            };
            stream.write_all([OK, said].concat().as_bytes()).await?;
            if number < 3 { stream.shutdown().await } else { asked(&mut stream).await }
        }
    })
    .await;
    for path in ["/short", "/chunks", "/chunk"] {
        let (status, body) = came_of(&fixture, path).await;
        let is_told = status == 502 || (status == 200 && body.is_err());
        assert!(is_told && fixture.objects() == 0, "{path}: {status} {body:?}");
    }
    let whole = fixture.get("/long", &[]).await;
    assert_eq!((whole.status, &whole.body[..]), (200, &b"whole"[..]));
    assert_eq!(fixture.get("/other", &[]).await.body, "other");
    assert_eq!((connections.load(SeqCst), fixture.get("/long", &[]).await.body), (5, "whole".into()));
}

#[tokio::test]
async fn origin_stalling_mid_body_times_out() {
    let fixture = before(FIRST_BYTE, async |mut stream: TcpStream| {
        asked(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 200000\r\n\r\nhalf").await?;
        std::future::pending().await
    })
    .await;
    assert_eq!(came_of(&fixture, "/").await, (StatusCode::OK, Err(Failure::Timeout)));
    let mut network = Network::clone(&fixture.node.network());
    network.zones[0].largest = 1 << 20;
    fixture.node.replace_network(network);
    let (first, second) = tokio::join!(came_of(&fixture, "/"), came_of(&fixture, "/"));
    assert!(first.1.is_err() && second.1.is_err(), "{first:?} {second:?}");
    assert_eq!(fixture.objects(), 0);
    fixture.is_well().await;
}

#[tokio::test]
async fn endless_body_has_backpressure() {
    let taken = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&taken);
    let fixture = before(FIRST_BYTE, move |mut stream| {
        let taken = Arc::clone(&counted);
        async move {
            asked(&mut stream).await?;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\n\r\n").await?;
            pour(&mut stream, &[7; 65_536], &taken).await;
            Ok(())
        }
    })
    .await;
    let mut body = fixture.node.serve(request(Method::GET, "/", &[])).await.into_body();
    assert!(body.data().await.unwrap().is_some());
    // Single-threaded: without progress after a hundred rounds of all tasks and a pause for the
    // kernel, none will follow.
    let mut before = u64::MAX;
    while taken.load(SeqCst) != before {
        before = taken.load(SeqCst);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The kernel's buffers, and the 100 KB that may be stored.
    assert!(before < 65 << 20, "{before} bytes");
    assert_eq!(fixture.objects(), 0);
    fixture.is_well().await;
}

#[tokio::test]
async fn unverified_origin_is_rejected() {
    let untrusted = Identity::make(&["127.0.0.1".to_owned()]).unwrap().identity;
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().with_tls(&untrusted);
    let stranger = server.addresses().unwrap()[0];
    let stop = http_stack::ShutdownSignal::new();
    let prerendered = stop.clone();
    let handler = async |_: http_stack::Request<Body>| Ok(Response::new(Body::whole("stolen")));
    tokio::spawn(async move { server.serve(handler, &prerendered).await });
    let fixture = beside("", &format!("https://{stranger}"));
    let refused = fixture.get("/", &[]).await;
    let told = "lhr; fwd=bypass; detail=origin-not-trusted".to_owned();
    let sentence = "The TLS handshake with the origin failed.\n".into();
    assert_eq!(refused, ReceivedResponse { status: 502, told, body: sentence });
    fixture.is_well().await;
    stop.request();
}

#[tokio::test]
async fn silent_origin_does_not_starve_other_zones() {
    let fixture = Arc::new(
        before("first_byte = \"300ms\"\n", async |mut stream: TcpStream| {
            asked(&mut stream).await?;
            std::future::pending().await
        })
        .await,
    );
    let mut visitors = tokio::task::JoinSet::new();
    for number in 0..2000 {
        let fixture = Arc::clone(&fixture);
        visitors.spawn(async move {
            receive(fixture.node.serve(request(Method::GET, &format!("/{number}"), &[])).await).await
        });
    }
    fixture.is_well().await;
    while let Some(refused) = visitors.join_next().await {
        let refused = refused.unwrap();
        assert_eq!(refused.status, 504, "{}", refused.told);
    }
    assert_eq!(fixture.origin().in_flight, 0);
}
