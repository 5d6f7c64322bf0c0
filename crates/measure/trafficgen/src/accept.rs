//! Accepts TCP connections, with one thread per connection, until the caller stops it.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    ops::ControlFlow,
    os::fd::AsFd,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    thread,
};

use nix::poll::PollFlags;
use tcp::Clock;
use tracing::{debug, warn};

use crate::{socket::plain, wait};

pub(crate) struct Accepted<'s> {
    pub stream: TcpStream,
    pub peer: SocketAddr,
    pub number: usize,
    pub stop: &'s AtomicBool,
}

/// Accepts until `watch` breaks, then waits for the open connections to end. Connections beyond
/// `most` wait in the kernel's accept queue.
pub(crate) fn each(
    listener: &TcpListener,
    most: usize,
    mut watch: impl FnMut() -> ControlFlow<()>,
    serve: impl Fn(Accepted<'_>) + Sync,
) {
    let (stop, open, clock) = (AtomicBool::new(false), AtomicUsize::new(0), Clock::start());
    thread::scope(|scope| {
        while watch().is_continue() {
            let until = clock.now() + wait::CALL;
            if open.load(Relaxed) >= most {
                clock.wait_until(until);
                continue;
            }
            let Ok(true) = wait::for_event(listener.as_fd(), PollFlags::POLLIN, clock, until) else {
                continue;
            };
            let (stream, peer) = match listener.accept() {
                Ok(accepted) => accepted,
                Err(error) => {
                    // A resource such as descriptors is exhausted. Other connections may release
                    // it: retry.
                    warn!(%error, "a connection could not be accepted");
                    clock.wait_until(until);
                    continue;
                }
            };
            debug!(%peer, "a connection was accepted");
            let number = open.fetch_add(1, Relaxed) + 1;
            let (open, stop, serve) = (&open, &stop, &serve);
            scope.spawn(move || {
                serve(Accepted { stream, peer: plain(peer), number, stop });
                open.fetch_sub(1, Relaxed);
            });
        }
        stop.store(true, Relaxed);
    });
}
