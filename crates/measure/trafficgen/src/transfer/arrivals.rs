//! Counts received bytes per interval and finds the longest stall. The caller supplies the time, in
//! nanoseconds since the start of the transfer at the receiver.

use super::wire::Receipt;

#[derive(Debug)]
pub(super) struct Arrivals {
    interval: u64,
    omit: u64,
    intervals: Vec<u64>,
    bytes: u64,
    omitted: u64,
    first: Option<u64>,
    last: u64,
    stall: Option<(u64, u64)>,
}

impl Arrivals {
    /// `interval` is in nanoseconds, more than 0. Bytes before `omit` are counted separately.
    pub(super) fn new(interval: u64, omit: u64) -> Self {
        Self {
            interval,
            omit,
            intervals: Vec::new(),
            bytes: 0,
            omitted: 0,
            first: None,
            last: 0,
            stall: None,
        }
    }

    /// `now` must be monotonic.
    pub(super) fn add(&mut self, now: u64, bytes: u64) {
        if self.first.is_some() {
            let silence = now - self.last;
            if self.stall.is_none_or(|(_, longest)| silence > longest) {
                self.stall = Some((self.last, silence));
            }
        }
        self.first.get_or_insert(now);
        self.last = now;
        self.bytes += bytes;
        if now < self.omit {
            self.omitted += bytes;
        }
        let mut index = usize::try_from(now / self.interval).unwrap_or(usize::MAX);
        while index >= MOST_INTERVALS {
            self.double();
            index = usize::try_from(now / self.interval).unwrap_or(usize::MAX);
        }
        if self.intervals.len() <= index {
            self.intervals.resize(index + 1, 0);
        }
        self.intervals[index] += bytes;
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn receipt(self, bad: u64) -> Receipt {
        Receipt {
            bytes: self.bytes,
            bytes_bad: bad,
            bytes_omitted: self.omitted,
            first_ns: self.first,
            last_ns: self.first.map(|_| self.last),
            stall_ns: self.stall.map(|(_, longest)| longest),
            stall_at_ns: self.stall.map(|(at, _)| at),
            interval_ns: self.interval,
            intervals: self.intervals,
        }
    }

    fn double(&mut self) {
        self.interval = self.interval.saturating_mul(2);
        self.intervals = self.intervals.chunks(2).map(|pair| pair.iter().sum()).collect();
    }
}

/// 109 minutes at 100 ms. A longer transfer has longer intervals.
const MOST_INTERVALS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_silence_and_when_it_began() {
        let mut arrivals = Arrivals::new(100, 400);
        for (now, bytes) in [(10, 5), (40, 5), (360, 1), (400, 2), (720, 4)] {
            arrivals.add(now, bytes);
        }
        let receipt = arrivals.receipt(3);
        assert_eq!((receipt.stall_at_ns, receipt.stall_ns), (Some(40), Some(320)));
        assert_eq!(receipt.intervals, [10, 0, 0, 1, 2, 0, 0, 4]);
        assert_eq!((receipt.bytes, receipt.bytes_bad, receipt.bytes_omitted), (17, 3, 11));
        assert_eq!((receipt.first_ns, receipt.last_ns), (Some(10), Some(720)));
    }

    #[test]
    fn one_arrival_has_no_silence_and_none_has_nothing() {
        let mut arrivals = Arrivals::new(100, 0);
        arrivals.add(10, 5);
        assert_eq!(arrivals.receipt(0).stall_ns, None);
        let nothing = Arrivals::new(100, 0).receipt(0);
        assert_eq!((nothing.bytes, nothing.first_ns, nothing.last_ns), (0, None, None));
    }

    #[test]
    fn a_long_transfer_has_longer_intervals_and_keeps_every_byte() {
        let mut arrivals = Arrivals::new(10, 0);
        let end = 3 * MOST_INTERVALS as u64;
        for index in 0..=end {
            arrivals.add(index * 10, 1);
        }
        let receipt = arrivals.receipt(0);
        assert_eq!((receipt.interval_ns, receipt.intervals[0]), (40, 4));
        assert_eq!(receipt.intervals.iter().sum::<u64>(), end + 1);
        assert!(receipt.intervals.len() <= MOST_INTERVALS);
    }
}
