//! Listening sockets, and errors in creating them.

use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
};

use socket2::{Domain, Protocol, Socket, Type};

use crate::Error;

/// Listens on all `addresses`. A port chosen by the kernel is also free for UDP, so that QUIC can
/// use it.
///
/// # Errors
/// An address is unavailable.
pub fn listen(addresses: &[SocketAddr]) -> Result<Vec<TcpListener>, Error> {
    let open = |&address: &SocketAddr| {
        let only_v6 = is_taken_by_v4(addresses, address.port());
        reserve(address, only_v6).and_then(listening).map_err(|source| refused(address, source))
    };
    addresses.iter().map(open).collect()
}

/// Listens on each of the `addresses` with several sockets, among which the kernel distributes
/// connections (SO_REUSEPORT).
///
/// # Errors
/// An address is unavailable or in use.
pub fn share(addresses: &[SocketAddr], sockets: usize) -> Result<Vec<Vec<TcpListener>>, Error> {
    let open = |&address: &SocketAddr| {
        let only_v6 = is_taken_by_v4(addresses, address.port());
        let shared = || {
            // SO_REUSEPORT is set after the bind: otherwise the address could be shared with another
            // program.
            let first = reserve(address, only_v6)?;
            let address = own_address(&first)?;
            first.set_reuse_port(true)?;
            let more = (1..sockets).map(|_| bind(address, only_v6, true));
            [Ok(first)].into_iter().chain(more).map(|socket| listening(socket?)).collect::<io::Result<_>>()
        };
        shared().map_err(|source| refused(address, source))
    };
    addresses.iter().map(open).collect()
}

/// Binds a socket to an exclusive address, without listening. A port chosen by the kernel is also unused
/// for UDP.
fn reserve(address: SocketAddr, only_v6: bool) -> io::Result<Socket> {
    if address.port() != 0 {
        return bind(address, only_v6, false);
    }
    // Rejected sockets are kept until one fits, so that the kernel does not choose their ports again.
    let mut taken = Vec::new();
    loop {
        let socket = bind(address, only_v6, false)?;
        if taken.len() == CHOICES || UdpSocket::bind(own_address(&socket)?).is_ok() {
            return Ok(socket);
        }
        taken.push(socket);
    }
}

fn own_address(socket: &Socket) -> io::Result<SocketAddr> {
    socket.local_addr()?.as_socket().ok_or_else(|| io::ErrorKind::Unsupported.into())
}

pub(super) fn is_taken_by_v4(addresses: &[SocketAddr], port: u16) -> bool {
    addresses.iter().any(|other| other.is_ipv4() && other.port() == port && port != 0)
}

pub(super) fn refused(address: SocketAddr, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::AddrInUse => Error::AddressInUse { address },
        io::ErrorKind::PermissionDenied => Error::PortForbidden { address },
        _ => Error::Listen { address, source },
    }
}

fn bind(address: SocketAddr, only_v6: bool, is_shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Old connections in TIME_WAIT do not block the port.
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(is_shared)?;
    if address.is_ipv6() {
        socket.set_only_v6(only_v6)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

fn listening(socket: Socket) -> io::Result<TcpListener> {
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

const CHOICES: usize = 16;

/// The default limit of the kernel (net.core.somaxconn).
const BACKLOG: i32 = 4096;

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        net::{Ipv4Addr, TcpStream},
        thread,
    };

    use super::*;

    fn any() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }

    #[test]
    fn an_address_is_shared_with_nobody_else() {
        let shared = share(&[any(), any()], 3).unwrap();
        let of = |sockets: &[TcpListener]| -> Vec<_> {
            sockets.iter().map(|socket| socket.local_addr().unwrap()).collect()
        };
        let [first, second] = [of(&shared[0]), of(&shared[1])];
        assert!(first.len() == 3 && first.iter().all(|address| *address == first[0]));
        assert!(second.iter().all(|address| *address == second[0] && *address != first[0]));
        for taken in [share(&[first[0]], 2).map(drop), listen(&[first[0]]).map(drop)] {
            assert!(matches!(taken, Err(Error::AddressInUse { address }) if address == first[0]));
        }
        drop(shared);
        assert!(matches!(share(&[first[0], first[0]], 2), Err(Error::AddressInUse { .. })));
    }

    #[test]
    fn whoever_connects_while_sockets_open_stays_connected() {
        for _ in 0..20 {
            let address = listen(&[any()]).unwrap()[0].local_addr().unwrap();
            let early = thread::spawn(move || {
                loop {
                    if let Ok(stream) = TcpStream::connect(address) {
                        return stream;
                    }
                }
            });
            let _shared = share(&[address], 4).unwrap();
            let mut early = early.join().unwrap();
            early.set_nonblocking(true).unwrap();
            let read = early.read(&mut [0]).unwrap_err();
            assert_eq!(read.kind(), io::ErrorKind::WouldBlock, "{read}");
        }
    }
}
