//! From an address to a connection, with TCP or MPTCP.

use std::{
    io,
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    os::fd::AsFd,
};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use probe::Stop;
use socket2::{Domain, Socket, Type};

use super::{Error, Protocol, Sending, buffer, wire::CALL};

/// A socket that is not connected.
pub(super) fn open(domain: Domain, protocol: Protocol) -> Result<Socket, Error> {
    let number = match protocol {
        Protocol::Tcp => socket2::Protocol::TCP,
        Protocol::Mptcp => socket2::Protocol::MPTCP,
    };
    Socket::new(domain, Type::STREAM, Some(number)).map_err(|source| match protocol {
        Protocol::Tcp => Error::System { what: "open a socket", source },
        Protocol::Mptcp => Error::NoMptcp { source },
    })
}

/// Connects to the first of the server's addresses that takes it, in the resolver's order.
pub(super) fn connect(
    server: &str,
    sending: &Sending,
    stop: &Stop,
) -> Result<(TcpStream, SocketAddr), Error> {
    let unknown = |source| Error::Server { server: server.to_owned(), source };
    let mut failed = unknown(io::Error::from(io::ErrorKind::NotFound));
    for address in server.to_socket_addrs().map_err(unknown)? {
        let socket = open(Domain::for_address(address), sending.protocol)?;
        if let Some(name) = &sending.congestion {
            choose(&socket, name)?;
        }
        if let Some(most) = sending.notsent_lowat {
            buffer::limit_unsent(&socket, most)?;
        }
        match reach(&socket, address, stop) {
            Ok(()) => return Ok((socket.into(), address)),
            Err(_) if stop.is_asked() => return Err(Error::Stopped),
            Err(source) => failed = Error::Connect { address, source },
        }
    }
    Err(failed)
}

/// Connects, in steps short enough for a request to stop to be heard. The kernel decides when it gives up.
fn reach(socket: &Socket, address: SocketAddr, stop: &Stop) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        other => other?,
    }
    let step = PollTimeout::try_from(CALL).unwrap_or(PollTimeout::MAX);
    while poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)], step)? == 0 {
        if stop.is_asked() {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(CALL))?;
    socket.set_write_timeout(Some(CALL))
}

fn choose(socket: &Socket, name: &str) -> Result<(), Error> {
    socket.set_tcp_congestion(name.as_bytes()).map_err(|source| {
        let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        Error::Congestion {
            name: name.to_owned(),
            available: available.unwrap_or_default().trim().to_owned(),
            source,
        }
    })
}
