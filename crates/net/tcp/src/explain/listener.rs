//! Programs that listen and do not accept: their queue is full, and the kernel drops connection requests.

use std::net::SocketAddr;

use super::{Explanation, Limit, Observation, limit::accept_queue};
use crate::{
    Process,
    diag::{Key, Socket, State},
};

/// A listening socket.
#[derive(Debug, Clone)]
pub struct Listener {
    /// The key for finding it again.
    pub key: Key,
    /// The listening address.
    pub local: SocketAddr,
    /// The inode, by which its process is found.
    pub inode: u64,
    /// The user who opened it.
    pub uid: u32,
    /// Whether the filter selects it.
    pub is_asked_for: bool,
    /// Its queue at the beginning.
    pub before: Queue,
    /// Its queue at the end; `None` if it has closed.
    pub after: Option<Queue>,
    /// The process that has it open; `None` if it is inaccessible.
    pub process: Option<Process>,
}

/// Connections that wait to be accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queue {
    /// Number of waiting connections.
    pub waiting: u32,
    /// The limit: the backlog of `listen()`, at most `net.core.somaxconn`.
    pub most: u32,
    /// Total of dropped packets. Absent before Linux 4.8.
    pub drops: Option<u32>,
}

impl Queue {
    pub(super) fn of(socket: &Socket) -> Self {
        let drops = socket.memory.and_then(|memory| memory.drops);
        Self { waiting: socket.receive_queue, most: socket.send_queue, drops }
    }

    /// Whether further connections are dropped (`sk_acceptq_is_full()`).
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

    pub(super) fn is_full(&self) -> bool {
        let Some(after) = self.after else { return false };
        match [self.before.is_full(), after.is_full()] {
            [true, true] => true,
            [false, false] => false,
            _ => self.dropped().is_some_and(|dropped| dropped > 0),
        }
    }

    pub(super) fn dropped(&self) -> Option<u32> {
        Some(self.after?.drops?.wrapping_sub(self.before.drops?))
    }

    pub(super) fn subject(&self) -> String {
        match &self.process {
            Some(Process { pid, name, .. }) => format!("{name} (process {pid})"),
            None => "The program".to_owned(),
        }
    }

    pub(super) fn takes(local: SocketAddr, address: SocketAddr) -> bool {
        local.port() == address.port() && (local.ip().is_unspecified() || local.ip() == address.ip())
    }
}

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
