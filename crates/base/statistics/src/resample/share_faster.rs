//! On which share of page views one side is faster than the other.

use super::{beta, chance::Test, confidence::ConfidenceInterval, rank_interval, resampled};
use crate::{
    Distribution,
    distribution::{as_f64, floor},
    sum::Sum,
};

use super::Resampled;

/// The chance that a page view of `first` is faster than an independent one of `second`, for the
/// slowest of `requests` requests (0 counts as 1); equal views count half.
pub fn share_faster(first: &Distribution, second: &Distribution, requests: u32) -> f64 {
    let requests = requests.max(1);
    let (ours, theirs) = (first.values(), second.values());
    let power =
        |side: &Distribution, values: usize| power(as_f64(side.up_to(values)) / as_f64(side.n()), requests);
    // exp(-46) = 1e-20.
    let rank = floor(as_f64(first.n()) * (-46.0 / f64::from(requests)).exp());
    let mut own = ours.partition_point(|&value| value < first.at_rank(rank));
    let mut other = theirs.partition_point(|&value| value < ours[own]);
    let mut below = power(second, other);
    let (mut before, mut sum) = (0.0, Sum::default());
    while own < ours.len() {
        let value = ours[own];
        while own < ours.len() && ours[own] == value {
            own += 1;
        }
        let start = other;
        while other < theirs.len() && theirs[other] < value {
            other += 1;
        }
        if other > start {
            below = power(second, other);
        }
        let start = other;
        while other < theirs.len() && theirs[other] == value {
            other += 1;
        }
        let up_to = if other > start { power(second, other) } else { below };
        let now = power(first, own);
        sum.add((now - before) * (1.0 - f64::midpoint(below, up_to)));
        (before, below) = (now, up_to);
    }
    sum.value().clamp(0.0, 1.0)
}

/// The share with its interval.
///
/// How much the share varies is known from the resamples; the interval is Clopper and Pearson's, of as many
/// page views as would make a share vary as much ([`rank_interval::effective`]), so that it stays within
/// 0..=1 and does not shrink to a point when one side has won every time: m page views then bound the share
/// by (1 - level)/2 to the 1/m.
pub(super) fn estimate(
    first: &Resampled<'_>,
    second: &Resampled<'_>,
    requests: u32,
) -> (f64, ConfidenceInterval) {
    let requests = requests.max(1);
    let share = share_faster(first.side, second.side, requests);
    let pairs = || first.cumulative().zip(second.cumulative());
    let resamples: Vec<f64> = pairs().map(|(first, second)| trapezoids(first, second, requests)).collect();
    let variance = resampled::variance(&resamples);
    let draws = first.draws.min(second.draws) / f64::from(requests);
    let most = as_f64(first.side.n()) + as_f64(second.side.n());
    let level = first.settings.level;
    let views = if share * (1.0 - share) > 0.0 {
        rank_interval::effective(share, variance, draws.max(4.0), most, level)
    } else {
        draws
    };
    let (outside, faster) = ((1.0 - level) / 2.0, share * views);
    let [least, most] = bounds(share, [first.side, second.side], requests);
    let interval = ConfidenceInterval {
        low: Some(
            (beta::quantile(outside, faster, views - faster + 1.0).min(share) + least - share).max(0.0),
        ),
        high: Some(
            (beta::quantile(1.0 - outside, faster + 1.0, views - faster).max(share) + most - share).min(1.0),
        ),
    };
    (share, interval)
}

fn bounds(share: f64, [first, second]: [&Distribution; 2], requests: u32) -> [f64; 2] {
    if first.is_exact() && second.is_exact() {
        return [share; 2];
    }
    let least = share_faster(first.highest(), second.lowest(), requests);
    let most = share_faster(first.lowest(), second.highest(), requests);
    [least.min(share), most.max(share)]
}

/// Extends the interval to 1/2 if a permutation test is not sure.
pub(super) fn tested(share: f64, interval: ConfidenceInterval, test: Test, level: f64) -> ConfidenceInterval {
    if interval.contains(0.5) || test.sure > f64::midpoint(1.0, level) {
        interval
    } else if share > 0.5 {
        ConfidenceInterval { low: Some(0.5), ..interval }
    } else {
        ConfidenceInterval { high: Some(0.5), ..interval }
    }
}

/// Within two cuts the sides count as equal.
fn trapezoids(first: &[f64], second: &[f64], requests: u32) -> f64 {
    let (mut before, mut below, mut sum) = (0.0, 0.0, 0.0);
    let ends = first.iter().zip(second).map(|(&first, &second)| (first, second)).chain([(1.0, 1.0)]);
    for (first, second) in ends {
        let (now, up_to) = (power(first, requests), power(second, requests));
        sum += (now - before) * (1.0 - f64::midpoint(below, up_to));
        (before, below) = (now, up_to);
    }
    sum
}

fn power(share: f64, requests: u32) -> f64 {
    let (mut power, mut square, mut exponent) = (1.0, share, requests);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power *= square;
        }
        square *= square;
        exponent >>= 1;
    }
    power
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Bucket;

    fn sampled(n: u32, latency: impl Fn(f64) -> f64) -> Distribution {
        Distribution::new((0..n).map(|i| latency((f64::from(i) + 0.5) / f64::from(n))).collect()).unwrap()
    }

    #[test]
    fn exponentials_and_uniforms() {
        // Exp with means 1 and 3: the first is smaller with rate 1 of 1 + 1/3: 3/4. Samples at midpoints
        // have their distribution functions to 1/(2n).
        let (n, swift, slow) =
            (20_000, sampled(20_000, |p| -(1.0 - p).ln()), sampled(20_000, |p| -3.0 * (1.0 - p).ln()));
        assert!((share_faster(&swift, &slow, 1) - 0.75).abs() < 1.0 / f64::from(n));
        // Uniform on 0..1 and on 0..2, pages of N: the second is larger unless it is in 0..1, with
        // probability 2^-N, and then both are equally likely to be larger: 1 - 2^-N/2.
        let (short, long) = (sampled(20_000, |p| p), sampled(20_000, |p| 2.0 * p));
        for requests in [1, 2, 5, 10] {
            let expected = 1.0 - 0.5_f64.powi(requests + 1);
            let found = share_faster(&short, &long, requests.cast_unsigned());
            assert!((found - expected).abs() < f64::from(requests) / f64::from(n), "{requests}: {found}");
        }
        // (1 - e^-2)^3.
        let certain = Distribution::new(vec![2.0]).unwrap();
        let expected = (1.0 - (-2.0_f64).exp()).powi(3);
        assert!((share_faster(&swift, &certain, 3) - expected).abs() < 3.0 / f64::from(n));
    }

    #[test]
    fn the_pages_of_the_summary() {
        // 99 of 10 ms and one of 500, against 20: a page of 90 is faster if it misses the slow one, 0.99^90.
        let mut swift = vec![10.0; 99];
        swift.push(500.0);
        let (swift, steady) = (Distribution::new(swift).unwrap(), Distribution::new(vec![20.0; 7]).unwrap());
        assert!((share_faster(&swift, &steady, 90) - 0.99_f64.powi(90)).abs() < 1e-12);
        assert!((share_faster(&swift, &steady, 1) - 0.99).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn it_is_the_count_of_pairs(
            first in prop::collection::vec(0..9_u8, 1..40),
            second in prop::collection::vec(0..9_u8, 1..40),
            requests in 1_u32..200,
        ) {
            let side = |values: &[u8]| Distribution::new(values.iter().map(|&v| f64::from(v)).collect()).unwrap();
            let (ours, theirs) = (side(&first), side(&second));
            let wins: f64 = first.iter().flat_map(|a| second.iter().map(move |b| match a.cmp(b) {
                std::cmp::Ordering::Less => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 0.0,
            })).sum();
            let expected = wins / (first.len() * second.len()) as f64;
            prop_assert!((share_faster(&ours, &theirs, 1) - expected).abs() < 1e-12);
            let rest = share_faster(&theirs, &ours, requests);
            prop_assert!((share_faster(&ours, &theirs, requests) + rest - 1.0).abs() < 1e-12);
            let buckets = first.iter().map(|&v| Bucket::exact(f64::from(v), 1)).collect();
            let counted = Distribution::from_counts(buckets, 0.1).unwrap();
            prop_assert!((share_faster(&theirs, &counted, requests) - rest).abs() < 1e-12);
        }
    }
}
