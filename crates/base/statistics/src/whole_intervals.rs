//! Which intervals of time a recording fills.

use std::ops::Range;

/// The whole intervals, as indices from time 0; empty without a whole interval.
pub(crate) fn whole_intervals(earliest: f64, latest: f64, samples: usize, interval_s: f64) -> Range<f64> {
    // Samples stand for the time up to their neighbours.
    let spacing =
        if samples > 1 { (latest - earliest) / crate::distribution::as_f64(samples - 1) } else { 0.0 };
    let (from, to) = (earliest - spacing, latest + spacing);
    let is_whole = |number: f64| {
        let covered = ((number + 1.0) * interval_s).min(to) - (number * interval_s).max(from);
        covered >= WHOLE * interval_s
    };
    let (first, last) = ((earliest / interval_s).floor(), (latest / interval_s).floor());
    let start = if is_whole(first) { first } else { first + 1.0 };
    let end = if is_whole(last) { last + 1.0 } else { last };
    start..end.max(start)
}

/// An interval is whole if at least this share of it is between the first sample and the last. Requests leave
/// gaps: of 100 that start at random in an interval, one gap in e^10 = 22 000 is a tenth of it, and requests
/// of pages arrive in bursts. With four fifths of the samples a maximum is hardly affected.
const WHOLE: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_recording_are_partial_intervals() {
        // A sample every 0.1 s from 0 to 59.9: sixty whole seconds.
        assert_eq!(whole_intervals(0.0, 59.9, 600, 1.0), 0.0..60.0);
        assert_eq!(whole_intervals(0.0, 60.3, 604, 1.0), 0.0..60.0);
        assert_eq!(whole_intervals(95.05, 129.95, 350, 10.0), 10.0..13.0);
        assert_eq!(whole_intervals(0.0, 60.72, 608, 1.0), 0.0..61.0);
        // Bursts of 180 requests within 0.9 s, one every 2 s: the last begins at 998 s.
        assert_eq!(whole_intervals(0.0, 998.895, 90_000, 10.0), 0.0..100.0);
    }

    #[test]
    fn a_recording_within_one_interval_fills_none() {
        assert!(whole_intervals(9.5, 10.5, 150, 1.0).is_empty());
        assert!(whole_intervals(3.0, 3.0, 1, 1.0).is_empty());
        assert!(whole_intervals(0.0, 3.0, 1000, 10.0).is_empty());
        assert_eq!(whole_intervals(0.0, 9.5, 20, 10.0), 0.0..1.0);
    }

    #[test]
    fn what_lies_between_is_whole() {
        assert_eq!(whole_intervals(100.0, 3700.0, 2, 10.0), 10.0..371.0);
    }
}
