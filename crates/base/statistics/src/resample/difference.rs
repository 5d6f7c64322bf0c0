//! The difference of two sides, and the certainty of which is better.
//!
//! Means and expected maxima are judged by [`super::permutation`], percentiles by the order statistics of
//! each side ([`super::rank_interval`]). In both cases one number is the certainty, one minus the
//! probability of such a difference by chance, and the interval excludes 0 if and only if that number
//! exceeds (1 + level)/2. Samples cannot give more certainty than this, at any level:
//!
//! - *By permutation.* If the sides were equal, any a of the a + b draws could be the first side's, and
//!   with probability 1/C(a + b, a) they would be the a smallest: a and b samples cannot be surer than 1 -
//!   1/C(a + b, a). One against one is undecided, two against two are 5/6 sure, five against five 99.6 %.
//!   Draws are samples, blocks, or for `E[max of N]` the n/N maxima that they make, rounded down. A side
//!   that looks better may only lack the slow requests that determine its mean; more samples of the other
//!   side do not help against that, so the other side counts for no more draws than the better side has.
//! - *By order statistics*, for a quantile at share p. With probability p^n all samples of the better side
//!   are below its true quantile, and with (1 - p)^n all of the other side above theirs; then they bound
//!   nothing, and the order may be the reverse. So it is at most as sure as 1 minus either of these: 100
//!   samples of the better side give 63 % at p99, and 368 of them 97.5 %, which is where a 95 % interval
//!   closes. n counts independent samples of the same variance.
//!
//! Neither goes below 0.5, which is undecided.

use super::{
    certainty::Certainty,
    chance::{Chance, Test},
    confidence::ConfidenceInterval,
    normal,
};
use crate::distribution::{as_f64, floor};

/// The second side less the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Second less first, ms. Above 0 the second is slower.
    pub difference_ms: f64,
    /// Its interval, ms; both ends are open if a side has too few stretches of time.
    pub interval: ConfidenceInterval,
    /// 1 minus the probability that the better side is better by chance: 0.5 is undecided, 1 is
    /// sure. Above (1 + level)/2 if and only if the interval excludes 0.
    pub sure: f64,
    /// The word for it.
    pub certainty: Certainty,
    /// The factor by which the samples of each side must increase to decide which side is better in
    /// four cases of five; `None` if that is decided or impossible.
    pub samples_needed: Option<f64>,
    /// The largest certainty that this number of samples allows.
    pub surest: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SideEstimate {
    /// In ms.
    pub(crate) estimate_ms: f64,
    pub(crate) interval: ConfidenceInterval,
    pub(crate) samples: f64,
    pub(crate) draws: f64,
    /// The chance that all samples lie below the truth, so that it has no upper end; 0 where there
    /// is no such argument.
    pub(crate) all_below: f64,
    /// The chance that all lie above it.
    pub(crate) all_above: f64,
    /// The maximum error below and above the estimate because of buckets in the input, ms.
    pub(crate) bucket_error_ms: [f64; 2],
}

impl SideEstimate {
    pub(crate) fn of_mean(
        estimate_ms: f64,
        interval: ConfidenceInterval,
        [samples, draws]: [f64; 2],
    ) -> Self {
        let bucket_error_ms = [0.0; 2];
        Self { estimate_ms, interval, samples, draws, all_below: 0.0, all_above: 0.0, bucket_error_ms }
    }
}

pub(crate) fn by_permutation(
    [first, second]: [SideEstimate; 2],
    chance: &Chance,
    requests: u32,
    level: f64,
) -> Difference {
    let [ours, theirs] = chance.dealt.draws;
    let first = SideEstimate { draws: ours.min(first.samples / f64::from(requests)), ..first };
    let second = SideEstimate { draws: theirs.min(second.samples / f64::from(requests)), ..second };
    let difference_ms = second.estimate_ms - first.estimate_ms;
    let test = chance.test(difference_ms, level);
    let error = BucketError::of(first, second);
    // If a side is not bounded, neither is the difference.
    let bounded = |of_first: Option<f64>, of_second: Option<f64>| of_first.is_some() && of_second.is_some();
    let interval = ConfidenceInterval {
        low: test.interval.low.filter(|_| bounded(first.interval.high, second.interval.low)),
        high: test.interval.high.filter(|_| bounded(first.interval.low, second.interval.high)),
    };
    let evidence = Evidence { sure: test.sure, noise: test.noise, distance: test.distance };
    let (interval, evidence) = error.applied(difference_ms, interval, evidence);
    judged([first, second], interval, evidence, level)
}

/// The maximum error of the difference below and above because of buckets, ms.
#[derive(Debug, Clone, Copy)]
struct BucketError {
    below: f64,
    above: f64,
}

impl BucketError {
    fn of(first: SideEstimate, second: SideEstimate) -> Self {
        let ([first_below, first_above], [second_below, second_above]) =
            (first.bucket_error_ms, second.bucket_error_ms);
        Self { below: second_below + first_above, above: second_above + first_below }
    }

    fn applied(
        self,
        difference_ms: f64,
        interval: ConfidenceInterval,
        evidence: Evidence,
    ) -> (ConfidenceInterval, Evidence) {
        if self.below == 0.0 && self.above == 0.0 || difference_ms == 0.0 {
            return (interval, evidence);
        }
        let towards_0 = if difference_ms > 0.0 { self.below } else { self.above };
        let interval = ConfidenceInterval {
            low: interval.low.map(|low| low - self.below),
            high: interval.high.map(|high| high + self.above),
        };
        let left = 1.0 - towards_0 / difference_ms.abs();
        let distance = if left > 0.0 { evidence.distance * left } else { 0.0 };
        let sure = evidence.sure.min(normal::share_below(distance));
        (interval, Evidence { sure, distance, ..evidence })
    }
}

/// The difference of two quantiles whose sides exchanged the halves of windows. The share of
/// samples up to the quantile of all is tested, and its interval is converted to milliseconds.
/// `None` for other deals, and where share and quantiles disagree.
pub(crate) fn by_windows(
    sides: [SideEstimate; 2],
    chance: &Chance,
    share: f64,
    level: f64,
) -> Option<Difference> {
    let difference_ms = sides[1].estimate_ms - sides[0].estimate_ms;
    let scale = difference_ms / chance.estimate();
    if !chance.dealt.is_paired || !scale.is_finite() || scale <= 0.0 {
        return None;
    }
    let test = chance.own_test(level);
    let end = |end: Option<f64>| end.map(|end| end * scale);
    let interval = ConfidenceInterval { low: end(test.interval.low), high: end(test.interval.high) };
    let evidence = Evidence { sure: test.sure, noise: test.noise, distance: test.distance };
    let draws = chance.dealt.draws;
    let sides = [0, 1].map(|side| {
        let (all_below, all_above) = (share.powf(draws[side]), (1.0 - share).powf(draws[side]));
        SideEstimate { draws: draws[side], all_below, all_above, ..sides[side] }
    });
    Some(judged(sides, interval, evidence, level))
}

/// The interval is Zou and Donner's ("Construction of confidence limits about effect measures",
/// 2008). The certainty follows from the end towards 0; if that is open, it is the share of
/// `resamples` in which the better side is better. A less sure permutation `test` takes precedence.
pub(crate) fn difference(
    first: SideEstimate,
    second: SideEstimate,
    resamples: impl Iterator<Item = (f64, f64)>,
    test: Option<Test>,
    level: f64,
) -> Difference {
    let difference_ms = second.estimate_ms - first.estimate_ms;
    let reach = |of_first: Option<f64>, of_second: Option<f64>| {
        Some((of_first? - first.estimate_ms).hypot(of_second? - second.estimate_ms))
    };
    let (below, above) =
        (reach(first.interval.high, second.interval.low), reach(first.interval.low, second.interval.high));
    let interval = ConfidenceInterval {
        low: below.map(|reach| difference_ms - reach),
        high: above.map(|reach| difference_ms + reach),
    };
    let unit = normal::quantile(f64::midpoint(1.0, level));
    let (sure, distance) = match if difference_ms > 0.0 { below } else { above } {
        Some(reach) => {
            let distance = unit * difference_ms.abs() / reach;
            (normal::share_below(distance), distance)
        }
        None => {
            let sure = agreeing(difference_ms, resamples);
            (sure, normal::quantile(sure))
        }
    };
    let mut evidence = Evidence { sure, noise: 0.0, distance };
    let mut interval = interval;
    if let Some(test) = test {
        evidence.noise = test.noise;
        if test.sure < sure {
            let proven = normal::quantile(test.sure);
            evidence = Evidence { sure: test.sure, distance: distance.min(proven), ..evidence };
            if test.sure <= f64::midpoint(1.0, level) && !interval.contains(0.0) {
                // As much wider as the test is less sure, which includes 0.
                let wider = |end: f64| difference_ms + (end - difference_ms) * distance / proven;
                let widened = |end: Option<f64>| end.map(wider).filter(|end| end.is_finite());
                interval = ConfidenceInterval { low: widened(interval.low), high: widened(interval.high) };
            }
        }
    }
    judged([first, second], interval, evidence, level)
}

fn agreeing(difference_ms: f64, resamples: impl Iterator<Item = (f64, f64)>) -> f64 {
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
    if count == 0 { 0.5 } else { agree / as_f64(count) }
}

#[derive(Debug, Clone, Copy)]
struct Evidence {
    sure: f64,
    noise: f64,
    /// In standard errors.
    distance: f64,
}

fn judged(
    [first, second]: [SideEstimate; 2],
    mut interval: ConfidenceInterval,
    evidence: Evidence,
    level: f64,
) -> Difference {
    let difference_ms = second.estimate_ms - first.estimate_ms;
    if difference_ms == 0.0 {
        let certainty = Certainty::Undecided;
        return Difference {
            difference_ms,
            interval,
            sure: 0.5,
            certainty,
            samples_needed: None,
            surest: 0.5,
        };
    }
    let is_first = difference_ms > 0.0;
    let (better, worse) = if is_first { (first, second) } else { (second, first) };
    let enough = f64::midpoint(1.0, level);
    let most = if interval.contains(0.0) { enough } else { 1.0 };
    let surest = surest(better, worse);
    let sure = evidence.sure.min(surest).min(most).max(0.5);
    if sure <= enough && !interval.contains(0.0) {
        *(if is_first { &mut interval.low } else { &mut interval.high }) = None;
    }
    let certainty = Certainty::new(sure, enough, if surest > enough { evidence.noise } else { 0.0 });
    let samples_needed =
        (certainty != Certainty::Sure).then(|| needed(evidence.distance, better, enough)).flatten();
    Difference { difference_ms, interval, sure, certainty, samples_needed, surest }
}

/// A test of level alpha finds a difference of z_(1 - alpha) + z_0.8 standard errors in four cases
/// of five.
fn needed(distance: f64, better: SideEstimate, enough: f64) -> Option<f64> {
    let wanted = normal::quantile(enough) + normal::quantile(0.8);
    let by_distance = (wanted / distance).powi(2);
    let by_number = FEWEST_DRAWS / better.draws.max(1e-9);
    Some(by_distance.max(by_number)).filter(|&factor| (1.05..=1000.0).contains(&factor))
}

/// See the module.
fn surest(better: SideEstimate, worse: SideEstimate) -> f64 {
    let draws = |side: SideEstimate| floor(side.draws).max(1);
    let ways = choices(draws(better), draws(worse).min(draws(better)));
    (1.0 - (1.0 / ways).max(better.all_below).max(worse.all_above)).max(0.5)
}

/// C(many + few, few), or some number above [`MANY`].
fn choices(many: usize, few: usize) -> f64 {
    let mut ways = 1.0;
    for taken in 1..=few {
        ways *= as_f64(many + taken) / as_f64(taken);
        if ways > MANY {
            break;
        }
    }
    ways
}

/// One in more than this number does not change a share.
const MANY: f64 = 1e17;

/// With 5.4 draws an interval closes: see [`super::confidence::interval`].
const FEWEST_DRAWS: f64 = 5.4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Distribution, Resamples, Scheme, Settings, resample};

    fn interval(low: f64, high: impl Into<Option<f64>>) -> ConfidenceInterval {
        ConfidenceInterval { low: Some(low), high: high.into() }
    }

    fn known(estimate_ms: f64, interval: ConfidenceInterval, draws: f64) -> SideEstimate {
        SideEstimate::of_mean(estimate_ms, interval, [draws, draws])
    }

    #[test]
    fn the_ends_combine_by_their_squares() {
        let pairs = [(1.0, 2.0), (1.0, 1.0), (1.0, 3.0), (2.0, 1.0)];
        let (first, second) =
            (known(10.0, interval(7.0, 14.0), 100.0), known(20.0, interval(17.0, 24.0), 100.0));
        let found = difference(first, second, pairs.into_iter(), None, 0.95);
        assert_eq!((found.difference_ms, found.interval), (10.0, interval(5.0, 15.0)));
        // The lower end is 5 away, 1.96 standard errors; so 0 is 3.92 away.
        assert!((found.sure - normal::share_below(2.0 * normal::quantile(0.975))).abs() < 1e-12);
        assert_eq!((found.certainty, found.samples_needed), (Certainty::Sure, None));
    }

    #[test]
    fn word_and_number_and_interval_say_the_same() {
        let side =
            |estimate: f64, reach: f64| known(estimate, interval(estimate - reach, estimate + reach), 100.0);
        for (difference_ms, sure) in [(4.999, false), (5.001, true)] {
            let found =
                difference(side(10.0, 3.0), side(10.0 + difference_ms, 4.0), [].into_iter(), None, 0.95);
            assert_eq!((found.sure > 0.975, found.certainty == Certainty::Sure), (sure, sure), "{found:?}");
            assert_eq!(found.interval.contains(0.0), !sure);
        }
        // (2.8016/0.97998)^2 = 8.17.
        let found = difference(side(10.0, 3.0), side(12.5, 4.0), [].into_iter(), None, 0.95);
        assert!((found.samples_needed.unwrap() - 8.17).abs() < 0.01, "{found:?}");
        assert_eq!(found.certainty, Certainty::Undecided);
        let test = Test { interval: found.interval, sure: 0.95, noise: 0.001, distance: 1.64 };
        let found = difference(side(10.0, 3.0), side(20.0, 4.0), [].into_iter(), Some(test), 0.95);
        assert!(found.interval.contains(0.0) && (found.sure - 0.95).abs() < 1e-12, "{found:?}");
        assert_eq!(found.certainty, Certainty::Likely);
    }

    #[test]
    fn open_ends_stay_open_and_limit_what_is_sure() {
        let sides = (known(10.0, interval(7.0, None), 100.0), known(20.0, interval(17.0, 24.0), 100.0));
        let found = difference(sides.0, sides.1, [(1.0, 2.0)].into_iter(), None, 0.95);
        assert_eq!(found.interval, ConfidenceInterval { low: None, high: Some(15.0) });
        assert_eq!(found.sure, 0.975);
        let found = difference(sides.1, sides.0, [(1.0, 2.0)].into_iter(), None, 0.95);
        assert_eq!((found.interval.high, found.sure), (None, 0.5));
        let same = difference(sides.1, sides.1, [(1.0, 1.0), (1.0, 2.0)].into_iter(), None, 0.95);
        assert_eq!((same.difference_ms, same.sure), (0.0, 0.5));
    }

    #[test]
    fn ways_to_choose() {
        assert_eq!((choices(1, 1), choices(2, 2), choices(5, 5), choices(7, 3)), (2.0, 6.0, 252.0, 120.0));
        assert!(choices(1_000_000_000, 500_000_000) > MANY);
    }

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
            // A hundred permutations give 1/20 to within sqrt(0.05 x 0.95/100) = 0.022.
            assert!((0.95 - 4.0 * 0.022..=0.95).contains(&of(3, 3)), "{}", of(3, 3));
            assert!((0.75 - 4.0 * 0.043..=0.75).contains(&of(3, 1)), "{}", of(3, 1));
            assert_eq!((of(1, 3), of(2, 500)), (0.5, 1.0 - 1.0 / 6.0));
        }
        // Permutations are doubled until the boundary is out of reach.
        assert_eq!(sure(12, 12, 1, 0.95, mean), 1.0 - 1.0 / 801.0);
        assert_eq!(sure(5, 5, 1, 0.95, mean), 0.975);
    }

    #[test]
    fn pages_count_as_the_maxima_that_samples_make() {
        let page = |sides: &Resamples<'_>| sides.pair(0, 1).unwrap().expected_experienced();
        assert_eq!(sure(200, 200, 90, 0.95, page), 1.0 - 1.0 / 6.0);
        assert_eq!(sure(50, 50, 90, 0.95, page), 0.5);
    }

    #[test]
    fn tails_need_samples_beyond_them() {
        let at = |share| move |sides: &Resamples<'_>| sides.pair(0, 1).unwrap().quantile(share);
        // All of 100 lie below p99 with chance 0.99^100 = 0.366032, of 10 with 0.904.
        for level in [0.95, 0.999] {
            assert!((sure(100, 900, 1, level, at(0.99)) - 0.633_968).abs() < 1e-6);
            assert_eq!(sure(10, 900, 1, level, at(0.99)), 0.5);
            assert!((0.5..0.633_969).contains(&sure(900, 100, 1, level, at(0.01))));
            assert_eq!(sure(3, 3, 1, level, at(0.5)), 0.875);
        }
        // 0.99^900 = 0.000118.
        assert!((sure(900, 100, 1, 0.95, at(0.99)) - 0.999_882).abs() < 1e-6);
    }

    #[test]
    fn blocks_are_draws() {
        let series = |from: f64| (0..6).map(|i| from + f64::from(i) / 1000.0).collect::<Vec<f64>>();
        let (first, second) = (series(5.0), series(6.0));
        let sides = [&first, &second].map(|series| Distribution::new(series.clone()).unwrap());
        let of = |side: usize, in_time_ms| (&sides[side], Scheme::Blocks { in_time_ms, length: 3 });
        let resamples = resample(&[of(0, &first), of(1, &second)], 1, &Settings::default()).unwrap();
        assert_eq!(resamples.pair(0, 1).unwrap().mean().sure, 0.5);
    }
}
