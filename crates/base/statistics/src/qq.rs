//! Two sides against each other, percentile by percentile.

use crate::{Distribution, page::percentile_to_watch, share_of_rank, tail_ranks};

/// The same percentile of two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Share of requests ([`qq`]) or of visitors ([`effective_qq`]), 0..=1.
    pub share: f64,
    /// The first side's latency there, ms.
    pub first_ms: f64,
    /// The second side's latency there, ms.
    pub second_ms: f64,
}

/// The quantile-quantile plot of requests, at the samples of the smaller side ([`tail_ranks`]).
pub fn qq(first: &Distribution, second: &Distribution) -> Vec<Point> {
    shares(first, second)
        .into_iter()
        .map(|share| Point { share, first_ms: first.quantile(share), second_ms: second.quantile(share) })
        .collect()
}

/// The quantile-quantile plot of visitors who wait for the slowest of `requests` requests
/// ([`crate::Page::effective_requests`]; 0 counts as 1).
pub fn effective_qq(first: &Distribution, second: &Distribution, requests: u32) -> Vec<Point> {
    let power = f64::from(requests.max(1));
    let samples =
        shares(first, second).into_iter().map(|share| share.powf(power)).filter(|&u| u > 1.0 / STEPS);
    let mut visitors: Vec<f64> = (0..=200).map(|step| f64::from(step) / STEPS).chain(samples).collect();
    visitors.sort_unstable_by(f64::total_cmp);
    visitors.dedup();
    let point = |share| {
        let watched = percentile_to_watch(requests, share);
        Point { share, first_ms: first.quantile(watched), second_ms: second.quantile(watched) }
    };
    visitors.into_iter().map(point).collect()
}

/// Quantiles of the smaller side are samples; quantiles of the larger side are close to samples.
pub(crate) fn shares(first: &Distribution, second: &Distribution) -> Vec<f64> {
    let n = first.n().min(second.n());
    tail_ranks(n).into_iter().map(|rank| share_of_rank(rank, n)).collect()
}

const STEPS: f64 = 200.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(n: u32, scale: f64) -> Distribution {
        Distribution::new((0..n).map(|i| f64::from(i) * scale).collect()).unwrap()
    }

    #[test]
    fn a_side_against_itself_is_the_diagonal() {
        let side = ramp(5000, 1.0);
        for point in qq(&side, &side).iter().chain(&effective_qq(&side, &side, 90)) {
            assert_eq!(point.first_ms, point.second_ms);
        }
    }

    #[test]
    fn unequal_sizes_meet_at_the_samples_of_the_smaller() {
        // 0, 1, ..., 10 against 0, 0.5, ..., 1000 x 0.5: the quantile functions are 10 p and 500 p.
        let points = qq(&ramp(11, 1.0), &ramp(1001, 0.5));
        assert_eq!(points.len(), 11);
        for (rank, point) in points.iter().enumerate() {
            assert!((point.first_ms - rank as f64).abs() < 1e-12);
            assert!((point.second_ms - 50.0 * rank as f64).abs() < 1e-9);
        }
    }

    #[test]
    fn visitors_meet_the_tail() {
        let (first, second) = (ramp(100_000, 1.0), ramp(50_000, 4.0));
        let points = effective_qq(&first, &second, 90);
        assert_eq!((points[0].share, points.last().unwrap().share), (0.0, 1.0));
        assert!(points.windows(2).all(|pair| pair[0].share < pair[1].share));
        let median = points.iter().find(|point| point.share == 0.5).unwrap();
        // 0.5^(1/90) = 0.99232795: of 0..=99999 that is 99231.80, of 0, 4, ..., 199996 it is 198461.62.
        assert!((median.first_ms - 99_231.80).abs() < 0.01, "{median:?}");
        assert!((median.second_ms - 198_461.62).abs() < 0.01, "{median:?}");
        // The slowest sample but one of the smaller side, (49998/49999)^90 = 0.9982 of visitors, is a point.
        assert!(points.iter().any(|point| (point.second_ms - 199_992.0).abs() < 1e-6));
    }
}
