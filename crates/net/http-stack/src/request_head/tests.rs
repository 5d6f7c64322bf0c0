//! Accepted and rejected field sections of requests.

use super::*;

const GET: [Field<'static>; 4] =
    [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"a.test"), (b":path", b"/")];

fn with(fields: &[(&'static str, &'static str)]) -> Result<(), Malformed> {
    let fields = fields.iter().map(|&(name, value)| (name.as_bytes(), value.as_bytes()));
    check_section(GET.into_iter().chain(fields), ExtendedConnect::Refused)
}

fn section(fields: &[(&'static str, &'static str)], extended: ExtendedConnect) -> Result<(), Malformed> {
    check_section(fields.iter().map(|&(name, value)| (name.as_bytes(), value.as_bytes())), extended)
}

#[test]
fn fields_behind_the_pseudo_header_fields() {
    for (fields, expected) in [
        (&[][..], Ok(())),
        (&[("host", "A.TEST")], Ok(())),
        (&[("te", "trailers"), ("x", ""), ("x", "\u{e4} b\tc")], Ok(())),
        (&[("cookie", "a"), ("cookie", "b"), ("content-length", "3")], Ok(())),
        (&[("x", "1"), (":path", "/b")], Err(Malformed::Syntax)),
        (&[("x", "1"), (":x", "1")], Err(Malformed::Syntax)),
        (&[(":path", "/b")], Err(Malformed::Syntax)),
        (&[(":status", "200")], Err(Malformed::Syntax)),
        (&[(":protocol", "websocket")], Err(Malformed::Syntax)),
        (&[("", "1")], Err(Malformed::Syntax)),
        (&[("X", "1")], Err(Malformed::Syntax)),
        (&[("a b", "1")], Err(Malformed::Syntax)),
        (&[("x:", "1")], Err(Malformed::Syntax)),
        (&[("x", " 1")], Err(Malformed::Syntax)),
        (&[("x", "1\t")], Err(Malformed::Syntax)),
        (&[("x", "a\r\nb: c")], Err(Malformed::Syntax)),
        (&[("x", "a\0b")], Err(Malformed::Syntax)),
        (&[("x", "a\u{7f}b")], Err(Malformed::Syntax)),
        (&[("connection", "close")], Err(Malformed::Syntax)),
        (&[("keep-alive", "5")], Err(Malformed::Syntax)),
        (&[("proxy-connection", "close")], Err(Malformed::Syntax)),
        (&[("transfer-encoding", "chunked")], Err(Malformed::Syntax)),
        (&[("upgrade", "websocket")], Err(Malformed::Syntax)),
        (&[("te", "gzip")], Err(Malformed::Syntax)),
        (&[("te", "trailers, gzip")], Err(Malformed::Syntax)),
        (&[("host", "b.test")], Err(Malformed::Host)),
        (&[("host", "a.test"), ("host", "a.test")], Err(Malformed::Host)),
        (&[("content-length", "+1")], Err(Malformed::Framing)),
        (&[("content-length", "1, 2")], Err(Malformed::Framing)),
        (&[("content-length", "")], Err(Malformed::Framing)),
        (&[("content-length", "18446744073709551616")], Err(Malformed::Framing)),
        (&[("content-length", "1"), ("content-length", "1")], Err(Malformed::Framing)),
    ] {
        assert_eq!(with(fields), expected, "{fields:?}");
    }
}

#[test]
fn pseudo_header_fields() {
    const METHOD: (&str, &str) = (":method", "GET");
    const SCHEME: (&str, &str) = (":scheme", "https");
    const HOST: (&str, &str) = (":authority", "a.test");
    const PATH: (&str, &str) = (":path", "/");
    const CONNECT: (&str, &str) = (":method", "CONNECT");
    const WEBSOCKET: (&str, &str) = (":protocol", "websocket");
    let (wrong, refused) = (Err(Malformed::Syntax), ExtendedConnect::Refused);
    for (fields, expected) in [
        (&[PATH, HOST, SCHEME, METHOD][..], Ok(())),
        (&[METHOD, SCHEME, PATH, ("host", "a.test")], Ok(())),
        (&[(":method", "OPTIONS"), SCHEME, HOST, (":path", "*")], Ok(())),
        (&[CONNECT, (":authority", "a.test:443")], Ok(())),
        (&[CONNECT, (":authority", "[::1]:443")], Ok(())),
        (&[SCHEME, HOST, PATH], wrong),
        (&[METHOD, HOST, PATH], wrong),
        (&[METHOD, SCHEME, HOST], wrong),
        (&[METHOD, SCHEME, PATH], Err(Malformed::Host)),
        (&[(":method", ""), SCHEME, HOST, PATH], wrong),
        (&[(":method", "G T"), SCHEME, HOST, PATH], wrong),
        (&[METHOD, (":scheme", ""), HOST, PATH], wrong),
        (&[METHOD, (":scheme", "ftp"), HOST, PATH], wrong),
        (&[METHOD, SCHEME, HOST, (":path", "")], wrong),
        (&[METHOD, SCHEME, HOST, (":path", "a")], wrong),
        (&[METHOD, SCHEME, HOST, (":path", "*")], wrong),
        (&[METHOD, SCHEME, HOST, (":path", "/a b")], wrong),
        (&[METHOD, SCHEME, HOST, (":path", "/#a")], wrong),
        (&[METHOD, SCHEME, HOST, (":path", "/a HTTP/1.1\r\nx: y")], wrong),
        (&[METHOD, SCHEME, (":authority", ""), PATH], Err(Malformed::Host)),
        (&[METHOD, SCHEME, (":authority", "me@a.test"), PATH], Err(Malformed::Host)),
        (&[METHOD, SCHEME, (":authority", "a.test/b"), PATH], Err(Malformed::Host)),
        (&[METHOD, SCHEME, (":authority", "a.test:b"), PATH], Err(Malformed::Host)),
        (&[METHOD, SCHEME, PATH, ("host", "me@a.test")], Err(Malformed::Host)),
        (&[METHOD, SCHEME, (":authority", "a%.test"), PATH], Err(Malformed::Host)),
        (&[CONNECT, (":authority", "a.test")], wrong),
        (&[CONNECT, (":authority", "[::1]")], wrong),
        (&[CONNECT, (":authority", "443")], wrong),
        (&[CONNECT], wrong),
        (&[CONNECT, SCHEME, (":authority", "a.test:443")], wrong),
        (&[CONNECT, PATH, (":authority", "a.test:443")], wrong),
        (&[CONNECT, SCHEME, HOST, PATH, WEBSOCKET], wrong),
    ] {
        assert_eq!(section(fields, refused), expected, "{fields:?}");
    }
    assert_eq!(section(&[CONNECT, SCHEME, HOST, PATH, WEBSOCKET], ExtendedConnect::Allowed), Ok(()));
    assert_eq!(section(&[METHOD, SCHEME, HOST, PATH, WEBSOCKET], ExtendedConnect::Allowed), wrong);
}

#[test]
fn trailers() {
    for (name, value, expected) in [
        ("x-checksum", "1", Ok(())),
        (":path", "/", Err(Malformed::Syntax)),
        (":status", "200", Err(Malformed::Syntax)),
        ("connection", "close", Err(Malformed::Syntax)),
        ("transfer-encoding", "chunked", Err(Malformed::Syntax)),
        ("te", "trailers", Err(Malformed::Syntax)),
        ("X", "1", Err(Malformed::Syntax)),
        ("x", "1 ", Err(Malformed::Syntax)),
        ("x", "a\nb", Err(Malformed::Syntax)),
    ] {
        assert_eq!(check_trailers([(name.as_bytes(), value.as_bytes())]), expected, "{name}: {value}");
    }
}
