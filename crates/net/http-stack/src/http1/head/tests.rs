//! Valid heads, and a corpus of request-smuggling attempts.

use proptest::prelude::*;

use super::*;

fn whole_request(text: &[u8]) -> Result<RequestHead, Malformed> {
    let end = HeadEnd::default().find(text, Lines::Strict)?;
    assert_eq!(end, Some(text.len()), "{:?}", String::from_utf8_lossy(text));
    request(&Bytes::copy_from_slice(text))
}

fn whole_response(text: &str) -> Result<ResponseHead, Malformed> {
    assert_eq!(HeadEnd::default().find(text.as_bytes(), Lines::Lenient)?, Some(text.len()), "{text:?}");
    response(&Bytes::copy_from_slice(text.as_bytes()), &Method::GET)
}

#[test]
fn what_requests_say() {
    use Framing::{Chunked, Length, None};
    use Persistence::{Closed, Kept};
    for (text, target, framing, persistence) in [
        ("GET / HTTP/1.1\r\nhost: a\r\n\r\n", "/", None, Kept),
        ("\r\n\r\nGET /?q HTTP/1.1\r\nHOST:\t[::1]:80 \r\n\r\n", "/?q", None, Kept),
        ("GET / HTTP/1.0\r\n\r\n", "/", None, Closed),
        ("GET http://a/b HTTP/1.1\r\nhost: A\r\nconnection: x, close\r\n\r\n", "http://a/b", None, Closed),
        ("POST / HTTP/1.1\r\nhost: a:8080\r\ncontent-length: 3\r\n\r\n", "/", Length(3), Kept),
        ("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n", "/", Chunked, Kept),
        ("OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n", "*", None, Kept),
        ("CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n", "a:443", None, Kept),
        ("MKCOL /ab HTTP/1.1\r\nhost: a\r\nx: \r\n\r\n", "/ab", None, Kept),
    ] {
        let head = whole_request(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(head.request.uri(), target, "{text:?}");
        assert_eq!((head.framing, head.persistence), (framing, persistence), "{text:?}");
    }
    let head = whole_request(b"GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\na:  2\t\r\nb: \xff\r\n\r\n").unwrap();
    let fields = head.request.headers();
    assert_eq!(fields.get_all("a").iter().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(fields["b"].as_bytes(), b"\xff");
}

/// The text after "GET / HTTP/1.1\r\nhost: a\r\n", and the expected error.
const SMUGGLED: [(&[u8], Malformed); 22] = [
    (b"content-length: 5\r\ntransfer-encoding: chunked\r\n", Malformed::Framing),
    (b"transfer-encoding: chunked\r\ncontent-length: 5\r\n", Malformed::Framing),
    (b"content-length: 5\r\ncontent-length: 6\r\n", Malformed::Framing),
    (b"content-length: 5, 6\r\n", Malformed::Framing),
    (b"content-length: +5\r\n", Malformed::Framing),
    (b"transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n", Malformed::Framing),
    (b"transfer-encoding: xchunked\r\n", Malformed::Framing),
    (b"transfer-encoding: gzip, chunked\r\n", Malformed::Coding),
    (b"transfer-encoding: \x0bchunked\r\n", Malformed::Syntax),
    (b"transfer-encoding : chunked\r\n", Malformed::Syntax),
    (b"transfer-encoding\t: chunked\r\n", Malformed::Syntax),
    (b" transfer-encoding: chunked\r\n", Malformed::Syntax),
    (b"x: y\r\n transfer-encoding: chunked\r\n", Malformed::Syntax),
    (b"x: y\rtransfer-encoding: chunked\r\n", Malformed::Syntax),
    (b"x: y\ntransfer-encoding: chunked\r\n", Malformed::Syntax),
    (b"x: a\0b\r\n", Malformed::Syntax),
    (b"x: a\x7fb\r\n", Malformed::Syntax),
    (b"x\0: b\r\n", Malformed::Syntax),
    (b": b\r\n", Malformed::Syntax),
    (b"no colon\r\n", Malformed::Syntax),
    (b"host: a\r\n", Malformed::Host),
    (b"Host: b\r\n", Malformed::Host),
];

#[test]
fn what_two_readers_could_read_differently_is_refused() {
    for (fields, why) in SMUGGLED {
        let text = [b"GET / HTTP/1.1\r\nhost: a\r\n", fields, b"\r\n"].concat();
        let refused = whole_request(&text).unwrap_err();
        assert_eq!(refused, why, "{:?}", String::from_utf8_lossy(fields));
    }
    for (text, why) in [
        ("GET / HTTP/1.1\r\n\r\n", Malformed::Host),
        ("GET / HTTP/1.1\r\nhost:\r\n\r\n", Malformed::Host),
        ("GET / HTTP/1.0\r\nhost: a\r\nhost: a\r\n\r\n", Malformed::Host),
        ("GET / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n", Malformed::Framing),
        ("GET / HTTP/1.1\r\nhost: a b\r\n\r\n", Malformed::Host),
        ("GET / HTTP/1.1\r\nhost: user@a\r\n\r\n", Malformed::Host),
        ("GET / HTTP/1.1\r\nhost: a/b\r\n\r\n", Malformed::Host),
        ("GET / HTTP/1.1\r\nhost: a:b\r\n\r\n", Malformed::Host),
        ("GET / HTTP/1.1\r\nhost: [::1\r\n\r\n", Malformed::Host),
        ("GET http://me@a/ HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Host),
        ("GET http://a/ HTTP/1.1\r\n\r\n", Malformed::Host),
        ("GET ftp://a/ HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET a HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET a:80 HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET * HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET /#a HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("CONNECT / HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("CONNECT a HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET  / HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET /  HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Version),
        (" GET / HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET\t/ HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET / HTTP/1.1 \r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("G{T / HTTP/1.1\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET /\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET / http/1.1\r\nhost: a\r\n\r\n", Malformed::Version),
        ("GET / HTTP/2.0\r\nhost: a\r\n\r\n", Malformed::Version),
        ("GET / HTTP/1.x\r\nhost: a\r\n\r\n", Malformed::Version),
        ("GET / HTTP/1.10\r\nhost: a\r\n\r\n", Malformed::Syntax),
        ("GET /a b HTTP/1.2\r\nhost: a\r\n\r\n", Malformed::Version),
        ("GET http://b/ HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", Malformed::Host),
        ("GET http://b/ HTTP/1.1\r\nhost: a b\r\n\r\n", Malformed::Host),
        ("CONNECT a:443 HTTP/1.1\r\nhost: b:443\r\n\r\n", Malformed::Host),
    ] {
        assert_eq!(whole_request(text.as_bytes()).unwrap_err(), why, "{text:?}");
    }
}

#[test]
fn the_host_of_an_absolute_target_replaces_the_host_field() {
    for (text, host) in [
        ("GET http://b:81/x HTTP/1.1\r\nhost: a\r\n\r\n", "b:81"),
        ("GET https://b/x HTTP/1.1\r\nhost: b\r\n\r\n", "b"),
        ("GET http://b/x HTTP/1.0\r\n\r\n", "b"),
        ("OPTIONS http://b HTTP/1.1\r\nhost: a\r\n\r\n", "b"),
    ] {
        let request = whole_request(text.as_bytes()).unwrap().request;
        assert_eq!(request.headers().get_all("host").iter().collect::<Vec<_>>(), [host], "{text:?}");
        assert_eq!(request.uri().authority().unwrap(), host, "{text:?}");
    }
}

#[test]
fn a_higher_minor_version_is_handled_as_http_1_1() {
    for text in [
        "POST /a HTTP/1.2\r\nhost: a\r\ncontent-length: 3\r\n\r\n",
        "\r\n\r\nPOST /a HTTP/1.9\r\nhost: a\r\ncontent-length: 3\r\n\r\n",
    ] {
        let head = whole_request(text.as_bytes()).unwrap();
        assert_eq!((head.request.version(), head.framing), (Version::HTTP_11, Framing::Length(3)));
        assert_eq!((head.request.uri().path(), head.persistence), ("/a", Persistence::Kept));
    }
    let head = whole_response("HTTP/1.2 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
    assert_eq!((head.response.version(), head.framing), (Version::HTTP_11, Framing::Chunked));
    assert_eq!(may_begin_response(b"HTTP/1.3 20"), Ok(()));
}

#[test]
fn what_responses_say() {
    use Framing::{Chunked, Length, None, Tunnel, UntilClose};
    use Persistence::{Closed, Kept};
    for (text, status, framing, persistence) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", 200, Length(2), Kept),
        ("HTTP/1.1 200\r\ntransfer-encoding: chunked\r\n\r\n", 200, Chunked, Kept),
        ("HTTP/1.1 200 \u{e9}t\u{e9}\n\n", 200, UntilClose, Closed),
        ("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n", 200, Length(2), Closed),
        ("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n", 204, None, Closed),
        ("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", 103, None, Kept),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", 101, Tunnel, Closed),
    ] {
        let head = whole_response(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(head.response.status(), status, "{text:?}");
        assert_eq!((head.framing, head.persistence), (framing, persistence), "{text:?}");
    }
    for (text, why) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n", Malformed::Framing),
        ("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", Malformed::Framing),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: identity\r\n\r\n", Malformed::Framing),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n x\r\n\r\n", Malformed::Syntax),
        ("HTTP/1.1 99 OK\r\n\r\n", Malformed::Syntax),
        ("HTTP/1.1 2000 OK\r\n\r\n", Malformed::Syntax),
        ("SSH-2.0-OpenSSH_9.7\r\n\r\n", Malformed::Version),
        ("HTTP/3.0 200 OK\r\n\r\n", Malformed::Version),
    ] {
        assert_eq!(whole_response(text).unwrap_err(), why, "{text:?}");
    }
    assert_eq!(may_begin_response(b"HTTP/1.1 200 OK\r\na: b\r\n"), Ok(()));
    assert_eq!(may_begin_response(b"SSH-2.0-"), Err(Malformed::Version));
}

#[test]
fn a_head_is_no_longer_than_may_be() {
    let fields = |count| format!("GET / HTTP/1.1\r\nhost: a\r\n{}\r\n", "a: b\r\n".repeat(count));
    assert!(whole_request(fields(limits::HEADERS - 1).as_bytes()).is_ok());
    assert_eq!(whole_request(fields(limits::HEADERS).as_bytes()).unwrap_err(), Malformed::TooLarge);
    let around = "GET / HTTP/1.1\r\nhost: a\r\nb: \r\n\r\n".len();
    let long = |bytes| format!("GET / HTTP/1.1\r\nhost: a\r\nb: {}\r\n\r\n", "c".repeat(bytes - around));
    assert!(whole_request(long(limits::HEADER_BYTES).as_bytes()).is_ok());
    assert_eq!(whole_request(long(limits::HEADER_BYTES + 1).as_bytes()).unwrap_err(), Malformed::TooLarge);
    let endless = "\r\n".repeat(limits::HEADER_BYTES / 2);
    assert_eq!(HeadEnd::default().find(endless.as_bytes(), Lines::Strict), Err(Malformed::TooLarge));
}

#[test]
fn what_is_written_can_be_read() {
    let mut headers = HeaderMap::new();
    headers.insert("x", HeaderValue::from_static("1"));
    headers.append("x", HeaderValue::from_static("2"));
    headers.insert("content-length", HeaderValue::from_static("7"));
    headers.insert("transfer-encoding", HeaderValue::from_static("gzip"));
    for (method, framing, announced) in [
        (Method::GET, Framing::None, ""),
        (Method::POST, Framing::None, "content-length: 0\r\n"),
        (Method::PUT, Framing::Length(12), "content-length: 12\r\n"),
        (Method::GET, Framing::Chunked, "transfer-encoding: chunked\r\n"),
    ] {
        let mut bytes = Vec::new();
        write_request(&mut bytes, &method, "/a?b", "host:81", &headers, framing);
        let expected = format!("{method} /a?b HTTP/1.1\r\nhost: host:81\r\nx: 1\r\nx: 2\r\n{announced}\r\n");
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
        assert_eq!(whole_request(&bytes).unwrap().framing, framing);
    }
    headers.insert("host", HeaderValue::from_static("other"));
    let mut bytes = Vec::new();
    write_request(&mut bytes, &Method::GET, "/", "host", &headers, Framing::None);
    assert_eq!(whole_request(&bytes).unwrap().request.headers()["host"], "other");
}

proptest! {
    #[test]
    fn the_end_is_the_same_in_any_pieces(
        text in "[ab:\r\n]{0,12}(\r\n){0,3}[ab\n]{0,3}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        for lines in [Lines::Strict, Lines::Lenient] {
            let at_once = HeadEnd::default().find(text.as_bytes(), lines);
            let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            ends.push(text.len());
            ends.sort_unstable();
            let mut end = HeadEnd::default();
            let found = ends.iter().map(|&some| end.find(&text.as_bytes()[..some], lines));
            let found = found.into_iter().find(|found| *found != Ok(None)).unwrap_or(Ok(None));
            prop_assert_eq!(found, at_once);
        }
    }

    #[test]
    fn any_bytes_are_a_head_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = Bytes::from([b"GET / HTTP/1.1\r\nhost: a\r\n", &bytes[..], b"\r\n\r\n"].concat());
        let _ = (request(&bytes), response(&bytes, &Method::GET), fields(&bytes));
    }
}
