//! First in, first out.

use std::collections::VecDeque;

use super::Waiting;
use crate::counters::Amount;

/// Packets in the order of their arrival.
#[derive(Debug)]
pub(crate) struct Fifo<T> {
    packets: VecDeque<Waiting<T>>,
    amount: Amount,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self { packets: VecDeque::new(), amount: Amount::default() }
    }
}

impl<T> Fifo<T> {
    pub(crate) fn amount(&self) -> Amount {
        self.amount
    }

    pub(crate) fn enqueue(&mut self, waiting: Waiting<T>) {
        self.amount += waiting.amount();
        self.packets.push_back(waiting);
    }

    pub(crate) fn head(&self) -> Option<&Waiting<T>> {
        self.packets.front()
    }

    /// Removes the head's first `segments` segments, at most all of them.
    pub(crate) fn take(&mut self, segments: u32) {
        let Some(head) = self.packets.front_mut() else { return };
        let before = head.amount();
        head.first = head.first.saturating_add(segments).min(head.end);
        let after = head.amount();
        self.amount -= before.less(after);
        if after.segments == 0 {
            self.packets.pop_front();
        }
    }
}
