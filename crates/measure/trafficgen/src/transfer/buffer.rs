//! Sets buffer and window sizes, in ways that the kernel respects.

use socket2::Socket;
use units::Bytes;

use super::Error;
use crate::sys;

/// The kernel doubles `SO_RCVBUF` to account for its metadata, and disables autotuning.
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

/// With autotuning the kernel drops this limit when it enlarges the buffer (Linux 6.18). The window
/// scale of the handshake (RFC 7323) still limits the window to a power of two, so one byte less
/// than requested is set.
pub(super) fn limit_window(socket: &Socket, asked: Bytes) -> Result<(), Error> {
    let size = size("window", asked)?;
    sys::limit_window(socket, (size - 1).max(1))
        .map_err(|source| Error::System { what: "limit the window", source })
}

pub(super) fn limit_unsent(socket: &Socket, asked: Bytes) -> Result<(), Error> {
    let size = size("limit of unsent bytes", asked)?;
    socket
        .set_tcp_notsent_lowat(size.unsigned_abs())
        .map_err(|source| Error::System { what: "limit the unsent bytes", source })
}

fn size(what: &'static str, asked: Bytes) -> Result<libc::c_int, Error> {
    let size = libc::c_int::try_from(asked.0).ok().filter(|size| *size > 0);
    size.ok_or_else(|| Error::Size { what, asked, remedy: "expected 1B to 2GB".to_owned() })
}
