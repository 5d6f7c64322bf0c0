//! Relations between connections: connections to the same host share the capacity of the path and show that
//! the host is alive; a local listener may be the cause of other connections' waits.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, SocketAddr},
};

use super::{Figures, Listener, Observation, Role};

#[derive(Debug, Default)]
pub(super) struct Surroundings {
    senders: BTreeMap<IpAddr, Others>,
    answered: HashMap<IpAddr, usize>,
    left_open: HashMap<u32, usize>,
    full: Vec<(SocketAddr, String)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Others {
    pub count: u32,
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

    pub(super) fn senders_beside(&self, figures: &Figures<'_>) -> Others {
        let together = self.senders.get(&figures.socket.remote.ip()).copied().unwrap_or_default();
        let own = Others { count: u32::from(sends(figures)), rate: figures.rate() };
        let others = Others { count: together.count - own.count, rate: together.rate - own.rate };
        if others.rate >= own.rate * WORTH_SAYING { others } else { Others::default() }
    }

    pub(super) fn answered_beside(&self, figures: &Figures<'_>) -> usize {
        let all = self.answered.get(&figures.socket.remote.ip()).copied().unwrap_or_default();
        all - usize::from(is_answered(figures))
    }

    pub(super) fn left_open_by(&self, pid: u32) -> usize {
        self.left_open.get(&pid).copied().unwrap_or_default()
    }

    pub(super) fn full_listener_at(&self, address: SocketAddr) -> Option<&str> {
        let full = self.full.iter().find(|(local, _)| Listener::takes(*local, address));
        full.map(|(_, subject)| subject.as_str())
    }
}

fn sends(figures: &Figures<'_>) -> bool {
    figures.role() == Role::Sender && figures.acked() > 0
}

fn is_answered(figures: &Figures<'_>) -> bool {
    !figures.is_silent()
}

const WORTH_SAYING: f64 = 0.05;
