//! Packets on their way, in the order in which they are due.

use std::{cmp::Reverse, collections::BinaryHeap, ops::Range, rc::Rc, time::Duration};

use world::PortId;

use super::pool::Held;

/// Some segments of a packet, on their way to a host.
#[derive(Debug)]
pub(crate) struct Flight {
    /// When they arrive.
    pub due: Duration,
    /// How long the packet may have waited to be read.
    pub waited: Duration,
    /// By how much all that may be late.
    pub allowance: Duration,
    /// Who gets them.
    pub to: PortId,
    /// Which of the packet's segments.
    pub segments: Range<u32>,
    /// What they occupy on the wire.
    pub wire_bytes: u64,
    /// The packet.
    pub held: Rc<Held>,
}

/// A queue by due time; among equals, first in, first out.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
}

impl Schedule {
    pub(crate) fn push(&mut self, flight: Flight) {
        self.sequence += 1;
        self.heap.push(Reverse(Entry { sequence: self.sequence, flight }));
    }

    /// When the next one is due.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.heap.peek().map(|Reverse(entry)| entry.flight.due)
    }

    /// The next one if it is due at `now`.
    pub(crate) fn pop_due(&mut self, now: Duration) -> Option<Flight> {
        if self.next_due()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.flight)
    }
}

#[derive(Debug)]
struct Entry {
    sequence: u64,
    flight: Flight,
}

impl Entry {
    fn key(&self) -> (Duration, u64) {
        (self.flight.due, self.sequence)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::pool::Pool;

    #[test]
    fn packets_leave_in_order_of_due_time_then_arrival() {
        let mut pool = Pool::default();
        let mut schedule = Schedule::default();
        let mut frame = vec![0; 30];
        frame[10] = 0x45;
        pool.buffer()[..30].copy_from_slice(&frame);
        let held = pool.hold(30, crate::wire::Frame::parse(&frame).unwrap()).unwrap();
        for (to, due) in [(1, 20), (2, 10), (3, 20), (4, 10)] {
            let due = Duration::from_millis(due);
            let flight = Flight {
                due,
                waited: Duration::ZERO,
                allowance: Duration::ZERO,
                to,
                segments: 0..1,
                wire_bytes: 20,
                held: Rc::clone(&held),
            };
            schedule.push(flight);
        }
        assert!(schedule.pop_due(Duration::from_millis(9)).is_none());
        let order: Vec<_> = std::iter::from_fn(|| schedule.pop_due(Duration::from_millis(20)))
            .map(|flight| flight.to)
            .collect();
        assert_eq!(order, [2, 4, 1, 3]);
    }
}
