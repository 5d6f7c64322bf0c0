//! How much of a sample is the emulator's: what its journal says about the two hosts in the time of the sample. Pure.
//!
//! # The bound
//!
//! A sample is a chain of causes: a packet, the program that it wakes, the next packet. Whatever delays one link of the chain
//! delays its end by that time at most, so the sum of the delays on a chain bounds the error. Which packets were on it is
//! not known, but two packets of a chain that travel in one direction are at least a round trip apart, because one of the
//! other direction lies between them. Of a sample that took `n` round trips, at most `n` packets in each direction count:
//! the latest ones; and no more than the sample can have had, where that is known. To that come the whole time for which
//! programs of its two hosts, or the machine, were held up, and for each packet the time that it takes through a kernel to
//! the switch, which reads it, and to a program, which gets it. How long that took is not known of a packet, but how long it
//! takes how often is: the slowest samples are taken to have met the slowest in one round trip, and otherwise, as all
//! samples, that of the 90th percentile.
//!
//! Nor can the error be more than what a sample has beyond the least that it comes to: its round trips.

use std::collections::HashMap;

use crate::journal::{Delay, Flow, Journal, Service, Slot};

/// A journal whose flows and hosts are found by name.
#[derive(Debug, Default)]
pub struct Index {
    journal: Journal,
    /// The places of the flows of each two hosts.
    flows: HashMap<String, HashMap<String, Vec<usize>>>,
    /// The delays of each host, in order of time.
    hosts: HashMap<String, Delays>,
    machine: Delays,
}

/// What a journal says about exchanges between a host and another.
#[derive(Debug)]
pub struct Route<'j> {
    start_ns: u64,
    slot_ns: u64,
    wake_ns: &'j [(f64, u64)],
    rtt_ns: u64,
    there: Vec<Slot>,
    back: Vec<Slot>,
    /// Those of each host involved, and of the machine.
    delays: Vec<&'j Delays>,
}

/// A sample: when it was measured, on the machine's monotonic clock, and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// What was measured.
    pub value_ms: f64,
    /// What it comes to at least, however good the emulator is: the shortest round trip, as often as it takes that. All that
    /// the emulator can have added is beyond it. 0 if that is not known.
    pub least_ms: f64,
    /// How many round trips can have followed each other in it, if fewer than its time has room for: while a server works on its
    /// answer there are none. [`u64::MAX`] if that is not known.
    pub most_turns: u64,
    /// Not before.
    pub from_ns: u64,
    /// Not after.
    pub until_ns: u64,
}

/// Delays in order of time.
#[derive(Debug, Default)]
struct Delays {
    all: Vec<Delay>,
    longest_ns: u64,
}

impl From<Journal> for Index {
    fn from(mut journal: Journal) -> Self {
        let mut flows: HashMap<String, HashMap<String, Vec<usize>>> = HashMap::new();
        for (place, flow) in journal.flows.iter().enumerate() {
            let of_sender = flows.entry(flow.from.clone()).or_default();
            of_sender.entry(flow.to.clone()).or_default().push(place);
        }
        let mut hosts: HashMap<String, Vec<Delay>> = HashMap::new();
        for held in journal.hosts.drain(..) {
            hosts.entry(held.host).or_default().extend(held.delays);
        }
        let hosts = hosts.into_iter().map(|(host, delays)| (host, Delays::new(delays))).collect();
        let machine = Delays::new(std::mem::take(&mut journal.machine));
        Self { journal, flows, hosts, machine }
    }
}

impl Index {
    /// What is known of exchanges between `host` and `peer`, or all others, for `service`, or any. `rtt_ns` is the
    /// shortest round trip that they can take.
    pub fn route(&self, host: &str, peer: Option<&str>, service: Option<Service>, rtt_ns: u64) -> Route<'_> {
        let flows = |from: Option<&str>, to: Option<&str>| {
            let places = self.places(from, to);
            let flows = places.into_iter().map(|place| &self.journal.flows[place]);
            merged(flows.filter(|flow| service.is_none_or(|service| service.covers(flow.service))))
        };
        let of_hosts: Vec<&Delays> = match peer {
            Some(peer) => [host, peer].iter().filter_map(|name| self.hosts.get(*name)).collect(),
            None => self.hosts.values().collect(),
        };
        Route {
            start_ns: self.journal.start_ns,
            slot_ns: self.journal.slot_ns.max(1),
            wake_ns: &self.journal.wake_ns,
            rtt_ns: rtt_ns.max(1),
            there: flows(Some(host), peer),
            back: flows(peer, Some(host)),
            delays: of_hosts.into_iter().chain([&self.machine]).collect(),
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

impl Delays {
    fn new(mut all: Vec<Delay>) -> Self {
        all.sort_unstable_by_key(|delay| delay.from_ns);
        let longest_ns = all.iter().map(|delay| delay.until_ns - delay.from_ns).max().unwrap_or(0);
        Self { all, longest_ns }
    }

    /// For how long something was held up between two moments, at most.
    fn held(&self, from: u64, until: u64) -> u64 {
        let begin = self.all.partition_point(|delay| delay.from_ns < from.saturating_sub(self.longest_ns));
        let end = self.all.partition_point(|delay| delay.from_ns < until);
        let overlap = |delay: &Delay| delay.until_ns.min(until).saturating_sub(delay.from_ns.max(from));
        self.all[begin..end].iter().map(|delay| delay.delay_ns.min(overlap(delay))).sum()
    }
}

impl Route<'_> {
    /// How much of the time from one moment to another, on the machine's monotonic clock, may be the emulator's doing. Waking
    /// up takes as long as it does at most in this share of the cases. No more than `most_turns` round trips followed each other.
    pub fn bound_ns(&self, from_ns: u64, until_ns: u64, most_turns: u64, share: f64) -> u64 {
        let (from, until) = (from_ns.saturating_sub(self.start_ns), until_ns.saturating_sub(self.start_ns));
        let length = until.saturating_sub(from);
        // Half a round trip more, because one direction may be the shorter one.
        let turns = ((length + self.rtt_ns / 2) / self.rtt_ns).min(most_turns).max(1);
        let late = self.latest(&self.there, from, until, turns) + self.latest(&self.back, from, until, turns);
        // One round trip may have met the slowest; that all of them did is out of the question.
        let others = (2 * (turns - 1)).saturating_mul(self.wake(ORDINARY));
        let waking = (2 * self.wake(share)).saturating_add(others);
        let held = self.delays.iter().map(|delays| delays.held(from, until)).fold(0, u64::saturating_add);
        late.saturating_add(held).saturating_add(waking).min(length)
    }

    /// The bounds of samples in ms, in their order: of those that took longest, waking up took longest.
    #[expect(
        clippy::cast_precision_loss,
        reason = "there are far fewer than 2^53 samples, and 2^53 ns are 104 days"
    )]
    pub fn bounds_ms(&self, samples: &[Span]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..samples.len()).collect();
        order.sort_unstable_by(|&a, &b| samples[a].value_ms.total_cmp(&samples[b].value_ms));
        let mut bounds = vec![0.0; samples.len()];
        for (rank, place) in order.into_iter().enumerate() {
            let Span { value_ms, least_ms, most_turns, from_ns, until_ns } = samples[place];
            let bound_ns =
                self.bound_ns(from_ns, until_ns, most_turns, (rank + 1) as f64 / samples.len() as f64);
            bounds[place] = (bound_ns as f64 / 1e6).min((value_ms - least_ms).max(0.0));
        }
        bounds
    }

    /// How long a packet takes from a program to the switch and from there to a program, at most in this share of the cases.
    /// A sample that is fast as a whole may have met a slow packet.
    fn wake(&self, share: f64) -> u64 {
        let share = share.max(ORDINARY);
        let reached = self.wake_ns.iter().find(|(known, _)| *known >= share);
        reached.or(self.wake_ns.last()).map_or(0, |(_, ns)| *ns)
    }

    /// The sum of the lateness of the `turns` latest packets in some slots.
    fn latest(&self, slots: &[Slot], from: u64, until: u64, turns: u64) -> u64 {
        let [first, last] = [from, until].map(|at| at / self.slot_ns);
        let begin = slots.partition_point(|slot| u64::from(slot.number) < first);
        let end = slots.partition_point(|slot| u64::from(slot.number) <= last);
        // In a slot fit so many packets of a chain.
        let most = self.slot_ns.div_ceil(self.rtt_ns);
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::journal::Held;

    const MS: u64 = 1_000_000;

    fn flow(from: &str, to: &str, port: u16, slots: &[(u32, u64, u32)]) -> Flow {
        let slots = slots.iter().map(|&slot| slot.into()).collect();
        let lateness = Vec::new();
        Flow { from: from.to_owned(), to: to.to_owned(), service: Service::tcp(port), slots, lateness }
    }

    /// It began at 1 s; slots are 10 ms.
    fn journal() -> Journal {
        Journal {
            start_ns: 1000 * MS,
            slot_ns: 10 * MS,
            wake_ns: Vec::new(),
            flows: vec![
                flow("a", "b", 80, &[(0, MS, 1), (5, 4 * MS, 2), (9, 2 * MS, 100)]),
                flow("b", "a", 80, &[(1, 3 * MS, 1)]),
                flow("a", "b", 443, &[(5, 50 * MS, 1)]),
                flow("c", "b", 80, &[(5, 70 * MS, 1)]),
            ],
            hosts: vec![
                Held { host: "b".to_owned(), delays: vec![(200 * MS, 210 * MS, 6 * MS).into()] },
                Held { host: "c".to_owned(), delays: vec![(0, 500 * MS, 500 * MS).into()] },
            ],
            machine: vec![(400 * MS, 450 * MS, 50 * MS).into()],
        }
    }

    fn bound(journal: &Journal, from_ms: u64, until_ms: u64, rtt_ms: u64) -> u64 {
        let index = Index::from(journal.clone());
        let route = index.route("a", Some("b"), Some(Service::tcp(80)), rtt_ms * MS);
        route.bound_ns((1000 + from_ms) * MS, (1000 + until_ms) * MS, u64::MAX, 0.5) / MS
    }

    #[test]
    fn one_packet_a_round_trip_counts_in_each_direction() {
        let journal = journal();
        // One round trip: the latest of each direction, 4 there and 3 back; neither another service nor another host.
        assert_eq!(bound(&journal, 0, 99, 99), 7);
        // Two round trips: 4 + 4 in slot 5, which had two packets that may have been a round trip apart, only if a slot is
        // longer than that: it is not, so 4 + 2 there, and 3 back.
        assert_eq!(bound(&journal, 0, 99, 50), 9);
        // Round trips of 5 ms: two packets a slot, so 4 + 4 + 2 + 2 + 1 of those 20 that are possible, and 3.
        assert_eq!(bound(&journal, 0, 99, 5), 16);
        // Only what was delivered meanwhile.
        assert_eq!(bound(&journal, 60, 80, 20), 0);
        assert_eq!(bound(&journal, 60, 95, 20), 2);
        // Of the 20 round trips that have room, no more than two can have been.
        let index = Index::from(journal);
        let route = index.route("a", Some("b"), Some(Service::tcp(80)), 5 * MS);
        assert_eq!(route.bound_ns(1000 * MS, 1099 * MS, 2, 0.5), 11 * MS);
    }

    #[test]
    fn what_holds_up_hosts_or_the_machine_counts_for_as_long_as_it_overlaps() {
        let journal = journal();
        assert_eq!(bound(&journal, 150, 250, 100), 6);
        assert_eq!(bound(&journal, 208, 250, 100), 2, "only 2 ms of it can have been then");
        assert_eq!(bound(&journal, 440, 600, 100), 10);
        assert_eq!(bound(&journal, 300, 390, 100), 0);
    }

    #[test]
    fn waking_up_counts_twice_a_round_trip_and_nothing_exceeds_the_sample() {
        let journal = Journal { wake_ns: vec![(0.5, 10), (0.9, MS), (1.0, 4 * MS)], ..journal() };
        // 3 round trips of 10 ms, a wake-up for each packet.
        assert_eq!(bound(&journal, 300, 330, 10), 6);
        assert_eq!(bound(&journal, 0, 2, 1), 2);
        let empty = Index::default();
        assert_eq!(empty.route("a", None, None, 0).bound_ns(5, 10, u64::MAX, 1.0), 0);
        // Of three samples that were not disturbed otherwise, the slowest met slow wake-ups: two of 4 ms each.
        let index = Index::from(journal);
        let route = index.route("a", Some("b"), Some(Service::tcp(80)), 20 * MS);
        let sample = |value_ms, at: u64| {
            let (from_ns, until_ns) = ((1000 + at) * MS, (1000 + at + 20) * MS);
            Span { value_ms, least_ms: 0.0, most_turns: u64::MAX, from_ns, until_ns }
        };
        let samples = [sample(20.5, 300), sample(20.0, 320), sample(21.0, 350)];
        assert_eq!(route.bounds_ms(&samples), [2.0, 2.0, 8.0]);
        // None of them takes less than 19 ms, so the emulator can have added no more than the rest.
        let samples = samples.map(|sample| Span { least_ms: 19.0, ..sample });
        assert_eq!(route.bounds_ms(&samples), [1.5, 1.0, 2.0]);
    }

    #[test]
    fn services_that_were_not_kept_apart_count_for_all() {
        let mut journal = journal();
        journal.flows.push(flow("a", "b", 0, &[(6, 9 * MS, 1)]));
        assert_eq!(bound(&journal, 60, 80, 20), 9);
        let ping = Service { protocol: 58, port: 0 };
        assert!(Service::PING.covers(ping) && !Service::PING.covers(Service::tcp(0)));
    }

    /// Packets of one direction, each so long after the one before and so late, both in microseconds.
    fn packets() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0_u64..40_000, 0_u64..5000), 1..60)
    }

    proptest! {
        /// Any chain of packets, each at least a round trip after the one before, is at most as late as the bound.
        #[test]
        fn no_chain_is_later_than_the_bound(packets in packets(), rtt_us in 100_u64..50_000, skip in 1_usize..4) {
            let mut at_us = 0;
            let mut delivered = Vec::new();
            for (gap_us, late_us) in packets {
                at_us += gap_us;
                delivered.push((at_us, late_us));
            }
            let slots = delivered.iter().map(|&(at, late)| Slot {
                number: u32::try_from(at / 10_000).unwrap(), late_ns: late * 1000, packets: 1,
            });
            let flow = Flow { slots: slots.collect(), ..flow("a", "b", 80, &[]) };
            let journal = Journal { slot_ns: 10 * MS, flows: vec![flow], ..Journal::default() };
            let mut chain: Vec<(u64, u64)> = Vec::new();
            for &(at, late) in delivered.iter().step_by(skip) {
                if chain.last().is_none_or(|&(before, _)| at >= before + rtt_us) {
                    chain.push((at, late));
                }
            }
            let (first, last) = (chain[0].0, chain[chain.len() - 1].0);
            // The chain ends with an answer, half a round trip or more after its last packet.
            let end = last + rtt_us.max(chain.iter().map(|(_, late)| late).sum());
            let index = Index::from(journal);
            let route = index.route("a", Some("b"), None, rtt_us * 1000);
            let bound = route.bound_ns(first * 1000, end * 1000, u64::MAX, 0.5);
            let late: u64 = chain.iter().map(|(_, late)| late * 1000).sum();
            prop_assert!(bound >= late.min((end - first) * 1000), "{bound} < {late}");
        }
    }
}
