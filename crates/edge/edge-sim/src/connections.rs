//! Persistent connections of a data centre to the origin. Each carries one request after the other.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

#[derive(Debug, Clone, Default)]
pub(crate) struct Connections {
    busy: BinaryHeap<Reverse<u64>>,
    /// Start times, ascending.
    idle: VecDeque<u64>,
    opened: u64,
}

impl Connections {
    /// Returns whether the connection is new. [`Self::give_back`] must follow.
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
        // As in the edge: the most recently used connection is the most likely to be open.
        let is_new = self.idle.pop_back().is_none();
        self.opened += u64::from(is_new);
        is_new
    }

    pub(crate) fn give_back(&mut self, free: u64) {
        self.busy.push(Reverse(free));
    }

    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }
}

/// Idle timeout of the edge.
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
        // The first connection has been idle for too long, and now this one has.
        assert!(connections.take(302 + 2 * KEPT_NS));
        assert_eq!(connections.opened(), 3);
    }
}
