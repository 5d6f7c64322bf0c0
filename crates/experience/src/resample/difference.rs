//! How far two sides are apart, and how sure it is which of them is better.
//!
//! Resamples of a side know nothing beyond its samples: those of a single one all agree. So the share of resamples in
//! which one side is better is no surer than what can be said exactly, at any level:
//!
//! - *By permutation.* Were the sides alike, any a of the a + b draws could be the first side's, and with chance
//!   1/C(a + b, a) they would be the a smallest: nothing that a and b samples do is surer than 1 - 1/C(a + b, a). One
//!   against one is undecided, two against two are 5/6 sure, five against five 99.6 %. Draws are samples, blocks, or
//!   for `E[max of N]` the n/N maxima that they make, rounded down. A side that is better may only lack the slow
//!   requests that make up its mean; how many samples the other side has does not help against that, so it counts for
//!   no more draws than the better side has.
//! - *By order statistics*, for a quantile at share p. With chance p^n all samples of the better side lie below its
//!   true quantile, and with (1 - p)^n all of the other side above theirs; then they bound nothing, and the order may
//!   be the reverse. So it is no surer than 1 less either of these: 100 samples of the better side say 63 % at p99, and
//!   368 of them 97.5 %, which is where a 95 % interval closes. n is of samples that vary as much as blocks do.
//!
//! Neither goes below 0.5, where nothing is known. While the interval holds 0, as it does when it is open towards 0,
//! sure is (1 + level)/2 at most besides, so that the two do not contradict each other.

use super::confidence::ConfidenceInterval;
use crate::distribution::{as_f64, floor};

/// The second side less the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Second less first, ms, of the samples themselves. Above 0 the second is slower.
    pub difference_ms: f64,
    /// Its interval, ms. Open below where the first has no upper end, and above where the second has none.
    pub interval: ConfidenceInterval,
    /// The share of resamples (ties count half) in which the side that is better by the samples is better: 0.5 is
    /// undecided, 1 is sure.
    ///
    /// It is at most what an exact argument gives for so few samples, whatever the level: 1 - 1/C(a + b, a) for a draws
    /// of the better side and b of the other, of which at most a count; and for the quantile at share p 1 - p^a and 1 -
    /// (1 - p)^b. Draws are samples or blocks, and for the slowest of N requests the maxima of N that they make. One
    /// sample against one is undecided. While the interval holds 0 it is at most (1 + level)/2, so that it does not
    /// contradict it; nothing else depends on the level.
    pub sure: f64,
}

/// What is known of one side's statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Known {
    /// Of the samples, ms.
    pub(crate) estimate_ms: f64,
    pub(crate) interval: ConfidenceInterval,
    /// How many independent things it is made of.
    pub(crate) draws: f64,
    /// The chance that all samples lie below the truth, so that it has no upper end; 0 where there is no such argument.
    pub(crate) all_below: f64,
    /// The chance that all lie above it.
    pub(crate) all_above: f64,
}

impl Known {
    /// A mean, or an expected maximum, of so many draws.
    pub(crate) fn of_mean(estimate_ms: f64, interval: ConfidenceInterval, draws: f64) -> Self {
        Self { estimate_ms, interval, draws, all_below: 0.0, all_above: 0.0 }
    }
}

/// The difference of two estimates with their intervals, and of their resamples.
///
/// The interval is Zou and Donner's ("Construction of confidence limits about effect measures", 2008): the distance
/// from the estimate to each end is the root of the sum of the squares of the distances of the two single ends that
/// make it. So it inherits what the single intervals know about skewness and about the end of the samples.
pub(crate) fn difference(
    first: Known,
    second: Known,
    resamples: impl Iterator<Item = (f64, f64)>,
    level: f64,
) -> Difference {
    let difference_ms = second.estimate_ms - first.estimate_ms;
    let reach = |of_first: Option<f64>, of_second: Option<f64>| {
        Some((of_first? - first.estimate_ms).hypot(of_second? - second.estimate_ms))
    };
    let interval = ConfidenceInterval {
        low: reach(first.interval.high, second.interval.low).map(|reach| difference_ms - reach),
        high: reach(first.interval.low, second.interval.high).map(|reach| difference_ms + reach),
    };
    if difference_ms == 0.0 {
        return Difference { difference_ms, interval, sure: 0.5 };
    }
    let (mut agree, mut count) = (0.0, 0);
    for (first, second) in resamples {
        count += 1;
        let same = (second - first) * difference_ms.signum();
        agree += if same > 0.0 {
            1.0
        } else if same < 0.0 {
            0.0
        } else {
            0.5
        };
    }
    let (better, worse) = if difference_ms > 0.0 { (first, second) } else { (second, first) };
    let most = if interval.contains(0.0) { f64::midpoint(1.0, level) } else { 1.0 };
    Difference { difference_ms, interval, sure: (agree / as_f64(count)).min(surest(better, worse)).min(most) }
}

/// What samples can say at most: see the module.
fn surest(better: Known, worse: Known) -> f64 {
    let draws = |side: Known| floor(side.draws).max(1);
    let ways = choices(draws(better), draws(worse).min(draws(better)));
    (1.0 - (1.0 / ways).max(better.all_below).max(worse.all_above)).max(0.5)
}

/// C(many + few, few), or more than [`MANY`] if it is that.
fn choices(many: usize, few: usize) -> f64 {
    let mut ways = 1.0;
    for taken in 1..=few {
        ways *= as_f64(many + taken) / as_f64(taken);
        // Each factor is 2 at least.
        if ways > MANY {
            break;
        }
    }
    ways
}

/// One in more than so many does not change a share.
const MANY: f64 = 1e17;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Distribution, Resamples, Scheme, Settings, resample};

    fn interval(low: f64, high: impl Into<Option<f64>>) -> ConfidenceInterval {
        ConfidenceInterval { low: Some(low), high: high.into() }
    }

    fn known(estimate_ms: f64, interval: ConfidenceInterval, draws: f64) -> Known {
        Known::of_mean(estimate_ms, interval, draws)
    }

    #[test]
    fn the_ends_combine_by_their_squares() {
        // First 10 in 7..=14, second 20 in 17..=24: 10 - sqrt(4^2 + 3^2) and 10 + sqrt(3^2 + 4^2).
        let pairs = [(1.0, 2.0), (1.0, 1.0), (1.0, 3.0), (2.0, 1.0)];
        let (first, second) =
            (known(10.0, interval(7.0, 14.0), 100.0), known(20.0, interval(17.0, 24.0), 100.0));
        let found = difference(first, second, pairs.into_iter(), 0.95);
        assert_eq!((found.difference_ms, found.interval), (10.0, interval(5.0, 15.0)));
        // Two of four, and half a tie.
        assert_eq!(found.sure, 2.5 / 4.0);
    }

    #[test]
    fn open_ends_stay_open_and_limit_what_is_sure() {
        let sides = (known(10.0, interval(7.0, None), 100.0), known(20.0, interval(17.0, 24.0), 100.0));
        let found = difference(sides.0, sides.1, [(1.0, 2.0)].into_iter(), 0.95);
        assert_eq!(found.interval, ConfidenceInterval { low: None, high: Some(15.0) });
        assert_eq!(found.sure, 0.975);
        let found = difference(sides.1, sides.0, [(1.0, 2.0)].into_iter(), 0.95);
        assert_eq!((found.interval.high, found.sure), (None, 0.0));
        let same = difference(sides.1, sides.1, [(1.0, 1.0), (1.0, 2.0)].into_iter(), 0.95);
        assert_eq!((same.difference_ms, same.sure), (0.0, 0.5));
    }

    #[test]
    fn ways_to_choose() {
        assert_eq!((choices(1, 1), choices(2, 2), choices(5, 5), choices(7, 3)), (2.0, 6.0, 252.0, 120.0));
        assert!(choices(1_000_000_000, 500_000_000) > MANY);
    }

    /// `n` samples of the first side, 5, 5.01, ..., and `m` from 6 on, for pages of `requests`.
    fn sure(n: u32, m: u32, requests: u32, level: f64, of: impl Fn(&Resamples<'_>) -> Difference) -> f64 {
        let side = |from: f64, n: u32| {
            Distribution::new((0..n).map(|i| from + f64::from(i) / 1000.0).collect()).unwrap()
        };
        let (first, second) = (side(5.0, n), side(6.0, m));
        let sides = [(&first, Scheme::Independent), (&second, Scheme::Independent)];
        of(&resample(&sides, requests, &Settings { resamples: 100, seed: 1, level }).unwrap()).sure
    }

    #[test]
    fn few_samples_are_not_sure_at_any_level() {
        let mean = |sides: &Resamples<'_>| sides.pair(0, 1).unwrap().mean();
        for level in [0.95, 0.999] {
            let of = |n, m| sure(n, m, 1, level, mean);
            assert_eq!(of(1, 1), 0.5);
            assert_eq!(of(2, 2), 1.0 - 1.0 / 6.0);
            assert_eq!(of(3, 3), 1.0 - 1.0 / 20.0);
            // C(4, 1); and many of the slower side do not help.
            assert_eq!((of(3, 1), of(1, 3), of(2, 500)), (0.75, 0.5, 1.0 - 1.0 / 6.0));
            // C(24, 12) = 2 704 156; the interval is closed at both levels: 0.5^12 = 0.00024.
            assert_eq!(of(12, 12), 1.0 - 1.0 / 2_704_156.0);
        }
        // C(10, 5) = 252: where the interval is open to 0, the lesser of the two counts.
        assert_eq!((sure(5, 5, 1, 0.95, mean), sure(5, 5, 1, 0.999, mean)), (0.975, 1.0 - 1.0 / 252.0));
    }

    #[test]
    fn pages_count_as_the_maxima_that_samples_make() {
        // 200 samples make 2 maxima of 90, 50 not one.
        let page = |sides: &Resamples<'_>| sides.pair(0, 1).unwrap().expected_experienced();
        assert_eq!(sure(200, 200, 90, 0.95, page), 1.0 - 1.0 / 6.0);
        assert_eq!(sure(50, 50, 90, 0.95, page), 0.5);
    }

    #[test]
    fn tails_need_samples_beyond_them() {
        let at = |share| move |sides: &Resamples<'_>| sides.pair(0, 1).unwrap().quantile(share);
        // All of 100 lie below p99 with chance 0.99^100 = 0.366032; of 10 with 0.904, so nothing is known.
        for level in [0.95, 0.999] {
            assert!((sure(100, 900, 1, level, at(0.99)) - 0.633_968).abs() < 1e-6);
            assert_eq!(sure(10, 900, 1, level, at(0.99)), 0.5);
            // The other way round for p1: the slower side's few samples may all lie above theirs.
            assert!((sure(900, 100, 1, level, at(0.01)) - 0.633_968).abs() < 1e-6);
            // 0.5^3.
            assert_eq!(sure(3, 3, 1, level, at(0.5)), 0.875);
        }
        // 0.99^900 = 0.000118.
        assert!((sure(900, 100, 1, 0.95, at(0.99)) - 0.999_882).abs() < 1e-6);
    }

    #[test]
    fn blocks_are_draws() {
        // 6 samples in blocks of 3 are two draws.
        let series = |from: f64| (0..6).map(|i| from + f64::from(i) / 1000.0).collect::<Vec<f64>>();
        let (first, second) = (series(5.0), series(6.0));
        let sides = [&first, &second].map(|series| Distribution::new(series.clone()).unwrap());
        let of = |side: usize, in_time_ms| (&sides[side], Scheme::Blocks { in_time_ms, length: 3 });
        let resamples = resample(&[of(0, &first), of(1, &second)], 1, &Settings::default()).unwrap();
        assert_eq!(resamples.pair(0, 1).unwrap().mean().sure, 1.0 - 1.0 / 6.0);
    }
}
