//! Resolves a server and connects with TCP or MPTCP.

use std::{
    io,
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    ops::ControlFlow,
};

use socket2::{Domain, Socket, Type};

use super::{Error, Protocol, Sending, Stopping, buffer};
use crate::socket;

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

/// The first reachable address, in the resolver's order.
pub(super) fn connect(
    server: &str,
    sending: &Sending,
    stop: &impl Fn() -> Stopping,
) -> Result<(TcpStream, SocketAddr), Error> {
    let unknown = |source| Error::Server { server: server.to_owned(), source };
    let mut failed = unknown(io::Error::from(io::ErrorKind::NotFound));
    for address in server.to_socket_addrs().map_err(unknown)? {
        let socket = open(Domain::for_address(address), sending.protocol)?;
        if let Some(name) = &sending.congestion {
            socket::choose_congestion(&socket, name).map_err(|(source, available)| Error::Congestion {
                name: name.clone(),
                available,
                source,
            })?;
        }
        if let Some(most) = sending.notsent_lowat {
            buffer::limit_unsent(&socket, most)?;
        }
        match socket::reach(&socket, address, || stop().flow()) {
            Ok(ControlFlow::Continue(())) => return Ok((socket.into(), address)),
            Ok(ControlFlow::Break(())) => return Err(Error::Stopped),
            Err(source) => failed = Error::Connect { address, source },
        }
    }
    Err(failed)
}
