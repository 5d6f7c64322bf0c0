//! How much of what a connection was given may wait in the kernel to be sent: as much as goes within a time.
//!
//! On one connection an answer waits for all that was written before it. A fixed number of bytes is long on a slow line and, on a fast one, so
//! little that the sender runs dry while this program waits for a processor; BBR, which does not learn from what it had too little to send,
//! then never leaves its start.

use std::{io, os::fd::OwnedFd, sync::Arc, time::Duration};

use socket2::SockRef;
use tracing::debug;

use crate::sys;

/// The limit of one connection, which follows the rate at which the kernel sends.
pub(super) struct Backlog {
    socket: Arc<OwnedFd>,
    within: Duration,
    /// Bytes since the limit was set.
    written: usize,
}

impl Backlog {
    /// That of a socket. Without one the connection is as good, but for how long an answer waits.
    pub(super) fn of(socket: Arc<OwnedFd>, within: Duration) -> Option<Self> {
        let backlog = Self { socket, within, written: 0 };
        let set = backlog.set(LEAST);
        set.inspect_err(|error| debug!(%error, "the kernel takes as much as its buffer holds")).ok()?;
        Some(backlog)
    }

    /// Bytes were written.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written >= EACH {
            self.written = 0;
            // A connection that is gone says so to those who write.
            let _ = sys::pacing_rate(&self.socket).and_then(|rate| self.set(limit(rate, self.within)));
        }
    }

    fn set(&self, bytes: u32) -> io::Result<()> {
        SockRef::from(&self.socket).set_tcp_notsent_lowat(bytes)
    }
}

/// What goes within a time at a rate in bytes a second.
fn limit(rate: u64, within: Duration) -> u32 {
    let bytes = u128::from(rate).saturating_mul(within.as_nanos()) / 1_000_000_000;
    u32::try_from(bytes).unwrap_or(u32::MAX).clamp(LEAST, MOST)
}

/// Two frames of DATA, so that one is there while the next is made.
const LEAST: u32 = 32 << 10;
/// 10 ms at three times a gigabit a second, as a sender begins.
const MOST: u32 = 4 << 20;
/// How often the rate is looked at, in bytes.
const EACH: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        net::{Ipv4Addr, TcpListener, TcpStream},
    };

    use super::*;

    #[test]
    fn the_limit_is_what_goes_in_the_time_within_bounds() {
        let within = Duration::from_millis(10);
        for (mbits, bytes) in [(0, LEAST), (10, LEAST), (100, 125_000), (1000, 1_250_000), (100_000, MOST)] {
            assert_eq!(limit(mbits * 125_000, within), bytes, "{mbits} Mbit/s");
        }
        assert_eq!(limit(u64::MAX, Duration::MAX), MOST);
    }

    #[test]
    fn a_connection_has_a_limit_from_its_beginning_that_follows_its_rate() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _far = listener.accept().unwrap();
        let limit = |socket: &TcpStream| SockRef::from(socket).tcp_notsent_lowat().unwrap();
        let mut backlog =
            Backlog::of(Arc::new(near.try_clone().unwrap().into()), Duration::from_millis(10)).unwrap();
        assert_eq!(limit(&near), LEAST);
        near.write_all(&[0; 1000]).unwrap();
        backlog.wrote(EACH - 1);
        assert_eq!(limit(&near), LEAST);
        // Loopback is faster than a gigabit a second.
        backlog.wrote(1);
        assert!(limit(&near) > LEAST);
    }
}
