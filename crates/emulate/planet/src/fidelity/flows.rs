//! Lateness of packets, by sender, receiver, service and time. Pure.
//!
//! When there are too many time slots, their length doubles and they are merged in pairs.

use std::{collections::HashMap, time::Duration};

use claim::{Service, Slot};
use world::HostId;

use crate::clock::nanoseconds;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    pub from: HostId,
    pub to: HostId,
    pub service: Service,
}

#[derive(Debug, Clone)]
pub(crate) struct Flows {
    slot: Duration,
    index: HashMap<Key, usize>,
    all: Vec<Flow>,
    services: HashMap<(HostId, HostId), usize>,
    slots: usize,
    /// Packets arrive in trains.
    last: Option<(Key, usize)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub key: Key,
    pub slots: Vec<Slot>,
    pub bins: [u32; BINS],
}

impl Flows {
    pub(crate) fn new() -> Self {
        Self {
            slot: SHORTEST_SLOT,
            index: HashMap::new(),
            all: Vec::new(),
            services: HashMap::new(),
            slots: 0,
            last: None,
        }
    }

    pub(crate) fn delivered(&mut self, key: Key, now: Duration, late: Duration) {
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => self.find(key),
        };
        self.last = Some((key, place));
        let (number, late_ns) = (slot_number(now, self.slot), nanoseconds(late));
        let flow = &mut self.all[place];
        let bin = &mut flow.bins[bin_of(late_ns)];
        *bin = bin.saturating_add(1);
        match flow.slots.last_mut() {
            // Shards run independently, so a packet may be recorded slightly after a later one.
            Some(slot) if slot.number >= number => {
                slot.late_ns = slot.late_ns.max(late_ns);
                slot.packets = slot.packets.saturating_add(1);
            }
            _ => {
                flow.slots.push(Slot { number, late_ns, packets: 1 });
                self.slots += 1;
            }
        }
        if self.slots > MOST_SLOTS {
            self.coarsen(self.slot * 2);
        }
    }

    /// Beyond [`MOST_SERVICES`] of two hosts, further services share a flow.
    fn find(&mut self, key: Key) -> usize {
        if let Some(&place) = self.index.get(&key) {
            return place;
        }
        let services = self.services.entry((key.from, key.to)).or_default();
        let is_kept_apart = *services < MOST_SERVICES || key.service.port == 0;
        if !is_kept_apart {
            return self.find(Key { service: Service { port: 0, ..key.service }, ..key });
        }
        *services += 1;
        self.all.push(Flow { key, slots: Vec::new(), bins: [0; BINS] });
        self.index.insert(key, self.all.len() - 1);
        self.all.len() - 1
    }

    pub(crate) fn slot(&self) -> Duration {
        self.slot
    }

    pub(crate) fn coarsen(&mut self, slot: Duration) {
        while self.slot < slot {
            self.slot *= 2;
            self.all.iter_mut().for_each(Flow::halve);
        }
        self.slots = self.all.iter().map(|flow| flow.slots.len()).sum();
    }

    pub(crate) fn into_flows(self) -> Vec<Flow> {
        self.all
    }
}

impl Flow {
    fn halve(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.number /= 2);
        Slot::merge(&mut self.slots);
    }
}

fn slot_number(now: Duration, slot: Duration) -> u32 {
    u32::try_from(now.as_nanos() / slot.as_nanos()).unwrap_or(u32::MAX)
}

/// Bin 0 is below 1 us, bin n from 2^(n-1) us to 2^n us.
fn bin_of(late_ns: u64) -> usize {
    let us = late_ns / 1000;
    usize::try_from(u64::BITS - us.leading_zeros()).map_or(BINS - 1, |bin| bin.min(BINS - 1))
}

/// Shorter than most round trips, and longer than the gap between packets of a busy flow.
const SHORTEST_SLOT: Duration = Duration::from_millis(10);

/// 16 bytes each: 64 MB per shard.
const MOST_SLOTS: usize = 4_000_000;

/// A client that uses many ports of a server creates many services.
const MOST_SERVICES: usize = 32;

/// The last bin contains lateness of 8 s and more.
pub(crate) const BINS: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn key(to: HostId, port: u16) -> Key {
        Key { from: 0, to, service: Service { protocol: 6, port } }
    }

    #[test]
    fn each_flow_has_its_own_latest_packet() {
        let mut flows = Flows::new();
        for at in 0..1000 {
            flows.delivered(key(1, 80), MS * at / 100, Duration::ZERO);
        }
        flows.delivered(key(2, 80), MS * 12, MS * 3);
        flows.delivered(key(2, 80), MS * 13, MS);
        flows.delivered(key(2, 80), MS * 45, MS * 2);
        let all = flows.into_flows();
        assert_eq!(all[0].slots, [Slot { number: 0, late_ns: 0, packets: 1000 }]);
        assert_eq!(all[1].slots, [(1, 3_000_000, 2).into(), (4, 2_000_000, 1).into()]);
        // 1 ms is in the bin from 512 to 1024 us, 2 ms in the next, and 3 ms in the bin after that.
        assert_eq!(all[1].bins[10..13], [1, 1, 1]);
        assert_eq!(all[0].bins[0], 1000);
    }

    #[test]
    fn longer_slots_keep_the_latest_and_the_sum() {
        let mut flows = Flows::new();
        for (at, late) in [(5, 1), (15, 4), (25, 2), (95, 3)] {
            flows.delivered(key(1, 80), MS * at, MS * late);
        }
        flows.coarsen(MS * 40);
        assert_eq!(flows.slot(), MS * 40);
        assert_eq!(flows.into_flows()[0].slots, [(0, 4_000_000, 3).into(), (2, 3_000_000, 1).into()]);
    }

    #[test]
    fn too_many_services_share_one() {
        let mut flows = Flows::new();
        for port in 1..=1000 {
            flows.delivered(key(1, port), MS, MS);
        }
        let all = flows.into_flows();
        assert_eq!(all.len(), MOST_SERVICES + 1);
        assert_eq!(all[MOST_SERVICES].key, key(1, 0));
        assert_eq!(all[MOST_SERVICES].slots[0].packets, 1000 - 32);
    }

    #[test]
    fn a_packet_that_is_noted_after_a_later_one_counts_with_that() {
        let mut flows = Flows::new();
        flows.delivered(key(1, 80), MS * 25, MS);
        flows.delivered(key(1, 80), MS * 19, MS * 7);
        assert_eq!(flows.into_flows()[0].slots, [Slot { number: 2, late_ns: 7_000_000, packets: 2 }]);
    }
}
