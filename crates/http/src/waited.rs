//! How long what came on a connection was in the kernel before this program read it.
//!
//! A program that waits for a line has to be woken when something comes, and that takes as long as a short line. The kernel notes when a
//! packet came (`SO_TIMESTAMPNS`, man 7 socket), which is looked at without taking anything.

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

/// Among the extensions of a request over TCP, if the server's configuration says so: for how long it had been in the kernel when its
/// first byte was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waited(pub Duration);

/// Has the kernel note when packets come, from about now on. Where it does not, nobody knows how long they waited.
pub(crate) fn note(socket: impl AsFd) {
    let _ = setsockopt(&socket, sockopt::ReceiveTimestampns, &true);
}

/// For how long the first byte that is not read yet has been here; `None` if there is none, or nobody noted when it came.
pub(crate) fn of_unread(socket: impl AsFd) -> Option<Waited> {
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
    // Both are times of day, and only what lies between them counts: a clock that was set back meanwhile tells nothing.
    let now = clock_gettime(ClockId::CLOCK_REALTIME).ok()?;
    Duration::from(now).checked_sub(Duration::from(came)).map(Waited)
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
        // The kernel begins to note when it finds the time.
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
