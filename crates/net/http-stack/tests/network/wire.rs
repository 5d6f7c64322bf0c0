//! The bytes of a request on the wire.

use std::sync::Arc;

use http_stack::{
    Response,
    client::{Protocol, WireBytes},
};
use tokio::{io::AsyncWriteExt, sync::Barrier};

use crate::support::{Security, VERSIONS, client, fetch, read_head, responder, serve, serve_as, write};

#[tokio::test]
async fn each_request_of_a_connection_has_its_own() {
    const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
    let responder = responder(async |mut stream| {
        while let Some(head) = read_head(&mut stream).await {
            write(&mut stream, ANSWER).await;
            assert!(head.starts_with("GET / HTTP/1.1\r\nhost: 127.0.0.1:"), "{head}");
        }
        stream.shutdown().await.unwrap();
    })
    .await;
    let host = responder.origin.authority();
    let sent = format!("GET / HTTP/1.1\r\nhost: {host}\r\n\r\n").len() as u64;
    let expected = WireBytes { sent, received: ANSWER.len() as u64 };
    let client = client(Protocol::Http1, Default::default());
    for _ in 0..3 {
        assert_eq!(fetch(&client, &responder.origin, "GET").await.wire(), Some(expected));
    }
    assert_eq!(responder.connections(), 1);
}

#[tokio::test]
async fn a_handshake_belongs_to_the_request_that_needs_it() {
    for (protocol, security) in [
        (Protocol::Http1, Security::Tls),
        (Protocol::Http2, Security::Tls),
        (Protocol::Http3, Security::Quic),
    ] {
        let serving =
            serve(security, http_stack::server::Config::default(), async |_| Ok(Response::default()));
        let client = client(protocol, Default::default());
        let first = fetch(&client, &serving.origin, "GET").await.wire().unwrap();
        let second = fetch(&client, &serving.origin, "GET").await.wire().unwrap();
        // A certificate alone takes some hundred bytes.
        assert!(first.received > second.received + 400, "{protocol:?}: {first:?} {second:?}");
        // QUIC's first datagrams are padded to 1200 bytes (RFC 9000 section 14.1), and later ones probe
        // the path MTU.
        let hello = if protocol == Protocol::Http3 { 1200 } else { 200 };
        assert!(first.sent > second.sent + hello, "{protocol:?}: {first:?} {second:?}");
    }
}

#[tokio::test]
async fn requests_that_share_a_connection_at_the_same_time_have_none() {
    for protocol in VERSIONS {
        let both = Arc::new(Barrier::new(2));
        let serving = serve_as(protocol, move |_| {
            let both = Arc::clone(&both);
            async move {
                both.wait().await;
                Ok(Response::default())
            }
        });
        let client = client(protocol, Default::default());
        let ask = || fetch(&client, &serving.origin, "GET");
        let (a, b) = tokio::join!(ask(), ask());
        let is_shared = protocol != Protocol::Http1;
        assert_eq!((a.wire().is_none(), b.wire().is_none()), (is_shared, is_shared), "{protocol:?}");
    }
}
