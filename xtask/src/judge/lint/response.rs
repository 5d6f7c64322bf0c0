//! Parses all responses of a connection: interim responses, and the final one with its body.

use anyhow::{Context, ensure};
use serde::Serialize;

pub(super) type Fields = Vec<(String, String)>;

#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: String,
    phrase: String,
    fields: Fields,
    body: String,
    is_complete: bool,
    trailers: Fields,
}

pub(super) fn responses(mut said: &[u8], is_head: bool) -> anyhow::Result<Vec<Response>> {
    let mut responses = Vec::new();
    loop {
        let (head, rest) = split(said, b"\r\n\r\n").context("a response without an end of its head")?;
        let mut lines = head.split("\r\n");
        let line = lines.next().unwrap_or_default();
        let (status, phrase) = line
            .strip_prefix("HTTP/1.1 ")
            .and_then(|line| line.split_once(' '))
            .with_context(|| format!("a status line: {line}"))?;
        let fields = lines.map(field).collect::<anyhow::Result<Fields>>()?;
        let mut response = Response {
            status: status.to_owned(),
            phrase: phrase.to_owned(),
            fields,
            body: String::new(),
            is_complete: true,
            trailers: Fields::new(),
        };
        if status.starts_with('1') {
            responses.push(response);
            said = rest;
            continue;
        }
        let has_body = !is_head && !matches!(status, "204" | "304");
        if response.field("transfer-encoding").is_some() && has_body {
            let (body, trailers) = chunks(rest)?;
            (response.body, response.trailers) = (hex(&body), trailers);
        } else {
            let length = response.field("content-length").and_then(|length| length.parse().ok());
            response.is_complete = !has_body || length.is_none_or(|length: usize| length == rest.len());
            response.body = hex(rest);
        }
        responses.push(response);
        return Ok(responses);
    }
}

impl Response {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

fn split<'s>(said: &'s [u8], end: &[u8]) -> Option<(String, &'s [u8])> {
    let at = said.windows(end.len()).position(|bytes| bytes == end)?;
    Some((String::from_utf8_lossy(&said[..at]).into_owned(), &said[at + end.len()..]))
}

fn field(line: &str) -> anyhow::Result<(String, String)> {
    let (name, value) = line.split_once(':').with_context(|| format!("a field without a colon: {line}"))?;
    Ok((name.to_owned(), value.trim().to_owned()))
}

fn chunks(mut said: &[u8]) -> anyhow::Result<(Vec<u8>, Fields)> {
    let mut body = Vec::new();
    loop {
        let (size, rest) = split(said, b"\r\n").context("a chunk without a size")?;
        let size = usize::from_str_radix(&size, 16).with_context(|| format!("a chunk's size: {size}"))?;
        if size == 0 {
            let trailers = rest.strip_suffix(b"\r\n").context("chunks without an end")?;
            let text = String::from_utf8_lossy(trailers).into_owned();
            return Ok((
                body,
                text.split("\r\n")
                    .filter(|line| !line.is_empty())
                    .map(field)
                    .collect::<anyhow::Result<_>>()?,
            ));
        }
        ensure!(rest.len() >= size + 2 && &rest[size..size + 2] == b"\r\n", "a chunk that is cut off");
        body.extend_from_slice(&rest[..size]);
        said = &rest[size + 2..];
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interim_and_final_responses_are_read() {
        let said = b"HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nx: y\r\n\r\n";
        let read = responses(said, false).unwrap();
        assert_eq!((read.len(), &read[0].status[..], read[0].field("Link")), (2, "103", Some("a")));
        assert_eq!((&read[1].body[..], &read[1].trailers[0].1[..], read[1].is_complete), ("6162", "y", true));
        let short = responses(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", false).unwrap();
        assert!(!short[0].is_complete);
        assert!(responses(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", true).unwrap()[0].is_complete);
        assert!(responses(b"HTTP/1.1 200 OK\r\n", false).is_err());
    }
}
