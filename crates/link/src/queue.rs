//! What waits for the wire, and which of it goes next.

mod fifo;

use crate::{Discipline, Ecn, Packet, counters::Amount};

pub(crate) use fifo::Fifo;

/// A packet of which some segments wait.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub(crate) arrival_ps: u64,
    /// With the link's framing.
    pub(crate) packet: Packet,
    /// The first segment that waits.
    pub(crate) first: u32,
    /// The one behind the last that waits.
    pub(crate) end: u32,
    pub(crate) flow: u64,
    pub(crate) ecn: Ecn,
    pub(crate) tag: T,
}

impl<T> Waiting<T> {
    /// What waits of it.
    pub(crate) fn amount(&self) -> Amount {
        self.packet.amount(&(self.first..self.end))
    }
}

/// What is to be done with the next segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It goes, and so may the segments behind it that begin before this time, up to this many.
    Pass { until_ps: u64, most: u32 },
}

/// Packets that wait, in the order that a discipline gives them.
#[derive(Debug)]
pub(crate) enum Queue<T> {
    DropTail(Fifo<T>),
}

impl<T> Queue<T> {
    pub(crate) fn new(discipline: &Discipline) -> Self {
        match discipline {
            Discipline::DropTail => Self::DropTail(Fifo::default()),
        }
    }

    /// What waits in all.
    pub(crate) fn amount(&self) -> Amount {
        match self {
            Self::DropTail(fifo) => fifo.amount(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.amount().segments == 0
    }

    pub(crate) fn enqueue(&mut self, waiting: Waiting<T>) {
        match self {
            Self::DropTail(fifo) => fifo.enqueue(waiting),
        }
    }

    /// Chooses the segment that leaves next, at `now_ps`, and says what is to be done with it.
    pub(crate) fn judge(&mut self, _now_ps: u64) -> Option<Judgement> {
        match self {
            Self::DropTail(fifo) => {
                fifo.head().map(|head| Judgement::Pass { until_ps: u64::MAX, most: head.end - head.first })
            }
        }
    }

    /// The packet of the segment that was judged last.
    pub(crate) fn head(&self) -> Option<&Waiting<T>> {
        match self {
            Self::DropTail(fifo) => fifo.head(),
        }
    }

    /// Removes as many segments from that packet.
    pub(crate) fn take(&mut self, segments: u32) {
        match self {
            Self::DropTail(fifo) => fifo.take(segments),
        }
    }
}
