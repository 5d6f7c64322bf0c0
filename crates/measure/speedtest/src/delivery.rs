//! Measures a download by the acknowledgements that the sender's kernel receives.
//!
//! A page on a busy device reads its first bytes late and overestimates the rate, but its kernel
//! acknowledges bytes on arrival. The server samples the acknowledged bytes of the connection; the
//! rate between two samples is exact.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) at: Duration,
    /// Acknowledged cumulatively or selectively.
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) size: u64,
    /// Bytes of the body between two samples.
    pub(crate) bytes: u64,
    pub(crate) over: Duration,
    /// From the arrival of the request to the last acknowledgement.
    pub(crate) took: Duration,
    /// The connection's minimum, if the kernel has measured it.
    pub(crate) round_trip: Option<Duration>,
}

#[derive(Debug)]
pub(crate) struct Tracker {
    size: u64,
    requested: Point,
    first: Option<Point>,
    latest: Point,
}

impl Tracker {
    pub(crate) fn new(size: u64, requested: Point) -> Self {
        Self { size, requested, first: None, latest: requested }
    }

    /// Returns the delivery when the body is completely acknowledged.
    pub(crate) fn look(&mut self, now: Point, round_trip: Option<Duration>) -> Option<Delivery> {
        let acknowledged = now.bytes.saturating_sub(self.requested.bytes);
        if acknowledged >= self.size {
            return Some(self.delivery(now, round_trip));
        }
        if now.bytes > self.latest.bytes {
            self.latest = now;
            self.first.get_or_insert(now);
        }
        None
    }

    pub(crate) fn progressed(&self) -> Duration {
        self.latest.at
    }

    pub(crate) fn pause(&self, now: Duration) -> Duration {
        (now.saturating_sub(self.requested.at) / 64).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
    }

    fn delivery(&self, complete: Point, round_trip: Option<Duration>) -> Delivery {
        let first = self.first.unwrap_or(complete);
        // The previous sample is more exact than the final one, unless much was acknowledged after
        // it.
        let all = complete.bytes - first.bytes;
        let is_most = self.latest.bytes.saturating_sub(first.bytes) >= all / 10 * 9;
        let end = if self.first.is_some() && is_most { self.latest } else { complete };
        // Acknowledged bytes include headers and TLS.
        let sent = complete.bytes.saturating_sub(self.requested.bytes).max(1);
        let share = u128::from(end.bytes - first.bytes) * u128::from(self.size) / u128::from(sent);
        Delivery {
            size: self.size,
            bytes: u64::try_from(share).unwrap_or(self.size),
            over: end.at.saturating_sub(first.at),
            took: complete.at.saturating_sub(self.requested.at),
            round_trip,
        }
    }
}

impl Delivery {
    /// A connection to a proxy near the server has a shorter round-trip time than `seen`.
    pub(crate) fn ends_at_client(&self, seen: Option<Duration>) -> bool {
        match (self.round_trip, seen) {
            (Some(own), Some(seen)) => seen <= own * 2 + DEVICE,
            _ => false,
        }
    }
}

const SHORTEST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Maximum delay that the device itself adds to a round trip.
const DEVICE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    fn at(ms: u64, bytes: u64) -> Point {
        Point { at: Duration::from_millis(ms), bytes }
    }

    fn delivery(size: u64, looks: &[(u64, u64)]) -> Option<Delivery> {
        let mut tracker = Tracker::new(size, at(1000, 500));
        let mut looks = looks.iter().map(|&(ms, bytes)| at(1000 + ms, 500 + bytes));
        looks.find_map(|look| tracker.look(look, Some(RTT)))
    }

    #[test]
    fn the_rate_is_that_between_the_first_acknowledgement_and_the_last_look_before_the_end() {
        // 12.5 MB/s from 40 ms on; the final sample is 50 ms late.
        let looks = [(2, 0), (42, 25_000), (240, 2_500_000), (830, 9_875_000), (890, 10_000_000)];
        let found = delivery(10_000_000, &looks).unwrap();
        assert_eq!((found.bytes, found.over), (9_850_000, Duration::from_millis(788)));
        assert_eq!(found.took, Duration::from_millis(890));
        // 9.85 MB over 788 ms: 100 Mbit/s.
        assert_eq!(found.bytes * 8 / 788, 100_000);
    }

    #[test]
    fn a_body_that_stalls_before_its_end_counts_to_the_end() {
        // The kernel's counter waits for a retransmission when half of the body is acknowledged.
        let found = delivery(1_000_000, &[(40, 100_000), (50, 550_000), (350, 550_000), (360, 1_000_000)]);
        let found = found.unwrap();
        assert_eq!((found.bytes, found.over), (900_000, Duration::from_millis(320)));
    }

    #[test]
    fn headers_and_tls_are_no_part_of_the_body() {
        // One percent more was sent than the body has.
        let found = delivery(1_000_000, &[(40, 101_000), (130, 999_900), (140, 1_010_000)]).unwrap();
        assert_eq!((found.bytes, found.over), (890_000, Duration::from_millis(90)));
    }

    #[test]
    fn what_is_not_acknowledged_is_no_delivery_and_one_look_is_no_rate() {
        assert_eq!(delivery(1_000_000, &[(40, 100_000), (60, 999_999)]), None);
        let found = delivery(1000, &[(40, 1200)]).unwrap();
        assert_eq!((found.bytes, found.over, found.took), (0, Duration::ZERO, RTT));
    }

    #[test]
    fn looks_become_rarer() {
        let tracker = Tracker::new(1, at(1000, 0));
        let pause = |ms: u64| tracker.pause(Duration::from_millis(1000 + ms)).as_millis();
        assert_eq!([0, 640, 60_000].map(pause), [2, 10, 50]);
    }

    #[test]
    fn a_connection_to_a_proxy_is_not_the_clients() {
        let delivery = delivery(1000, &[(40, 1200)]).unwrap();
        let ends = |ms: u64| delivery.ends_at_client(Some(Duration::from_millis(ms)));
        assert!(ends(41) && ends(85) && !ends(86));
        assert!(!delivery.ends_at_client(None));
        assert!(!Delivery { round_trip: None, ..delivery }.ends_at_client(Some(RTT)));
    }
}
