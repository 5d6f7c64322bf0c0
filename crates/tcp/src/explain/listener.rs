//! Programs that listen and do not accept: their queue is full, and the kernel drops requests to connect.

use std::net::SocketAddr;

use super::{Explanation, Limit, Observation, limit::accept_queue};
use crate::{
    Process,
    diag::{Key, Socket, State},
};

/// A socket that waits for connections.
#[derive(Debug, Clone)]
pub struct Listener {
    /// By what the kernel finds it again.
    pub key: Key,
    /// Where it listens.
    pub local: SocketAddr,
    /// By this number its process is found.
    pub inode: u64,
    /// The user who opened it.
    pub uid: u32,
    /// Whether it was asked for.
    pub is_asked_for: bool,
    /// Its queue at the beginning.
    pub before: Queue,
    /// The same at the end; none if it has closed.
    pub after: Option<Queue>,
    /// The process that has it open; none if we may not see it.
    pub process: Option<Process>,
}

/// Connections that wait to be accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queue {
    /// How many wait.
    pub waiting: u32,
    /// How many may: what `listen()` asked for, at most `net.core.somaxconn`. The kernel lets one more in.
    pub most: u32,
    /// Packets that were dropped, in all. Absent before Linux 4.8.
    pub drops: Option<u32>,
}

impl Queue {
    pub(super) fn of(socket: &Socket) -> Self {
        let drops = socket.memory.and_then(|memory| memory.drops);
        Self { waiting: socket.receive_queue, most: socket.send_queue, drops }
    }

    /// Whether no further connection gets in (`sk_acceptq_is_full()`).
    pub fn is_full(&self) -> bool {
        self.waiting > self.most
    }
}

impl Listener {
    pub(super) fn new(socket: &Socket, is_asked_for: bool) -> Self {
        Self {
            key: socket.key,
            local: socket.local,
            inode: socket.inode,
            uid: socket.uid,
            is_asked_for,
            before: Queue::of(socket),
            after: None,
            process: None,
        }
    }

    /// Whether its queue was full, at the beginning and at the end; or at one of them, and connections were dropped between.
    pub(super) fn is_full(&self) -> bool {
        let Some(after) = self.after else { return false };
        match [self.before.is_full(), after.is_full()] {
            [true, true] => true,
            [false, false] => false,
            _ => self.dropped().is_some_and(|dropped| dropped > 0),
        }
    }

    /// Packets dropped while it was looked at.
    pub(super) fn dropped(&self) -> Option<u32> {
        Some(self.after?.drops?.wrapping_sub(self.before.drops?))
    }

    /// Its process at the beginning of a sentence.
    pub(super) fn subject(&self) -> String {
        match &self.process {
            Some(Process { pid, name, .. }) => format!("{name} (process {pid})"),
            None => "The program".to_owned(),
        }
    }

    /// Whether a listener at `local` takes connections to an address.
    pub(super) fn takes(local: SocketAddr, address: SocketAddr) -> bool {
        local.port() == address.port() && (local.ip().is_unspecified() || local.ip() == address.ip())
    }
}

/// Those of which the queue is full.
pub(super) fn judge(observation: &Observation) -> impl Iterator<Item = Explanation> + use<'_> {
    let full = observation.listeners.iter().filter(|each| each.is_asked_for && each.is_full());
    full.filter_map(|each| Some((each, accept_queue::of_listener(each, each.after?)))).map(
        |(listener, finding)| {
            let local = listener.local.to_string();
            Explanation {
                state: Some(State::Listen),
                pid: listener.process.as_ref().map(|process| process.pid),
                process: listener.process.as_ref().map(|process| process.name.clone()),
                uid: Some(listener.uid),
                ..Explanation::without_connection(local, "*".to_owned(), Limit::AcceptQueue, finding)
            }
        },
    )
}
