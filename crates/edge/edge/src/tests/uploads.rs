//! Request bodies: small ones are sent again if the origin closes an idle connection.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll},
};

use http_stack::{
    Body, Bytes, Failure, HeaderMap, Method, Request,
    body::{Frame, Frames, Sender, SizeHint},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{Fixture, request, with};

struct Announced {
    body: Body,
    left: u64,
}

impl Frames for Announced {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.left -= frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        polled
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

fn announced(length: u64) -> (Sender, Body) {
    let (sender, body) = Body::channel(2);
    (sender, Body::stream(Announced { body, left: length }))
}

fn sent(method: Method, body: Body) -> Request<Body> {
    request(method, "/", &[]).map(|_| body)
}

async fn hello(method: Method) -> Request<Body> {
    let (sender, body) = announced(5);
    sender.send("hel").await.unwrap();
    tokio::spawn(async move {
        sender.send("lo").await.unwrap();
        sender.finish().await.unwrap();
    });
    sent(method, body)
}

async fn read(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut received = Vec::new();
    while !received.ends_with(b"hello") {
        received.push(stream.read_u8().await.ok()?);
    }
    Some(received)
}

/// Closes the connection when the next request arrives, as if that had arrived too late.
async fn one_request_a_connection() -> (Fixture, Arc<AtomicUsize>) {
    let fixture = Fixture::new("", async |_, _| with("no-store", ""));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut network = crate::Network::clone(&fixture.node.network());
    network.zones[0].origins = vec![format!("http://{}", listener.local_addr().unwrap()).parse().unwrap()];
    fixture.node.replace_network(network);
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, SeqCst);
            tokio::spawn(async move {
                if read(&mut stream).await.is_some() {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                    read(&mut stream).await;
                }
            });
        }
    });
    (fixture, connections)
}

#[tokio::test]
async fn small_idempotent_body_is_resent_on_closed_connection() {
    let (fixture, connections) = one_request_a_connection().await;
    for asked in 1..4 {
        let put = fixture.send(hello(Method::PUT).await).await;
        assert_eq!((put.status, &put.body[..], connections.load(SeqCst)), (200, &b"ok"[..], asked));
    }
    // The origin may have received it (RFC 9110, section 9.2.2).
    let post = fixture.send(hello(Method::POST).await).await;
    assert_eq!((post.status, connections.load(SeqCst)), (502, 3), "{}", post.told);
}

#[tokio::test]
async fn aborted_upload_is_no_origin_failure() {
    let fixture = Fixture::new("", async |request: Request<Body>, _| {
        let _ = request.into_body().collect(1 << 20).await;
        with("no-store", "")
    });
    for length in [5, 1 << 20] {
        let (sender, body) = announced(length);
        sender.send("hel").await.unwrap();
        drop(sender);
        let refused = fixture.send(sent(Method::PUT, body)).await;
        assert_eq!((refused.status, refused.told.as_str()), (408, "lhr; fwd=bypass; detail=incomplete"));
        let network = fixture.node.network();
        let origin =
            fixture.node.origins.report(network.zones[0].origins.iter(), |_| 0, fixture.node.now()).remove(0);
        assert!(origin.healthy && origin.failures == 0);
    }
}

#[tokio::test]
async fn buffered_body_equals_the_stream() {
    let (sender, body) = announced(5);
    sender.send("hel").await.unwrap();
    sender.send("lo").await.unwrap();
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", "7".parse().unwrap());
    let told = trailers.clone();
    let rest = tokio::spawn(async move { sender.finish_with(told).await.unwrap() });
    let mut body = body.in_memory(5).await.unwrap();
    rest.await.unwrap();
    assert_eq!(body.size_hint().exact(), Some(5));
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "hello");
    assert_eq!(body.frame().await.unwrap().unwrap().into_trailers().unwrap(), trailers);
    assert!(body.frame().await.is_none());
    let (_sender, body) = announced(6);
    assert!(body.in_memory(5).await.unwrap().again().is_none());
    let (_sender, body) = Body::channel(1);
    assert!(body.in_memory(5).await.unwrap().again().is_none());
}
