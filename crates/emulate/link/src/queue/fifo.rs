//! A first-in, first-out queue.

use std::collections::VecDeque;

use super::{Waiting, codel::Leaving};
use crate::amount::Amount;

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

    pub(crate) fn leaving(&self, now_ps: u64) -> Option<Leaving> {
        let head = self.packets.front()?;
        let bytes = head.packet.amount(&(head.first..head.first + 1)).bytes;
        Some(Leaving { now_ps, arrival_ps: head.arrival_ps, bytes, behind: self.amount.bytes - bytes })
    }

    pub(crate) fn take(&mut self, segments: u32) -> Amount {
        let Some(head) = self.packets.front_mut() else { return Amount::default() };
        let first = head.first;
        head.first = first.saturating_add(segments).min(head.end);
        let taken = head.packet.amount(&(first..head.first));
        self.amount -= taken;
        if head.first == head.end {
            self.packets.pop_front();
        }
        taken
    }

    pub(crate) fn into_packets(self) -> VecDeque<Waiting<T>> {
        self.packets
    }
}
