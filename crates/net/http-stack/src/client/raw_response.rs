//! A response whose header lines can be forwarded without building a map.

use std::str;

use httparse::Header;
use hyper::StatusCode;

use crate::{
    grammar::decimal,
    http1::{
        Framing, Persistence,
        head::{ResponseLines, with_response_lines},
    },
};

/// The head of a plain final response to a GET: HTTP/1.1, with unambiguous body framing, and only
/// `keep-alive` or `close` in Connection.
#[derive(Debug)]
pub struct Reply<'h> {
    /// The status; not one without a body.
    pub status: StatusCode,
    /// The framing of the body; none for length 0.
    pub framing: Framing,
    pub(crate) persistence: Persistence,
    fields: &'h [Header<'h>],
    head: &'h [u8],
}

impl<'h> Reply<'h> {
    pub(crate) fn of(lines: &ResponseLines<'h>) -> Option<Self> {
        let status = StatusCode::from_u16(lines.code).ok()?;
        let is_bodiless = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        if lines.minor != 1 || status.is_informational() || is_bodiless {
            return None;
        }
        let (mut announced, mut persistence) = (None, Persistence::Kept);
        for field in lines.fields {
            let is = |name: &str| field.name.eq_ignore_ascii_case(name);
            let framing = match field.name.len() {
                10 if is("connection") => {
                    match field.value {
                        value if value.eq_ignore_ascii_case(b"keep-alive") => {}
                        value if value.eq_ignore_ascii_case(b"close") => persistence = Persistence::Closed,
                        _ => return None,
                    }
                    continue;
                }
                14 if is("content-length") => match decimal(field.value)? {
                    0 => Framing::None,
                    length => Framing::Length(length),
                },
                17 if is("transfer-encoding") && field.value.eq_ignore_ascii_case(b"chunked") => {
                    Framing::Chunked
                }
                17 if is("transfer-encoding") => return None,
                _ => continue,
            };
            if announced.replace(framing).is_some() {
                return None;
            }
        }
        Some(Self { status, framing: announced?, persistence, fields: lines.fields, head: lines.head })
    }

    /// Parses a complete plain head, for the fuzz target that compares the result with that of the
    /// general parser.
    #[doc(hidden)]
    pub fn read(head: &[u8]) -> Option<(StatusCode, Framing, Persistence)> {
        let read = |lines: &ResponseLines<'_>| {
            Reply::of(lines).map(|reply| (reply.status, reply.framing, reply.persistence))
        };
        with_response_lines(head, read).ok().flatten()
    }

    /// The complete head as received.
    pub fn head(&self) -> &'h [u8] {
        self.head
    }

    /// The header fields in order: names as received, values without surrounding white space.
    pub fn fields(&self) -> impl Iterator<Item = (&'h str, &'h [u8])> + use<'h> {
        self.fields.iter().map(|field| (field.name, field.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::head::response;

    #[test]
    fn it_is_what_a_map_of_it_says_or_nothing() {
        let lines = [
            "content-length: 5",
            "Content-Length: 0",
            "content-length: +5",
            "content-length: 5, 5",
            "transfer-encoding: chunked",
            "transfer-encoding: gzip, chunked",
            "Transfer-Encoding: Chunked",
            "connection: close",
            "Connection: Keep-Alive",
            "connection: x-own",
            "x: y",
        ];
        let mut taken = 0;
        for status in ["HTTP/1.1 200 OK", "HTTP/1.1 304 No", "HTTP/1.1 103 Hints", "HTTP/1.0 200 OK"] {
            for (first, second) in
                lines.iter().flat_map(|first| lines.iter().map(move |second| (first, second)))
            {
                let head = format!("{status}\r\n{first}\r\n{second}\r\n\r\n");
                let of_map = response(head.as_bytes(), &hyper::Method::GET);
                if let Some(reply) = Reply::read(head.as_bytes()) {
                    let of_map = of_map.unwrap();
                    assert_eq!(
                        reply,
                        (of_map.response.status(), of_map.framing, of_map.persistence),
                        "{head}"
                    );
                    taken += 1;
                }
            }
        }
        assert_eq!(
            taken, 24,
            "of two lines, one of the four that tell an end and one of the three others, in both orders"
        );
    }
}
