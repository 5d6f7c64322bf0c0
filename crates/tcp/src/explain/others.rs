//! What else goes to the same host: connections that share a path share what it carries.

use std::{collections::BTreeMap, net::IpAddr};

use super::{Figures, Role, Seen};

/// The connections that send to each host.
#[derive(Debug, Default)]
pub(super) struct Senders(BTreeMap<IpAddr, Others>);

/// Connections, and how much they send together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Others {
    pub count: u32,
    /// Bits a second.
    pub rate: f64,
}

impl Senders {
    pub(super) fn of(all: &[Seen]) -> Self {
        let mut senders = Self::default();
        for figures in all.iter().filter_map(|seen| Figures::of(&seen.looks)).filter(sends) {
            let together = senders.0.entry(figures.socket.remote.ip()).or_default();
            *together = Others { count: together.count + 1, rate: together.rate + figures.rate() };
        }
        senders
    }

    /// Those beside a connection; none if they send next to nothing compared with it.
    pub(super) fn beside(&self, figures: &Figures<'_>) -> Others {
        let together = self.0.get(&figures.socket.remote.ip()).copied().unwrap_or_default();
        let own = Others { count: u32::from(sends(figures)), rate: figures.rate() };
        let others = Others { count: together.count - own.count, rate: together.rate - own.rate };
        if others.rate >= own.rate * WORTH_SAYING { others } else { Others::default() }
    }
}

fn sends(figures: &Figures<'_>) -> bool {
    figures.role() == Role::Sender && figures.acked() > 0
}

/// A connection counts from this share of another's rate on.
const WORTH_SAYING: f64 = 0.05;
