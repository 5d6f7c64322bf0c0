//! Packets that arrive late, early, twice or damaged.

use super::*;
use crate::{Jitter, Order, Shape};

const MILLISECOND: Duration = Duration::from_millis(1);

/// A link without rate, with 20 +- 5 ms of delay.
fn shaky(order: Order) -> Config {
    let jitter = Jitter { spread: MILLISECOND * 5, shape: Shape::Uniform, order };
    Config { propagation: MILLISECOND * 20, jitter: Some(jitter), ..Config::default() }
}

fn shaken(order: Order) -> Vec<Duration> {
    let mut link = Link::new(shaky(order), 4);
    (0..10_000).flat_map(|i| dues(&verdicts(&mut link, MILLISECOND * i, Packet::single(100)))).collect()
}

#[test]
fn packets_overtake_each_other_only_where_they_may() {
    assert!(shaken(Order::Kept).is_sorted());
    let free = shaken(Order::Free);
    // The next packet overtakes if its delay is more than 1 ms shorter: 0.405 of 10 000. sd at most
    // 2 * 49; four of them are 400.
    let overtakes = free.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert!((3650..=4450).contains(&overtakes), "{overtakes}");
}

#[test]
fn jitter_varies_around_the_propagation_time() {
    let delays: Vec<_> =
        shaken(Order::Free).iter().zip(0..).map(|(due, i)| (*due - MILLISECOND * i).as_secs_f64()).collect();
    assert!(delays.iter().all(|delay| (0.015..=0.025).contains(delay)));
    // Uniform over 10 ms: sd 2.89 ms, of the mean of 10 000 it is 29 us; four of them.
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!((mean - 0.020).abs() < 116e-6, "{mean}");
}

#[test]
fn nothing_arrives_before_it_left() {
    let jitter = Jitter { spread: MILLISECOND * 50, shape: Shape::Normal, order: Order::Free };
    let mut link =
        Link::new(Config { propagation: MILLISECOND, jitter: Some(jitter), ..config("12Mbit") }, 1);
    for i in 0..1000 {
        let now = MILLISECOND * 2 * i;
        assert!(dues(&verdicts(&mut link, now, Packet::single(1500)))[0] >= now + MILLISECOND);
    }
}

#[test]
fn a_copy_is_a_second_delivery_of_one_segment() {
    let mut link = Link::new(Config { duplicate: chance(0.1), ..config("1Gbit") }, 1);
    let mut copies = 0;
    for i in 0..1000 {
        let told = verdicts(&mut link, MILLISECOND * i, Packet::segmented(52, 14_480, 1448));
        copies += told.windows(2).filter(|pair| pair[0] == pair[1]).count();
    }
    // Binomial with n = 10 000, p = 0.1: 1000 +- 4 * 30.
    assert!((880..=1120).contains(&copies), "{copies}");
    assert_eq!(link.counters().duplicated.segments, copies as u64);
    assert_eq!(link.counters().delivered.segments, 10_000 + copies as u64);
}

#[test]
fn a_damaged_segment_comes_alone_with_its_bit() {
    let mut link = Link::new(Config { corrupt: chance(0.1), ..config("1Gbit") }, 1);
    let mut bits = Vec::new();
    for i in 0..1000 {
        for verdict in verdicts(&mut link, MILLISECOND * i, Packet::segmented(52, 14_480, 1448)) {
            let Verdict::Deliver { segments, treatment, .. } = verdict else { panic!("nothing is lost") };
            if let Some(bit) = treatment.corrupt {
                assert_eq!(segments.len(), 1);
                bits.push(bit);
            }
        }
    }
    assert!((880..=1120).contains(&bits.len()), "{}", bits.len());
    bits.sort_unstable();
    assert!(bits.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn what_is_reordered_skips_propagation() {
    let mut link =
        Link::new(Config { reorder: chance(0.25), propagation: MILLISECOND * 30, ..config("1Gbit") }, 1);
    let mut early = 0;
    for i in 0..10_000 {
        let now = MILLISECOND * i;
        // 1500 bytes take 12 us to leave.
        let delay =
            dues(&verdicts(&mut link, now, Packet::single(1500)))[0] - now - Duration::from_micros(12);
        assert!(delay == Duration::ZERO || delay == MILLISECOND * 30, "{delay:?}");
        early += u32::from(delay.is_zero());
    }
    // Binomial: 2500 +- 4 * 43.
    assert!((2327..=2673).contains(&early), "{early}");
}
