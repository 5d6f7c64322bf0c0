//! The listener that is the default destination.
//!
//! It closes each connection immediately after accept(), so it holds no descriptors, and the
//! client's socket in `CLOSE_WAIT` keeps its port.

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

#[derive(Debug)]
pub(super) struct Acceptor {
    /// Must be closed here after the thread has ended: the thread closes only the descriptor in its
    /// private table.
    listener: Arc<TcpListener>,
    address: SocketAddr,
    accepted: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// Outside the measured range: a port cannot be the source of a connection to the same port.
    pub(super) fn start(address: IpAddr, counted: Option<&Range>) -> Result<Self, Error> {
        let refused =
            |source| Error::Address { operation: "listen on", address: address.to_string(), source };
        let mut beside = counted.into_iter().flat_map(|range| {
            (FIRST_FREE..range.low()).rev().chain(range.high().saturating_add(1)..u16::MAX)
        });
        let beside = beside.find_map(|port| TcpListener::bind((address, port)).ok());
        let listener = beside.map_or_else(|| TcpListener::bind((address, 0)), Ok).map_err(refused)?;
        // The standard library uses a short queue; a second listen() sets the longest queue
        // allowed.
        listen(&listener, Backlog::MAXALLOWABLE).map_err(|errno| refused(errno.into()))?;
        let bound = listener.local_addr().map_err(refused)?;
        let accepted = Arc::new(AtomicU64::new(0));
        let listener = Arc::new(listener);
        let (shared, counter) = (Arc::clone(&listener), Arc::clone(&accepted));
        let thread = std::thread::spawn(move || table::with_its_own(|| accept(&shared, &counter)));
        Ok(Self { listener, address: bound, accepted, thread: Some(thread) })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn accepted(&self) -> &Arc<AtomicU64> {
        &self.accepted
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        // The thread blocks in accept(), which fails after shutdown().
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
            Err(_) => return,
        }
        accepted.fetch_add(1, Ordering::Relaxed);
    }
}

/// Half of the accept queue, so that no connection is refused.
pub(super) fn half_of_queue() -> u64 {
    let most: Option<u64> =
        fs::read_to_string("/proc/sys/net/core/somaxconn").ok().and_then(|text| text.trim().parse().ok());
    (most.unwrap_or(SMALLEST_QUEUE) / 2).max(1)
}

/// `net.core.somaxconn` before Linux 5.4.
const SMALLEST_QUEUE: u64 = 128;

const FIRST_FREE: u16 = 1024;
