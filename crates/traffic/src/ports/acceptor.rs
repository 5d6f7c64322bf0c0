//! The listener to connect to where no destination is named.
//!
//! It closes each connection as soon as it has accepted it. So it holds no descriptors, and the client's end, then in
//! `CLOSE_WAIT`, keeps its port. The price: the processor that accepts also sends a FIN for each connection, and the
//! client's processor may take it in while it is connecting again.

use std::{
    fs, io,
    net::{IpAddr, SocketAddr, TcpListener},
    os::fd::AsRawFd,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
};

use nix::sys::socket::{Backlog, Shutdown, listen, shutdown};
use tcp::{Error, source_port::Range};

use super::table;

/// A listener with a thread that accepts. Both end when it is dropped.
#[derive(Debug)]
pub(super) struct Acceptor {
    /// Closed here, after the thread has ended: what that closes is closed in its own table of descriptors only.
    listener: Arc<TcpListener>,
    address: SocketAddr,
    accepted: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// Listens on a port of this address, next to those that are about to be counted: one of them could not be connected from.
    pub(super) fn start(address: IpAddr, counted: Option<&Range>) -> Result<Self, Error> {
        let refused =
            |source| Error::Address { operation: "listen on", address: address.to_string(), source };
        let mut beside = counted.into_iter().flat_map(|range| {
            (FIRST_FREE..range.low()).rev().chain(range.high().saturating_add(1)..u16::MAX)
        });
        let beside = beside.find_map(|port| TcpListener::bind((address, port)).ok());
        let listener = beside.map_or_else(|| TcpListener::bind((address, 0)), Ok).map_err(refused)?;
        // The standard library asks for a short queue; a second listen() gets the longest that is allowed.
        listen(&listener, Backlog::MAXALLOWABLE).map_err(|errno| refused(errno.into()))?;
        let bound = listener.local_addr().map_err(refused)?;
        let accepted = Arc::new(AtomicU64::new(0));
        let listener = Arc::new(listener);
        let (shared, counter) = (Arc::clone(&listener), Arc::clone(&accepted));
        let thread = std::thread::spawn(move || table::with_its_own(|| accept(&shared, &counter)));
        Ok(Self { listener, address: bound, accepted, thread: Some(thread) })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections it has accepted since it began.
    pub(super) fn accepted(&self) -> &Arc<AtomicU64> {
        &self.accepted
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        // The thread waits in accept(), which ends with an error when the socket is shut down.
        let _ = shutdown(self.listener.as_raw_fd(), Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, accepted: &AtomicU64) {
    loop {
        match listener.accept() {
            Ok(connection) => drop(connection),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            // Shut down. Any other failure shows too: a client waits in vain for the count to rise.
            Err(_) => return,
        }
        accepted.fetch_add(1, Ordering::Relaxed);
    }
}

/// How many connections may wait to be accepted: half of what the queue holds, so that none is ever refused.
pub(super) fn half_of_queue() -> u64 {
    let most: Option<u64> =
        fs::read_to_string("/proc/sys/net/core/somaxconn").ok().and_then(|text| text.trim().parse().ok());
    (most.unwrap_or(SMALLEST_QUEUE) / 2).max(1)
}

/// `net.core.somaxconn` before Linux 5.4.
const SMALLEST_QUEUE: u64 = 128;

/// The first port that anybody may listen on.
const FIRST_FREE: u16 = 1024;
