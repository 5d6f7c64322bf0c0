//! Sockets for bulk traffic: open, connect interruptibly, listen.

use std::{
    fs, io,
    net::{SocketAddr, TcpListener, TcpStream},
    ops::ControlFlow,
    os::fd::AsFd,
};

use nix::poll::PollFlags;
use socket2::Socket;
use tcp::Clock;

use crate::wait;

/// `watch` can abort it. The kernel's connect timeout applies. The socket is non-blocking
/// afterwards.
pub(crate) fn reach(
    socket: &Socket,
    address: SocketAddr,
    mut watch: impl FnMut() -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    socket.set_nonblocking(true)?;
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        other => other?,
    }
    let clock = Clock::start();
    while !wait::for_event(socket.as_fd(), PollFlags::POLLOUT, clock, clock.now() + wait::CALL)? {
        if watch().is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    match socket.take_error()? {
        Some(error) => Err(error),
        None => Ok(ControlFlow::Continue(())),
    }
}

/// Accepted connections inherit the options; accept() does not block.
pub(crate) fn listen(socket: Socket, address: SocketAddr) -> io::Result<TcpListener> {
    // TIME_WAIT connections of a previous server do not block the port.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        // The unspecified IPv6 address also accepts IPv4.
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// For at most [`wait::CALL`], so that the caller can check for a stop request.
pub(crate) fn block_briefly(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(wait::CALL))?;
    stream.set_write_timeout(Some(wait::CALL))
}

/// A timeout after [`wait::CALL`] or an interruption. `TimedOut` is not included: TCP aborted the
/// connection.
pub(crate) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

pub(crate) fn choose_congestion(socket: &Socket, name: &str) -> Result<(), (io::Error, String)> {
    socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
        let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        (error, available.unwrap_or_default().trim().to_owned())
    })
}

pub(crate) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

const BACKLOG: i32 = 128;
