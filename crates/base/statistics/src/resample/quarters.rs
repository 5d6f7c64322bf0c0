//! Intervals of a side that has too few independent stretches of time to be resampled.
//!
//! If samples depend on each other over more than a quarter of the recording, no resampling shows how another
//! recording might differ. The recording does show the movement of its own level. The interval is the hull of
//! the intervals of its four quarters, treated as independent samples, plus the width of that hull at both
//! ends. It contains the truth if the level did not move further between recordings than within this
//! recording. A drift of 0.3 ms widens it by about 0.7 ms. Only the hull counts between sides of which one is
//! faster in all its samples.

use super::{ConfidenceInterval, beta, cells::Cells, confidence, normal, rank_interval};
use crate::{Distribution, distribution::as_f64, share_faster};

#[derive(Debug, Clone)]
pub(super) struct Quarters(Vec<Distribution>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Margin {
    None,
    Width,
}

impl Margin {
    /// No margin if all samples of one side are faster than all of the other.
    pub(super) fn between(first: &Distribution, second: &Distribution) -> Self {
        let is_apart = first.max() < second.min() || second.max() < first.min();
        if is_apart { Self::None } else { Self::Width }
    }

    fn of(self, width: f64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Width => width.max(0.0),
        }
    }
}

impl Quarters {
    /// `None` of a series whose quarters have too few samples.
    pub(super) fn new(in_time_ms: &[f64]) -> Option<Self> {
        let end = |number: usize| number * in_time_ms.len() / QUARTERS;
        let part = |number: usize| Distribution::new(in_time_ms[end(number)..end(number + 1)].to_vec()).ok();
        has_quarters(in_time_ms).then(|| (0..QUARTERS).map(part).collect::<Option<_>>().map(Self))?
    }

    pub(super) fn expected(
        &self,
        estimate_ms: f64,
        requests: u32,
        margin: Margin,
        level: f64,
    ) -> ConfidenceInterval {
        self.hull(estimate_ms, margin, |quarter| expected(quarter, requests, level))
    }

    pub(super) fn quantile(
        &self,
        estimate_ms: f64,
        share: f64,
        margin: Margin,
        level: f64,
    ) -> ConfidenceInterval {
        let of = |quarter: &Distribution| rank_interval::interval(quarter, share, as_f64(quarter.n()), level);
        self.hull(estimate_ms, margin, of)
    }

    pub(super) fn parts(&self) -> &[Distribution] {
        &self.0
    }

    fn hull(
        &self,
        estimate_ms: f64,
        margin: Margin,
        interval: impl Fn(&Distribution) -> ConfidenceInterval,
    ) -> ConfidenceInterval {
        let ends: Vec<ConfidenceInterval> = self.0.iter().map(interval).collect();
        let low = ends.iter().map(|end| end.low).try_fold(estimate_ms, |hull, end| Some(hull.min(end?)));
        let high = ends.iter().map(|end| end.high).try_fold(estimate_ms, |hull, end| Some(hull.max(end?)));
        let more = margin.of(low.zip(high).map_or(0.0, |(low, high)| high - low));
        ConfidenceInterval { low: low.map(|low| (low - more).max(0.0)), high: high.map(|high| high + more) }
    }
}

pub(super) fn has_quarters(in_time_ms: &[f64]) -> bool {
    in_time_ms.len() / QUARTERS >= FEWEST
}

/// The hull of Clopper and Pearson's intervals of each pair of parts, and the margin.
pub(super) fn share_by_parts(
    [first, second]: [&[Distribution]; 2],
    requests: u32,
    margin: Margin,
    level: f64,
) -> ConfidenceInterval {
    let (mut low, mut high) = (1.0_f64, 0.0_f64);
    for first in first {
        for second in second {
            let views = as_f64(first.n().min(second.n())) / f64::from(requests);
            let faster = share_faster(first, second, requests) * views;
            let outside = (1.0 - level) / 2.0;
            low = low.min(beta::quantile(outside, faster, views - faster + 1.0));
            high = high.max(beta::quantile(1.0 - outside, faster + 1.0, views - faster));
        }
    }
    let more = margin.of(high - low);
    ConfidenceInterval { low: Some((low - more).max(0.0)), high: Some((high + more).min(1.0)) }
}

/// From its standard error. Open upwards with fewer than two maxima.
fn expected(side: &Distribution, requests: u32, level: f64) -> ConfidenceInterval {
    let cells = Cells::new(side);
    let influence = confidence::influence(&cells, requests);
    let squares = influence.iter().enumerate().map(|(cell, value)| value * value * as_f64(cells.size(cell)));
    let error = squares.sum::<f64>().sqrt() / as_f64(side.n());
    let estimate = side.expected_experienced(requests);
    let maxima = as_f64(side.n()) / f64::from(requests);
    let reach = (maxima > 2.0)
        .then(|| normal::student(normal::quantile(f64::midpoint(1.0, level)), maxima - 1.0) * error);
    ConfidenceInterval {
        low: Some(reach.map_or(0.0, |reach| (estimate - reach).max(0.0))),
        high: reach.map(|reach| estimate + reach),
    }
}

pub(super) const QUARTERS: usize = 4;

/// With fewer samples, a quarter bounds nothing.
const FEWEST: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn drifting(from: f64, drift: f64) -> Vec<f64> {
        (0..400_u32).map(|i| from + f64::from(i % 5) / 100.0 + drift * f64::from(i) / 400.0).collect()
    }

    #[test]
    fn a_drift_widens_an_interval_by_as_much_as_it_moves() {
        for drift in [0.0, 0.3] {
            let values = drifting(50.0, drift);
            let mean = values.iter().sum::<f64>() / 400.0;
            let quarters = Quarters::new(&values).unwrap();
            let found = quarters.expected(mean, 1, Margin::Width, 0.95);
            // Means of quarters are 3/4 of the drift apart, and known to 0.002 ms, with the drift to 0.005;
            // three times that.
            let width = found.high.unwrap() - found.low.unwrap();
            assert!((width - 2.25 * drift).abs() < 0.05, "{drift}: {width}");
            let plain = quarters.expected(mean, 1, Margin::None, 0.95);
            assert!((plain.high.unwrap() - plain.low.unwrap() - width / 3.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_side_that_is_always_faster_needs_no_more_than_its_hull() {
        let side = |from| Distribution::new(drifting(from, 0.3)).unwrap();
        assert_eq!(Margin::between(&side(50.0), &side(51.0)), Margin::None);
        assert_eq!(Margin::between(&side(51.0), &side(50.0)), Margin::None);
        assert_eq!(Margin::between(&side(50.0), &side(50.2)), Margin::Width);
        assert!(Quarters::new(&[1.0; 79]).is_none());
    }
}
