//! Sends bulk payload as fast as the kernel accepts it.

use std::{
    io::{self, Write},
    net::TcpStream,
};

use crate::{payload::Pattern, socket::is_pause};

pub(crate) struct Bulk {
    pattern: Pattern,
    sent: u64,
    most: u64,
}

impl Bulk {
    pub(crate) fn new(bytes: Option<u64>) -> Self {
        Self { pattern: Pattern::new(), sent: 0, most: bytes.unwrap_or(u64::MAX) }
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    pub(crate) fn is_over(&self) -> bool {
        self.sent >= self.most
    }

    /// Returns the number of bytes accepted; 0 if the send buffer stayed full for the write
    /// timeout.
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
