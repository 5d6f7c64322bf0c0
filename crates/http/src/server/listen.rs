//! Listening sockets, and what to do when there is none to be had.

use std::{io, net::SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::Error;

/// Listens on all `addresses`. As everywhere on Linux, :: is for IPv4 too, unless 0.0.0.0 has that port as well.
pub(crate) fn listen(addresses: &[SocketAddr]) -> Result<Vec<TcpListener>, Error> {
    let is_taken = |port| addresses.iter().any(|other| other.is_ipv4() && other.port() == port && port != 0);
    addresses.iter().map(|&address| open_one(address, is_taken(address.port()))).collect()
}

fn open_one(address: SocketAddr, only_v6: bool) -> Result<TcpListener, Error> {
    open(address, only_v6).map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => Error::AddressInUse { address },
        io::ErrorKind::PermissionDenied => Error::PortForbidden { address },
        _ => Error::Listen { address, source },
    })
}

fn open(address: SocketAddr, only_v6: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of a run before, in TIME_WAIT, do not block the port.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(only_v6)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

/// Connections that the kernel may hold for us: as many as it allows by default (net.core.somaxconn).
const BACKLOG: i32 = 4096;
