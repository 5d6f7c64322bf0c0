//! A minimal HTTP client: one request per connection, to fill a cache and to inspect its responses.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::{Context, ensure};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub(super) fn get(server: SocketAddr, path: &str, headers: &[(&str, &str)]) -> anyhow::Result<Response> {
    let mut stream = TcpStream::connect(server).with_context(|| format!("cannot connect to {server}"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let fields: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    stream.write_all(format!("GET {path} HTTP/1.1\r\n{fields}Connection: close\r\n\r\n").as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).with_context(|| format!("{server} did not complete its response"))?;
    read(&bytes).with_context(|| format!("the response of {server} to GET {path}"))
}

fn read(bytes: &[u8]) -> anyhow::Result<Response> {
    let end = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n").context("a head without an end")?;
    let head = std::str::from_utf8(&bytes[..end]).context("a head that is not text")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status = status.context("no status")?;
    let field = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let headers = lines.map(field).collect::<Option<Vec<_>>>().context("a field without a colon")?;
    let response = Response { status, headers, body: bytes[end + 4..].to_vec() };
    let length = response.header("content-length").context("no Content-Length")?;
    ensure!(
        length.parse() == Ok(response.body.len()),
        "Content-Length is {length} bytes, but the body has {}",
        response.body.len()
    );
    Ok(response)
}

const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read() {
        let response = read(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nAGE: 7\r\n\r\nhi").unwrap();
        assert_eq!(
            (response.status, response.header("age"), &response.body[..]),
            (200, Some("7"), &b"hi"[..])
        );
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        for cut in
            ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", "HTTP/1.1\r\n\r\n"]
        {
            assert!(read(cut.as_bytes()).is_err(), "{cut:?}");
        }
    }
}
