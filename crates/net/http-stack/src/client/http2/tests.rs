//! HTTP/2 over a pipe in one thread, against the server of the h2 crate.

use std::time::Duration;

use h2::server::{self, SendResponse};
use tokio::io::DuplexStream;

use super::*;
use crate::client::outcome::{Outcome, on_http2, request};

const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_NS: u64 = 20_000_000;

async fn serve(
    stream: DuplexStream,
    answer: impl AsyncFn(Request<RecvStream>, SendResponse<Bytes>) + Send + Sync + Copy + 'static,
) {
    let mut connection =
        server::Builder::new().max_concurrent_streams(1).handshake::<_, Bytes>(stream).await.unwrap();
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async move {
            while let Some(Ok((request, respond))) = connection.accept().await {
                tokio::task::spawn_local(async move { answer(request, respond).await });
            }
        })
        .await;
}

fn fetch(
    requests: Vec<Request<Body>>,
    answer: impl AsyncFn(Request<RecvStream>, SendResponse<Bytes>) + Send + Sync + Copy + 'static,
) -> Vec<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (near, far) = tokio::io::duplex(64 * 1024);
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        tokio::task::spawn_local(serve(far, answer));
        let clock = Clock::start();
        let connection =
            Http2::start(Box::new(near), Arc::default(), None, Windows::default(), clock).await.unwrap();
        let mut seen = Vec::new();
        for request in requests {
            seen.push(on_http2(&connection, request, clock).await);
        }
        seen
    })
}

#[test]
fn a_request_beyond_the_limit_of_streams_is_labelled() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (near, far) = tokio::io::duplex(64 * 1024);
    let local = tokio::task::LocalSet::new();
    let queued = local.block_on(&runtime, async move {
        tokio::task::spawn_local(serve(far, async |_, mut respond| {
            respond.send_response(head(204), true).unwrap();
        }));
        let clock = Clock::start();
        let connection =
            Http2::start(Box::new(near), Arc::default(), None, Windows::default(), clock).await.unwrap();
        let once = async || {
            let seen = on_http2(&connection, get(), clock).await;
            assert_eq!((seen.status, seen.failure), (Some(204), None));
            seen.trace.queued
        };
        let first = once().await;
        let (second, third) = tokio::join!(once(), once());
        [first, second, third]
    });
    assert_eq!(queued, [false, false, true]);
}

fn get() -> Request<Body> {
    request("GET", "")
}

fn head(status: u16) -> Response<()> {
    Response::builder().status(status).body(()).unwrap()
}

#[test]
fn early_hints_are_not_the_final_header() {
    let seen = fetch(vec![get()], async |request, mut respond| {
        assert_eq!(request.uri().to_string(), "http://origin/");
        respond.send_informational(head(103)).unwrap();
        tokio::time::sleep(PAUSE).await;
        let mut body = respond.send_response(head(200), false).unwrap();
        body.send_data(Bytes::from_static(b"ok"), true).unwrap();
    });
    let seen = &seen[0];
    assert_eq!((seen.failure, seen.status, seen.body_bytes), (None, Some(200), 2));
    assert_eq!(seen.trace.protocol, Some("h2"));
    // In one thread the client reads the early hints in the iteration that writes them, before the pause
    // ends.
    assert!(seen.first_interim < seen.final_headers, "{seen:?}");
    assert!(seen.send.unwrap() + seen.wait.unwrap() >= PAUSE_NS, "{seen:?}");
    assert!(seen.final_headers <= seen.first_body_byte && seen.first_body_byte <= seen.last_byte);
}

#[test]
fn the_second_request_reuses_the_connection() {
    let seen = fetch(vec![get(), get()], async |_, mut respond| {
        respond.send_response(head(204), true).unwrap();
    });
    assert_eq!((seen[0].trace.reused, seen[1].trace.reused), (Some(false), Some(true)));
    assert_eq!(seen[1].status, Some(204));
    assert_eq!((seen[1].load, seen[1].failure), (None, None));
    assert!(seen[1].send.is_some() && seen[1].wait.is_some());
}

#[test]
fn an_upload_larger_than_the_window_arrives_whole() {
    let upload = request("PUT", vec![b'x'; 300_000]);
    let seen = fetch(vec![upload], async |mut request, mut respond| {
        let mut seen = 0;
        while let Some(data) = request.body_mut().data().await {
            let data = data.unwrap();
            seen += data.len();
            request.body_mut().flow_control().release_capacity(data.len()).unwrap();
        }
        let status = if seen == 300_000 { 200 } else { 400 };
        respond.send_response(head(status), true).unwrap();
    });
    assert_eq!((seen[0].status, seen[0].failure), (Some(200), None));
    assert!(seen[0].send.is_some());
}

#[test]
fn an_early_answer_ends_an_upload() {
    let upload = request("PUT", vec![b'x'; 300_000]);
    let seen = fetch(vec![upload], async |request, mut respond| {
        respond.send_response(head(413), true).unwrap();
        tokio::time::sleep(PAUSE).await;
        drop(request);
    });
    assert_eq!((seen[0].status, seen[0].failure), (Some(413), None));
    assert_eq!((seen[0].send, seen[0].wait), (None, None), "it was never sent to its end");
}

#[test]
fn a_reset_stream_fails_by_its_code() {
    let seen = fetch(vec![get()], async |_, mut respond| {
        respond.send_reset(h2::Reason::INTERNAL_ERROR);
    });
    assert_eq!(seen[0].failure, Some(Failure::Http2(Some(h2::Reason::INTERNAL_ERROR))));
    assert_eq!(seen[0].failure.unwrap().to_string(), "http/2: INTERNAL_ERROR");
    assert_eq!(seen[0].last_byte, None);
}
