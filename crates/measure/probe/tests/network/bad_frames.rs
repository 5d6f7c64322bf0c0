//! Servers that violate HTTP/2 frame by frame (RFC 9113).

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::mpsc,
};

use probe::client::Protocol;

use crate::{
    bad::{failed, flood, impatient, in_sockets},
    support::{Responder, config, responder},
};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const FIRST: u32 = 1;

/// HPACK (RFC 7541): ":status: 200" is number 8 of the static table.
const OK: &[u8] = &[0x88];
/// ":status: 103", whose name is number 8 too.
const EARLY_HINTS: &[u8] = &[0x08, 3, b'1', b'0', b'3'];
/// ":status: 200" and "content-length: 5", whose name is number 28: 15 and 13 more.
const OF_5: &[u8] = &[0x88, 0x0f, 13, 1, b'5'];

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn read_head(mut stream: &TcpStream) -> Option<()> {
    const PREFACE: usize = 24;
    stream.read_exact(&mut [0; PREFACE]).ok()?;
    loop {
        let mut header = [0; 9];
        stream.read_exact(&mut header).ok()?;
        let [a, b, c, kind, ..] = header;
        let length = u32::from_be_bytes([0, a, b, c]);
        stream.read_exact(&mut vec![0; length.try_into().unwrap()]).ok()?;
        if kind == HEADERS {
            return Some(());
        }
    }
}

fn server(answer: impl Fn(&mut TcpStream) + Send + 'static) -> Responder {
    responder(move |mut stream| {
        if read_head(&stream).is_some() {
            answer(&mut stream);
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    })
}

fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[])
}

fn headers(flags: u8, fields: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, FIRST, fields)
}

#[test]
fn each_breach_of_the_protocol_has_its_name() {
    let body = |flags, text: &str| frame(DATA, flags, FIRST, text.as_bytes());
    let goaway = |code: u8| frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, code]);
    for (name, answer, reason) in [
        ("data of no stream", frame(DATA, 0, 0, b"x"), "http/2: PROTOCOL_ERROR"),
        ("data before a head", body(0, "x"), "http/2: PROTOCOL_ERROR"),
        // A COMPRESSION_ERROR by RFC 9113 section 4.3; the library reports both with the same name.
        ("no field line", headers(0, &[0xff; 4]), "http/2: PROTOCOL_ERROR"),
        ("no status", headers(END_STREAM, &[]), "http/2: PROTOCOL_ERROR"),
        ("a push", frame(PUSH_PROMISE, END_HEADERS, FIRST, &[0, 0, 0, 2, 0x82]), "http/2: PROTOCOL_ERROR"),
        ("a frame too long", frame(DATA, 0, FIRST, &[0; 16_385]), "http/2: FRAME_SIZE_ERROR"),
        ("a body too short", [headers(0, OF_5), body(END_STREAM, "1234")].concat(), "http/2: PROTOCOL_ERROR"),
        (
            "a body too long",
            [headers(0, OF_5), body(END_STREAM, "123456")].concat(),
            "http/2: PROTOCOL_ERROR",
        ),
        ("a goodbye", goaway(1), "http/2: PROTOCOL_ERROR"),
        ("a code of its own", goaway(0xee), "http/2: an error code of its own"),
    ] {
        let bytes = [settings(), answer].concat();
        let server = server(move |stream| {
            let _ = stream.write_all(&bytes);
        });
        let sample = failed(&config(|http| http.protocol = Protocol::Http2), &server.target());
        assert_eq!(sample.error.as_deref(), Some(reason), "{name}");
    }
}

#[test]
fn another_protocol_is_not_http2() {
    for answer in ["HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", "220 mail.example ESMTP\r\n"] {
        let server = server(|stream| stream.write_all(answer.as_bytes()).unwrap());
        let sample = failed(&config(|http| http.protocol = Protocol::Http2), &server.target());
        assert_eq!(sample.error.as_deref(), Some("http/2: FRAME_SIZE_ERROR"), "{answer}");
    }
}

#[test]
fn a_header_without_end_is_given_up_early() {
    // A literal field line with empty name and value, repeated: RFC 7541 section 6.2.2.
    let block = [0, 0, 0].repeat(5000);
    let (count, sent) = mpsc::channel();
    let server = server(move |stream| {
        stream.write_all(&settings()).unwrap();
        stream.write_all(&frame(HEADERS, 0, FIRST, OK)).unwrap();
        count.send(flood(stream, || frame(CONTINUATION, 0, FIRST, &block))).unwrap();
    });
    let sample = failed(&config(|http| http.protocol = Protocol::Http2), &server.target());
    assert_eq!(sample.error.as_deref(), Some("http/2: ENHANCE_YOUR_CALM"));
    assert!(sent.recv().unwrap() <= in_sockets() + 2 * http_stack::limits::HEADER_BYTES as u64);
}

#[test]
fn interim_responses_without_end_are_given_up() {
    let server = server(|stream| {
        stream.write_all(&settings()).unwrap();
        flood(stream, || headers(0, EARLY_HINTS).repeat(100));
    });
    let sample = failed(&impatient(|http| http.protocol = Protocol::Http2), &server.target());
    assert_eq!((sample.error.as_deref(), sample.status), (Some("response header too large"), None));
    assert!(sample.first_interim_ns.is_some() && sample.final_headers_ns.is_none());
}

#[test]
fn a_server_that_takes_the_request_and_is_silent_times_out() {
    let server = server(|_| {});
    let sample = failed(&impatient(|http| http.protocol = Protocol::Http2), &server.target());
    assert_eq!((sample.error.as_deref(), sample.wait_ns), (Some("timeout: wait"), None));
    assert!(sample.connect_ns.is_some());
}
