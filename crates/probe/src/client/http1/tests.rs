//! HTTP/1.1 over a pipe of 64 bytes in one thread: what was written beyond 64 bytes has been read, and
//! stamped, before the writer goes on. So lower bounds hold exactly, however slow the machine.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::*;
use recording::Sample;

const PIPE: usize = 64;
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_NS: u64 = 20_000_000;
/// A header field longer than the pipe.
const LONG_FIELD: &str =
    "link: </0123456789012345678901234567890123456789012345678901234567890123456789.css>\r\n";

/// Runs `serve` at the other end, and returns the sample and the failure if any.
fn fetch<F: Future<Output = ()> + Send + 'static>(
    target: Target,
    serve: impl FnOnce(DuplexStream) -> F,
) -> (Sample, Option<Failure>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (near, far) = tokio::io::duplex(PIPE);
    let serving = serve(far);
    runtime.block_on(async move {
        tokio::spawn(serving);
        let clock = Clock::start();
        let mut trace = Trace::start(clock.now());
        let mut connection =
            Http1::start(Box::new(near), SocketAddr::from(([127, 0, 0, 1], 80)), clock).await.unwrap();
        let failure = connection.exchange(&target, &mut trace).await.err();
        (trace.finish(failure), failure)
    })
}

fn get() -> Target {
    "http://origin/".parse().unwrap()
}

async fn read_request(stream: &mut DuplexStream) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(request).unwrap()
}

async fn write(stream: &mut DuplexStream, text: &str) {
    stream.write_all(text.as_bytes()).await.unwrap();
}

#[test]
fn a_slow_header_is_wait() {
    let (sample, failure) = fetch(get(), async |mut stream| {
        let request = read_request(&mut stream).await;
        assert!(
            request.starts_with("GET / HTTP/1.1\r\n") && request.contains("host: origin\r\n"),
            "{request}"
        );
        tokio::time::sleep(PAUSE).await;
        write(
            &mut stream,
            "HTTP/1.1 200 OK\r\nserver-timing: a;dur=1\r\nserver-timing: b\r\ncontent-length: 2\r\n\r\nok",
        )
        .await;
    });
    assert_eq!(failure, None);
    assert_eq!((sample.status, sample.body_bytes, sample.reused), (Some(200), Some(2), Some(false)));
    assert_eq!(sample.server_timing.as_deref(), Some("a;dur=1, b"));
    // The request is longer than the pipe, so its last part was written while the server read, before it
    // paused.
    assert!(sample.wait_ns >= Some(PAUSE_NS), "{sample:?}");
    assert_eq!(sample.first_interim_ns, None);
    assert!(
        sample.final_headers_ns <= sample.first_body_byte_ns
            && sample.first_body_byte_ns <= sample.last_byte_ns
    );
    assert_eq!(sample.load_ns, Some(sample.last_byte_ns.unwrap() - sample.first_body_byte_ns.unwrap()));
}

#[test]
fn a_slow_body_is_load() {
    let (sample, failure) = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-length: 140\r\n\r\n").await;
        write(&mut stream, &"x".repeat(2 * PIPE)).await;
        tokio::time::sleep(PAUSE).await;
        write(&mut stream, &"x".repeat(140 - 2 * PIPE)).await;
    });
    assert_eq!((failure, sample.body_bytes), (None, Some(140)));
    assert!(sample.load_ns >= Some(PAUSE_NS), "{sample:?}");
}

#[test]
fn early_hints_are_not_the_final_header() {
    let (sample, failure) = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, &format!("HTTP/1.1 103 Early Hints\r\n{LONG_FIELD}\r\n")).await;
        tokio::time::sleep(PAUSE).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    });
    assert_eq!((failure, sample.status), (None, Some(200)));
    let (interim, last) = (sample.first_interim_ns.unwrap(), sample.final_headers_ns.unwrap());
    assert!(last >= interim + PAUSE_NS, "{sample:?}");
    // `wait` ends with the final header, not with the hints.
    assert!(sample.wait_ns >= Some(PAUSE_NS));
    assert_eq!((sample.first_body_byte_ns, sample.load_ns), (None, None), "there is no body");
}

#[test]
fn a_slow_final_header_counts_from_its_first_byte() {
    let (sample, failure) = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, &format!("HTTP/1.1 200 OK\r\n{LONG_FIELD}")).await;
        tokio::time::sleep(PAUSE).await;
        write(&mut stream, "content-length: 2\r\n\r\nok").await;
    });
    assert_eq!(failure, None);
    assert!(sample.first_body_byte_ns.unwrap() >= sample.final_headers_ns.unwrap() + PAUSE_NS, "{sample:?}");
}

#[test]
fn a_slow_upload_is_send() {
    let target = get().method("POST").unwrap().body("x".repeat(500));
    let (sample, failure) = fetch(target, async |mut stream| {
        let request = read_request(&mut stream).await;
        assert!(request.contains("content-length: 500\r\n"), "{request}");
        tokio::time::sleep(PAUSE).await;
        stream.read_exact(&mut [0; 500]).await.unwrap();
        write(&mut stream, "HTTP/1.1 204 No Content\r\n\r\n").await;
    });
    assert_eq!((failure, sample.status), (None, Some(204)));
    assert!(sample.send_ns >= Some(PAUSE_NS), "{sample:?}");
}

#[test]
fn what_ends_too_early_fails_and_has_no_latency() {
    for (response, reason) in [
        ("", "closed before the response"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n", "closed before the response"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", "closed within the body"),
        ("SSH-2.0-OpenSSH_9.7\r\n", "not an HTTP response"),
    ] {
        let (sample, _) = fetch(get(), async move |mut stream| {
            read_request(&mut stream).await;
            write(&mut stream, response).await;
        });
        assert_eq!(sample.error.as_deref(), Some(reason), "{response}");
        assert_eq!((sample.last_byte_ns, sample.load_ns), (None, None), "{response}");
    }
}

#[test]
fn an_endless_header_is_bounded() {
    let (sample, _) = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\n").await;
        while stream.write_all(LONG_FIELD.as_bytes()).await.is_ok() {}
    });
    assert_eq!(sample.error.as_deref(), Some("response header too large"));
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let (sample, failure) = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\n\r\nto the end").await;
    });
    assert_eq!((failure, sample.body_bytes), (None, Some(10)));
    assert!(sample.last_byte_ns.is_some());
}
