//! The requests and their outcomes.

use super::{Accepted, Answered, Refused, Row, row};

/// Each head has one fault, described by its name.
pub const ROWS: &[Row] = &[
    row("ordinary", Accepted, &[M, S, A, P]),
    row("a field", Accepted, &[M, S, A, P, ("x", "a\tb")]),
    row("a field without a value", Accepted, &[M, S, A, P, ("x", "")]),
    row("obs-text", Accepted, &[M, S, A, P, ("x", "\u{e9}")]).not_in_lines(),
    row("cookies apart", Accepted, &[M, S, A, P, ("cookie", "a"), ("cookie", "b")]),
    row("te: trailers", Accepted, &[M, S, A, P, ("te", "trailers")]),
    row("Host alone", Accepted, &[M, S, P, ("host", "a.test")]),
    row("Host and authority alike", Accepted, &[M, S, A, P, ("host", "a.test")]),
    row("OPTIONS with a path", Accepted, &[(":method", "OPTIONS"), S, A, P]),
    row("OPTIONS *", Answered, &[(":method", "OPTIONS"), S, A, (":path", "*")]),
    row("TRACE", Refused, &[(":method", "TRACE"), S, A, P]),
    row("a body", Accepted, &[POST, S, A, P, ("content-length", "3")]).body("abc"),
    row("a body without a length", Accepted, &[POST, S, A, P]).body("abc").not_in_lines(),
    row("an empty body", Accepted, &[POST, S, A, P, ("content-length", "0")]).body(""),
    row("trailers", Accepted, &[POST, S, A, P]).body("abc").trailers(&[("x", "y")]),
    // Pseudo-header fields.
    row("two paths", Refused, &[M, S, A, P, (":path", "/second")]).not_in_lines(),
    row("two authorities", Refused, &[M, S, A, P, (":authority", "evil.test")]).not_in_lines(),
    row("two methods", Refused, &[M, S, A, P, (":method", "DELETE")]).not_in_lines(),
    row("two schemes", Refused, &[M, S, A, P, S]).not_in_lines(),
    row("no method", Refused, &[S, A, P]),
    row("no scheme", Refused, &[M, A, P]).not_in_lines(),
    row("no path", Refused, &[M, S, A]),
    row("no host", Refused, &[M, S, P]),
    row("an empty method", Refused, &[(":method", ""), S, A, P]),
    row("a method that is no token", Refused, &[(":method", "GE T"), S, A, P]).not_in_lines(),
    row("an empty path", Refused, &[M, S, A, (":path", "")]),
    row("a path without a slash", Refused, &[M, S, A, (":path", "a")]),
    row("* for GET", Refused, &[M, S, A, (":path", "*")]),
    row("a space in the path", Refused, &[M, S, A, (":path", "/a b")]).not_in_lines(),
    row("a line in the path", Refused, &[M, S, A, (":path", "/ HTTP/1.1\r\nx: y")]).not_in_lines(),
    // h2 removes a fragment: the handler receives the path without it.
    row("a fragment", Refused, &[M, S, A, (":path", "/a#b")]).over_http2(Accepted),
    row("another scheme", Refused, &[M, (":scheme", "ftp"), A, P]).not_in_lines(),
    row("an empty authority", Refused, &[M, S, (":authority", ""), P]),
    row("a user in the authority", Refused, &[M, S, (":authority", "me@a.test"), P]),
    row("a path in the authority", Refused, &[M, S, (":authority", "a.test/b"), P]),
    row("a port that is no number", Refused, &[M, S, (":authority", "a.test:b"), P]),
    row("a port that is too large", Refused, &[M, S, (":authority", "a.test:65536"), P]),
    row("another Host", Refused, &[M, S, A, P, ("host", "b.test")]),
    row("two Hosts", Refused, &[M, S, P, ("host", "a.test"), ("host", "b.test")]),
    row("a user in Host", Refused, &[M, S, P, ("host", "me@a.test")]),
    row("an unknown one", Refused, &[M, S, A, P, (":x", "y")]).not_in_lines(),
    row("one of responses", Refused, &[M, S, A, P, (":status", "200")]).not_in_lines(),
    row("another protocol", Refused, &[M, S, A, P, (":protocol", "websocket")]).not_in_lines(),
    row("one behind a field", Refused, &[M, S, A, ("x", "y"), P]).not_in_lines(),
    row("CONNECT with a path", Refused, &[(":method", "CONNECT"), S, A, P]).not_in_lines(),
    row("CONNECT without a port", Refused, &[(":method", "CONNECT"), A]).not_in_lines(),
    row("CONNECT for a user", Refused, &[(":method", "CONNECT"), (":authority", "me@a.test:443")])
        .not_in_lines(),
    // Names and values.
    row("a capital letter", Refused, &[M, S, A, P, ("X", "y")]).in_lines(Accepted),
    row("a space in a name", Refused, &[M, S, A, P, ("a b", "y")]),
    row("an empty name", Refused, &[M, S, A, P, ("", "y")]),
    row("a colon in a name", Refused, &[M, S, A, P, ("a:b", "y")]).in_lines(Accepted),
    row("a line in a name", Refused, &[M, S, A, P, ("a: b\r\nc", "y")]).in_lines(Accepted),
    row("a line in a value", Refused, &[M, S, A, P, ("x", "a\r\nb: c")]).in_lines(Accepted),
    row("CR in a value", Refused, &[M, S, A, P, ("x", "a\rb")]),
    row("LF in a value", Refused, &[M, S, A, P, ("x", "a\nb")]),
    row("NUL in a value", Refused, &[M, S, A, P, ("x", "a\0b")]),
    row("DEL in a value", Refused, &[M, S, A, P, ("x", "a\u{7f}b")]),
    row("a space before a value", Refused, &[M, S, A, P, ("x", " a")]).in_lines(Accepted),
    row("a tab behind a value", Refused, &[M, S, A, P, ("x", "a\t")]).in_lines(Accepted),
    // Connection-specific fields of HTTP/1.1.
    row("connection", Refused, &[M, S, A, P, ("connection", "close")]).in_lines(Accepted),
    row("keep-alive", Refused, &[M, S, A, P, ("keep-alive", "5")]).in_lines(Accepted),
    row("proxy-connection", Refused, &[M, S, A, P, ("proxy-connection", "close")]).in_lines(Accepted),
    row("transfer-encoding", Refused, &[M, S, A, P, ("transfer-encoding", "identity")]),
    row("chunks", Refused, &[POST, S, A, P, ("transfer-encoding", "chunked")])
        .body("0\r\n\r\n")
        .in_lines(Accepted),
    row("upgrade", Refused, &[M, S, A, P, ("upgrade", "h2c")]).in_lines(Accepted),
    row("te: gzip", Refused, &[M, S, A, P, ("te", "gzip")]).in_lines(Accepted),
    row("te with more", Refused, &[M, S, A, P, ("te", "trailers, gzip")]).in_lines(Accepted),
    row("length +1", Refused, &[POST, S, A, P, ("content-length", "+1")]).body("x"),
    row("length -1", Refused, &[POST, S, A, P, ("content-length", "-1")]).body("x"),
    row("length 0x1", Refused, &[POST, S, A, P, ("content-length", "0x1")]).body("x"),
    row("no length in its field", Refused, &[POST, S, A, P, ("content-length", "")]),
    row("a list of lengths", Refused, &[POST, S, A, P, ("content-length", "1, 2")]).body("x"),
    row("a list of lengths alike", Refused, &[POST, S, A, P, ("content-length", "1, 1")]).body("x"),
    row("two lengths", Refused, &[POST, S, A, P, ("content-length", "1"), ("content-length", "2")]).body("x"),
    row("two lengths alike", Refused, &[POST, S, A, P, ("content-length", "1"), ("content-length", "1")])
        .body("x"),
    row("a length of 2^64", Refused, &[POST, S, A, P, ("content-length", "18446744073709551616")]).body("x"),
    row("less than the length", Refused, &[POST, S, A, P, ("content-length", "4")])
        .body("abc")
        .not_in_lines(),
    row("more than the length", Refused, &[POST, S, A, P, ("content-length", "2")])
        .body("abc")
        .not_in_lines(),
    row("a length and no body", Refused, &[POST, S, A, P, ("content-length", "4")]).not_in_lines(),
    row("a length and no body, GET", Refused, &[M, S, A, P, ("content-length", "4")]).not_in_lines(),
    row("a body without a length, GET", Accepted, &[M, S, A, P]).body("abc").not_in_lines(),
    row("a body and a length of 0", Refused, &[POST, S, A, P, ("content-length", "0")])
        .body("abc")
        .not_in_lines(),
    row("less than the length, and trailers", Refused, &[POST, S, A, P, ("content-length", "4")])
        .body("abc")
        .trailers(&[("x", "y")]),
    // Trailers. h2 removes pseudo-header fields there: the handler does not receive them.
    row("a path in the trailers", Refused, &[POST, S, A, P])
        .body("abc")
        .trailers(&[(":path", "/b")])
        .over_http2(Accepted),
    row("connection in the trailers", Refused, &[POST, S, A, P])
        .body("abc")
        .trailers(&[("connection", "close")]),
    row("chunks in the trailers", Refused, &[POST, S, A, P])
        .body("abc")
        .trailers(&[("transfer-encoding", "chunked")]),
    row("a capital letter in the trailers", Refused, &[POST, S, A, P]).body("abc").trailers(&[("X", "y")]),
    row("a line in the trailers", Refused, &[POST, S, A, P]).body("abc").trailers(&[("x", "a\r\nb: c")]),
];

const M: (&str, &str) = (":method", "GET");
const POST: (&str, &str) = (":method", "POST");
const S: (&str, &str) = (":scheme", "https");
const A: (&str, &str) = (":authority", "a.test");
const P: (&str, &str) = (":path", "/");
