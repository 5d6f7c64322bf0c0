//! What an emulator held up, and when: packets that it delivered late, programs that waited for a processor, and times in
//! which the machine stood still. Held against the time of a sample, it bounds how much of that sample is the emulator's.
//! Pure.
//!
//! # The bound
//!
//! A sample is a chain of causes: a packet, the program that it wakes, the next packet. Whatever delays one link of the chain
//! delays its end by that time at most, so the sum of the delays on a chain bounds the error. Which packets were on it is
//! not known, but two packets of a chain that travel in one direction are at least a round trip apart, because one of the
//! other direction lies between them. Of a sample that took `n` round trips, at most `n` packets in each direction count:
//! the latest ones. To that come the whole time for which programs of its two hosts, or the machine, were held up, and
//! for each packet the time that it takes to wake the switch, which reads it, and a program, which gets it. How long that took
//! is not known of a packet, but how long it takes how often is: the slowest samples are taken to have met the slowest.

use serde::{Deserialize, Serialize};

/// What an emulator noted while it ran. All times but `start_ns` count from then.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    /// When it began, on the machine's monotonic clock.
    pub start_ns: u64,
    /// How long a slot is.
    pub slot_ns: u64,
    /// How long it takes to wake the switch and then a program: shares of what was tried, ascending, and the time that is not
    /// exceeded in such a share.
    pub wake_ns: Vec<(f64, u64)>,
    /// Packets delivered, by where from, where to and what for.
    pub flows: Vec<Flow>,
    /// How long the programs of each host were held up.
    pub hosts: Vec<Held>,
    /// When the whole machine, or a processor of it, stood still.
    pub machine: Vec<Delay>,
}

/// Packets of one service from one host to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The host that sent them.
    pub from: String,
    /// The host that got them.
    pub to: String,
    /// What for.
    pub service: Service,
    /// In order of time. Slots in which nothing was delivered are left out.
    pub slots: Vec<Slot>,
}

/// What a packet is for: a protocol, and the lower one of its two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Service {
    /// The number of the protocol in the IP header: 1, 6, 17, 58.
    pub protocol: u8,
    /// The lower port; 0 for protocols without ports, and where there were too many services to keep apart.
    pub port: u16,
}

/// Packets that were delivered in a slot of time: its number, how late the latest was in ns, how many there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u64, u32)", into = "(u32, u64, u32)")]
pub struct Slot {
    /// Counted from 0.
    pub number: u32,
    /// How late the latest packet was.
    pub late_ns: u64,
    /// How many there were.
    pub packets: u32,
}

/// How long the programs of a host were held up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The host.
    pub host: String,
    /// When.
    pub delays: Vec<Delay>,
}

/// Somewhere between two moments something was held up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub struct Delay {
    /// Not before.
    pub from_ns: u64,
    /// Not after.
    pub until_ns: u64,
    /// For so long.
    pub delay_ns: u64,
}

/// What a journal says about exchanges between a host and another.
#[derive(Debug)]
pub struct Route {
    start_ns: u64,
    slot_ns: u64,
    wake_ns: Vec<(f64, u64)>,
    rtt_ns: u64,
    there: Vec<Slot>,
    back: Vec<Slot>,
    delays: Vec<Delay>,
    longest_delay_ns: u64,
}

impl Journal {
    /// What is known of exchanges between `host` and `peer`, or all others, for `service`, or any. `rtt_ns` is the
    /// shortest round trip that they can take.
    pub fn route(&self, host: &str, peer: Option<&str>, service: Option<Service>, rtt_ns: u64) -> Route {
        let is_peer = |name: &str| peer.is_none_or(|peer| peer == name);
        let is_service = |flow: &&Flow| service.is_none_or(|service| service.covers(flow.service));
        let flows = || self.flows.iter().filter(is_service);
        let there = flows().filter(|flow| flow.from == host && is_peer(&flow.to));
        let back = flows().filter(|flow| flow.to == host && is_peer(&flow.from));
        let involved = |held: &&Held| held.host == host || is_peer(&held.host);
        let of_hosts = self.hosts.iter().filter(involved).flat_map(|held| &held.delays);
        let mut delays: Vec<Delay> = of_hosts.chain(&self.machine).copied().collect();
        delays.sort_unstable_by_key(|delay| delay.from_ns);
        Route {
            start_ns: self.start_ns,
            slot_ns: self.slot_ns.max(1),
            wake_ns: self.wake_ns.clone(),
            rtt_ns: rtt_ns.max(1),
            there: merged(there),
            back: merged(back),
            longest_delay_ns: delays.iter().map(|delay| delay.until_ns - delay.from_ns).max().unwrap_or(0),
            delays,
        }
    }
}

impl Service {
    /// Pings, of either version of IP.
    pub const PING: Self = Self { protocol: 1, port: 0 };

    /// A TCP service by its port.
    pub fn tcp(port: u16) -> Self {
        Self { protocol: 6, port }
    }

    /// Whether packets of `other` may be of this service: the same, or one that was not kept apart.
    fn covers(self, other: Self) -> bool {
        let is_ping = |service: Self| matches!(service.protocol, 1 | 58);
        let is_protocol = self.protocol == other.protocol || is_ping(self) && is_ping(other);
        is_protocol && (self.port == other.port || other.port == 0)
    }
}

impl Route {
    /// How much of the time from one moment to another, on the machine's monotonic clock, may be the emulator's doing. Waking
    /// up takes as long as it does at most in this share of the cases.
    pub fn bound_ns(&self, from_ns: u64, until_ns: u64, share: f64) -> u64 {
        let (from, until) = (from_ns.saturating_sub(self.start_ns), until_ns.saturating_sub(self.start_ns));
        let length = until.saturating_sub(from);
        // Half a round trip more, because one direction may be the shorter one.
        let turns = ((length + self.rtt_ns / 2) / self.rtt_ns).max(1);
        let late = self.latest(&self.there, from, until, turns) + self.latest(&self.back, from, until, turns);
        let waking = (2 * turns).saturating_mul(self.wake(share));
        late.saturating_add(self.held(from, until)).saturating_add(waking).min(length)
    }

    /// The bounds of samples with these values and times, in their order: of those that took longest, waking up took longest.
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 samples")]
    pub fn bounds_ns(&self, samples: &[(f64, u64, u64)]) -> Vec<u64> {
        let mut order: Vec<usize> = (0..samples.len()).collect();
        order.sort_unstable_by(|&a, &b| samples[a].0.total_cmp(&samples[b].0));
        let mut bounds = vec![0; samples.len()];
        for (rank, place) in order.into_iter().enumerate() {
            let (_, from_ns, until_ns) = samples[place];
            bounds[place] = self.bound_ns(from_ns, until_ns, (rank + 1) as f64 / samples.len() as f64);
        }
        bounds
    }

    /// How long a packet takes from a program to the switch, or from there to a program, at most in this share of the cases.
    /// Waking up is known; the kernel's own work on a packet is not, and is taken to be no more than a wake-up at the median.
    fn wake(&self, share: f64) -> u64 {
        let share = share.max(0.5);
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

    /// For how long something was held up between two moments, at most.
    fn held(&self, from: u64, until: u64) -> u64 {
        let begin =
            self.delays.partition_point(|delay| delay.from_ns < from.saturating_sub(self.longest_delay_ns));
        let end = self.delays.partition_point(|delay| delay.from_ns < until);
        let overlap = |delay: &Delay| delay.until_ns.min(until).saturating_sub(delay.from_ns.max(from));
        self.delays[begin..end].iter().map(|delay| delay.delay_ns.min(overlap(delay))).sum()
    }
}

/// The slots of several flows as those of one.
fn merged<'f>(flows: impl Iterator<Item = &'f Flow>) -> Vec<Slot> {
    let mut all: Vec<Slot> = flows.flat_map(|flow| flow.slots.iter().copied()).collect();
    all.sort_unstable_by_key(|slot| slot.number);
    all.dedup_by(|next, kept| {
        let is_same = next.number == kept.number;
        if is_same {
            kept.late_ns = kept.late_ns.max(next.late_ns);
            kept.packets = kept.packets.saturating_add(next.packets);
        }
        is_same
    });
    all
}

impl From<(u32, u64, u32)> for Slot {
    fn from((number, late_ns, packets): (u32, u64, u32)) -> Self {
        Self { number, late_ns, packets }
    }
}

impl From<Slot> for (u32, u64, u32) {
    fn from(slot: Slot) -> Self {
        (slot.number, slot.late_ns, slot.packets)
    }
}

impl From<(u64, u64, u64)> for Delay {
    fn from((from_ns, until_ns, delay_ns): (u64, u64, u64)) -> Self {
        Self { from_ns, until_ns: until_ns.max(from_ns), delay_ns }
    }
}

impl From<Delay> for (u64, u64, u64) {
    fn from(delay: Delay) -> Self {
        (delay.from_ns, delay.until_ns, delay.delay_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    fn flow(from: &str, to: &str, port: u16, slots: &[(u32, u64, u32)]) -> Flow {
        let slots = slots.iter().map(|&slot| slot.into()).collect();
        Flow { from: from.to_owned(), to: to.to_owned(), service: Service::tcp(port), slots }
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
        let route = journal.route("a", Some("b"), Some(Service::tcp(80)), rtt_ms * MS);
        route.bound_ns((1000 + from_ms) * MS, (1000 + until_ms) * MS, 0.5) / MS
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
        let journal = Journal { wake_ns: vec![(0.5, MS), (1.0, 4 * MS)], ..journal() };
        // 3 round trips of 10 ms, a wake-up for each packet.
        assert_eq!(bound(&journal, 300, 330, 10), 6);
        assert_eq!(bound(&journal, 0, 2, 1), 2);
        let empty = Journal::default().route("a", None, None, 0);
        assert_eq!(empty.bound_ns(5, 10, 1.0), 0);
        // Of three samples that were not disturbed otherwise, the slower two met slow wake-ups: two of 4 ms each.
        let route = journal.route("a", Some("b"), Some(Service::tcp(80)), 20 * MS);
        let sample = |value, at: u64| (value, (1000 + at) * MS, (1000 + at + 20) * MS);
        let bounds = route.bounds_ns(&[sample(20.5, 300), sample(20.0, 320), sample(21.0, 350)]);
        assert_eq!(bounds, [8 * MS, 2 * MS, 8 * MS]);
    }

    #[test]
    fn services_that_were_not_kept_apart_count_for_all() {
        let mut journal = journal();
        journal.flows.push(flow("a", "b", 0, &[(6, 9 * MS, 1)]));
        assert_eq!(bound(&journal, 60, 80, 20), 9);
        let ping = Service { protocol: 58, port: 0 };
        assert!(Service::PING.covers(ping) && !Service::PING.covers(Service::tcp(0)));
    }

    #[test]
    fn it_survives_json() {
        let text = serde_json::to_string(&journal()).unwrap();
        assert!(text.contains("[5,4000000,2]"), "{text}");
        assert_eq!(serde_json::from_str::<Journal>(&text).unwrap(), journal());
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
            let bound = journal.route("a", Some("b"), None, rtt_us * 1000).bound_ns(first * 1000, end * 1000, 0.5);
            let late: u64 = chain.iter().map(|(_, late)| late * 1000).sum();
            prop_assert!(bound >= late.min((end - first) * 1000), "{bound} < {late}");
        }
    }
}
