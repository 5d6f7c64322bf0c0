//! What else goes on: connections to the same host share what the path carries and show that it is alive, and a listener here
//! may be what others wait for.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, SocketAddr},
};

use super::{Figures, Listener, Observation, Role};

/// What is known of all connections together.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// The connections that send to each host.
    senders: BTreeMap<IpAddr, Others>,
    /// How many connections to each host something came back on.
    answered: HashMap<IpAddr, usize>,
    /// How many connections each process has left open that the peer has closed.
    left_open: HashMap<u32, usize>,
    /// Listening sockets of which the queue is full.
    full: Vec<(SocketAddr, String)>,
}

/// Connections, and how much they send together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Others {
    pub count: u32,
    /// Bits a second.
    pub rate: f64,
}

impl Surroundings {
    pub(super) fn of(observation: &Observation) -> Self {
        let mut all = Self::default();
        for seen in &observation.connections {
            let Some(figures) = Figures::of(&seen.looks) else { continue };
            let host = figures.socket.remote.ip();
            if sends(&figures) {
                let together = all.senders.entry(host).or_default();
                *together = Others { count: together.count + 1, rate: together.rate + figures.rate() };
            }
            if is_answered(&figures) {
                *all.answered.entry(host).or_default() += 1;
            }
            if let Some(process) = &seen.process
                && figures.is_left_open()
            {
                *all.left_open.entry(process.pid).or_default() += 1;
            }
        }
        let full = observation.listeners.iter().filter(|each| each.is_full());
        all.full = full.map(|each| (each.local, each.subject())).collect();
        all
    }

    /// The others that send to the same host; none if they send next to nothing compared with it.
    pub(super) fn senders_beside(&self, figures: &Figures<'_>) -> Others {
        let together = self.senders.get(&figures.socket.remote.ip()).copied().unwrap_or_default();
        let own = Others { count: u32::from(sends(figures)), rate: figures.rate() };
        let others = Others { count: together.count - own.count, rate: together.rate - own.rate };
        if others.rate >= own.rate * WORTH_SAYING { others } else { Others::default() }
    }

    /// How many other connections to the same host are answered.
    pub(super) fn answered_beside(&self, figures: &Figures<'_>) -> usize {
        let all = self.answered.get(&figures.socket.remote.ip()).copied().unwrap_or_default();
        all - usize::from(is_answered(figures))
    }

    /// How many connections a process has left open that the peer has closed.
    pub(super) fn left_open_by(&self, pid: u32) -> usize {
        self.left_open.get(&pid).copied().unwrap_or_default()
    }

    /// The program of this namespace that listens at an address and does not accept.
    pub(super) fn full_listener_at(&self, address: SocketAddr) -> Option<&str> {
        let full = self.full.iter().find(|(local, _)| Listener::takes(*local, address));
        full.map(|(_, subject)| subject.as_str())
    }
}

fn sends(figures: &Figures<'_>) -> bool {
    figures.role() == Role::Sender && figures.acked() > 0
}

/// Whether something came from the peer while it was looked at.
fn is_answered(figures: &Figures<'_>) -> bool {
    !figures.is_silent()
}

/// A connection counts from this share of another's rate on.
const WORTH_SAYING: f64 = 0.05;
