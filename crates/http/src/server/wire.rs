//! The stream under HTTP/1.1 and HTTP/2: TCP, or TLS over it; under HTTP/1.1, a stream of HTTP/2 too.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    task::{Context, Poll, ready},
};

use tokio::{io::Interest, net::TcpStream};
use tokio_rustls::server::TlsStream;

use crate::{http1::Outlet, nested::Nested, sys, tunnel::Bytestream};

/// The stream of a connection, in clear text or under TLS.
pub(super) trait Wire: Bytestream + Outlet + 'static {
    /// The socket under it, if it has one to itself.
    fn socket(&self) -> Option<BorrowedFd<'_>>;

    /// Throws away what has come, `most` bytes at most, and says how many these were, 0 at the end. `None` if it has to be read.
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

/// What is encrypted is another copy.
impl Outlet for TlsStream<TcpStream> {}

impl Wire for TlsStream<TcpStream> {
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        Some(self.get_ref().0.as_fd())
    }
}

impl<C: Send + Unpin + 'static> Wire for Nested<C> {
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
