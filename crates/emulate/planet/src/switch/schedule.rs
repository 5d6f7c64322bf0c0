//! The event queue of a shard: packet arrivals, and due decisions of edges.

use std::{cmp::Reverse, collections::BinaryHeap, ops::Range, sync::Arc, time::Duration};

use super::pool::Held;
use crate::{
    frame::Treatment,
    router::{edges::EdgeId, path::Path},
};

#[derive(Debug, Clone)]
pub(crate) struct InFlight {
    pub held: Arc<Held>,
    pub segments: Range<u32>,
    pub path: Arc<Path>,
    pub hop: usize,
    pub treatment: Treatment,
    pub waited: Duration,
}

#[derive(Debug)]
pub(crate) enum Event {
    Arrival(InFlight),
    Decision(EdgeId),
}

#[derive(Debug, Default)]
pub(crate) struct Schedule {
    order: BinaryHeap<Reverse<(Duration, u64, usize)>>,
    events: Vec<Option<Event>>,
    free: Vec<usize>,
    sequence: u64,
}

impl Schedule {
    pub(crate) fn push(&mut self, due: Duration, event: Event) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            self.events.len() - 1
        });
        self.events[slot] = Some(event);
        self.sequence += 1;
        self.order.push(Reverse((due, self.sequence, slot)));
    }

    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.order.peek().map(|Reverse((due, ..))| *due)
    }

    pub(crate) fn pop_due(&mut self, now: Duration) -> Option<(Duration, Event)> {
        if self.next_due()? > now {
            return None;
        }
        let Reverse((due, _, slot)) = self.order.pop()?;
        self.free.push(slot);
        self.events[slot].take().map(|event| (due, event))
    }

    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &InFlight> {
        self.events.iter().flatten().filter_map(|event| match event {
            Event::Arrival(packet) => Some(packet),
            Event::Decision(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_happen_in_order_of_due_time_then_of_planning() {
        let mut schedule = Schedule::default();
        for (edge, due) in [(1, 20), (2, 10), (3, 20), (4, 10)] {
            schedule.push(Duration::from_millis(due), Event::Decision(edge));
        }
        assert!(schedule.pop_due(Duration::from_millis(9)).is_none());
        let order: Vec<_> = std::iter::from_fn(|| schedule.pop_due(Duration::from_millis(20)))
            .map(|(_, event)| match event {
                Event::Decision(edge) => edge,
                Event::Arrival(_) => unreachable!("none was planned"),
            })
            .collect();
        assert_eq!(order, [2, 4, 1, 3]);
        schedule.push(Duration::ZERO, Event::Decision(5));
        assert_eq!(schedule.events.len(), 4, "slots are used again");
    }
}
