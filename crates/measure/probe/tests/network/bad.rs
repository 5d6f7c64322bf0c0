//! Servers with invalid, endless or missing HTTP/1.1 responses: each request is a failed sample
//! with a reason, and the next request succeeds.

use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpStream, UdpSocket},
    sync::mpsc,
    time::Duration,
};

use probe::client::{Config, Connections, Protocol, Target, Trust};
use recording::{Metric, Sample};

use crate::support::{Security, V4, config, fetch, origin, read_request, responder};

pub fn failed(config: &Config, bad: &Target) -> Sample {
    let good = origin(V4, Security::Clear, |_| {});
    let mut samples = if config.http.protocol == Protocol::Http3 {
        // There is no HTTP/3 in clear text: request from the bad server three times.
        fetch(config, &[bad.clone(), bad.clone(), bad.clone()])
    } else {
        let samples = fetch(config, &[good.target(), bad.clone(), good.target()]);
        assert_eq!((samples[0].status, samples[2].status), (Some(200), Some(200)));
        samples
    };
    assert_eq!(samples.len(), 3);
    let sample = samples.swap_remove(1);
    assert!(sample.error.is_some(), "{sample:?}");
    assert_eq!((sample.last_byte_ns, sample.load_ns, sample.latency_ns), (None, None, None), "{sample:?}");
    assert_eq!((sample.get(Metric::Total), sample.get(Metric::Ttfb)), (None, None));
    sample
}

pub fn impatient(adjust: impl FnOnce(&mut http_stack::client::Config)) -> Config {
    Config { timeout: Duration::from_millis(200), ..config(adjust) }
}

/// A gigabyte at most; returns the number of bytes.
pub fn flood(mut stream: &TcpStream, mut piece: impl FnMut() -> Vec<u8>) -> u64 {
    let mut sent = 0;
    while sent < 1 << 30 {
        let piece = piece();
        match stream.write_all(&piece) {
            Ok(()) => sent += piece.len() as u64,
            Err(_) => break,
        }
    }
    sent
}

/// The largest buffers of two sockets that the kernel's autotuning allows (tcp(7)).
pub fn in_sockets() -> u64 {
    let largest = |name: &str| -> u64 {
        let file = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap();
        file.split_whitespace().last().unwrap().parse().unwrap()
    };
    largest("tcp_rmem") + largest("tcp_wmem")
}

#[test]
fn what_is_no_response_is_said_to_be_none() {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    for (head, rest, reason, status) in [
        (CHUNKED, "zz\r\nab\r\n0\r\n\r\n", "not an HTTP response", Some(200)),
        (CHUNKED, "2\r\nabXX0\r\n\r\n", "not an HTTP response", Some(200)),
        (CHUNKED, "fffffffffffffffff\r\nab", "not an HTTP response", Some(200)),
        (CHUNKED, "5\r\nab", "closed within the body", Some(200)),
        (CHUNKED, "2\r\nab\r\n", "closed within the body", Some(200)),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", "1234", "closed within the body", Some(200)),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n",
            "123",
            "not an HTTP response",
            None,
        ),
        ("HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\n", "12", "not an HTTP response", None),
        ("HTTP/1.1 20 OK\r\n\r\n", "", "not an HTTP response", None),
        ("HTTP/9.9 200 OK\r\n\r\n", "", "not an HTTP response", None),
        ("HTTP/1.1 200 OK\r\na header\r\n\r\n", "", "not an HTTP response", None),
        ("\u{16}\u{3}\u{1}", "", "not an HTTP response", None),
    ] {
        let server = responder(move |mut stream| {
            read_request(&stream);
            stream.write_all(format!("{head}{rest}").as_bytes()).unwrap();
        });
        let sample = failed(&Config::default(), &server.target());
        assert_eq!((sample.error.as_deref(), sample.status), (Some(reason), status), "{head}{rest}");
    }
}

#[test]
fn what_is_no_address_of_a_server_is_refused_before_anything_is_sent() {
    for text in
        ["", "not a url", "example.com", "ftp://example.com/", "http://", "http://a b/", "http://[::1/"]
    {
        let said = text.parse::<Target>().unwrap_err().to_string();
        assert!(said.contains(&format!("\"{text}\"")), "{said}");
    }
}

#[test]
fn what_follows_a_body_answers_no_request() {
    let server = responder(|mut stream| {
        if read_request(&stream).is_some() {
            let two = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 404 Surplus\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(two.as_bytes()).unwrap();
        }
    });
    let config = config(|http| http.connections = Connections::Reuse);
    let samples = fetch(&config, &[server.target(), server.target(), server.target()]);
    for sample in &samples {
        assert_eq!((sample.status, sample.body_bytes, sample.reused), (Some(200), Some(2), Some(false)));
    }
    assert_eq!(server.connections(), 3);
}

#[test]
fn a_header_without_end_is_given_up_early() {
    let field = format!("a: {}\r\n", "x".repeat(8000));
    for (name, begin, piece) in [
        ("fields", "HTTP/1.1 200 OK\r\n", field.as_str()),
        ("short fields", "HTTP/1.1 200 OK\r\n", "a: b\r\n"),
        ("one field", "HTTP/1.1 200 OK\r\na: ", "xxxxxxxxxxxxxxxx"),
        ("a reason", "HTTP/1.1 200 ", "O"),
    ] {
        let piece = piece.as_bytes().repeat(65_536 / piece.len());
        let (count, sent) = mpsc::channel();
        let server = responder(move |mut stream| {
            read_request(&stream);
            stream.write_all(begin.as_bytes()).unwrap();
            count.send(flood(&stream, || piece.clone())).unwrap();
        });
        let sample = failed(&Config::default(), &server.target());
        assert_eq!(sample.error.as_deref(), Some("response header too large"), "{name}");
        assert!(sent.recv().unwrap() <= in_sockets() + 2 * http_stack::limits::HEADER_BYTES as u64, "{name}");
    }
}

/// Whenever the client has been silent for a while, until it disconnects.
fn drip(mut stream: &TcpStream, bytes: impl Iterator<Item = u8>) {
    stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    for byte in bytes {
        let is_there = matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
        if !is_there || stream.write_all(&[byte]).is_err() {
            return;
        }
    }
}

#[test]
fn a_response_that_takes_for_ever_times_out() {
    for (head, bytes, status) in [
        ("HTTP/1.1 200 OK\r\na: ", "x", None),
        ("HTTP/1.1 200 OK\r\n\r\n", "x", Some(200)),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n", Some(200)),
        ("", "HTTP/1.1 102 Wait\r\n\r\n", None),
    ] {
        let server = responder(move |mut stream| {
            read_request(&stream);
            stream.write_all(head.as_bytes()).unwrap();
            drip(&stream, bytes.bytes().cycle());
        });
        let sample = failed(&impatient(|_| {}), &server.target());
        let error = if status.is_some() { "timeout: load" } else { "timeout: wait" };
        assert_eq!((sample.error.as_deref(), sample.status), (Some(error), status), "{head}{bytes}");
    }
}

#[test]
fn interim_responses_without_end_are_given_up() {
    let server = responder(|stream| {
        read_request(&stream);
        let hints = b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n".repeat(100);
        flood(&stream, || hints.clone());
    });
    let sample = failed(&impatient(|_| {}), &server.target());
    assert_eq!((sample.error.as_deref(), sample.status), (Some("response header too large"), None));
    assert!(sample.first_interim_ns.is_some() && sample.final_headers_ns.is_none());
}

#[test]
fn silence_within_a_handshake_times_out() {
    let server = responder(|mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let target = format!("https://{}/", server.address).parse().unwrap();
    let sample = failed(&impatient(|http| http.trust = Trust::Anyone), &target);
    assert_eq!(sample.error.as_deref(), Some("timeout: tls"));
    assert_eq!((sample.connect_ns.is_some(), sample.tls_ns), (true, None));
}

fn http3(http: &mut http_stack::client::Config) {
    (http.protocol, http.trust) = (Protocol::Http3, Trust::Anyone);
}

#[test]
fn a_silent_udp_port_times_out() {
    let silent = UdpSocket::bind(V4).unwrap();
    let target = format!("https://{}/", silent.local_addr().unwrap()).parse().unwrap();
    let sample = failed(&impatient(http3), &target);
    assert_eq!(sample.error.as_deref(), Some("timeout: quic"));
    assert_eq!((sample.quic_ns, sample.connect_ns, sample.status), (None, None, None));
}

#[test]
fn a_server_of_another_quic_has_no_version_in_common() {
    let socket = UdpSocket::bind(V4).unwrap();
    let target = format!("https://{}/", socket.local_addr().unwrap()).parse().unwrap();
    std::thread::spawn(move || {
        let mut datagram = [0; 2048];
        loop {
            let (length, client) = socket.recv_from(&mut datagram).unwrap();
            // RFC 9000 section 17.2: a byte, the version, and two IDs after their lengths.
            let ids = &datagram[5..length];
            let (theirs, rest) = ids[1..].split_at(ids[0].into());
            let ours = &rest[1..=rest[0].into()];
            // Section 17.2.1: version 0, the IDs exchanged, and the supported versions.
            let mut answer = vec![0x80, 0, 0, 0, 0];
            for id in [ours, theirs] {
                answer.push(id.len().try_into().unwrap());
                answer.extend(id);
            }
            answer.extend(0x5a5a_5a5a_u32.to_be_bytes());
            socket.send_to(&answer, client).unwrap();
        }
    });
    let sample = failed(&config(http3), &target);
    assert_eq!(sample.error.as_deref(), Some("quic: no common QUIC version"));
    assert_eq!((sample.quic_ns, sample.status), (None, None));
}
