//! Bounds of the emulator's error in a sample, from the journal of the two hosts during the sample.
//!
//! A sample is a causal chain: a packet, the program that it wakes, the next packet. The sum of the
//! delays on the chain bounds the error, which cannot exceed the sample's value minus the time of
//! its round trips.
//!
//! - A wait has one packet per direction, and retransmissions. A delay of a program counts only
//!   where the packet can be at that host: within the wait minus the shortest round trip.
//! - Elsewhere, packets of the chain in one direction are at least a round trip apart: of an
//!   interval with room for `n` round trips, the latest `n` packets per direction count.
//! - Wake-ups are known as a distribution only: the slowest samples get the slowest wake-ups in one
//!   round trip, all others the 90th percentile.

mod delays;
mod span;

use std::collections::HashMap;

pub use self::span::{Span, WAITS};
use self::{delays::Delays, span::Part};
use crate::journal::{Flow, Journal, Service, Slot};

/// A journal with its flows and hosts indexed by name.
#[derive(Debug, Default)]
pub struct Index {
    journal: Journal,
    flows: HashMap<String, HashMap<String, Vec<usize>>>,
    hosts: HashMap<String, Delays>,
    machine: Delays,
}

/// The journal entries for exchanges between a host and a peer.
#[derive(Debug)]
pub struct Route<'j> {
    start_ns: u64,
    slot_ns: u64,
    wake_ns: &'j [(f64, u64)],
    least_ns: [u64; 2],
    there: Vec<Slot>,
    back: Vec<Slot>,
    own: Option<&'j Delays>,
    others: Vec<&'j Delays>,
    machine: &'j Delays,
}

impl From<Journal> for Index {
    fn from(mut journal: Journal) -> Self {
        let mut flows: HashMap<String, HashMap<String, Vec<usize>>> = HashMap::new();
        for (place, flow) in journal.flows.iter().enumerate() {
            let of_sender = flows.entry(flow.from.clone()).or_default();
            of_sender.entry(flow.to.clone()).or_default().push(place);
        }
        let mut hosts: HashMap<String, Vec<_>> = HashMap::new();
        for held in journal.hosts.drain(..) {
            hosts.entry(held.host).or_default().extend(held.delays);
        }
        let hosts = hosts.into_iter().map(|(host, delays)| (host, Delays::new(delays))).collect();
        let machine = Delays::new(std::mem::take(&mut journal.machine));
        Self { journal, flows, hosts, machine }
    }
}

impl Index {
    /// The entries for exchanges between `host` and `peer` (or all hosts) for `service` (or all
    /// services). `least_ns` are the shortest one-way delays to the peer and back.
    pub fn route(
        &self,
        host: &str,
        peer: Option<&str>,
        service: Option<Service>,
        least_ns: [u64; 2],
    ) -> Route<'_> {
        let flows = |from: Option<&str>, to: Option<&str>| {
            let places = self.places(from, to);
            let flows = places.into_iter().map(|place| &self.journal.flows[place]);
            merged(flows.filter(|flow| service.is_none_or(|service| service.covers(flow.service))))
        };
        let others = match peer {
            Some(peer) => self.hosts.get(peer).into_iter().collect(),
            None => self.hosts.iter().filter(|(name, _)| *name != host).map(|(_, delays)| delays).collect(),
        };
        Route {
            start_ns: self.journal.start_ns,
            slot_ns: self.journal.slot_ns.max(1),
            wake_ns: &self.journal.wake_ns,
            least_ns,
            there: flows(Some(host), peer),
            back: flows(peer, Some(host)),
            own: self.hosts.get(host),
            others,
            machine: &self.machine,
        }
    }

    fn places(&self, from: Option<&str>, to: Option<&str>) -> Vec<usize> {
        let of = |receivers: &HashMap<String, Vec<usize>>| match to {
            Some(to) => receivers.get(to).cloned().unwrap_or_default(),
            None => receivers.values().flatten().copied().collect(),
        };
        match from {
            Some(from) => self.flows.get(from).map(of).unwrap_or_default(),
            None => self.flows.values().flat_map(of).collect(),
        }
    }
}

impl Route<'_> {
    /// The bound of the emulator's error in a sample, in ms. `share` is the quantile of the wake-up
    /// time to assume.
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    pub fn bound_ms(&self, sample: &Span, share: f64) -> f64 {
        let parts = sample.parts().map(|part| match part {
            Part::Wait(wait) => self.of_wait(wait.map(|at| at.saturating_sub(self.start_ns))),
            Part::Rest(rest) => self.of_rest(rest.map(|at| at.saturating_sub(self.start_ns))),
        });
        // One round trip may include the slowest wake-ups. It is not plausible that all of them do.
        let slowest = 2 * (self.wake(share) - self.wake(ORDINARY));
        let bound = parts.fold(slowest, u64::saturating_add);
        let [from, until] = sample.whole_ns;
        let bound_ms = bound.min(until.saturating_sub(from)) as f64 / 1e6;
        bound_ms.min((sample.value_ms - sample.least_ms).max(0.0))
    }

    /// The bounds in ms, in the order of the samples. The rank of a sample's value is the quantile
    /// of its wake-up time.
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 samples")]
    pub fn bounds_ms(&self, samples: &[Span]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..samples.len()).collect();
        order.sort_unstable_by(|&a, &b| samples[a].value_ms.total_cmp(&samples[b].value_ms));
        let mut bounds = vec![0.0; samples.len()];
        for (rank, place) in order.into_iter().enumerate() {
            bounds[place] = self.bound_ms(&samples[place], (rank + 1) as f64 / samples.len() as f64);
        }
        bounds
    }

    fn of_wait(&self, [from, until]: [u64; 2]) -> u64 {
        let [there, back] = self.least_ns;
        let beyond = (until - from).saturating_sub(there + back);
        let leaving = [from, from + beyond];
        let answering = [from + there, from + there + beyond];
        let returning = [until - beyond, until];
        let turns = 1 + u64::from(((until - from) / self.rtt() + 1).ilog2());
        let late = [self.latest(&self.there, answering, turns), self.latest(&self.back, returning, turns)];
        let own = [leaving, returning].map(|time| self.own.map_or(0, |delays| delays.held(time)));
        let machine = [leaving, answering, returning].map(|time| self.machine.held(time));
        let once = [self.of_others(answering), self.waking(turns)];
        late.into_iter().chain(own).chain(machine).chain(once).fold(0, u64::saturating_add).min(beyond)
    }

    fn of_rest(&self, [from, until]: [u64; 2]) -> u64 {
        let (time, length) = ([from, until], until - from);
        // Half a round trip is added because one direction may be shorter than the other.
        let turns = ((length + self.rtt() / 2) / self.rtt()).max(1);
        let late = [&self.there, &self.back].map(|slots| self.latest(slots, time, turns));
        let own = self.own.map_or(0, |delays| delays.held(time));
        let held = [own, self.of_others(time), self.machine.held(time), self.waking(turns)];
        late.into_iter().chain(held).fold(0, u64::saturating_add).min(length)
    }

    fn of_others(&self, time: [u64; 2]) -> u64 {
        self.others.iter().map(|delays| delays.held(time)).fold(0, u64::saturating_add)
    }

    fn rtt(&self) -> u64 {
        self.least_ns.iter().sum::<u64>().max(1)
    }

    fn waking(&self, turns: u64) -> u64 {
        (2 * turns).saturating_mul(self.wake(ORDINARY))
    }

    /// At least the ordinary share, because a fast sample may include a slow packet.
    fn wake(&self, share: f64) -> u64 {
        let share = share.max(ORDINARY);
        let reached = self.wake_ns.iter().find(|(known, _)| *known >= share);
        reached.or(self.wake_ns.last()).map_or(0, |(_, ns)| *ns)
    }

    /// The lateness of the `turns` latest packets. Packets of a chain are at least a round trip
    /// apart.
    fn latest(&self, slots: &[Slot], time: [u64; 2], turns: u64) -> u64 {
        let [first, last] = time.map(|at| at / self.slot_ns);
        let begin = slots.partition_point(|slot| u64::from(slot.number) < first);
        let end = slots.partition_point(|slot| u64::from(slot.number) <= last);
        let most = self.slot_ns.div_ceil(self.rtt());
        let mut late: Vec<(u64, u64)> =
            slots[begin..end].iter().map(|slot| (slot.late_ns, most.min(slot.packets.into()))).collect();
        late.sort_unstable_by(|a, b| b.cmp(a));
        let mut left = turns;
        let mut sum: u64 = 0;
        for (late_ns, packets) in late {
            let counted = packets.min(left);
            sum = sum.saturating_add(late_ns.saturating_mul(counted));
            left -= counted;
            if left == 0 {
                break;
            }
        }
        sum
    }
}

/// The quantile that applies to every sample.
const ORDINARY: f64 = 0.9;

fn merged<'f>(flows: impl Iterator<Item = &'f Flow>) -> Vec<Slot> {
    let mut all: Vec<Slot> = flows.flat_map(|flow| flow.slots.iter().copied()).collect();
    all.sort_unstable_by_key(|slot| slot.number);
    Slot::merge(&mut all);
    all
}

#[cfg(test)]
mod tests;
