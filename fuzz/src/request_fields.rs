//! Compares HTTP/3 field sections with HTTP/1.1. Shared by the fuzz target and a test of the crate
//! `http`.

use bytes::Bytes;
use http_stack::{
    http1::{
        Framing, Malformed,
        head::{self, HeadEnd, Lines},
    },
    limits, qpack,
    request_head::{ExtendedConnect, Field, check_section, check_trailers},
};

/// Each accepted section, written as header lines, must be a valid HTTP/1.1 request with the same parts.
pub fn accepted_sections_are_requests_in_lines(section: &[u8]) {
    let Ok(fields) = qpack::decode(section) else { return };
    let fields: Vec<Field<'_>> = fields.iter().collect();
    let is_trailers = check_trailers(fields.iter().copied()).is_ok();
    assert!(!is_trailers || fields.iter().all(|(name, _)| !name.starts_with(b":")));
    if check_section(fields.iter().copied(), ExtendedConnect::Refused).is_err() {
        return;
    }
    let of = |wanted: &[u8]| {
        let mut found = fields.iter().filter(|(name, _)| *name == wanted).map(|(_, value)| *value);
        let first = found.next();
        assert!(found.next().is_none(), "a pseudo-header field came twice");
        first
    };
    let method = of(b":method").expect("it is there");
    let host = of(b":authority").or_else(|| of(b"host")).expect("one of them is there");
    let target = of(b":path").unwrap_or(host);
    let others: Vec<_> =
        fields.iter().filter(|(name, _)| !name.starts_with(b":") && *name != b"host").collect();
    let mut lines = [method, b" ", target, b" HTTP/1.1\r\nhost: ", host, b"\r\n"].concat();
    for (name, value) in &others {
        lines.extend([name, &b": "[..], value, b"\r\n"].concat());
    }
    lines.extend_from_slice(b"\r\n");
    // HTTP/1.1 has different limits.
    if lines.len() > limits::HEADER_BYTES || others.len() >= limits::HEADERS {
        return;
    }
    assert_eq!(HeadEnd::default().find(&lines, Lines::Strict), Ok(Some(lines.len())));
    let head = match head::request(&Bytes::from(lines)) {
        Ok(head) => head,
        Err(Malformed::TooLarge) => return,
        Err(why) => panic!("{why}: {fields:?}"),
    };
    let request = head.request;
    assert_eq!(request.method().as_str().as_bytes(), method);
    assert_eq!(request.headers()["host"].as_bytes(), host);
    assert_eq!(request.headers().len(), others.len() + 1);
    let kept = request.headers().iter().filter(|(name, _)| *name != "host");
    let kept: Vec<_> = kept.map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes())).collect();
    assert!(others.iter().all(|field| kept.contains(field)));
    match (of(b"content-length"), head.framing) {
        (None, framing) => assert_eq!(framing, Framing::None),
        (Some(length), Framing::Length(number)) => {
            let digits = length.iter().skip_while(|&&digit| digit == b'0').copied().collect::<Vec<_>>();
            assert_eq!(digits, number.to_string().as_bytes());
        }
        (Some(length), framing) => {
            assert_eq!(framing, Framing::None);
            assert!(length.iter().all(|&digit| digit == b'0'));
        }
    }
}
