//! How much of a sample is the emulator's: what its journal says about the two hosts in the time of the sample. Pure.
//!
//! # The bound
//!
//! A sample is a chain of causes: a packet, the program that it wakes, the next packet. Whatever delays one link of the chain
//! delays its end by that time at most, so the sum of the delays on a chain bounds the error.
//!
//! Where it is known that a packet went to the other host and one came back, as in a handshake, it is known as well where each
//! of them can have been: the one on its way there left within `beyond`, which is what the wait took longer than the shortest
//! round trip; the other host had it no sooner than the shortest way there takes, and answered no later than the shortest way
//! back before the end; and the answer came within `beyond` of the end. For the rest of the wait packets were in flight, and what held up
//! programs then did no harm. Nor can the error of a wait be more than `beyond`.
//!
//! Of the rest of a sample nothing is known. Which packets were on its chain is not known either, but two of them that travel
//! in one direction are at least a round trip apart, because one of the other direction lies between them. Of a time with room
//! for `n` round trips, at most `n` packets in each direction count: the latest ones. In a wait it is one, and
//! those that were lost: a packet is sent again after a round trip at the soonest, and then each time after twice as long.
//!
//! To that come the whole time for which programs of the two hosts, or the machine, were held up, and for each packet the time
//! that it takes through a kernel to the switch, which reads it, and to a program, which gets it. How long that took is not known of
//! a packet, but how long it takes how often is: the slowest samples are taken to have met the slowest in one round trip,
//! and otherwise, as all samples, that of the 90th percentile.
//!
//! Nor can the error be more than what a sample has beyond the least that it comes to: its round trips.

mod delays;
mod span;

use std::collections::HashMap;

pub use self::span::{Span, WAITS};
use self::{delays::Delays, span::Part};
use crate::journal::{Flow, Journal, Service, Slot};

/// A journal whose flows and hosts are found by name.
#[derive(Debug, Default)]
pub struct Index {
    journal: Journal,
    /// The places of the flows of each two hosts.
    flows: HashMap<String, HashMap<String, Vec<usize>>>,
    /// The delays of each host.
    hosts: HashMap<String, Delays>,
    machine: Delays,
}

/// What a journal says about exchanges between a host and another.
#[derive(Debug)]
pub struct Route<'j> {
    start_ns: u64,
    slot_ns: u64,
    wake_ns: &'j [(f64, u64)],
    least_ns: [u64; 2],
    there: Vec<Slot>,
    back: Vec<Slot>,
    /// Delays of the host that measures.
    own: Option<&'j Delays>,
    /// Of the other, or of any.
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
    /// What is known of exchanges between `host` and `peer`, or all others, for `service`, or any. `least_ns` is the shortest
    /// way there and the shortest way back that a packet can take.
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

    /// Where the flows from a host, or any, to a host, or any, are.
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
    /// How much of a sample may be the emulator's doing, in ms. Waking up takes as long as it does at most in this share of the
    /// cases.
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    pub fn bound_ms(&self, sample: &Span, share: f64) -> f64 {
        let parts = sample.parts().map(|part| match part {
            Part::Wait(wait) => self.of_wait(wait.map(|at| at.saturating_sub(self.start_ns))),
            Part::Rest(rest) => self.of_rest(rest.map(|at| at.saturating_sub(self.start_ns))),
        });
        // One round trip may have met the slowest; that all of them did is out of the question.
        let slowest = 2 * (self.wake(share) - self.wake(ORDINARY));
        let bound = parts.fold(slowest, u64::saturating_add);
        let [from, until] = sample.whole_ns;
        let bound_ms = bound.min(until.saturating_sub(from)) as f64 / 1e6;
        bound_ms.min((sample.value_ms - sample.least_ms).max(0.0))
    }

    /// The bounds of samples in ms, in their order: of those that took longest, waking up took longest.
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

    /// Of a time in which a packet went there and one came back.
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

    /// Of a time in which anything may have happened.
    fn of_rest(&self, [from, until]: [u64; 2]) -> u64 {
        let (time, length) = ([from, until], until - from);
        // Half a round trip more, because one direction may be the shorter one.
        let turns = ((length + self.rtt() / 2) / self.rtt()).max(1);
        let late = [&self.there, &self.back].map(|slots| self.latest(slots, time, turns));
        let own = self.own.map_or(0, |delays| delays.held(time));
        let held = [own, self.of_others(time), self.machine.held(time), self.waking(turns)];
        late.into_iter().chain(held).fold(0, u64::saturating_add).min(length)
    }

    /// For how long any of the other hosts was held up.
    fn of_others(&self, time: [u64; 2]) -> u64 {
        self.others.iter().map(|delays| delays.held(time)).fold(0, u64::saturating_add)
    }

    /// The shortest round trip.
    fn rtt(&self) -> u64 {
        self.least_ns.iter().sum::<u64>().max(1)
    }

    /// How long the packets of so many round trips take from a program to the switch and from there to a program.
    fn waking(&self, turns: u64) -> u64 {
        (2 * turns).saturating_mul(self.wake(ORDINARY))
    }

    /// How long a packet takes from a program to the switch and from there to a program, at most in this share of the cases.
    /// A sample that is fast as a whole may have met a slow packet.
    fn wake(&self, share: f64) -> u64 {
        let share = share.max(ORDINARY);
        let reached = self.wake_ns.iter().find(|(known, _)| *known >= share);
        reached.or(self.wake_ns.last()).map_or(0, |(_, ns)| *ns)
    }

    /// The sum of the lateness of the `turns` latest packets that were delivered in a time, of which two are a round trip apart.
    fn latest(&self, slots: &[Slot], time: [u64; 2], turns: u64) -> u64 {
        let [first, last] = time.map(|at| at / self.slot_ns);
        let begin = slots.partition_point(|slot| u64::from(slot.number) < first);
        let end = slots.partition_point(|slot| u64::from(slot.number) <= last);
        // In a slot fit so many packets of a chain.
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

/// What each sample may have met, however fast it was.
const ORDINARY: f64 = 0.9;

/// The slots of several flows as those of one.
fn merged<'f>(flows: impl Iterator<Item = &'f Flow>) -> Vec<Slot> {
    let mut all: Vec<Slot> = flows.flat_map(|flow| flow.slots.iter().copied()).collect();
    all.sort_unstable_by_key(|slot| slot.number);
    Slot::merge(&mut all);
    all
}

#[cfg(test)]
mod tests;
