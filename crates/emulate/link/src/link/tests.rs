//! The link compared with closed forms, in virtual time.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::{Bytes, Probability};

mod closed_loop;
mod delays;
mod disciplines;
mod properties;
mod replay;

use std::ops::Range;

use super::*;
use crate::{Ecn, Limit, Loss, Rate, Receive};

fn config(rate: &str) -> Config {
    Config { rate: Rate::Constant(rate.parse().unwrap()), ..Config::default() }
}

fn arrival(packet: Packet) -> Arrival<()> {
    Arrival { packet, flow: 0, ecn: Ecn::NotCapable, tag: () }
}

fn full() -> Arrival<()> {
    arrival(Packet::single(1500))
}

fn verdicts(link: &mut Link<()>, now: Duration, packet: Packet) -> Vec<Verdict> {
    let mut all = Vec::new();
    link.offer(now, arrival(packet), &mut |(), verdict| all.push(verdict));
    link.advance(FOREVER, &mut |(), verdict| all.push(verdict));
    all
}

fn dues(verdicts: &[Verdict]) -> Vec<Duration> {
    let due = |verdict: &Verdict| match verdict {
        Verdict::Deliver { due, .. } => Some(*due),
        Verdict::Drop { .. } => None,
    };
    verdicts.iter().filter_map(due).collect()
}

fn chance(share: f64) -> Probability {
    Probability::new(share).unwrap()
}

fn deliver(segments: Range<u32>, due: Duration) -> Verdict {
    Verdict::Deliver { segments, due, treatment: Treatment::default() }
}

const FOREVER: Duration = Duration::from_secs(1_000_000);

#[test]
fn an_idle_link_adds_transmission_and_propagation() {
    let propagation = Duration::from_millis(20);
    let mut link = Link::new(Config { propagation, ..config("1Gbit") }, 1);
    // 1500 bytes at 1 Gbit/s are 12 us.
    assert_eq!(
        dues(&verdicts(&mut link, Duration::from_secs(1), Packet::single(1500))),
        [Duration::from_secs(1) + propagation + Duration::from_micros(12)]
    );
}

#[test]
fn a_wire_without_rate_decides_at_once() {
    let mut link = Link::new(Config { propagation: Duration::from_millis(9), ..Config::default() }, 1);
    link.offer(Duration::ZERO, full(), &mut |(), _| {});
    assert_eq!((link.next_timeout(), link.backlog().segments), (None, 0));
}

#[test]
fn a_wire_without_rate_keeps_a_super_packet_whole() {
    let mut link = Link::new(Config::default(), 1);
    let packet = Packet::segmented(52, 65_000, 1448);
    assert_eq!(
        verdicts(&mut link, Duration::from_millis(5), packet),
        [deliver(0..45, Duration::from_millis(5))]
    );
}

#[test]
fn capacity_does_not_depend_on_the_callers_punctuality() {
    let finish = |batch: u32| {
        let mut link = Link::new(config("100Mbit"), 1);
        let mut told = Vec::new();
        for i in 0..1000 {
            link.offer(Duration::from_micros(100) * (i / batch * batch), full(), &mut |(), verdict| {
                told.push(verdict);
            });
        }
        link.advance(FOREVER, &mut |(), verdict| told.push(verdict));
        *dues(&told).last().unwrap()
    };
    // 1000 x 1500 bytes at 100 Mbit/s: 120 ms.
    assert_eq!(finish(1), Duration::from_millis(120));
    assert_eq!(finish(10), Duration::from_millis(120));
}

#[test]
fn ten_percent_too_much_loses_one_eleventh() {
    // Offered load 1.1 for 100 s: in the steady state 1 - 1/1.1 = 9.09 % find the queue full.
    let mut link = Link::new(Config { queue: Limit::Bytes(Bytes(15_000)), ..config("12Mbit") }, 1);
    let interval = Duration::from_nanos(909_091);
    for i in 0..110_000 {
        link.offer(interval * i, full(), &mut |(), _| {});
    }
    let counters = link.counters();
    let share = counters.overflowed.segments as f64 / counters.offered.segments as f64;
    // The difference from the steady state is the ten packets in the queue: 10 / 110 000.
    assert!((share - 1.0 / 11.0).abs() < 2e-4, "{share}");
}

#[test]
fn random_arrivals_at_a_fixed_service_time_wait_as_md1_says() {
    // Pollaczek-Khinchine for M/D/1: mean wait = rho / (2 (1 - rho)) service times; at 80 % load
    // exactly 2.
    let service = Duration::from_millis(1);
    let mut link = Link::new(Config { queue: Limit::Time(Duration::from_secs(10)), ..config("12Mbit") }, 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let (mut now, mut waited) = (0.0_f64, 0.0);
    let packets = 400_000;
    let mut wait = |arrived: &Duration, verdict| {
        let Verdict::Deliver { due, .. } = verdict else { panic!("ten seconds of queue are enough") };
        waited += (due - *arrived - service).as_secs_f64();
    };
    for _ in 0..packets {
        let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        now += -uniform.ln() * service.as_secs_f64() / 0.8;
        let tag = Duration::from_secs_f64(now);
        let packet = Packet::single(1500);
        link.offer(tag, Arrival { packet, flow: 0, ecn: Ecn::NotCapable, tag }, &mut wait);
    }
    link.advance(FOREVER, &mut wait);
    let mean = waited / f64::from(packets) / service.as_secs_f64();
    // Waits correlate over (1 - rho)^-2 = 25 packets, sd near 2.6: 2.6 sqrt(2 * 25 / 4e5) = 0.03;
    // three of them.
    assert!((mean - 2.0).abs() < 0.09, "{mean} service times");
}

#[test]
fn a_full_queue_takes_what_fits_and_drops_the_tail() {
    let mut link = Link::new(Config { queue: Limit::Bytes(Bytes(7_500)), ..config("10Mbit") }, 1);
    let got = verdicts(&mut link, Duration::ZERO, Packet::segmented(52, 14_480, 1448));
    assert_eq!(got[0], Verdict::Drop { segments: 5..10, cause: Cause::Queue });
    // At 10 Mbit/s a slice is one segment: each arrives 1.2 ms after its predecessor.
    let due: Vec<_> = (1..=5).map(|i| Duration::from_micros(1200) * i).collect();
    assert_eq!(dues(&got), due);
}

#[test]
fn a_queue_without_room_still_passes_what_finds_the_wire_idle() {
    let mut link = Link::new(Config { queue: Limit::Bytes(Bytes(0)), ..config("12Mbit") }, 1);
    for (at_us, passes) in [(0, 1), (500, 0), (1000, 1)] {
        let told = verdicts(&mut link, Duration::from_micros(at_us), Packet::single(1500));
        assert_eq!(dues(&told).len(), passes, "at {at_us} us");
    }
}

#[test]
fn a_limit_of_packets_counts_what_has_not_begun_to_leave() {
    for (rate, receive) in [("12Mbit", Receive::Slice), ("1Gbit", Receive::Slice), ("1Gbit", Receive::Gso)] {
        let link = || Link::new(Config { queue: Limit::Packets(4), receive, ..config(rate) }, 1);
        let dropped = |link: &mut Link<()>, now, segments: u32| {
            let before = link.counters().overflowed.segments;
            link.offer(now, arrival(Packet::segmented(52, segments * 1448, 1448)), &mut |(), _| {});
            link.counters().overflowed.segments - before
        };
        assert_eq!(dropped(&mut link(), Duration::ZERO, 7), 2, "{rate}");
        let mut link = link();
        assert_eq!(dropped(&mut link, Duration::ZERO, 1), 0, "{rate}");
        assert_eq!(dropped(&mut link, Duration::ZERO, 5), 1, "{rate}");
        let one = Duration::from_micros(if rate == "12Mbit" { 1000 } else { 12 });
        assert_eq!(dropped(&mut link, one * 3 / 2, 2), 1, "{rate}");
    }
}

#[test]
fn slices_hold_at_most_their_time_of_wire() {
    let packet = Packet::segmented(52, 43_440, 1448);
    let sizes = |rate: &str, receive| {
        let mut link = Link::new(Config { receive, ..config(rate) }, 1);
        verdicts(&mut link, Duration::ZERO, packet)
            .into_iter()
            .map(|verdict| match verdict {
                Verdict::Deliver { segments, .. } => segments.len(),
                Verdict::Drop { .. } => 0,
            })
            .collect::<Vec<_>>()
    };
    // 200 us of 1 Gbit/s are 25 000 bytes: 16 segments of 1500.
    assert_eq!(sizes("1Gbit", Receive::Slice), [16, 14]);
    assert_eq!(sizes("50Mbit", Receive::Slice), [1; 30]);
    assert_eq!(sizes("1Gbit", Receive::Segment), [1; 30]);
    assert_eq!(sizes("1Gbit", Receive::Gso), [30]);
}

#[test]
fn a_super_packet_is_cut_at_each_lost_segment() {
    let loss = Loss::Bernoulli(chance(0.1));
    let mut link = Link::new(Config { loss, ..Config::default() }, 3);
    for i in 0..1000 {
        let got = verdicts(&mut link, Duration::from_millis(i), Packet::segmented(52, 14_480, 1448));
        let mut next = 0;
        for verdict in got {
            let (Verdict::Deliver { segments, .. } | Verdict::Drop { segments, .. }) = verdict;
            assert_eq!(segments.start, next, "every segment has one fate, in order");
            next = segments.end;
        }
        assert_eq!(next, 10);
    }
    // Binomial with n = 10 000, p = 0.1: 1000 +- 4 * 30.
    let lost = link.counters().lost.segments;
    assert!((880..=1120).contains(&lost), "{lost}");
}

#[test]
fn a_shaper_keeps_its_rate() {
    for (rate, bits) in [("1Mbit", 1e6), ("48Mbit", 48e6), ("1Gbit", 1e9), ("3Gbit", 3e9), ("5Gbit", 5e9)] {
        // Super-packets of 45 x 1500 bytes, 1.2 times as fast as the link, for 2000 of them.
        let queue = Limit::Bytes(Bytes(200_000));
        let mut link = Link::new(Config { queue, ..config(rate) }, 1);
        let packet = Packet::segmented(52, 45 * 1448, 1448);
        let interval = Duration::from_secs_f64(45.0 * 12_000.0 / bits / 1.2);
        let (mut segments, mut last) = (0, Duration::ZERO);
        let mut each = |(): &(), verdict| {
            if let Verdict::Deliver { segments: run, due, .. } = verdict {
                segments += run.len();
                last = due;
            }
        };
        for i in 0..2000 {
            link.offer(interval * i, arrival(packet), &mut each);
        }
        link.advance(FOREVER, &mut each);
        let measured = segments as f64 * 12_000.0 / last.as_secs_f64();
        assert!((measured / bits - 1.0).abs() < 1e-6, "{rate}: {measured}");
    }
}

#[test]
fn a_long_link_does_not_wake_its_caller_for_each_slice() {
    // A second of backlog, 300 ms away: a caller that wakes up at 300 ms decides all segments that
    // have started to leave.
    let propagation = Duration::from_millis(300);
    let queue = Limit::Time(Duration::from_secs(2));
    let mut link = Link::new(Config { propagation, queue, ..config("1Gbit") }, 1);
    let (mut wakes, mut segments) = (0, 0);
    let mut each = |(): &(), verdict| {
        if let Verdict::Deliver { segments: run, .. } = verdict {
            segments += run.len();
        }
    };
    // 1850 x 45 x 12 us = 0.999 s.
    for _ in 0..1850 {
        link.offer(Duration::ZERO, arrival(Packet::segmented(52, 45 * 1448, 1448)), &mut each);
    }
    while let Some(timeout) = link.next_timeout() {
        wakes += 1;
        link.advance(timeout, &mut each);
    }
    assert_eq!((segments, wakes), (1850 * 45, 4));
}

#[test]
fn a_shorter_path_does_not_reorder() {
    let slow = Config { propagation: Duration::from_millis(100), ..Config::default() };
    let mut link = Link::new(slow.clone(), 1);
    let first = dues(&verdicts(&mut link, Duration::ZERO, Packet::single(100)));
    link.reconfigure(Duration::from_millis(1), Config { propagation: Duration::from_millis(10), ..slow });
    let second = dues(&verdicts(&mut link, Duration::from_millis(1), Packet::single(100)));
    assert_eq!(second.len(), 1);
    assert!(second >= first);
}

#[test]
fn a_backlog_is_bytes_and_not_time() {
    // 6 MB wait at 1 Mbit/s, which would take 48 s. At 1 Gbit/s they have left after 48 ms.
    let queue = Limit::Bytes(Bytes(6_000_000));
    let (slow, fast) = (Config { queue, ..config("1Mbit") }, Config { queue, ..config("1Gbit") });
    let mut link = Link::new(slow, 1);
    let mut told = Vec::new();
    for _ in 0..4001 {
        link.offer(Duration::ZERO, full(), &mut |(), verdict| told.push(verdict));
    }
    assert_eq!(link.counters().overflowed.segments, 1);
    link.reconfigure(Duration::ZERO, fast);
    link.advance(FOREVER, &mut |(), verdict| told.push(verdict));
    let dues = dues(&told);
    assert_eq!(dues.len(), 4000);
    assert_eq!((dues[0], dues[999]), (Duration::from_millis(12), Duration::from_millis(12)));
    assert_eq!((dues[1999], dues[3999]), (Duration::from_millis(24), Duration::from_millis(48)));
}

#[test]
fn the_same_seed_gives_the_same_verdicts() {
    let run = |seed| {
        let loss = Loss::Bernoulli(chance(0.02));
        let mut link = Link::new(Config { loss, ..config("100Mbit") }, seed);
        let mut told = Vec::new();
        for i in 0..2000 {
            let packet = arrival(Packet::segmented(52, 9000, 1448));
            link.offer(Duration::from_micros(700) * i, packet, &mut |(), verdict| told.push(verdict));
        }
        told
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
