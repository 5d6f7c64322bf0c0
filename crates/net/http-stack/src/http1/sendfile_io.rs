//! The destination of a message: a connection, which may send bytes from a file without copying.

use std::{
    io,
    os::fd::BorrowedFd,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncWrite, Interest},
    net::TcpStream,
};

use crate::sys::{send_file, send_first};

pub(crate) trait SendfileIo: AsyncWrite + Unpin {
    fn poll_send_file(
        &mut self,
        _cx: &mut Context<'_>,
        _first: &[u8],
        _from: (BorrowedFd<'_>, u64),
        _length: usize,
    ) -> Option<Poll<io::Result<usize>>> {
        None
    }
}

impl SendfileIo for TcpStream {
    fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        first: &[u8],
        (file, place): (BorrowedFd<'_>, u64),
        length: usize,
    ) -> Option<Poll<io::Result<usize>>> {
        let send = || {
            let of_first = if first.is_empty() { 0 } else { send_first(&*self, first)? };
            if of_first < first.len() {
                return Ok(of_first);
            }
            match send_file(&*self, file, place, length) {
                Err(_) if of_first > 0 => Ok(of_first),
                sent => Ok(of_first + sent?),
            }
        };
        let mut sending = || loop {
            ready!(self.poll_write_ready(cx))?;
            match self.try_io(Interest::WRITABLE, send) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                sent => return Poll::Ready(sent),
            }
        };
        match sending() {
            // Not every file system supports `sendfile`.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::InvalidInput => None,
            sent => Some(sent),
        }
    }
}
