//! The stream under HTTP/1.1 and HTTP/2: TCP, or TLS over it.

use std::time::Duration;

use socket2::SockRef;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::{http1::Outlet, tunnel::Bytestream};

/// The stream of a connection, in clear text or under TLS.
pub(super) trait Wire: Bytestream + Outlet + 'static {
    /// Ends it so that a client which waits for the end cannot take what was sent for all there is.
    fn reset(self);
}

impl Wire for TcpStream {
    fn reset(self) {
        let _ = SockRef::from(&self).set_linger(Some(Duration::ZERO));
    }
}

/// What is encrypted is another copy.
impl Outlet for TlsStream<TcpStream> {}

impl Wire for TlsStream<TcpStream> {
    fn reset(self) {
        self.into_inner().0.reset();
    }
}
