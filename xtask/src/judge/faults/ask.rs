//! A minimal HTTP/1.1 client on one persistent connection. Its errors tell whether a failed request can have
//! had an effect.
//!
//! It does not use the crate `http-stack`, which retries a request if a persistent connection
//! breaks.

use std::{
    fmt,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

pub(super) struct Client {
    at: SocketAddr,
    headers: String,
    patience: Duration,
    connection: Option<BufReader<TcpStream>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The request was not sent.
    NotAsked(String),
    NotHeard(String),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotAsked(why) | Self::NotHeard(why)) = self;
        f.write_str(why)
    }
}

impl Client {
    pub(super) fn new(at: SocketAddr, headers: &str, patience: Duration) -> Self {
        Self { at, headers: headers.to_owned(), patience, connection: None }
    }

    pub(super) fn ask(&mut self, method: &str, target: &str, body: &[u8]) -> Result<Answer, NoAnswer> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().map_err(|error| NoAnswer::NotAsked(error.to_string()))?,
        };
        let asked = exchange(&mut connection, method, target, &self.headers, body);
        let answer = asked.map_err(|error| NoAnswer::NotHeard(error.to_string()))?;
        if answer.header("connection") != Some("close") {
            self.connection = Some(connection);
        }
        Ok(answer)
    }

    fn connect(&self) -> std::io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect_timeout(&self.at, self.patience)?;
        stream.set_read_timeout(Some(self.patience))?;
        stream.set_write_timeout(Some(self.patience))?;
        stream.set_nodelay(true)?;
        Ok(BufReader::new(stream))
    }
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

fn exchange(
    connection: &mut BufReader<TcpStream>,
    method: &str,
    target: &str,
    headers: &str,
    body: &[u8],
) -> std::io::Result<Answer> {
    let head = format!("{method} {target} HTTP/1.1\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    connection.get_mut().write_all(&[head.as_bytes(), body].concat())?;
    let mut line = String::new();
    let mut answer = Answer::default();
    while line != "\r\n" {
        line.clear();
        if connection.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if answer.status == 0 {
            let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
            answer.status = status.ok_or_else(|| std::io::Error::other(format!("no status in {line:?}")))?;
        } else if let Some((name, value)) = line.split_once(':') {
            answer.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    answer.body = read_body(connection, &answer)?;
    Ok(answer)
}

fn read_body(connection: &mut BufReader<TcpStream>, answer: &Answer) -> std::io::Result<Vec<u8>> {
    let wrong = || std::io::Error::other("a body whose length cannot be read");
    let mut body = Vec::new();
    if let Some(length) = answer.header("content-length") {
        body.resize(length.parse().map_err(|_| wrong())?, 0);
        connection.read_exact(&mut body)?;
        return Ok(body);
    }
    if answer.header("transfer-encoding") != Some("chunked") {
        return if answer.status == 204 { Ok(body) } else { Err(wrong()) };
    }
    loop {
        let mut line = String::new();
        connection.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16).map_err(|_| wrong())?;
        let begin = body.len();
        body.resize(begin + length, 0);
        connection.read_exact(&mut body[begin..])?;
        connection.read_line(&mut line)?;
        if length == 0 {
            return Ok(body);
        }
    }
}
