//! Evidence that a run was shaped by its world and not by the emulator: the planet's own counters,
//! and their judgement.

pub(crate) mod delays;
mod echo;
pub(crate) mod flows;
pub(crate) mod heartbeat;
pub(crate) mod programs;

use std::{collections::BTreeMap, time::Duration};

use claim::{Bin, Caveat, Doubt, Fidelity, HeldUp};
use hdrhistogram::Histogram;

use crate::clock::nanoseconds;

#[derive(Debug, Clone)]
pub(crate) struct Tally {
    lateness_ns: Histogram<u64>,
    late: u64,
    pub own_drops: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub bytes_dropped: u64,
    pub bytes_lost: u64,
    /// The device of the host has been removed.
    pub lost_hosts: u64,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            lateness_ns: Histogram::new_with_bounds(1, MOST_LATE_NS, 2).expect("constants in range"),
            late: 0,
            own_drops: 0,
            bytes_in: 0,
            bytes_out: 0,
            bytes_dropped: 0,
            bytes_lost: 0,
            lost_hosts: 0,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.lateness_ns.add(&other.lateness_ns).expect("histograms of one kind");
        self.late += other.late;
        self.own_drops += other.own_drops;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.bytes_dropped += other.bytes_dropped;
        self.bytes_lost += other.bytes_lost;
        self.lost_hosts += other.lost_hosts;
    }

    pub(crate) fn delivered(&mut self, late: Duration, allowance: Option<Duration>) {
        self.lateness_ns.saturating_record(nanoseconds(late));
        self.late += u64::from(allowance.is_some_and(|allowance| late > allowance));
    }

    /// In bins of 1, 2, 4 ... us, up to the maximum.
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of a minute are exact in an f64")]
    fn histogram(&self) -> Vec<Bin> {
        let latest = self.lateness_ns.max();
        let mut bins: Vec<Bin> = Vec::new();
        let (mut from, mut to) = (0, 1000);
        while self.lateness_ns.len() > bins.iter().map(|bin| bin.packets).sum() && from <= latest {
            let packets = self.lateness_ns.count_between(from, to);
            bins.push(Bin { up_to_us: to as f64 / 1000.0, packets });
            (from, to) = (self.lateness_ns.highest_equivalent(to) + 1, to * 2);
        }
        bins
    }

    /// `device_drops` are packets that hosts sent and the switch did not receive.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53, and shares for people")]
    pub(crate) fn judge(&self, device_drops: u64, surroundings: Surroundings) -> Fidelity {
        let delivered = self.lateness_ns.len();
        let late_share = if delivered == 0 { 0.0 } else { self.late as f64 / delivered as f64 };
        let own_drops = self.own_drops + device_drops;
        let accounted = self.bytes_out + self.bytes_dropped + surroundings.bytes_in_flight + self.bytes_lost;
        let entered = self.bytes_in + surroundings.bytes_duplicated;
        let doubts = [
            surroundings
                .lateness_limit
                .filter(|_| late_share > MOST_LATE_SHARE)
                .map(|limit| Doubt::LatePackets { share: late_share, limit, most: MOST_LATE_SHARE }),
            (own_drops > 0).then_some(Doubt::OwnDrops { packets: own_drops }),
            (self.lost_hosts > 0).then_some(Doubt::LostDevices { hosts: self.lost_hosts }),
            (entered != accounted).then_some(Doubt::LostBytes { entered, accounted }),
            (surroundings.unbalanced_links > 0)
                .then_some(Doubt::UnbalancedLinks { links: surroundings.unbalanced_links }),
        ];
        let doubts: Vec<Caveat> = doubts.iter().flatten().map(Caveat::from).collect();
        let microseconds = |ns: u64| ns as f64 / 1000.0;
        let at = |name: &str, percentile| {
            (name.to_owned(), microseconds(self.lateness_ns.value_at_percentile(percentile)))
        };
        let lateness_us = if delivered == 0 {
            BTreeMap::new()
        } else {
            let mean = ("mean".to_owned(), self.lateness_ns.mean() / 1000.0);
            BTreeMap::from([mean, at("50", 50.0), at("99", 99.0), at("99.9", 99.9), at("max", 100.0)])
        };
        Fidelity {
            valid: claim::is_valid(&doubts),
            reasons: claim::reasons(&doubts),
            doubts,
            delivered,
            lateness_us,
            lateness_histogram: self.histogram(),
            lateness_limit_us: surroundings.lateness_limit.map(|limit| limit.as_secs_f64() * 1e6),
            late_share: surroundings.lateness_limit.map(|_| late_share),
            latest_flows: Vec::new(),
            held_up: surroundings.held_up,
            own_drops,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            bytes_dropped: self.bytes_dropped,
            bytes_duplicated: surroundings.bytes_duplicated,
            bytes_in_flight: surroundings.bytes_in_flight,
            switch_cpu_share: surroundings.switch_cpu_share,
            machine_cpu_share: surroundings.machine_cpu_share,
            receive: surroundings.receive.name().to_owned(),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub switch_cpu_share: f64,
    pub machine_cpu_share: Option<f64>,
    pub receive: link::Receive,
    pub lateness_limit: Option<Duration>,
    pub held_up: HeldUp,
    pub bytes_in_flight: u64,
    pub bytes_duplicated: u64,
    pub unbalanced_links: usize,
}

pub(crate) fn allowance(rtt: Duration, limit: Duration) -> Duration {
    (rtt / 100).max(limit)
}

/// The limits apply to the 99.9th percentile.
const MOST_LATE_SHARE: f64 = 0.001;

/// Greater lateness is recorded as a minute.
const MOST_LATE_NS: u64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_micros(250);

    fn judged(tally: &Tally, device_drops: u64) -> Fidelity {
        let surroundings = Surroundings {
            switch_cpu_share: 0.1,
            machine_cpu_share: None,
            receive: link::Receive::Slice,
            lateness_limit: Some(LIMIT),
            held_up: HeldUp::default(),
            bytes_in_flight: 0,
            bytes_duplicated: 0,
            unbalanced_links: 0,
        };
        tally.judge(device_drops, surroundings)
    }

    fn with_deliveries(on_time: u32, late: u32) -> Tally {
        let mut tally = Tally::new();
        let allowance = allowance(Duration::from_millis(10), LIMIT);
        for _ in 0..on_time {
            tally.delivered(Duration::from_micros(20), Some(allowance));
        }
        for _ in 0..late {
            tally.delivered(Duration::from_micros(300), Some(allowance));
        }
        tally
    }

    #[test]
    fn one_late_packet_in_a_thousand_is_within_the_limit() {
        assert!(judged(&with_deliveries(999, 1), 0).valid);
        let worse = judged(&with_deliveries(998, 2), 0);
        assert!(!worse.valid);
        assert!(worse.reasons[0].starts_with("0.2 % of the packets were later"), "{:?}", worse.reasons);
    }

    #[test]
    fn the_histogram_has_every_packet_once() {
        let fidelity = judged(&with_deliveries(5, 3), 0);
        // 20 us and 300 us, in the bins up to 32 and 512.
        let filled: Vec<_> = fidelity.lateness_histogram.iter().filter(|bin| bin.packets > 0).collect();
        let filled: Vec<_> = filled.iter().map(|bin| (bin.up_to_us, bin.packets)).collect();
        assert_eq!(filled, [(32.0, 5), (512.0, 3)]);
        assert!(judged(&Tally::new(), 0).lateness_histogram.is_empty());
    }

    #[test]
    fn a_long_path_allows_more() {
        assert_eq!(allowance(Duration::from_millis(300), LIMIT), Duration::from_millis(3));
        assert_eq!(allowance(Duration::from_millis(1), LIMIT), Duration::from_micros(250));
    }

    #[test]
    fn a_drop_of_our_own_is_never_forgiven() {
        assert!(!judged(&with_deliveries(1000, 0), 1).valid);
    }

    #[test]
    fn bytes_that_vanish_are_a_bug_and_said_to_be() {
        let mut tally = with_deliveries(1, 0);
        tally.bytes_in = 100;
        tally.bytes_out = 99;
        assert!(judged(&tally, 0).reasons[0].ends_with("a bug"));
    }

    #[test]
    fn nothing_delivered_has_no_lateness() {
        let nothing = judged(&Tally::new(), 0);
        assert!(nothing.valid && nothing.lateness_us.is_empty());
    }
}
