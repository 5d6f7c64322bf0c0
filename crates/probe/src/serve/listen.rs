//! Listening sockets, and what to do when there is none to be had.

use std::{io, net::SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::Error;

/// Listens on `address`; an IPv6 address is for IPv6 only, so that 0.0.0.0 and :: can share a port.
pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    open(address).map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => Error::AddressInUse { address },
        io::ErrorKind::PermissionDenied => Error::PortForbidden { address },
        _ => Error::Listen { address, source },
    })
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of a run before, in TIME_WAIT, do not block the port.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

/// Connections that the kernel may hold for us: as many as it allows by default (net.core.somaxconn).
const BACKLOG: i32 = 4096;
