//! The stream under HTTP/1.1 and HTTP/2: TCP, or TLS over it.

use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::{http1::Outlet, tunnel::Bytestream};

/// The stream of a connection, in clear text or under TLS.
pub(super) trait Wire: Bytestream + Outlet + 'static {}

impl Wire for TcpStream {}

/// What is encrypted is another copy.
impl Outlet for TlsStream<TcpStream> {}

impl Wire for TlsStream<TcpStream> {}
