//! Intervals of percentiles from order statistics.
//!
//! Resamples are a poor guide to a percentile that has few samples beyond it. With 5 expected beyond, the
//! middle 95 % of resampled quantiles ends below the truth in 12 % of cases instead of 2.5 %: it ends at
//! the third largest sample, above which there are at most two with probability P(Poisson(5) <= 2) = 0.125.
//! For quantiles the exact distribution is known: the share of the true distribution below the r-th of n
//! samples is Beta(r, n + 1 - r) distributed, for any samples. So the lower end is the rank r whose share
//! is above p with probability (1 - level)/2, and the upper end the rank whose share is below p with that
//! probability; ranks between two samples are interpolated.
//!
//! - Above the largest sample there is no rank: if even its share is below p too often, that is if
//!   p^n > (1 - level)/2, the interval is open upwards. All n samples are below the quantile too easily.
//! - The same below the smallest, (1 - p)^n > (1 - level)/2; but there a latency is bounded by 0.
//!
//! Correlated samples count for fewer: with the n of independent samples whose share below the quantile
//! would vary equally under resampling by blocks (Korn and Graubard, "Confidence intervals for proportions
//! with small expected number of positive counts estimated from survey data", 1998).

use super::{beta, confidence::ConfidenceInterval, normal};
use crate::{Distribution, distribution::as_f64};

/// From `effective` independent samples (at most n). Of samples in buckets, it reaches to the ends
/// of the buckets.
pub(crate) fn interval(side: &Distribution, share: f64, effective: f64, level: f64) -> ConfidenceInterval {
    let n = as_f64(side.n());
    let (share, outside) = (share.clamp(0.0, 1.0), (1.0 - level) / 2.0);
    let effective = effective.clamp(1.0, n);
    let lies_below = |rank: f64| beta::share_below(share, rank, effective + 1.0 - rank);
    let position = |rank: f64| (rank / (effective + 1.0) * (n + 1.0) - 1.0).clamp(0.0, n - 1.0);
    let estimate = side.quantile(share);
    // The probability that the share of a rank is below p decreases with the rank.
    let low = if lies_below(1.0) < 1.0 - outside {
        0.0
    } else {
        let rank = beta::bisect(1.0, effective, |rank| lies_below(rank) > 1.0 - outside);
        side.lowest().at_position(position(rank)).min(estimate)
    };
    let high = (lies_below(effective) <= outside).then(|| {
        let rank = beta::bisect(1.0, effective, |rank| lies_below(rank) > outside);
        side.highest().at_position(position(rank)).max(estimate)
    });
    ConfidenceInterval { low: Some(low), high }
}

/// How many independent samples would vary as much; without variance, `draws`.
pub(crate) fn as_variable(share: f64, variance: f64, draws: f64) -> f64 {
    let found = share * (1.0 - share) / variance;
    if found.is_finite() && found > 0.0 { found } else { draws }
}

/// At most `most`. Corrects by Student's t for a variance that is estimated from `draws` draws.
pub(crate) fn paid(found: f64, draws: f64, most: f64, level: f64) -> f64 {
    let z = normal::quantile(1.0 - (1.0 - level) / 2.0);
    (found * (z / normal::student(z, draws - 1.0)).powi(2)).min(most)
}

pub(crate) fn effective(share: f64, variance: f64, draws: f64, most: f64, level: f64) -> f64 {
    paid(as_variable(share, variance, draws), draws, most, level)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(n: u32) -> Distribution {
        Distribution::new((1..=n).map(f64::from).collect()).unwrap()
    }

    #[test]
    fn the_median_of_a_hundred() {
        // Textbook: samples 40 and 61 hold the median with 96.5 %, P(Bin(100, 1/2) <= 39) = 0.0176; 41 and
        // 60 with 94.3 %, P(<= 40) = 0.0284. Between them 95 %.
        let found = interval(&ramp(100), 0.5, 100.0, 0.95);
        assert!((40.0..=41.0).contains(&found.low.unwrap()), "{found:?}");
        assert!((60.0..=61.0).contains(&found.high.unwrap()), "{found:?}");
        let wide = interval(&ramp(100), 0.5, 25.0, 0.95);
        let width = |found: ConfidenceInterval| found.high.unwrap() - found.low.unwrap();
        assert!((width(wide) / width(found) - 2.0).abs() < 0.15, "{wide:?}");
    }

    #[test]
    fn open_where_all_samples_may_lie_below() {
        // 0.99^367 = 0.02501, 0.99^368 = 0.02476.
        assert_eq!(interval(&ramp(367), 0.99, 367.0, 0.95).high, None);
        assert!(interval(&ramp(368), 0.99, 368.0, 0.95).high.unwrap() > 367.9);
        assert_eq!(interval(&ramp(367), 0.01, 367.0, 0.95).low, Some(0.0));
        assert!(interval(&ramp(368), 0.01, 368.0, 0.95).low.unwrap() < 1.1);
        let one = ConfidenceInterval { low: Some(0.0), high: None };
        assert_eq!(interval(&ramp(1), 0.5, 1.0, 0.95), one);
        assert_eq!(interval(&ramp(9), 1.0, 9.0, 0.95), ConfidenceInterval { low: Some(9.0), high: None });
        assert_eq!(
            interval(&ramp(9), 0.0, 9.0, 0.95),
            ConfidenceInterval { low: Some(0.0), high: Some(1.0) }
        );
    }

    #[test]
    fn effective_samples() {
        // Variance p (1 - p)/m of m = 400 samples; 1e6 blocks leave Student's t at the normal.
        assert!((effective(0.3, 0.21 / 400.0, 1e6, 1e4, 0.95) - 400.0).abs() < 0.01);
        assert!(effective(0.3, 0.21 / 400.0, 10.0, 1e4, 0.95) < 320.0);
        assert_eq!(effective(0.3, 0.21 / 400.0, 1e6, 50.0, 0.95), 50.0);
        assert!((effective(0.3, 0.0, 1e6, 1e9, 0.95) - 1e6).abs() < 10.0);
    }
}
