//! Concurrent bodies in both directions that are larger than all buffers.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use http_stack::{
    Body, Bytes, HeaderMap, Method, Request, Response,
    client::{Config, Limits, Protocol, Trace, Trust, Windows},
    server,
};

use crate::support::{Security, VERSIONS, client, request, serve, serve_as, serve_clear};

const PIECE: usize = 16 * 1024;

fn pieces(pieces: u64, sent: &Arc<AtomicU64>) -> Body {
    let (sender, body) = Body::channel(1);
    let sent = Arc::clone(sent);
    tokio::spawn(async move {
        for number in 0..pieces {
            let piece = Bytes::from(vec![number.to_le_bytes()[0]; PIECE]);
            if sender.send(piece).await.is_err() {
                return;
            }
            sent.fetch_add(1, Relaxed);
        }
        sender.finish().await.unwrap();
    });
    body
}

async fn echo(request: Request<Body>) -> Result<Response<Body>, http_stack::Failure> {
    Ok(Response::new(request.into_body()))
}

#[tokio::test(flavor = "current_thread")]
async fn an_echo_of_any_length_comes_back_whole() {
    let total = 4096;
    for security in [Security::Clear, Security::Tls, Security::Quic] {
        for protocol in VERSIONS {
            if (protocol == Protocol::Http3) != (security == Security::Quic) {
                continue;
            }
            let server = serve(security, server::Config::default(), echo);
            let client = client(protocol, Limits::default());
            let sent = Arc::default();
            let mut trace = Trace::start(client.clock().now());
            let upload = request("POST", pieces(total, &sent));
            let mut body = client.send(&server.origin, upload, &mut trace).await.unwrap().into_body();
            let mut at = 0;
            while let Some(data) = body.data().await.unwrap() {
                for byte in &data {
                    let number = at / PIECE as u64;
                    assert_eq!(*byte, number.to_le_bytes()[0], "{protocol:?} at {at}");
                    at += 1;
                }
            }
            assert_eq!((at, trace.body_bytes()), (total * PIECE as u64, at));
            assert_eq!(sent.load(Relaxed), total);
            assert_eq!(trace.tls.is_some(), security == Security::Tls);
            assert_eq!(trace.connect.is_some(), security != Security::Quic);
            assert!(trace.first_body_byte() <= trace.last_byte());
        }
    }
}

async fn sent_unread(protocol: Protocol, answer: fn(Arc<AtomicU64>) -> Response<Body>) -> u64 {
    let sent: Arc<AtomicU64> = Arc::default();
    let counted = Arc::clone(&sent);
    let server = serve_as(protocol, move |_| {
        let response = answer(Arc::clone(&counted));
        async move { Ok(response) }
    });
    let windows = Windows { stream: 1 << 20, connection: 1 << 20 };
    let config = Config { protocol, windows, trust: Trust::Anyone, ..Config::default() };
    let client = http_stack::Client::new(&config).unwrap();
    let mut trace = Trace::start(client.clock().now());
    let response = client.send(&server.origin, request("GET", Body::empty()), &mut trace).await.unwrap();
    // In one thread, no progress in a hundred rounds of all tasks and a pause for the kernel means that
    // all tasks are blocked.
    let mut before = u64::MAX;
    while sent.load(Relaxed) != before {
        before = sent.load(Relaxed);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(trace.last_byte(), None);
    drop(response);
    before * PIECE as u64
}

#[tokio::test(flavor = "current_thread")]
async fn a_response_that_nobody_reads_is_held_back_at_its_source() {
    let endless = |sent: Arc<AtomicU64>| Response::new(pieces(u64::MAX, &sent));
    for protocol in VERSIONS {
        let unread = sent_unread(protocol, endless).await;
        // The kernel's two buffers (the maximum of tcp_wmem and tcp_rmem, 4 and 6 MiB by default; 32 MiB
        // each as a margin for tuned systems), a window of 1 MiB, and what h2 buffers for one stream.
        // For HTTP/3, the window and the 10 MB that quinn buffers until they are acknowledged.
        assert!(unread < 66 << 20, "{protocol:?}: {unread} bytes");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_response_may_begin_before_the_request_has_ended() {
    for protocol in VERSIONS {
        let server = serve_as(protocol, echo);
        let client = client(protocol, Limits::default());
        let (sender, body) = Body::channel(1);
        let mut trace = Trace::start(client.clock().now());
        sender.send("question").await.unwrap();
        let response = client.send(&server.origin, request("POST", body), &mut trace).await.unwrap();
        let mut answer = response.into_body();
        assert_eq!(answer.data().await.unwrap().unwrap(), "question");
        sender.send("another").await.unwrap();
        assert_eq!(answer.data().await.unwrap().unwrap(), "another");
        assert_eq!(trace.last_byte(), None, "it is not over");
        sender.finish().await.unwrap();
        assert_eq!(answer.data().await, Ok(None));
        assert!(trace.last_byte().is_some());
    }
}

#[tokio::test(flavor = "current_thread")]
async fn trailers_are_passed_on() {
    for protocol in VERSIONS {
        let server = serve_as(protocol, async |request: Request<Body>| {
            let mut response = Response::new(request.into_body());
            response.headers_mut().insert("trailer", "digest".parse().unwrap());
            Ok(response)
        });
        let client = client(protocol, Limits::default());
        let (sender, body) = Body::channel(4);
        sender.send("data").await.unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert("digest", "abc".parse().unwrap());
        sender.finish_with(trailers.clone()).await.unwrap();
        let mut upload = request("POST", body);
        upload.headers_mut().insert("trailer", "digest".parse().unwrap());
        upload.headers_mut().insert("te", "trailers".parse().unwrap());
        let mut trace = Trace::start(client.clock().now());
        let mut answer = client.send(&server.origin, upload, &mut trace).await.unwrap().into_body();
        let mut seen = None;
        while let Some(frame) = answer.frame().await {
            if let Ok(trailers) = frame.unwrap().into_trailers() {
                seen = Some(trailers);
            }
        }
        assert_eq!(seen, Some(trailers), "{protocol:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_proxy_is_a_handler_that_asks_a_client() {
    let origin = serve_clear(echo);
    let upstream = client(Protocol::Http1, Limits::default());
    let behind = origin.origin.clone();
    let proxy = serve(Security::Tls, server::Config::default(), move |request: Request<Body>| {
        let (upstream, behind) = (upstream.clone(), behind.clone());
        async move {
            let peer: server::Peer = *request.extensions().get().unwrap();
            assert_eq!(peer.scheme, http_stack::Scheme::Https);
            let mut trace = Trace::start(upstream.clock().now());
            upstream.send(&behind, request, &mut trace).await
        }
    });
    let sent = Arc::default();
    let client = client(Protocol::Http2, Limits::default());
    let mut trace = Trace::start(client.clock().now());
    let upload = request("PUT", pieces(1000, &sent));
    assert_eq!(upload.method(), Method::PUT);
    let response = client.send(&proxy.origin, upload, &mut trace).await.unwrap();
    assert_eq!(response.into_body().collect(usize::MAX).await.unwrap().len(), 1000 * PIECE);
    assert_eq!(trace.protocol, Some("h2"));
}
