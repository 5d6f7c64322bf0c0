//! A client of one request, on a connection that nothing else uses.

use std::{io::Write as _, net::TcpStream, time::Duration};

use super::message::{Content, Head, Reader, Unframed};

#[derive(Debug, Clone, Default)]
pub(super) struct Response {
    /// 0 if the connection ended without a response.
    pub(super) status: u16,
    pub(super) head: Head,
    pub(super) content: Content,
}

pub(super) fn ask(port: u16, request: &Request<'_>) -> Response {
    exchange(port, request).unwrap_or_default()
}

pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    pub(super) host: &'a str,
    pub(super) fields: &'a [String],
    pub(super) body: Option<&'a str>,
    pub(super) is_chunked: bool,
}

impl Request<'_> {
    fn bytes(&self) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\nHost: {}\r\n", self.method, self.target, self.host);
        for field in self.fields {
            text = format!("{text}{field}\r\n");
        }
        match self.body {
            Some(body) if self.is_chunked => {
                format!("{text}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
            }
            Some(body) => format!("{text}Content-Length: {}\r\n\r\n{body}", body.len()),
            None => format!("{text}\r\n"),
        }
    }
}

fn exchange(port: u16, request: &Request<'_>) -> Option<Response> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(request.bytes().as_bytes()).ok()?;
    let mut reader = Reader::new(&stream);
    loop {
        let head = reader.head()?;
        let status = head.start.split(' ').nth(1)?.parse().ok()?;
        if (100..200).contains(&status) {
            continue;
        }
        let content = match request.method == "HEAD" || matches!(status, 204 | 304) {
            true => Content { bytes: Vec::new(), is_complete: true },
            false => reader.content(&head, Unframed::UntilClose),
        };
        return Some(Response { status, head, content });
    }
}

impl Response {
    /// The body, or its length and a checksum if it is long.
    pub(super) fn body(&self) -> String {
        let bytes = &self.content.bytes;
        match bytes.len() {
            0..=100 => String::from_utf8_lossy(bytes).into_owned(),
            length => {
                let sum =
                    bytes.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
                format!("{length} bytes, sum {sum:08x}")
            }
        }
    }

    pub(super) fn shown(&self, fields: &[String]) -> String {
        if self.status == 0 {
            return "no response".to_owned();
        }
        // The text of an error page is the server's choice.
        let body = if self.status == 416 || self.status >= 400 && self.head.get("x-origin").is_none() {
            String::new()
        } else {
            self.body()
        };
        let mut line = format!("{} \"{body}\"", self.status);
        if !self.content.is_complete {
            line += " incomplete";
        }
        for name in fields.iter().map(String::as_str).chain(["Set-Cookie"]) {
            for value in self.head.values(name) {
                line = format!("{line} {name}: {value}");
            }
        }
        line
    }
}

/// Longer than any origin of a script waits.
const PATIENCE: Duration = Duration::from_secs(8);
