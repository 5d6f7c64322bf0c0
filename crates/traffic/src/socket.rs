//! Sockets for bulk: opened, connected in steps that can be interrupted, or listening; the same for every kind of traffic.

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

/// Connects, in steps short enough for `watch` to end it before. The kernel decides when it gives up. The socket does not
/// block afterwards.
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

/// Makes a socket listen. Its connections inherit what it was told before; accepting does not block.
pub(crate) fn listen(socket: Socket, address: SocketAddr) -> io::Result<TcpListener> {
    // Connections of a server before, in TIME_WAIT, do not block the port.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        // The address for all is for IPv4 as well.
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Lets calls on a connection block, for [`wait::CALL`] at most: then whoever waits looks whether to go on.
pub(crate) fn block_briefly(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(wait::CALL))?;
    stream.set_write_timeout(Some(wait::CALL))
}

/// Whether an error only means that nothing could be done within [`wait::CALL`]. `TimedOut` is none of these: with it TCP says
/// that it has given up the connection.
pub(crate) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Chooses the congestion control by the kernel's name for it; else what the kernel said, and the names that it has.
pub(crate) fn choose_congestion(socket: &Socket, name: &str) -> Result<(), (io::Error, String)> {
    socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
        let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        (error, available.unwrap_or_default().trim().to_owned())
    })
}

/// An IPv4 address as it is, not as one within IPv6.
pub(crate) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Connections that the kernel may hold for us.
const BACKLOG: i32 = 128;
