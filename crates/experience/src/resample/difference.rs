//! How far two sides are apart, and how sure it is which of them is better.

use super::confidence::ConfidenceInterval;
use crate::distribution::as_f64;

/// The second side less the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Second less first, ms, of the samples themselves. Above 0 the second is slower.
    pub difference_ms: f64,
    /// Its interval, ms. Open below where the first has no upper end, and above where the second has none.
    pub interval: ConfidenceInterval,
    /// The share of resamples (ties count half) in which the side that is better by the samples is better: 0.5 is
    /// undecided, 1 is sure. While the interval holds 0 it is at most (1 + level)/2.
    pub sure: f64,
}

/// The difference of two estimates with their intervals, and of their resamples.
///
/// The interval is Zou and Donner's ("Construction of confidence limits about effect measures", 2008): the distance from
/// the estimate to each end is the root of the sum of the squares of the distances of the two single ends that make it.
/// So it inherits what the single intervals know about skewness and about the end of the samples.
pub(crate) fn difference(
    first: (f64, ConfidenceInterval),
    second: (f64, ConfidenceInterval),
    resamples: impl Iterator<Item = (f64, f64)>,
    level: f64,
) -> Difference {
    let ((first_ms, first), (second_ms, second)) = (first, second);
    let difference_ms = second_ms - first_ms;
    let reach = |of_first: Option<f64>, of_second: Option<f64>| {
        Some((of_first? - first_ms).hypot(of_second? - second_ms))
    };
    let interval = ConfidenceInterval {
        low: reach(first.high, second.low).map(|reach| difference_ms - reach),
        high: reach(first.low, second.high).map(|reach| difference_ms + reach),
    };
    let (mut better, mut count) = (0.0, 0);
    for (first, second) in resamples {
        count += 1;
        let same = (second - first) * difference_ms.signum();
        better += if same > 0.0 {
            1.0
        } else if same < 0.0 {
            0.0
        } else {
            0.5
        };
    }
    let sure = if difference_ms == 0.0 { 0.5 } else { better / as_f64(count) };
    let most = if interval.contains(0.0) { f64::midpoint(1.0, level) } else { 1.0 };
    Difference { difference_ms, interval, sure: sure.min(most) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: impl Into<Option<f64>>) -> ConfidenceInterval {
        ConfidenceInterval { low: Some(low), high: high.into() }
    }

    #[test]
    fn the_ends_combine_by_their_squares() {
        // First 10 in 7..=14, second 20 in 17..=24: 10 - sqrt(4^2 + 3^2) and 10 + sqrt(3^2 + 4^2).
        let pairs = [(1.0, 2.0), (1.0, 1.0), (1.0, 3.0), (2.0, 1.0)];
        let found =
            difference((10.0, interval(7.0, 14.0)), (20.0, interval(17.0, 24.0)), pairs.into_iter(), 0.95);
        assert_eq!((found.difference_ms, found.interval), (10.0, interval(5.0, 15.0)));
        // Two of four, and half a tie.
        assert_eq!(found.sure, 2.5 / 4.0);
    }

    #[test]
    fn open_ends_stay_open_and_limit_what_is_sure() {
        let sides = ((10.0, interval(7.0, None)), (20.0, interval(17.0, 24.0)));
        let found = difference(sides.0, sides.1, [(1.0, 2.0)].into_iter(), 0.95);
        assert_eq!(found.interval, ConfidenceInterval { low: None, high: Some(15.0) });
        assert_eq!(found.sure, 0.975);
        let found = difference(sides.1, sides.0, [(1.0, 2.0)].into_iter(), 0.95);
        assert_eq!((found.interval.high, found.sure), (None, 0.0));
        let same = difference(sides.1, sides.1, [(1.0, 1.0), (1.0, 2.0)].into_iter(), 0.95);
        assert_eq!((same.difference_ms, same.sure), (0.0, 0.5));
    }
}
