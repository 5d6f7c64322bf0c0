//! Measures how long received data was in the kernel before it was read.
//!
//! The kernel records the arrival time of packets (`SO_TIMESTAMPNS`, man 7 socket), which is read
//! here without consuming data.

use std::{
    io::IoSliceMut,
    os::fd::{AsFd, AsRawFd},
    time::Duration,
};

use nix::{
    cmsg_space,
    sys::{
        socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt},
        time::TimeSpec,
    },
    time::{ClockId, clock_gettime},
};

/// An extension of requests over TCP, if the server's configuration enables it: how long the first byte
/// was in the kernel before it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeInKernel(pub Duration);

/// If this fails, waiting times are unavailable.
pub(crate) fn note(socket: impl AsFd) {
    let _ = setsockopt(&socket, sockopt::ReceiveTimestampns, &true);
}

/// `None` without unread data or a time stamp.
pub(crate) fn of_unread(socket: impl AsFd) -> Option<TimeInKernel> {
    let mut byte = [0];
    let mut place = [IoSliceMut::new(&mut byte)];
    let mut control = cmsg_space!(TimeSpec);
    let how = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    let socket = socket.as_fd().as_raw_fd();
    let peeked = recvmsg::<SockaddrStorage>(socket, &mut place, Some(&mut control), how).ok()?;
    let came = peeked.cmsgs().ok()?.find_map(|message| match message {
        ControlMessageOwned::ScmTimestampns(came) => Some(came),
        _ => None,
    })?;
    // Both are wall-clock times. If the clock was set back in between, the difference is negative and is
    // discarded.
    let now = clock_gettime(ClockId::CLOCK_REALTIME).ok()?;
    Duration::from(now).checked_sub(Duration::from(came)).map(TimeInKernel)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{Ipv4Addr, TcpListener, TcpStream},
    };

    use super::*;

    #[test]
    fn what_waits_to_be_read_is_told_by_the_kernel_and_is_not_taken() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut near, _) = listener.accept().unwrap();
        note(&near);
        // The kernel enables time stamps asynchronously.
        let told = (0..10_000).find_map(|_| {
            assert_eq!(of_unread(&near), None);
            far.write_all(b"word").unwrap();
            let mut word = [0; 4];
            near.peek(&mut word).unwrap();
            let told = of_unread(&near).zip(of_unread(&near));
            near.read_exact(&mut word).unwrap();
            assert_eq!(&word, b"word");
            told
        });
        let (first, second) = told.unwrap();
        assert!(second > first, "{first:?} {second:?}");
    }
}
