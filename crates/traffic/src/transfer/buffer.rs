//! How much may wait in the kernel: buffers and windows, set where the kernel is known to respect them.

use socket2::Socket;
use units::Bytes;

use super::Error;
use crate::sys;

/// Sets the receive buffer as an application does with `SO_RCVBUF`: the kernel doubles it, for its own records take room
/// too, and does not size it itself any more.
pub(super) fn receive(socket: &Socket, asked: Bytes) -> Result<(), Error> {
    let size = size("receive buffer", asked)?;
    let set = || {
        socket.set_recv_buffer_size(size.unsigned_abs() as usize)?;
        socket.recv_buffer_size()
    };
    let got = set().map_err(|source| Error::System { what: "set the receive buffer", source })?;
    let most = Bytes(got as u64 / 2);
    if most < asked {
        let remedy =
            format!("this kernel gives at most {most}; `sysctl net.core.rmem_max={}` allows it", asked.0);
        return Err(Error::Size { what: "receive buffer", asked, remedy });
    }
    Ok(())
}

/// Limits the window that is announced.
///
/// A kernel that sizes the buffer itself forgets this limit when it makes the buffer larger (Linux 6.18). It cannot forget
/// the scale that it has told its peer (RFC 7323): chosen from the limit, that lets windows grow to a power of two. A byte
/// less than asked for, so that a power of two is kept and not doubled.
pub(super) fn limit_window(socket: &Socket, asked: Bytes) -> Result<(), Error> {
    let size = size("window", asked)?;
    sys::limit_window(socket, (size - 1).max(1))
        .map_err(|source| Error::System { what: "limit the window", source })
}

/// Limits what waits for being sent.
pub(super) fn limit_unsent(socket: &Socket, asked: Bytes) -> Result<(), Error> {
    let size = size("limit of unsent bytes", asked)?;
    socket
        .set_tcp_notsent_lowat(size.unsigned_abs())
        .map_err(|source| Error::System { what: "limit the unsent bytes", source })
}

/// As the kernel takes sizes.
fn size(what: &'static str, asked: Bytes) -> Result<libc::c_int, Error> {
    let size = libc::c_int::try_from(asked.0).ok().filter(|size| *size > 0);
    size.ok_or_else(|| Error::Size { what, asked, remedy: "expected 1B to 2GB".to_owned() })
}
