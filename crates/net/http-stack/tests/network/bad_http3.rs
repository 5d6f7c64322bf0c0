//! Servers that violate HTTP/3 or send endlessly, frame by frame (RFC 9114 section 7).

use http_stack::{
    Failure, Origin,
    client::{Limits, Protocol},
};
use quinn::VarInt;
use tokio::sync::oneshot;

use crate::support::{client, get, quic};

const CONTROL: [u8; 3] = [0, 4, 0];
/// A HEADERS frame with ":status: 103", number 24 of QPACK's static table (RFC 9204 appendix A).
const EARLY_HINTS: [u8; 5] = [1, 3, 0, 0, 0xc0 | 24];
const OK: [u8; 5] = [1, 3, 0, 0, 0xc0 | 25];

/// Returns the number of bytes sent.
fn server(first: Vec<u8>, piece: Vec<u8>) -> (Origin, oneshot::Receiver<u64>) {
    let (endpoint, origin) = quic();
    let (count, counted) = oneshot::channel();
    tokio::spawn(async move {
        let connection = endpoint.accept().await.unwrap().await.unwrap();
        let mut control = connection.open_uni().await.unwrap();
        control.write_all(&CONTROL).await.unwrap();
        let (mut response, mut request) = connection.accept_bi().await.unwrap();
        request.read_to_end(10_000).await.unwrap();
        response.write_all(&first).await.unwrap();
        let mut sent = 0;
        while !piece.is_empty() && sent < 1 << 30 && response.write_all(&piece).await.is_ok() {
            sent += piece.len() as u64;
        }
        let _ = response.finish();
        let _ = count.send(sent);
        connection.closed().await;
    });
    (origin, counted)
}

async fn outcome(origin: &Origin) -> Failure {
    let client = client(Protocol::Http3, Limits::default());
    let (trace, response) = get(&client, origin).await;
    let failure = match response {
        Err(failure) => failure,
        Ok(response) => response.into_body().collect(1 << 20).await.unwrap_err(),
    };
    assert_eq!(trace.last_byte(), None);
    failure
}

#[tokio::test(flavor = "current_thread")]
async fn each_breach_of_the_protocol_has_its_name() {
    for (name, bytes, reason) in [
        ("data before a head", vec![0, 1, b'x'], "http/3: H3_FRAME_UNEXPECTED"),
        ("settings of a request", vec![4, 0], "http/3: H3_FRAME_UNEXPECTED"),
        ("no field line", vec![1, 3, 0, 0, 0xff], "http/3: QPACK_DECOMPRESSION_FAILED"),
        ("no status", vec![1, 2, 0, 0], "http/3: H3_MESSAGE_ERROR"),
        ("half a frame", vec![1, 9, 0, 0], "http/3: H3_FRAME_ERROR"),
        ("half a body", [&OK[..], &[0, 9, b'x']].concat(), "http/3: H3_FRAME_ERROR"),
        // RFC 9114 section 4.1.2 calls this a malformed message; h3 reports this code.
        ("nothing", vec![], "http/3: H3_FRAME_UNEXPECTED"),
        ("hints alone", EARLY_HINTS.to_vec(), "http/3: H3_FRAME_UNEXPECTED"),
    ] {
        let (origin, _) = server(bytes, Vec::new());
        assert_eq!(outcome(&origin).await.to_string(), reason, "{name}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_header_without_end_is_given_up_early() {
    // A HEADERS frame, and a frame of an unknown type, of 1 GB: the length takes 8 bytes.
    let length = (0xc0 << 56 | 1_u64 << 30).to_be_bytes();
    for kind in [1, 0x21] {
        let (origin, sent) = server([&[kind][..], &length, &[0, 0]].concat(), vec![0; 65_536]);
        assert_eq!(outcome(&origin).await, Failure::TooLarge);
        assert!(sent.await.unwrap() <= http_stack::limits::STREAM_WINDOW.into());
    }
}

#[tokio::test(flavor = "current_thread")]
async fn interim_responses_without_end_are_given_up() {
    let (origin, _) = server(Vec::new(), EARLY_HINTS.repeat(1000));
    assert_eq!(outcome(&origin).await, Failure::TooLarge);
}

#[tokio::test(flavor = "current_thread")]
async fn a_connection_that_is_closed_with_a_code_says_it() {
    let (endpoint, origin) = quic();
    tokio::spawn(async move {
        let connection = endpoint.accept().await.unwrap().await.unwrap();
        let _request = connection.accept_bi().await.unwrap();
        connection.close(VarInt::from_u32(0x102), b"");
        endpoint.wait_idle().await;
    });
    assert_eq!(outcome(&origin).await.to_string(), "http/3: H3_INTERNAL_ERROR");
}
