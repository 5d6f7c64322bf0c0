//! The packets that wait for the link, and which of them is next.

mod codel;
mod fifo;
mod fq_codel;

use codel::Codel;
use fifo::Fifo;
use fq_codel::FqCodel;

use crate::{Discipline, Ecn, Packet, amount::Amount};

/// A packet of which some segments wait.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub(crate) arrival_ps: u64,
    /// With the link's framing.
    pub(crate) packet: Packet,
    /// The first segment that waits.
    pub(crate) first: u32,
    /// The index after the last waiting one.
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

/// A discipline's decision about the next segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It goes.
    Pass(Grant),
    /// Its sender must be told that there is a standing queue: by a mark, or by its loss.
    Signal,
}

/// What may go now: a segment, and those after it in its packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    /// Those after it must begin before this time.
    pub(crate) until_ps: u64,
    /// How many in all.
    pub(crate) most: u32,
    /// Whether it carries a mark of congestion.
    pub(crate) mark: bool,
}

impl Grant {
    /// The whole packet.
    const ALL: Self = Self { until_ps: u64::MAX, most: u32::MAX, mark: false };
    /// One segment that signals congestion.
    pub(crate) const MARKED: Self = Self { until_ps: u64::MAX, most: 1, mark: true };
}

/// Packets that wait, under a discipline.
#[derive(Debug)]
pub(crate) enum Queue<T> {
    DropTail(Fifo<T>),
    Codel(Fifo<T>, Codel),
    FqCodel(FqCodel<T>),
}

impl<T> Queue<T> {
    /// An empty queue. The seed decides which flows share one of fair queueing's queues.
    pub(crate) fn new(discipline: &Discipline, seed: u64) -> Self {
        match *discipline {
            Discipline::DropTail => Self::DropTail(Fifo::default()),
            Discipline::Codel { target, interval } => {
                Self::Codel(Fifo::default(), Codel::new(target, interval))
            }
            Discipline::FqCodel { target, interval, flows, quantum } => {
                Self::FqCodel(FqCodel::new(target, interval, flows, quantum, seed))
            }
        }
    }

    /// The same packets, in the order of their arrival, under another discipline.
    pub(crate) fn under(self, discipline: &Discipline, seed: u64) -> Self {
        let mut packets: Vec<_> = match self {
            Self::DropTail(fifo) | Self::Codel(fifo, _) => fifo.into_packets().into(),
            Self::FqCodel(flows) => flows.into_packets().collect(),
        };
        packets.sort_by_key(|waiting| waiting.arrival_ps);
        let mut queue = Self::new(discipline, seed);
        packets.into_iter().for_each(|waiting| queue.enqueue(waiting));
        queue
    }

    /// What waits in all.
    pub(crate) fn amount(&self) -> Amount {
        match self {
            Self::DropTail(fifo) | Self::Codel(fifo, _) => fifo.amount(),
            Self::FqCodel(flows) => flows.amount(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.amount().segments == 0
    }

    pub(crate) fn enqueue(&mut self, waiting: Waiting<T>) {
        match self {
            Self::DropTail(fifo) | Self::Codel(fifo, _) => fifo.enqueue(waiting),
            Self::FqCodel(flows) => flows.enqueue(waiting),
        }
    }

    /// Chooses the segment that leaves next, at `now_ps`, and returns its fate; `None` if the queue is empty.
    pub(crate) fn judge(&mut self, now_ps: u64) -> Option<Judgement> {
        match self {
            Self::DropTail(fifo) => fifo.head().map(|_| Judgement::Pass(Grant::ALL)),
            Self::Codel(fifo, codel) => fifo.leaving(now_ps).map(|leaving| codel.judge(leaving)),
            Self::FqCodel(flows) => flows.judge(now_ps),
        }
    }

    /// The packet of the segment that was chosen last.
    pub(crate) fn head(&self) -> Option<&Waiting<T>> {
        match self {
            Self::DropTail(fifo) | Self::Codel(fifo, _) => fifo.head(),
            Self::FqCodel(flows) => flows.head(),
        }
    }

    /// Whether flows have separate queues. Then a packet for which there is no room displaces one of the longest
    /// queue.
    pub(crate) fn is_fair(&self) -> bool {
        matches!(self, Self::FqCodel(_))
    }

    /// Chooses the first segment of the flow with the longest queue.
    pub(crate) fn choose_longest(&mut self) {
        if let Self::FqCodel(flows) = self {
            flows.choose_longest();
        }
    }

    /// Removes segments from that packet because they are sent.
    pub(crate) fn send(&mut self, segments: u32) {
        match self {
            Self::DropTail(fifo) | Self::Codel(fifo, _) => {
                fifo.take(segments);
            }
            Self::FqCodel(flows) => flows.send(segments),
        }
    }

    /// Removes the first segment of that packet because it is dropped.
    pub(crate) fn drop_one(&mut self) {
        match self {
            Self::DropTail(fifo) | Self::Codel(fifo, _) => {
                fifo.take(1);
            }
            Self::FqCodel(flows) => {
                flows.take(1);
            }
        }
    }
}
