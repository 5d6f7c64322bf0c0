//! Parses bytes of a server over a pipe, in HTTP/1.1 or HTTP/2. Shared by the fuzz target and a test of
//! the crate `http`.

use std::time::Duration;

use http_stack::{
    Body, Failure, Method, Request, Response,
    client::{self, Protocol, Reply, Trace},
    clock::Clock,
    http1::head,
    limits,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// The first byte selects HTTP/1.1 or HTTP/2 and the length of the pieces into which the rest is split.
/// The request must end no later than the input, no body may be longer than the input, and the header
/// must not exceed its limit.
pub fn a_response_ends(bytes: &[u8]) {
    let Some((&first, sent)) = bytes.split_first() else { return };
    let protocol = if first & 1 == 0 { Protocol::Http1 } else { Protocol::Http2 };
    let piece = usize::from(first >> 1) * 8 + 1;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let (near, far) = tokio::io::duplex(piece);
        tokio::spawn(serve(far, protocol, sent.to_vec()));
        let mut trace = Trace::start(0);
        let outcome = tokio::time::timeout(PATIENCE, fetch(near, protocol, &mut trace)).await;
        let outcome = outcome.expect("the server's end is the end");
        assert!(trace.body_bytes() <= sent.len() as u64);
        // A failed request has no last byte, so it cannot count as a latency.
        assert_eq!(trace.last_byte().is_some(), outcome.is_ok());
        assert!(outcome.is_ok() || trace.body_bytes() == 0 || trace.final_headers.is_some());
    });
    lines_say_what_a_map_says(sent);
}

/// A plain head, as parsed for relaying, must have the same status and framing as in the general parser.
fn lines_say_what_a_map_says(head: &[u8]) {
    if let Some(plain) = Reply::read(head) {
        let of_map = head::response(head, &Method::GET).expect("what is plain is a response");
        assert_eq!(plain, (of_map.response.status(), of_map.framing, of_map.persistence));
    }
}

/// Long enough for any machine, because there is no server to wait for.
const PATIENCE: Duration = Duration::from_secs(30);

async fn fetch(near: DuplexStream, protocol: Protocol, trace: &mut Trace) -> Result<(), Failure> {
    let origin = "http://origin".parse().expect("an origin");
    let request = Request::new(Body::empty());
    let response = client::over(near, protocol, Clock::start(), &origin, request, trace).await?;
    check_head(&response);
    let mut body = response.into_body();
    while body.data().await?.is_some() {}
    Ok(())
}

fn check_head(response: &Response<Body>) {
    assert!(!response.status().is_informational() || response.status() == 101);
    let length: usize =
        response.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    assert!(length <= limits::HEADER_BYTES);
}

/// Reads the request, writes all bytes and closes. Further data of the client is discarded.
async fn serve(far: DuplexStream, protocol: Protocol, bytes: Vec<u8>) {
    let (mut requests, mut responses) = tokio::io::split(far);
    if read_request(&mut requests, protocol).await.is_none() {
        return;
    }
    tokio::spawn(async move { tokio::io::copy(&mut requests, &mut tokio::io::sink()).await });
    // The client may have closed the connection.
    let _ = responses.write_all(&bytes).await;
    let _ = responses.shutdown().await;
}

/// Reads the head of a request without a body; `None` if the client has disconnected.
async fn read_request(requests: &mut (impl AsyncReadExt + Unpin), protocol: Protocol) -> Option<()> {
    if protocol != Protocol::Http2 {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(requests.read_u8().await.ok()?);
        }
        return Some(());
    }
    let mut preface = [0; 24];
    requests.read_exact(&mut preface).await.ok()?;
    loop {
        // RFC 9113 section 4.1: a length of 24 bits, the type, and five more bytes.
        let mut header = [0; 9];
        requests.read_exact(&mut header).await.ok()?;
        let [a, b, c, kind, ..] = header;
        let length = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        requests.read_exact(&mut vec![0; length]).await.ok()?;
        if kind == 1 {
            return Some(());
        }
    }
}
