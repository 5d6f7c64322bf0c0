//! A truncated message is never ended normally.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http_stack::{
    Body, Bytes, Failure, Request, Response, Stage,
    body::{Frame, Frames, SizeHint},
    client::{Limits, Protocol, Trace},
    server,
};
use tokio::io::AsyncReadExt;

use crate::support::{
    Security, VERSIONS, client, get, read_head, request, responder, serve, serve_as, serve_clear, write,
};

#[derive(Debug, Clone, Copy)]
enum Ending {
    Dropped,
    Panic,
}

fn broken(ending: Ending) -> Body {
    let (sender, body) = Body::channel(2);
    tokio::spawn(async move {
        sender.send("some ").await.unwrap();
        sender.send("more").await.unwrap();
        match ending {
            Ending::Dropped => drop(sender),
            Ending::Panic => panic!("on purpose"),
        }
    });
    body
}

async fn raw(address: std::net::SocketAddr) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    write(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut all = String::new();
    let _ = stream.read_to_string(&mut all).await;
    all
}

#[tokio::test(flavor = "current_thread")]
async fn a_response_that_breaks_off_has_no_clean_end() {
    for ending in [Ending::Dropped, Ending::Panic] {
        let server = serve_clear(move |_| async move { Ok(Response::new(broken(ending))) });
        let sent = raw(server.address).await;
        assert!(sent.contains("transfer-encoding: chunked"), "{sent}");
        // RFC 9112 section 7.1: the last chunk has length 0, and without it the body is incomplete.
        assert!(!sent.contains("\r\n0\r\n"), "{sent}");
        for protocol in [Protocol::Http1, Protocol::Http2] {
            let client = client(protocol, Limits::default());
            let (trace, response) = get(&client, &server.origin).await;
            let failure = response.unwrap().into_body().collect(100).await.unwrap_err();
            match protocol {
                Protocol::Http2 => assert_eq!(failure, Failure::Http2(Some(h2::Reason::INTERNAL_ERROR))),
                _ => assert_eq!(failure, Failure::Closed(Stage::Body)),
            }
            assert_eq!(trace.last_byte(), None);
        }
    }
}

struct Failed(Option<u64>);

impl Frames for Failed {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        Poll::Ready(Some(Err(Failure::Refused)))
    }

    fn size_hint(&self) -> SizeHint {
        self.0.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_body_that_fails_at_once_leaves_its_head() {
    for length in [None, Some(10)] {
        for protocol in VERSIONS {
            let answer = move |_: Request<Body>| async move {
                let response = Response::builder().status(418).header("x-seen", "yes");
                Ok(response.body(Body::stream(Failed(length))).unwrap())
            };
            let server = serve_as(protocol, answer);
            if protocol == Protocol::Http1 {
                let sent = raw(server.address).await;
                let (head, body) = sent.split_once("\r\n\r\n").expect("a whole head");
                assert!(head.starts_with("HTTP/1.1 418 ") && head.contains("x-seen: yes"), "{sent}");
                assert_eq!(body, "");
            }
            let (_, response) = get(&client(protocol, Limits::default()), &server.origin).await;
            let response = response.unwrap_or_else(|failure| panic!("{protocol:?}: {failure}"));
            assert_eq!(
                (response.status().as_u16(), &response.headers()["x-seen"]),
                (418, &"yes".parse().unwrap())
            );
            assert!(response.into_body().collect(100).await.is_err(), "{protocol:?}");
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_handler_that_fails_gives_no_response() {
    let server = serve_clear(async |_: Request<Body>| Err(Failure::Refused));
    assert_eq!(raw(server.address).await, "");
    let (_, response) = get(&client(Protocol::Http1, Limits::default()), &server.origin).await;
    assert_eq!(response.unwrap_err(), Failure::Closed(Stage::Head));
    let (_, response) = get(&client(Protocol::Http2, Limits::default()), &server.origin).await;
    assert_eq!(response.unwrap_err(), Failure::Http2(Some(h2::Reason::INTERNAL_ERROR)));
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_that_breaks_off_reaches_no_handler_as_a_whole_one() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let (seen, mut outcome) = tokio::sync::mpsc::channel(1);
        let (arrived, arrival) = tokio::sync::oneshot::channel();
        let arrived = std::sync::Mutex::new(Some(arrived));
        let server = serve_clear(move |request: Request<Body>| {
            arrived.lock().unwrap().take().unwrap().send(()).unwrap();
            let seen = seen.clone();
            async move {
                seen.send(request.into_body().collect(100).await).await.unwrap();
                Ok(Response::new(Body::empty()))
            }
        });
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move {
            sender.send("some").await.unwrap();
            arrival.await.unwrap();
            drop(sender);
        });
        let client = client(protocol, Limits::default());
        let mut trace = Trace::start(client.clock().now());
        let response = client.send(&server.origin, request("POST", body), &mut trace).await;
        assert_eq!(response.unwrap_err(), Failure::Source, "{protocol:?}");
        assert!(outcome.recv().await.unwrap().is_err(), "{protocol:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_that_stalls_is_given_up() {
    let config = server::Config { read_timeout: std::time::Duration::from_millis(50), ..Default::default() };
    let (seen, mut outcome) = tokio::sync::mpsc::channel(1);
    let server = serve(Security::Clear, config, move |request: Request<Body>| {
        let seen = seen.clone();
        async move {
            seen.send(request.into_body().collect(100).await).await.unwrap();
            Ok(Response::new(Body::empty()))
        }
    });
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    write(&mut stream, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf").await;
    assert_eq!(outcome.recv().await.unwrap(), Err(Failure::Timeout));
}

#[tokio::test(flavor = "current_thread")]
async fn a_response_that_its_reader_drops_ends_the_connection() {
    let server = responder(async |mut stream| {
        while read_head(&mut stream).await.is_some() {
            write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").await;
        }
    })
    .await;
    let client = client(Protocol::Http1, Limits::default());
    for number in 1..=2 {
        let (_, response) = get(&client, &server.origin).await;
        drop(response.unwrap());
        assert_eq!(server.connections(), number, "what is left of a response is nobody's");
    }
}
