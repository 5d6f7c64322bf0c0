//! HTTP/1.1 over a 64-byte pipe in one thread: all bytes except the last 64 have been read, and stamped,
//! before the writer continues. So lower bounds hold exactly on a machine of any speed.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::*;
use crate::client::outcome::{Outcome, on_http1, request};

const PIPE: usize = 64;
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_NS: u64 = 20_000_000;
const LONG_FIELD: &str =
    "link: </0123456789012345678901234567890123456789012345678901234567890123456789.css>\r\n";

fn fetch<F: Future<Output = ()> + Send + 'static>(
    request: Request<Body>,
    serve: impl FnOnce(DuplexStream) -> F,
) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (near, far) = tokio::io::duplex(PIPE);
    let serving = serve(far);
    runtime.block_on(async move {
        tokio::spawn(serving);
        let clock = Clock::start();
        let connection = Http1::start(Box::new(near), Arc::default(), None, clock);
        on_http1(connection, request, clock).await
    })
}

fn get() -> Request<Body> {
    request("GET", "")
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
    let seen = fetch(get(), async |mut stream| {
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
    assert_eq!(seen.failure, None);
    assert_eq!((seen.status, seen.body_bytes, seen.trace.reused), (Some(200), 2, Some(false)));
    assert_eq!(seen.headers.get_all("server-timing").iter().collect::<Vec<_>>(), ["a;dur=1", "b"]);
    // The request is longer than the pipe, so its last part was written while the server read, before it
    // paused.
    assert!(seen.wait >= Some(PAUSE_NS), "{seen:?}");
    assert_eq!(seen.first_interim, None);
    assert!(seen.final_headers <= seen.first_body_byte && seen.first_body_byte <= seen.last_byte);
    assert_eq!(seen.load, Some(seen.last_byte.unwrap() - seen.first_body_byte.unwrap()));
}

#[test]
fn a_slow_body_is_load() {
    let seen = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-length: 140\r\n\r\n").await;
        write(&mut stream, &"x".repeat(2 * PIPE)).await;
        tokio::time::sleep(PAUSE).await;
        write(&mut stream, &"x".repeat(140 - 2 * PIPE)).await;
    });
    assert_eq!((seen.failure, seen.body_bytes), (None, 140));
    assert!(seen.load >= Some(PAUSE_NS), "{seen:?}");
}

#[test]
fn early_hints_are_not_the_final_header() {
    let seen = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, &format!("HTTP/1.1 103 Early Hints\r\n{LONG_FIELD}\r\n")).await;
        tokio::time::sleep(PAUSE).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    });
    assert_eq!((seen.failure, seen.status), (None, Some(200)));
    let (interim, last) = (seen.first_interim.unwrap(), seen.final_headers.unwrap());
    assert!(last >= interim + PAUSE_NS, "{seen:?}");
    assert!(seen.wait >= Some(PAUSE_NS));
    assert_eq!((seen.first_body_byte, seen.load), (None, None), "there is no body");
}

#[test]
fn a_slow_final_header_counts_from_its_first_byte() {
    let seen = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, &format!("HTTP/1.1 200 OK\r\n{LONG_FIELD}")).await;
        tokio::time::sleep(PAUSE).await;
        write(&mut stream, "content-length: 2\r\n\r\nok").await;
    });
    assert_eq!(seen.failure, None);
    assert!(seen.first_body_byte.unwrap() >= seen.final_headers.unwrap() + PAUSE_NS, "{seen:?}");
}

#[test]
fn a_slow_upload_is_send() {
    let upload = request("POST", "x".repeat(500));
    let seen = fetch(upload, async |mut stream| {
        let request = read_request(&mut stream).await;
        assert!(request.contains("content-length: 500\r\n"), "{request}");
        tokio::time::sleep(PAUSE).await;
        stream.read_exact(&mut [0; 500]).await.unwrap();
        write(&mut stream, "HTTP/1.1 204 No Content\r\n\r\n").await;
    });
    assert_eq!((seen.failure, seen.status), (None, Some(204)));
    assert!(seen.send >= Some(PAUSE_NS), "{seen:?}");
}

#[test]
fn what_ends_too_early_fails_and_has_no_latency() {
    for (response, reason) in [
        ("", Failure::Closed(Stage::Head)),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n", Failure::Closed(Stage::Head)),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", Failure::Closed(Stage::Body)),
        ("SSH-2.0-OpenSSH_9.7\r\n", Failure::Garbled),
    ] {
        let seen = fetch(get(), async move |mut stream| {
            read_request(&mut stream).await;
            write(&mut stream, response).await;
        });
        assert_eq!(seen.failure, Some(reason), "{response}");
        assert_eq!((seen.last_byte, seen.load), (None, None), "{response}");
    }
}

#[test]
fn an_endless_header_is_bounded() {
    let seen = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\n").await;
        while stream.write_all(LONG_FIELD.as_bytes()).await.is_ok() {}
    });
    assert_eq!(seen.failure.unwrap().to_string(), "response header too large");
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let seen = fetch(get(), async |mut stream| {
        read_request(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\n\r\nto the end").await;
    });
    assert_eq!((seen.failure, seen.body_bytes), (None, 10));
    assert!(seen.last_byte.is_some());
}
