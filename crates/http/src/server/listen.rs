//! Listening sockets, and what to do when there is none to be had.

use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
};

use socket2::{Domain, Protocol, Socket, Type};

use crate::Error;

/// Listens on all `addresses`. As everywhere on Linux, :: is for IPv4 too, unless 0.0.0.0 has that port as well. A port that the kernel
/// chooses is free for UDP too, so that QUIC may have it.
///
/// # Errors
/// When an address cannot be listened on.
pub fn listen(addresses: &[SocketAddr]) -> Result<Vec<TcpListener>, Error> {
    let open = |&address: &SocketAddr| {
        let only_v6 = is_taken_by_v4(addresses, address.port());
        let opened = if address.port() == 0 { choose(address) } else { open(address, only_v6, false) };
        opened.map_err(|source| refused(address, source))
    };
    addresses.iter().map(open).collect()
}

/// Listens where the kernel finds a port that is free, and asks again when somebody uses it for UDP.
fn choose(address: SocketAddr) -> io::Result<TcpListener> {
    // Each is kept until one fits, so that the kernel does not offer it twice.
    let mut taken = Vec::new();
    loop {
        let socket = open(address, false, false)?;
        if taken.len() == CHOICES || UdpSocket::bind(socket.local_addr()?).is_ok() {
            return Ok(socket);
        }
        taken.push(socket);
    }
}

/// Listens on each of the `addresses` with so many sockets, among which the kernel shares the connections out (SO_REUSEPORT).
///
/// # Errors
/// When an address cannot be listened on, or somebody else does.
pub fn share(addresses: &[SocketAddr], sockets: usize) -> Result<Vec<Vec<TcpListener>>, Error> {
    // A socket that shares nothing finds out whether the address is free: one that does would share with a stranger.
    let alone = listen(addresses)?;
    let found = alone.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|source| Error::System { what: "tell a socket's own address", source })?;
    drop(alone);
    let open = |&address: &SocketAddr| {
        let only_v6 = is_taken_by_v4(&found, address.port());
        open(address, only_v6, true).map_err(|source| refused(address, source))
    };
    found.iter().map(|address| (0..sockets).map(|_| open(address)).collect()).collect()
}

/// Whether an IPv4 address has this port, so that :: must leave it alone.
pub(super) fn is_taken_by_v4(addresses: &[SocketAddr], port: u16) -> bool {
    addresses.iter().any(|other| other.is_ipv4() && other.port() == port && port != 0)
}

/// Why there is no socket at an address.
pub(super) fn refused(address: SocketAddr, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::AddrInUse => Error::AddressInUse { address },
        io::ErrorKind::PermissionDenied => Error::PortForbidden { address },
        _ => Error::Listen { address, source },
    }
}

fn open(address: SocketAddr, only_v6: bool, is_shared: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of a run before, in TIME_WAIT, do not block the port.
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(is_shared)?;
    if address.is_ipv6() {
        socket.set_only_v6(only_v6)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Ports that are refused before one is taken as it is.
const CHOICES: usize = 16;

/// Connections that the kernel may hold for us: as many as it allows by default (net.core.somaxconn).
const BACKLOG: i32 = 4096;
