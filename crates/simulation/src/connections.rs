//! Connections of one data centre to the origin: kept for a while, one request at a time on each.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

/// The connections by when they are free.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connections {
    busy: BinaryHeap<Reverse<u64>>,
    /// Since when each is idle, the longest first.
    idle: VecDeque<u64>,
    opened: u64,
}

impl Connections {
    /// Takes one for a request at `at`; whether it had to be opened. [`Self::give_back`] has to follow.
    pub(crate) fn take(&mut self, at: u64) -> bool {
        while let Some(&Reverse(free)) = self.busy.peek()
            && free <= at
        {
            self.busy.pop();
            self.idle.push_back(free);
        }
        while self.idle.front().is_some_and(|since| at.saturating_sub(*since) > KEPT_NS) {
            self.idle.pop_front();
        }
        // The one used last, as the edge does: it is the likeliest to be alive.
        let is_new = self.idle.pop_back().is_none();
        self.opened += u64::from(is_new);
        is_new
    }

    /// It is free again from then on.
    pub(crate) fn give_back(&mut self, free: u64) {
        self.busy.push(Reverse(free));
    }

    /// How many were opened.
    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }
}

/// As long as the edge keeps one that is idle.
const KEPT_NS: u64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_used_again_when_it_is_free_and_not_too_old() {
        let mut connections = Connections::default();
        assert!(connections.take(0));
        connections.give_back(100);
        assert!(connections.take(50), "the first is busy");
        connections.give_back(150);
        assert!(!connections.take(200), "both are idle");
        connections.give_back(300);
        assert!(!connections.take(200));
        connections.give_back(300);
        assert!(!connections.take(300 + KEPT_NS));
        connections.give_back(301 + KEPT_NS);
        // The other one was idle for a minute by then, and this one is by now.
        assert!(connections.take(302 + 2 * KEPT_NS));
        assert_eq!(connections.opened(), 3);
    }
}
