//! HTTP/2 over a pipe in one thread, against h2's own server.

use std::time::Duration;

use h2::server::{self, SendResponse};
use recording::Sample;
use tokio::io::DuplexStream;

use super::*;

const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_NS: u64 = 20_000_000;

/// Answers each request with `answer`; takes uploads.
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
    targets: Vec<Target>,
    answer: impl AsyncFn(Request<RecvStream>, SendResponse<Bytes>) + Send + Sync + Copy + 'static,
) -> Vec<Sample> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (near, far) = tokio::io::duplex(64 * 1024);
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        tokio::task::spawn_local(serve(far, answer));
        let clock = Clock::start();
        let connection =
            Http2::start(Box::new(near), SocketAddr::from(([127, 0, 0, 1], 80)), clock).await.unwrap();
        let mut samples = Vec::new();
        for target in targets {
            let mut trace = Trace::start(clock.now());
            let outcome = connection.exchange(&target, &mut trace).await;
            samples.push(trace.finish(outcome.err()));
        }
        samples
    })
}

/// Two requests at once, after one that has seen the server's settings.
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
            Http2::start(Box::new(near), SocketAddr::from(([127, 0, 0, 1], 80)), clock).await.unwrap();
        let once = async || {
            let mut trace = Trace::start(clock.now());
            let outcome = connection.exchange(&get(), &mut trace).await;
            let sample = trace.finish(outcome.err());
            assert_eq!((sample.status, sample.error), (Some(204), None));
            sample.labels.contains_key("queued")
        };
        let first = once().await;
        let (second, third) = tokio::join!(once(), once());
        [first, second, third]
    });
    assert_eq!(queued, [false, false, true]);
}

fn get() -> Target {
    "http://origin/".parse().unwrap()
}

fn head(status: u16) -> Response<()> {
    Response::builder().status(status).body(()).unwrap()
}

#[test]
fn early_hints_are_not_the_final_header() {
    let samples = fetch(vec![get()], async |request, mut respond| {
        assert_eq!(request.uri().to_string(), "http://origin/");
        respond.send_informational(head(103)).unwrap();
        tokio::time::sleep(PAUSE).await;
        let mut body = respond.send_response(head(200), false).unwrap();
        body.send_data(Bytes::from_static(b"ok"), true).unwrap();
    });
    let sample = &samples[0];
    assert_eq!((sample.error.as_deref(), sample.status, sample.body_bytes), (None, Some(200), Some(2)));
    assert_eq!(sample.labels["protocol"], "h2");
    // One thread: the hints are read in the same round in which they are written, before the pause is over.
    assert!(sample.first_interim_ns < sample.final_headers_ns, "{sample:?}");
    assert!(sample.send_ns.unwrap() + sample.wait_ns.unwrap() >= PAUSE_NS, "{sample:?}");
    assert!(
        sample.final_headers_ns <= sample.first_body_byte_ns
            && sample.first_body_byte_ns <= sample.last_byte_ns
    );
}

#[test]
fn the_second_request_reuses_the_connection() {
    let samples = fetch(vec![get(), get()], async |_, mut respond| {
        respond.send_response(head(204), true).unwrap();
    });
    assert_eq!((samples[0].reused, samples[1].reused), (Some(false), Some(true)));
    assert_eq!(samples[1].status, Some(204));
    assert_eq!((samples[1].load_ns, samples[1].error.as_deref()), (None, None));
    assert!(samples[1].send_ns.is_some() && samples[1].wait_ns.is_some());
}

#[test]
fn an_upload_larger_than_the_window_arrives_whole() {
    let upload = get().method("PUT").unwrap().body(vec![b'x'; 300_000]);
    let samples = fetch(vec![upload], async |mut request, mut respond| {
        let mut seen = 0;
        while let Some(data) = request.body_mut().data().await {
            let data = data.unwrap();
            seen += data.len();
            request.body_mut().flow_control().release_capacity(data.len()).unwrap();
        }
        let status = if seen == 300_000 { 200 } else { 400 };
        respond.send_response(head(status), true).unwrap();
    });
    assert_eq!((samples[0].status, samples[0].error.as_deref()), (Some(200), None));
    assert!(samples[0].send_ns.is_some());
}

#[test]
fn an_early_answer_ends_an_upload() {
    let upload = get().method("PUT").unwrap().body(vec![b'x'; 300_000]);
    let samples = fetch(vec![upload], async |request, mut respond| {
        // The body is never read, so the window closes.
        respond.send_response(head(413), true).unwrap();
        tokio::time::sleep(PAUSE).await;
        drop(request);
    });
    assert_eq!((samples[0].status, samples[0].error.as_deref()), (Some(413), None));
    assert_eq!((samples[0].send_ns, samples[0].wait_ns), (None, None), "it was never sent to its end");
}

#[test]
fn a_reset_stream_fails_by_its_code() {
    let samples = fetch(vec![get()], async |_, mut respond| {
        respond.send_reset(h2::Reason::INTERNAL_ERROR);
    });
    assert_eq!(samples[0].error.as_deref(), Some("http/2: INTERNAL_ERROR"));
    assert_eq!(samples[0].last_byte_ns, None);
}
