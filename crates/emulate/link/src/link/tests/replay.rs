//! Recorded links by mahimahi's rules.

use std::sync::Arc;

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{LossTrace, Trace};

fn recorded(file: &str) -> Config {
    Config { rate: Rate::Trace(Arc::new(Trace::parse(file.as_bytes()).unwrap())), ..Config::default() }
}

/// Arrival times in microseconds.
fn arrivals(link: &mut Link<()>, now_us: u64, sizes: &[u32]) -> Vec<u128> {
    let now = Duration::from_micros(now_us);
    let mut told = Vec::new();
    for size in sizes {
        link.offer(now, arrival(Packet::single(*size)), &mut |(), verdict| told.push(verdict));
    }
    link.advance(FOREVER, &mut |(), verdict| told.push(verdict));
    dues(&told).iter().map(Duration::as_micros).collect()
}

#[test]
fn the_file_1_is_12_mbit() {
    let mut link = Link::new(Config { queue: Limit::Packets(1000), ..recorded("1") }, 1);
    let got = arrivals(&mut link, 0, &[1500; 1000]);
    assert_eq!(got, (1..=1000).map(|ms| ms * 1000).collect::<Vec<_>>());
}

#[test]
fn a_packet_may_span_opportunities_and_leaves_with_its_last_byte() {
    // 1000 at 1 ms; 500 of the next with it and 500 at 2 ms, and the third fits after that.
    assert_eq!(arrivals(&mut Link::new(recorded("1"), 1), 0, &[1000; 3]), [1000, 2000, 2000]);
    // 4000 bytes need three opportunities; the last 500 bytes of the third carry most of the next packet.
    assert_eq!(arrivals(&mut Link::new(recorded("1"), 1), 0, &[4000, 600]), [3000, 4000]);
}

#[test]
fn an_unused_opportunity_is_wasted() {
    let mut link = Link::new(recorded("1"), 1);
    assert_eq!(arrivals(&mut link, 5200, &[1500]), [6000]);
    // The rest of 6 ms is wasted too: 100 bytes are sent there, the next 1500 at 7 ms and not across both.
    let mut link = Link::new(recorded("1"), 1);
    assert_eq!(arrivals(&mut link, 5200, &[100]), [6000]);
    assert_eq!(arrivals(&mut link, 6000, &[1500]), [7000]);
}

#[test]
fn what_arrives_with_an_opportunity_has_missed_it() {
    assert_eq!(arrivals(&mut Link::new(recorded("1"), 1), 3000, &[1500]), [4000]);
    assert_eq!(arrivals(&mut Link::new(recorded("1"), 1), 2999, &[1500]), [3000]);
}

#[test]
fn a_trace_repeats_with_its_outages() {
    // Opportunities at 2, 2 and 10 ms, then at 12, 12, 20, 22, ...
    let mut link = Link::new(recorded("2\n2\n10"), 1);
    assert_eq!(arrivals(&mut link, 0, &[1500; 7]), [2000, 2000, 10_000, 12_000, 12_000, 20_000, 22_000]);
    let day_us = 86_400_000_000;
    assert_eq!(arrivals(&mut link, day_us + 3000, &[1500]), [u128::from(day_us) + 10_000]);
}

#[test]
fn framing_rides_on_top_of_an_opportunity() {
    let mut link = Link::new(Config { overhead: 38, ..recorded("1") }, 1);
    assert_eq!(arrivals(&mut link, 0, &[1500; 3]), [1000, 2000, 3000]);
    // Framing counts for each packet: (100 + 38) of 1538 bytes, so that eleven of them fit and a twelfth
    // does not.
    let mut link = Link::new(Config { overhead: 38, ..recorded("1") }, 1);
    assert_eq!(arrivals(&mut link, 0, &[100; 12])[10..], [1000, 2000]);
}

#[test]
fn the_packet_in_transit_is_not_in_the_queue() {
    let mut link = Link::new(Config { queue: Limit::Packets(2), ..recorded("1") }, 1);
    for _ in 0..3 {
        link.offer(Duration::ZERO, arrival(Packet::single(2000)), &mut |(), _| {});
    }
    assert_eq!(link.counters().overflowed.segments, 1);
    // From 1 ms to 2 ms the first is in transmission, so there is room for one.
    for _ in 0..2 {
        link.offer(Duration::from_micros(1500), full(), &mut |(), _| {});
    }
    assert_eq!(link.counters().overflowed.segments, 2);
}

#[test]
fn segments_that_leave_together_arrive_together() {
    let mut link = Link::new(recorded("4\n4\n4\n8\n8\n8\n9"), 1);
    let told = verdicts(&mut link, Duration::ZERO, Packet::segmented(52, 7 * 1448, 1448));
    let at = Duration::from_millis;
    assert_eq!(told, [deliver(0..3, at(4)), deliver(3..6, at(8)), deliver(6..7, at(9))]);
}

#[test]
fn a_trace_goes_on_when_something_else_changes() {
    let slow = recorded("100");
    let mut link = Link::new(slow.clone(), 1);
    let propagation = Duration::from_millis(7);
    link.reconfigure(Duration::from_millis(30), Config { propagation, ..slow });
    assert_eq!(arrivals(&mut link, 40_000, &[1500]), [107_000]);
    link.reconfigure(Duration::from_millis(130), recorded("50"));
    assert_eq!(arrivals(&mut link, 140_000, &[1500]), [180_000]);
}

#[test]
fn recorded_losses_are_lost_again() {
    let loss = Loss::Trace(Arc::new(LossTrace::parse(b"00010").unwrap()));
    let mut link = Link::new(Config { loss, ..Config::default() }, 1);
    let told = verdicts(&mut link, Duration::ZERO, Packet::segmented(52, 12 * 1448, 1448));
    let lost = |segment: u32| Verdict::Drop { segments: segment..segment + 1, cause: Cause::Loss };
    let now = Duration::ZERO;
    assert_eq!(told, [deliver(0..3, now), lost(3), deliver(4..8, now), lost(8), deliver(9..12, now)]);
}

/// Packets are (arrival in microseconds, size).
fn by_the_rules(opportunities_ms: &[u64], packets: &[(u64, u32)]) -> Vec<u64> {
    let length_ms = opportunities_ms[opportunities_ms.len() - 1];
    let mut times_ms = (0..).flat_map(|lap| opportunities_ms.iter().map(move |at| lap * length_ms + at));
    let (mut left_at, mut sent) = (Vec::new(), 0);
    while left_at.len() < packets.len() {
        let now_ms = times_ms.next().unwrap();
        let mut bytes = 1500;
        while let Some((arrival_us, size)) = packets.get(left_at.len()) {
            if bytes == 0 || *arrival_us >= now_ms * 1000 {
                break;
            }
            let part = bytes.min(size - sent);
            (bytes, sent) = (bytes - part, sent + part);
            if sent == *size {
                left_at.push(now_ms * 1000);
                sent = 0;
            }
        }
    }
    left_at
}

proptest! {
    #[test]
    fn a_replay_follows_the_rules(
        gaps in vec(0..6_u64, 1..6),
        last in 1..6_u64,
        packets in vec((prop_oneof![Just(0), Just(1000), 0..9000_u64], 1..4000_u32), 1..30),
    ) {
        let sums = |state: &mut u64, gap: u64| {
            *state += gap;
            Some(*state)
        };
        let opportunities_ms: Vec<_> = gaps.into_iter().chain([last]).scan(0, sums).collect();
        let arrivals_us = packets.iter().map(|(gap, _)| *gap).scan(0, sums);
        let packets: Vec<_> = arrivals_us.zip(packets.iter().map(|(_, size)| *size)).collect();

        let file: String = opportunities_ms.iter().map(|at| format!("{at}\n")).collect();
        let mut link = Link::new(Config { queue: Limit::Packets(100), ..recorded(&file) }, 1);
        let mut told = Vec::new();
        for (arrival_us, size) in &packets {
            let packet = arrival(Packet::single(*size));
            link.offer(Duration::from_micros(*arrival_us), packet, &mut |(), verdict| told.push(verdict));
        }
        link.advance(FOREVER, &mut |(), verdict| told.push(verdict));
        let left_us: Vec<_> = by_the_rules(&opportunities_ms, &packets).into_iter().map(u128::from).collect();
        prop_assert_eq!(dues(&told).iter().map(Duration::as_micros).collect::<Vec<_>>(), left_us);
    }
}
