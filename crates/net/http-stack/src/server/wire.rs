//! The stream below HTTP/1.1 and HTTP/2: TCP or TLS; for HTTP/1.1 also a stream of HTTP/2.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    task::{Context, Poll, ready},
};

use tokio::{io::Interest, net::TcpStream};
use tokio_rustls::server::TlsStream;

use crate::{h1_over_h2::H1OverH2, http1::SendfileIo, sys, tunnel::Bytestream};

pub(super) trait Wire: Bytestream + SendfileIo + 'static {
    fn socket(&self) -> Option<BorrowedFd<'_>>;

    /// Discards up to `most` received bytes and returns their number, 0 at the end. `None` if the stream
    /// does not support this.
    fn poll_discard(&mut self, _cx: &mut Context<'_>, _most: usize) -> Option<Poll<io::Result<usize>>> {
        None
    }
}

impl Wire for TcpStream {
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        Some(self.as_fd())
    }

    fn poll_discard(&mut self, cx: &mut Context<'_>, most: usize) -> Option<Poll<io::Result<usize>>> {
        let mut discarding = || loop {
            ready!(self.poll_read_ready(cx))?;
            match self.try_io(Interest::READABLE, || sys::discard(&*self, most)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                discarded => return Poll::Ready(discarded),
            }
        };
        Some(discarding())
    }
}

/// Encrypted data is a copy, so `sendfile` has no advantage.
impl SendfileIo for TlsStream<TcpStream> {}

impl Wire for TlsStream<TcpStream> {
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        Some(self.get_ref().0.as_fd())
    }
}

impl<C: Send + Unpin + 'static> Wire for H1OverH2<C> {
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
