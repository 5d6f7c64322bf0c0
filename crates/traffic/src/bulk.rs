//! The one sender of bulk: hands the kernel payload as fast as it takes it.

use std::{
    io::{self, Write},
    net::TcpStream,
};

use crate::{payload::Pattern, socket::is_pause};

/// Payload on its way into a connection.
pub(crate) struct Bulk {
    pattern: Pattern,
    sent: u64,
    most: u64,
}

impl Bulk {
    /// So many bytes, or without end.
    pub(crate) fn new(bytes: Option<u64>) -> Self {
        Self { pattern: Pattern::new(), sent: 0, most: bytes.unwrap_or(u64::MAX) }
    }

    /// Bytes that the kernel took.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Whether the kernel took all of it.
    pub(crate) fn is_over(&self) -> bool {
        self.sent >= self.most
    }

    /// Hands over a block, or what is left of it. How much of it the kernel took: 0 if there was no room within the time
    /// that a call on this stream may take.
    pub(crate) fn write(&mut self, mut stream: &TcpStream) -> io::Result<usize> {
        let piece = self.pattern.at(self.sent);
        let left = usize::try_from(self.most - self.sent).unwrap_or(usize::MAX);
        match stream.write(&piece[..piece.len().min(left)]) {
            Ok(written) => {
                self.sent += written as u64;
                Ok(written)
            }
            Err(error) if is_pause(&error) => Ok(0),
            Err(error) => Err(error),
        }
    }
}
