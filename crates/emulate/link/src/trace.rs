//! A recorded link: its transmission opportunities, in the format of mahimahi.
//!
//! Each line has the time in milliseconds at which 1500 bytes may leave. The trace repeats after
//! its last number. The file "1" is 12 Mbit/s.

use std::fmt;

use units::Bitrate;

use crate::{
    FileError,
    numbers::{number, words},
};

/// The transmission opportunities of a recorded link.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    /// Ascending; at least one, and the last is more than 0.
    opportunities_ms: Vec<u32>,
}

impl Trace {
    /// Parses integer milliseconds, one per line, in ascending order, the last more than 0, at most
    /// 10 million.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let mut opportunities_ms = Vec::new();
        let mut last_line = 1;
        for (line, word) in words(bytes) {
            let at: u32 = number(word).ok_or_else(|| FileError::unexpected(line, word, EXPECTED))?;
            let before = opportunities_ms.last().copied().unwrap_or(0);
            if at < before {
                return Err(FileError::Decreasing { line, before, after: at });
            }
            if opportunities_ms.len() == MOST {
                return Err(FileError::TooLong { line, limit: MOST });
            }
            opportunities_ms.push(at);
            last_line = line;
        }
        match opportunities_ms.last() {
            None => Err(FileError::Empty { expected: EXPECTED }),
            Some(0) => Err(FileError::NoLength { line: last_line }),
            Some(_) => Ok(Self { opportunities_ms }),
        }
    }

    /// The mean rate of full IP packets.
    pub fn mean_rate(&self) -> Bitrate {
        let bits = self.count() * OPPORTUNITY_BYTES * 8 * 1000 / self.length_ms();
        Bitrate::from_bits_per_second(bits.max(1)).expect("at least 1 bit a second")
    }

    pub(crate) fn time_ms(&self, n: u64) -> u64 {
        let (lap, index) = (n / self.count(), n % self.count());
        lap.saturating_mul(self.length_ms()).saturating_add(self.at(index))
    }

    pub(crate) fn first_after(&self, time_ms: u64) -> u64 {
        let (lap, within) = (time_ms / self.length_ms(), time_ms % self.length_ms());
        lap.saturating_mul(self.count()).saturating_add(self.not_after(within))
    }

    pub(crate) fn alike(&self, n: u64) -> u64 {
        let index = n % self.count();
        self.not_after(self.at(index)) - index
    }

    fn count(&self) -> u64 {
        self.opportunities_ms.len() as u64
    }

    fn length_ms(&self) -> u64 {
        self.at(self.count() - 1)
    }

    #[expect(clippy::cast_possible_truncation, reason = "an index of a vector")]
    fn at(&self, index: u64) -> u64 {
        self.opportunities_ms[index as usize].into()
    }

    fn not_after(&self, time_ms: u64) -> u64 {
        self.opportunities_ms.partition_point(|at| u64::from(*at) <= time_ms) as u64
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({} opportunities in {} ms)", self.count(), self.length_ms())
    }
}

/// An IP packet of the usual size. mahimahi counts 1504 bytes, because its tun device adds 4 bytes.
pub(crate) const OPPORTUNITY_BYTES: u64 = 1500;

/// 40 MB of memory: 5 minutes at 400 Mbit/s.
const MOST: usize = 10_000_000;

const EXPECTED: &str = "one time in whole milliseconds a line, below 4294967296";

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> String {
        Trace::parse(bytes).unwrap_err().to_string()
    }

    #[test]
    fn one_opportunity_a_millisecond_is_12_mbit() {
        // 1500 bytes x 8 = 12 000 bits each millisecond.
        assert_eq!(Trace::parse(b"1\n").unwrap().mean_rate(), "12Mbit".parse().unwrap());
        assert_eq!(Trace::parse(b"1\n1\n2\n").unwrap().mean_rate(), "18Mbit".parse().unwrap());
    }

    #[test]
    fn a_trace_begins_again_after_its_last_opportunity() {
        let trace = Trace::parse(b"0\n3\n3\n5\r\n").unwrap();
        let times: Vec<_> = (0..9).map(|n| trace.time_ms(n)).collect();
        assert_eq!(times, [0, 3, 3, 5, 5, 8, 8, 10, 10]);
        for (after, n) in [(0, 1), (2, 1), (3, 3), (4, 3), (5, 5), (7, 5), (8, 7), (10, 9)] {
            assert_eq!(trace.first_after(after), n, "after {after} ms");
        }
        assert_eq!((trace.alike(1), trace.alike(2), trace.alike(3), trace.alike(6)), (2, 1, 1, 1));
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_line() {
        assert_eq!(
            said(b""),
            "the file is empty; expected one time in whole milliseconds a line, below 4294967296"
        );
        assert_eq!(said(b"5\n3\n"), "line 2: 3 ms is after 5 ms; sort the opportunities by time");
        assert_eq!(
            said(b"0\n0\n"),
            "line 2: the last opportunity is at 0 ms, so the trace has no length; let it end later"
        );
        assert!(
            said(b"1\n2.5\n").starts_with("line 2: found \"2.5\"; expected one time in whole milliseconds")
        );
        assert!(said(b"1\n\x7fELF\xff").starts_with("line 2: found \"\\u{7f}ELF\u{fffd}\"; expected"));
        assert!(said(b"-1").starts_with("line 1: found \"-1\""));
        assert!(said(b"4294967296").starts_with("line 1: found \"4294967296\""));
    }

    #[test]
    fn a_trace_that_is_too_long_is_refused() {
        let long = b"7\n".repeat(MOST + 1);
        assert_eq!(said(&long), "line 10000001: more than 10000000 values; cut the file");
    }
}
