//! The control messages of a transfer: lines of JSON, bounded in length and time.

use std::{
    io::{self, Read, Write},
    time::Duration,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::socket::is_pause;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Greeting {
    pub(super) schema: String,
    pub(super) interval_ns: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) omit_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Ready,
    Refused(String),
    Received(Receipt),
}

/// Times are relative to the arrival of the greeting.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Receipt {
    pub(super) bytes: u64,
    pub(super) bytes_bad: u64,
    #[serde(default)]
    pub(super) bytes_omitted: u64,
    pub(super) first_ns: Option<u64>,
    pub(super) last_ns: Option<u64>,
    pub(super) stall_ns: Option<u64>,
    pub(super) stall_at_ns: Option<u64>,
    /// The requested interval, doubled repeatedly in a long transfer.
    pub(super) interval_ns: u64,
    pub(super) intervals: Vec<u64>,
}

/// Aborts if `gives_up` returns true while the stream is not writable.
pub(super) fn say(mut to: impl Write, what: &impl Serialize, gives_up: impl Fn() -> bool) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    let mut rest = line.as_slice();
    while !rest.is_empty() {
        match to.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(error) if is_pause(&error) && !gives_up() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[derive(Debug)]
pub(super) struct Line {
    bytes: Vec<u8>,
    most: usize,
}

impl Line {
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most }
    }

    /// Reads once. Returns `None` while the line is incomplete. Nothing may follow the line.
    ///
    /// # Errors
    /// The reader's errors, including timeouts; [`io::ErrorKind::UnexpectedEof`] at its end, and
    /// [`io::ErrorKind::InvalidData`] for an invalid line.
    pub(super) fn read<T: DeserializeOwned>(&mut self, mut from: impl Read) -> io::Result<Option<T>> {
        let mut piece = [0; 4096];
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.bytes.extend_from_slice(&piece[..length]);
        match self.bytes.iter().position(|&byte| byte == b'\n') {
            Some(end) if end + 1 == self.bytes.len() => Ok(Some(serde_json::from_slice(&self.bytes)?)),
            None if self.bytes.len() < self.most => Ok(None),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) const SCHEMA: &str = "longhaul.transfer/2";

pub(super) const LONGEST_GREETING: usize = 1024;

pub(super) const LONGEST_REPLY: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Option<Greeting>> {
        Line::new(LONGEST_GREETING).read(text.as_bytes())
    }

    #[test]
    fn a_line_comes_in_pieces() {
        let mut said = Vec::new();
        say(&mut said, &Greeting { schema: SCHEMA.to_owned(), interval_ns: 7, omit_ns: 0 }, || false)
            .unwrap();
        let mut line = Line::new(LONGEST_GREETING);
        let (head, tail) = said.split_at(10);
        assert!(line.read::<Greeting>(head).unwrap().is_none());
        assert_eq!(line.read::<Greeting>(tail).unwrap().unwrap().interval_ns, 7);
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(read("GET / HTTP/1.1\r\n").unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read("").unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(read("{}\nmore").unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(&"x".repeat(LONGEST_GREETING)).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
