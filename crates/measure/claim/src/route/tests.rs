//! Bounds of samples, by example and for random chains of packets.

use proptest::prelude::*;

use super::*;
use crate::journal::{Flow, Held};

const MS: u64 = 1_000_000;

fn flow(from: &str, to: &str, port: u16, slots: &[(u32, u64, u32)]) -> Flow {
    let slots = slots.iter().map(|&slot| slot.into()).collect();
    let lateness = Vec::new();
    Flow { from: from.to_owned(), to: to.to_owned(), service: Service::tcp(port), slots, lateness }
}

/// A journal that starts at 1 s, with slots of 10 ms.
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

fn at(ms: u64) -> u64 {
    (1000 + ms) * MS
}

fn ways(rtt_ms: u64) -> [u64; 2] {
    [rtt_ms * MS / 2; 2]
}

fn bound(journal: &Journal, from_ms: u64, until_ms: u64, rtt_ms: u64) -> f64 {
    let index = Index::from(journal.clone());
    let route = index.route("a", Some("b"), Some(Service::tcp(80)), ways(rtt_ms));
    let span = Span::whole(f64::INFINITY, [from_ms, until_ms].map(at));
    route.bound_ms(&span, 0.5)
}

/// One exchange of packets; each direction takes 40 ms.
fn bound_of_wait(journal: &Journal, from_ms: u64, until_ms: u64) -> f64 {
    let index = Index::from(journal.clone());
    let route = index.route("a", Some("b"), Some(Service::tcp(80)), [40 * MS; 2]);
    let wait = [from_ms, until_ms].map(at);
    let span = Span { waits_ns: [wait, [0; 2], [0; 2], [0; 2]], ..Span::whole(f64::INFINITY, wait) };
    route.bound_ms(&span, 0.5)
}

#[test]
fn one_packet_a_round_trip_counts_in_each_direction() {
    let journal = journal();
    // One round trip: the latest packet of each direction, 4 and 3.
    assert_eq!(bound(&journal, 0, 99, 99), 7.0);
    // Two round trips: 4 + 2 there, because slot 5 is not longer than a round trip, and 3 back.
    assert_eq!(bound(&journal, 0, 99, 50), 9.0);
    // Round trips of 5 ms: two packets per slot, so 4 + 4 + 2 + 2 + 1 there, and 3 back.
    assert_eq!(bound(&journal, 0, 99, 5), 16.0);
    assert_eq!(bound(&journal, 60, 80, 20), 0.0);
    assert_eq!(bound(&journal, 60, 95, 20), 2.0);
}

#[test]
fn what_holds_up_hosts_or_the_machine_counts_for_as_long_as_it_overlaps() {
    let journal = journal();
    assert_eq!(bound(&journal, 150, 250, 100), 6.0);
    assert_eq!(bound(&journal, 208, 250, 100), 2.0, "only 2 ms of it can have been then");
    assert_eq!(bound(&journal, 440, 600, 100), 10.0);
    assert_eq!(bound(&journal, 300, 390, 100), 0.0);
}

#[test]
fn what_holds_up_programs_while_packets_are_in_flight_does_no_harm() {
    let journal = Journal { flows: Vec::new(), ..journal() };
    // Of 90 ms, 80 are the path: b has the packet after 40 ms, and 10 ms to reply. b was delayed
    // from 200 to 210.
    assert_eq!(bound_of_wait(&journal, 160, 250), 6.0);
    assert_eq!(bound_of_wait(&journal, 155, 245), 5.0);
    assert_eq!(bound_of_wait(&journal, 152, 242), 2.0, "two milliseconds of it may have been then");
    assert_eq!(bound_of_wait(&journal, 145, 235), 0.0, "it had answered");
    assert_eq!(bound_of_wait(&journal, 175, 265), 0.0, "it had no packet yet");
    assert_eq!(bound_of_wait(&journal, 445, 535), 5.0);
    assert_eq!(
        bound_of_wait(&journal, 365, 455),
        10.0,
        "it cannot be more than what the wait has beyond its way"
    );
    assert_eq!(bound_of_wait(&journal, 315, 405), 5.0);
    // A program that is delayed only while it is idle replies in time.
    assert_eq!(bound_of_wait(&journal, 320, 400), 0.0);
    let held = Held { host: "a".to_owned(), delays: vec![(600 * MS, 605 * MS, 3 * MS).into()] };
    let journal = Journal { hosts: vec![held], ..journal };
    assert_eq!([598, 514, 550].map(|from| bound_of_wait(&journal, from, from + 90)), [3.0, 3.0, 0.0]);
}

#[test]
fn in_a_wait_a_packet_of_each_direction_counts_when_it_can_have_been_delivered() {
    let journal = Journal { hosts: Vec::new(), machine: Vec::new(), ..journal() };
    // There: one packet in slot 0, two in slot 5, many in slot 9. Back: one in slot 1.
    assert_eq!(bound_of_wait(&journal, 10, 95), 4.0, "the one there in slot 5");
    assert_eq!(bound_of_wait(&journal, 55, 140), 2.0, "the one there in slot 9");
    assert_eq!(bound_of_wait(&journal, 60, 140), 0.0, "nothing is beyond the way");
}

#[test]
fn a_server_that_takes_its_time_is_not_round_trips() {
    // Packets there, a millisecond late, in each of 30 slots. One-way delays of 5 ms.
    let slots: Vec<_> = (1..=30).map(|number| (number, MS, 100)).collect();
    let flows = vec![flow("a", "b", 80, &slots)];
    let journal = Journal { flows, hosts: Vec::new(), machine: Vec::new(), ..journal() };
    let index = Index::from(journal);
    let route = index.route("a", Some("b"), None, ways(10));
    let whole = Span::whole(f64::INFINITY, [at(10), at(650)]);
    let wait = |from, until| Span { waits_ns: [[at(from), at(until)], [0; 2], [0; 2], [0; 2]], ..whole };
    // A reply after 64 round trips: seven attempts if packets were lost.
    assert_eq!(route.bound_ms(&wait(10, 650), 0.5), 7.0);
    assert_eq!(route.bound_ms(&wait(10, 330), 0.5), 6.0);
    assert_eq!(route.bound_ms(&whole, 0.5), 30.0);
}

#[test]
fn waking_up_counts_twice_a_round_trip_and_nothing_exceeds_the_sample() {
    let journal = Journal { wake_ns: vec![(0.5, 10), (0.9, MS), (1.0, 4 * MS)], ..journal() };
    // 3 round trips of 10 ms, a wake-up for each packet.
    assert_eq!(bound(&journal, 300, 330, 10), 6.0);
    assert_eq!(bound(&journal, 0, 2, 1), 2.0);
    let empty = Index::default();
    assert_eq!(empty.route("a", None, None, [0; 2]).bound_ms(&Span::whole(5.0, [5, 10]), 1.0), 0.0);
    // Of three otherwise undisturbed samples, the slowest has the slow wake-ups: two of 4 ms each.
    let index = Index::from(journal);
    let route = index.route("a", Some("b"), Some(Service::tcp(80)), ways(20));
    let sample = |value_ms, from| Span::whole(value_ms, [at(from), at(from + 20)]);
    let samples = [sample(20.5, 300), sample(20.0, 320), sample(21.0, 350)];
    assert_eq!(route.bounds_ms(&samples), [2.0, 2.0, 8.0]);
    // Only the excess over 19 ms can be the emulator's error.
    let samples = samples.map(|sample| Span { least_ms: 19.0, ..sample });
    assert_eq!(route.bounds_ms(&samples), [1.5, 1.0, 2.0]);
}

#[test]
fn services_that_were_not_kept_apart_count_for_all() {
    let mut journal = journal();
    journal.flows.push(flow("a", "b", 0, &[(6, 9 * MS, 1)]));
    assert_eq!(bound(&journal, 60, 80, 20), 9.0);
    let ping = Service { protocol: 58, port: 0 };
    assert!(Service::PING.covers(ping) && !Service::PING.covers(Service::tcp(0)));
}

/// The gap to the packet before and the lateness, both in microseconds.
fn packets() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0_u64..40_000, 0_u64..5000), 1..60)
}

proptest! {
    /// Each packet of the chain is at least a round trip after the one before.
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
        // The chain ends with a reply, at least half a round trip after its last packet.
        let end = last + rtt_us.max(chain.iter().map(|(_, late)| late).sum());
        let index = Index::from(journal);
        let route = index.route("a", Some("b"), None, [rtt_us * 500; 2]);
        let span = Span::whole(f64::INFINITY, [first * 1000, end * 1000]);
        let bound_us = route.bound_ms(&span, 0.5) * 1e3;
        let late_us: u64 = chain.iter().map(|(_, late)| late).sum();
        let late_us = late_us.min(end - first) as f64;
        prop_assert!(bound_us >= late_us - 1e-6, "{bound_us} < {late_us}");
    }
}
