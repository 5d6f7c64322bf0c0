//! CoDel and FQ-CoDel compared with their RFCs, in virtual time.

use super::*;
use crate::Discipline;

const MILLISECOND: Duration = Duration::from_millis(1);

/// 12 Mbit/s, a packet of 1500 bytes per millisecond, and an unlimited queue.
fn managed(discipline: Discipline) -> Config {
    Config { discipline, queue: Limit::Packets(1_000_000), ecn: true, ..config("12Mbit") }
}

fn signals(ecn: Ecn, wanted: fn(&Verdict) -> bool) -> Vec<f64> {
    let mut link = Link::new(managed(Discipline::CODEL), 1);
    let mut signals = Vec::new();
    for half in 0..2000 {
        let packet = Arrival { ecn, ..full() };
        link.offer(MILLISECOND * half / 2, packet, &mut |(), verdict| {
            if wanted(&verdict) {
                signals.push(f64::from(half / 2));
            }
        });
    }
    signals
}

/// RFC 8289: packet 10 waits 5 ms for the first time, at 10 ms, so an interval ends at 110 ms. From
/// there the n-th signal precedes the next by 100 ms / sqrt(n), rounded up to a whole millisecond.
fn control_law() -> Vec<f64> {
    let mut times = Vec::new();
    let (mut next, mut count) = (110.0_f64, 0.0);
    while next < 999.0 {
        times.push(next.ceil());
        count += 1.0;
        next += 100.0 / f64::sqrt(count);
    }
    times
}

#[test]
fn codel_drops_at_the_times_of_its_control_law() {
    let is_drop = |verdict: &Verdict| *verdict == Verdict::Drop { segments: 0..1, cause: Cause::Aqm };
    let drops = signals(Ecn::NotCapable, is_drop);
    assert_eq!(drops[..5], [110.0, 210.0, 281.0, 339.0, 389.0]);
    assert_eq!(drops, control_law());
}

#[test]
fn codel_marks_those_who_understand_marks() {
    let is_mark = |verdict: &Verdict| matches!(verdict, Verdict::Deliver { treatment, .. } if treatment.mark);
    assert_eq!(signals(Ecn::Capable, is_mark), control_law());
    let is_drop = |verdict: &Verdict| matches!(verdict, Verdict::Drop { .. });
    assert!(signals(Ecn::Capable, is_drop).is_empty());
}

#[test]
fn codel_leaves_a_burst_alone() {
    // 90 packets every 100 ms: up to 90 ms of queue, but the queue is empty again before an interval ends.
    let mut link = Link::new(managed(Discipline::CODEL), 1);
    for burst in 0..50 {
        for _ in 0..90 {
            link.offer(MILLISECOND * 100 * burst, full(), &mut |(), _| {});
        }
    }
    assert_eq!(link.counters().managed.segments, 0);
}

#[test]
fn codel_leaves_the_last_packet_alone() {
    // Each packet waits 120 ms, far above the target, but a queue with at most one packet cannot be
    // shorter.
    let mut link = Link::new(Config { rate: config("100Kbit").rate, ..managed(Discipline::CODEL) }, 1);
    link.offer(Duration::ZERO, full(), &mut |(), _| {});
    for i in 0..50 {
        link.offer(MILLISECOND * 120 * i, full(), &mut |(), _| {});
    }
    let Counters { managed, delivered, .. } = link.counters();
    assert_eq!((managed.segments, delivered.segments), (0, 50));
}

#[test]
fn codel_remembers_the_rate_that_was_needed() {
    // The overload pauses from 500 ms to 1000 ms, long after its queue has drained, and then resumes.
    let mut link = Link::new(managed(Discipline::CODEL), 1);
    let mut drops = Vec::new();
    for half in (0..1000).chain(2000..3000) {
        link.offer(MILLISECOND * half / 2, full(), &mut |(), verdict| {
            if let Verdict::Drop { .. } = verdict {
                drops.push(f64::from(half / 2));
            }
        });
    }
    let begins = drops.iter().position(|at| *at > 1000.0).unwrap();
    // 610 ms later, less than 16 intervals, the second overload continues with the difference of
    // the first one's signals.
    let needed = begins as f64 - 1.0;
    let second = 1110.0 + 100.0 / needed.sqrt();
    let third = second + 100.0 / (needed + 1.0).sqrt();
    assert!(needed > 10.0);
    assert_eq!(drops[begins..begins + 3], [1110.0, second.ceil(), third.ceil()]);
}

#[test]
fn codel_drops_one_segment_of_a_super_packet() {
    // 20 segments every 10 ms, twice the rate: one segment leaves each millisecond, as above.
    let mut link = Link::new(managed(Discipline::CODEL), 1);
    let mut drops = Vec::new();
    for i in 0..100 {
        let packet = arrival(Packet::segmented(52, 20 * 1448, 1448));
        link.offer(MILLISECOND * 10 * i, packet, &mut |(), verdict| {
            if let Verdict::Drop { segments, cause } = verdict {
                assert_eq!((segments.len(), cause), (1, Cause::Aqm));
                drops.push(segments.start);
            }
        });
    }
    // The law of the steady sender, 5 ms earlier.
    assert_eq!(drops.len(), control_law().iter().filter(|time| **time - 5.0 <= 990.0).count());
}

fn offer(
    link: &mut Link<(u32, Duration)>,
    now: Duration,
    flow: u32,
    packet: Packet,
    each: &mut impl FnMut(u32, Duration, Verdict),
) {
    let arrival = Arrival { packet, flow: flow.into(), ecn: Ecn::NotCapable, tag: (flow, now) };
    link.offer(now, arrival, &mut |(flow, offered), verdict| each(*flow, *offered, verdict));
}

#[test]
fn a_sparse_flow_waits_for_a_quantum_at_most() {
    let mut link = Link::new(managed(Discipline::FQ_CODEL), 1);
    let bulk = Packet::segmented(52, 20 * 1448, 1448);
    let mut worst = Duration::ZERO;
    let mut sparse = 0;
    let mut each = |flow, offered, verdict| {
        if let (2, Verdict::Deliver { due, .. }) = (flow, verdict) {
            worst = worst.max(due - offered);
            sparse += 1;
        }
    };
    for i in 0..200 {
        offer(&mut link, MILLISECOND * 10 * i, 1, bulk, &mut each);
        offer(&mut link, MILLISECOND * 10 * i + MILLISECOND * 7 / 2, 2, Packet::single(150), &mut each);
    }
    link.advance(FOREVER, &mut |(flow, offered), verdict| each(*flow, *offered, verdict));
    assert_eq!(sparse, 200);
    // A turn of 1514 bytes is up to two segments of 1500, 1 ms each; then its own 150 bytes are 0.1 ms.
    assert!(worst <= MILLISECOND * 21 / 10, "{worst:?}");
    assert!(worst >= MILLISECOND / 10);
}

#[test]
fn two_bulk_flows_share_equally_whatever_their_packets() {
    let mut link = Link::new(managed(Discipline::FQ_CODEL), 1);
    let mut bytes = [0_i64; 2];
    for i in 0..4000 {
        let now = MILLISECOND / 2 * i;
        for (flow, packets, size) in [(0, 1, 1500), (1, 3, 500)] {
            for _ in 0..packets {
                offer(&mut link, now, flow, Packet::single(size), &mut |flow, _, verdict| {
                    if let Verdict::Deliver { .. } = verdict {
                        bytes[flow as usize] += if flow == 0 { 1500 } else { 500 };
                    }
                });
            }
        }
    }
    assert!((bytes[0] - bytes[1]).abs() <= 1514 + 1500, "{bytes:?}");
    assert!((bytes[0] + bytes[1] - 3_000_000).abs() <= 1500, "{bytes:?}");
}

#[test]
fn a_flow_cannot_be_new_for_ever() {
    // The last flow has half the link's rate, one packet every other millisecond. If each packet
    // made it a new flow, it would get its half instead of a quarter.
    let mut link = Link::new(managed(Discipline::FQ_CODEL), 1);
    let mut delivered = [0; 5];
    for i in 0..2000 {
        for flow in [1, 2, 3, 4] {
            if flow != 4 || (i >= 200 && i % 2 == 0) {
                offer(&mut link, MILLISECOND * i, flow, Packet::single(1500), &mut |flow, _, verdict| {
                    delivered[flow as usize] += i32::from(matches!(verdict, Verdict::Deliver { .. }));
                });
            }
        }
    }
    assert!((448..=452).contains(&delivered[4]), "{delivered:?}");
}

#[test]
fn a_full_queue_drops_from_the_longest_flow() {
    let mut link = Link::new(Config { queue: Limit::Packets(20), ..managed(Discipline::FQ_CODEL) }, 1);
    let mut lost = [0_u64; 3];
    let mut firsts = Vec::new();
    for i in 0..200 {
        let now = MILLISECOND * i;
        let mut each = |flow, offered, verdict| {
            if let Verdict::Drop { cause: Cause::Queue, segments } = verdict {
                lost[flow as usize] += segments.len() as u64;
                firsts.push((offered, segments.start));
            }
        };
        offer(&mut link, now, 1, Packet::segmented(52, 5 * 1448, 1448), &mut each);
        if i % 10 == 0 {
            offer(&mut link, now, 2, Packet::single(150), &mut each);
        }
    }
    assert_eq!(lost[2], 0);
    let managed = link.counters().managed.segments;
    assert!((770 - managed..=800 - managed).contains(&lost[1]), "{lost:?} and {managed}");
    assert!(firsts.is_sorted());
}

#[test]
fn another_discipline_takes_over_what_waits() {
    let mut link = Link::new(managed(Discipline::FQ_CODEL), 1);
    let mut order = Vec::new();
    for i in 0..40 {
        let now = MILLISECOND / 10 * i;
        offer(&mut link, now, i % 3, Packet::single(1500), &mut |_, offered, _| order.push(offered));
    }
    let waiting = link.backlog();
    link.reconfigure(MILLISECOND * 4, managed(Discipline::DropTail));
    assert_eq!((waiting.segments, link.backlog().segments), (36, 35));
    let mut rest = Vec::new();
    link.advance(FOREVER, &mut |(_, offered), _| rest.push(*offered));
    assert!(rest[1..].is_sorted(), "what was untold comes first, the rest in the order of arrival");
    assert_eq!(order.len() + rest.len(), 40);
}

#[test]
fn codel_drops_the_same_segments_however_they_are_grouped() {
    // Twice the rate, in super-packets; a slice of 16 segments must be cut where the law wants one.
    let drops = |receive| {
        let fast = Config { receive, ..managed(Discipline::CODEL) };
        let mut link = Link::new(Config { rate: config("1Gbit").rate, ..fast }, 1);
        let mut drops = Vec::new();
        for i in 0..3000_u32 {
            let packet = Packet::segmented(52, 45 * 1448, 1448);
            let arrival = Arrival { packet, flow: 0, ecn: Ecn::NotCapable, tag: i };
            link.offer(Duration::from_micros(270) * i, arrival, &mut |tag, verdict| {
                if let Verdict::Drop { segments, .. } = verdict {
                    drops.push((*tag, segments));
                }
            });
        }
        drops
    };
    let alone = drops(Receive::Segment);
    assert!(alone.len() > 10, "{alone:?}");
    assert_eq!(alone, drops(Receive::Slice));
    assert_eq!(alone, drops(Receive::Gso));
}
