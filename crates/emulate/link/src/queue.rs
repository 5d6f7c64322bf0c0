//! The queue of a link, and the choice of the next packet.

mod codel;
mod fifo;
mod fq_codel;

use codel::Codel;
use fifo::Fifo;
use fq_codel::FqCodel;

use crate::{Discipline, Ecn, Packet, amount::Amount};

#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub(crate) arrival_ps: u64,
    /// Including the link's framing.
    pub(crate) packet: Packet,
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) flow: u64,
    pub(crate) ecn: Ecn,
    pub(crate) tag: T,
}

impl<T> Waiting<T> {
    pub(crate) fn amount(&self) -> Amount {
        self.packet.amount(&(self.first..self.end))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    Pass(Grant),
    Signal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The successors must start before this time.
    pub(crate) until_ps: u64,
    pub(crate) most: u32,
    pub(crate) mark: bool,
}

impl Grant {
    const ALL: Self = Self { until_ps: u64::MAX, most: u32::MAX, mark: false };
    pub(crate) const MARKED: Self = Self { until_ps: u64::MAX, most: 1, mark: true };
}

#[derive(Debug)]
pub(crate) enum Queue<T> {
    DropTail(Fifo<T>),
    Codel(Fifo<T>, Codel),
    FqCodel(FqCodel<T>),
}

impl<T> Queue<T> {
    /// The seed determines which flows share a queue.
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

    pub(crate) fn judge(&mut self, now_ps: u64) -> Option<Judgement> {
        match self {
            Self::DropTail(fifo) => fifo.head().map(|_| Judgement::Pass(Grant::ALL)),
            Self::Codel(fifo, codel) => fifo.leaving(now_ps).map(|leaving| codel.judge(leaving)),
            Self::FqCodel(flows) => flows.judge(now_ps),
        }
    }

    pub(crate) fn head(&self) -> Option<&Waiting<T>> {
        match self {
            Self::DropTail(fifo) | Self::Codel(fifo, _) => fifo.head(),
            Self::FqCodel(flows) => flows.head(),
        }
    }

    /// A packet without room then displaces one from the longest queue.
    pub(crate) fn is_fair(&self) -> bool {
        matches!(self, Self::FqCodel(_))
    }

    pub(crate) fn choose_longest(&mut self) {
        if let Self::FqCodel(flows) = self {
            flows.choose_longest();
        }
    }

    pub(crate) fn send(&mut self, segments: u32) {
        match self {
            Self::DropTail(fifo) | Self::Codel(fifo, _) => {
                fifo.take(segments);
            }
            Self::FqCodel(flows) => flows.send(segments),
        }
    }

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
