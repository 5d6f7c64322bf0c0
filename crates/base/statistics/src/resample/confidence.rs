//! Intervals of means and of E[max of N], from resamples.
//!
//! The plain interval, the middle 95 % of the resamples, misses the truth too often where the samples are
//! skewed, as latencies are: a sample that happens to lack slow requests has both too low a mean and too
//! narrow an interval. Efron's BCa ("Better bootstrap confidence intervals", 1987) moves the two
//! percentiles that are read off: by the
//! *bias* z0, the normal quantile of the share of resamples below the estimate, and by the *acceleration*
//! a, which is how the standard error grows with the estimate: a sixth of the skewness of the statistic's
//! influence function over the root of the number of independent draws. The influence of a sample x on
//! E[max of N] is, except for a constant, minus the integral of N F^(N-1) from x upwards; for one request
//! that is x. Resamples of m draws are known to spread too little by sqrt((m - 1)/m), and few draws need
//! Student's t, so the normal quantile is widened by both (Hesterberg, "What teachers should know about the
//! bootstrap", 2015, the expanded percentile interval). For E[max of N] m is n/N, the number of separate
//! maxima that the samples make: taking n for it, intervals from 11 maxima of 90 hold the truth in 91 % of
//! cases only.

use super::{cells::Cells, normal};
use crate::distribution::{as_f64, between, floor};

/// A range that contains the truth in [`super::Settings::level`] of all cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceInterval {
    /// The lower end; `None` if the samples cannot bound it. A latency is always bounded by 0.
    pub low: Option<f64>,
    /// The upper end; `None` if the samples cannot bound it.
    pub high: Option<f64>,
}

impl ConfidenceInterval {
    /// Whether `value` may be the truth.
    pub fn contains(&self, value: f64) -> bool {
        self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) estimate: f64,
    pub(crate) acceleration: f64,
    /// How many independent maxima of N the samples make: n for a mean of independent samples.
    pub(crate) maxima: f64,
    /// With fewer maxima there is no upper end.
    pub(crate) fewest: f64,
}

/// The BCa interval of a statistic from its resamples, in any order.
///
/// The upper end is open if the samples do not even bound the median of the averaged quantity: they make n/N
/// maxima of N, and all of those are below the median with probability 0.5^(n/N). Above (1 - level)/2, at 95
/// % with fewer than 5.4 maxima, the largest of them is not an upper end. It is also open with fewer maxima
/// than [`Shape::fewest`].
pub(crate) fn interval(mut resamples: Vec<f64>, shape: Shape, level: f64) -> ConfidenceInterval {
    resamples.sort_unstable_by(f64::total_cmp);
    let count = as_f64(resamples.len());
    let Shape { estimate, acceleration, maxima, fewest } = shape;
    // The statistic is computed in different orders: equal means equal except for rounding.
    let slack = 1e-12 * estimate.abs();
    let less = resamples.partition_point(|&value| value < estimate - slack);
    let at_most = resamples.partition_point(|&value| value <= estimate + slack);
    let bias = normal::quantile(
        (f64::midpoint(as_f64(less), as_f64(at_most)) / count).clamp(1.0 / count, 1.0 - 1.0 / count),
    );
    let outside = (1.0 - level) / 2.0;
    let spread = (maxima / (maxima - 1.0).max(0.5)).sqrt();
    let wide = normal::student(normal::quantile(1.0 - outside), maxima - 1.0) * spread;
    let end = |z: f64| {
        let moved = bias + z;
        let share = normal::share_below(bias + moved / (1.0 - acceleration * moved).max(0.1));
        let position = (share * (count + 1.0) - 1.0).clamp(0.0, count - 1.0);
        let below = floor(position);
        let above = (below + 1).min(resamples.len() - 1);
        between(resamples[below], resamples[above], position - as_f64(below))
    };
    let open = 0.5_f64.powf(maxima) > outside || maxima < fewest;
    ConfidenceInterval { low: Some(end(-wide).min(estimate)), high: (!open).then(|| end(wide).max(estimate)) }
}

/// In ms; it averages 0 over the samples.
pub(crate) fn influence(cells: &Cells, requests: u32) -> Vec<f64> {
    let n = as_f64(cells.n());
    let power = f64::from(requests.max(1)) - 1.0;
    let mut influence = vec![0.0; cells.len()];
    for cell in (0..cells.len() - 1).rev() {
        let share = as_f64(cells.starts[cell + 1]) / n;
        let gap = cells.means[cell + 1] - cells.means[cell];
        influence[cell] = influence[cell + 1] - (power + 1.0) * share.powf(power) * gap;
    }
    let weighted = influence.iter().enumerate().map(|(cell, value)| value * as_f64(cells.size(cell)));
    let mean = weighted.sum::<f64>() / n;
    influence.iter_mut().for_each(|value| *value -= mean);
    influence
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;

    #[test]
    fn the_influence_on_a_mean_is_the_distance_from_it() {
        let side = Distribution::new(vec![1.0, 2.0, 2.0, 7.0]).unwrap();
        let influence = influence(&Cells::new(&side), 1);
        for (found, expected) in influence.into_iter().zip([-2.0, -1.0, -1.0, 4.0]) {
            assert!((found - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn the_influence_is_the_derivative() {
        // One more sample at x changes E[max of 5] by its influence over n + 1. With d = 1/n the next term of
        // (F + d)^5 is 2 d/F of the first, so less than 5/n of it where F counts.
        let samples: Vec<f64> = (0..2000).map(|i| -((f64::from(i) + 0.5) / 2000.0).ln()).collect();
        let side = Distribution::new(samples.clone()).unwrap();
        let influence = influence(&Cells::new(&side), 5);
        for rank in [0, 700, 1500, 1990, 1999] {
            let mut more = samples.clone();
            more.push(side.at_rank(rank));
            let change =
                Distribution::new(more).unwrap().expected_experienced(5) - side.expected_experienced(5);
            let bound = 0.01 + influence[rank].abs() * 5.0 / 2000.0;
            assert!((change * 2001.0 - influence[rank]).abs() < bound, "{rank}: {}", influence[rank]);
        }
    }

    #[test]
    fn without_bias_and_skewness_it_is_the_middle_of_the_resamples() {
        // 0, 1, ..., 9999 around 4999.5: 2.5 % is below 250.025 - 1, read at share x (count + 1) - 1.
        let shape = Shape { estimate: 4999.5, acceleration: 0.0, maxima: 1e9, fewest: 0.0 };
        let found = interval((0..10_000).map(f64::from).collect(), shape, 0.95);
        assert!((found.low.unwrap() - 249.025).abs() < 0.01 && (found.high.unwrap() - 9749.975).abs() < 0.01);
        // z = 1.96/(1 - 0.1 x 1.96) = 2.4377 and -1.96/1.196 = -1.6388.
        let found =
            interval((0..10_000).map(f64::from).collect(), Shape { acceleration: 0.1, ..shape }, 0.95);
        assert!((found.low.unwrap() - 10_001.0 * 0.050_63 + 1.0).abs() < 2.0, "{found:?}");
        assert!((found.high.unwrap() - 10_001.0 * 0.992_61 + 1.0).abs() < 2.0, "{found:?}");
    }

    #[test]
    fn few_maxima_bound_nothing() {
        // 0.5^5.4 = 0.0237 and 0.5^5.3 = 0.0254.
        let open = |maxima| {
            let shape = Shape { estimate: 1.0, acceleration: 0.0, maxima, fewest: 0.0 };
            interval(vec![1.0; 100], shape, 0.95).high.is_none()
        };
        assert_eq!((open(5.3), open(5.4)), (true, false));
    }
}
