//! Resolves a host and connects to it.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs},
    ops::ControlFlow,
};

use socket2::{Domain, Protocol, Socket, Type};
use tcp::{Doing, Error};
use units::Bytes;

use super::DEFAULT_PORT;
use crate::socket;

pub(super) fn connect(
    host: &str,
    rcvbuf: Option<Bytes>,
    mut watch: impl FnMut() -> ControlFlow<()>,
) -> Result<Option<TcpStream>, Error> {
    let mut failed = unknown(host, io::ErrorKind::NotFound.into());
    for address in addresses(host)? {
        let socket = open(Domain::for_address(address))?;
        prepare(&socket, rcvbuf)?;
        match socket::reach(&socket, address, &mut watch) {
            Ok(ControlFlow::Continue(())) => return Ok(Some(socket.into())),
            Ok(ControlFlow::Break(())) => return Ok(None),
            Err(source) => {
                failed = Error::Address { operation: "connect to", address: address.to_string(), source };
            }
        }
    }
    Err(failed)
}

pub(super) fn open(domain: Domain) -> Result<Socket, Error> {
    Socket::new(domain, Type::STREAM, Some(Protocol::TCP)).doing(|| "open a socket".to_owned())
}

fn addresses(host: &str) -> Result<Vec<SocketAddr>, Error> {
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = plain.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, DEFAULT_PORT)]);
    }
    let addresses =
        if host.contains(':') { host.to_socket_addrs() } else { (host, DEFAULT_PORT).to_socket_addrs() };
    addresses.map(Iterator::collect).map_err(|source| unknown(host, source))
}

fn unknown(host: &str, source: io::Error) -> Error {
    Error::Address { operation: "find", address: format!("\"{host}\""), source }
}

/// SO_RCVBUF must precede the connection: it determines the initial window.
fn prepare(socket: &Socket, rcvbuf: Option<Bytes>) -> Result<(), Error> {
    if let Some(size) = rcvbuf {
        let size = usize::try_from(size.0).unwrap_or(usize::MAX);
        socket.set_recv_buffer_size(size).doing(|| "set SO_RCVBUF".to_owned())?;
    }
    Ok(())
}
