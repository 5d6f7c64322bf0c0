//! What chance does to a difference of two sides, by the deals of a permutation.

use super::{ConfidenceInterval, normal};
use crate::distribution::as_f64;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dealt {
    /// Samples, or stretches of time, of each side.
    pub(crate) draws: [f64; 2],
    /// Whether a side has too few of them.
    pub(crate) is_open: bool,
    pub(crate) is_paired: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Chance {
    estimate: f64,
    /// The standard error of `estimate`.
    error: f64,
    /// Differences over their standard errors, ascending, without the measured one.
    deals: Vec<f64>,
    pub(crate) dealt: Dealt,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Test {
    pub(crate) interval: ConfidenceInterval,
    /// 1 minus the probability that the better side is better by chance.
    pub(crate) sure: f64,
    /// The standard error of `sure` that the number of deals leaves.
    pub(crate) noise: f64,
    /// The absolute difference over its standard error.
    pub(crate) distance: f64,
}

impl Chance {
    pub(crate) fn new(estimate: f64, error: f64, mut deals: Vec<f64>, dealt: Dealt) -> Self {
        deals.sort_unstable_by(f64::total_cmp);
        Self { estimate, error, deals, dealt }
    }

    pub(crate) fn test(&self, difference_ms: f64, level: f64) -> Test {
        let open = ConfidenceInterval { low: None, high: None };
        let distance = difference_ms.abs() / self.error;
        if self.dealt.is_open {
            return Test { interval: open, sure: 0.5, noise: 0.0, distance };
        }
        let measured = difference_ms / self.error;
        let all = as_f64(self.deals.len() + 1);
        // The measured permutation is one of them. Values that differ by rounding count as equal.
        let slack = if measured.is_finite() { 1e-9 * measured.abs() } else { 0.0 };
        let as_far = if measured > 0.0 {
            self.deals.len() - self.deals.partition_point(|&deal| deal < measured - slack)
        } else {
            self.deals.partition_point(|&deal| deal <= measured + slack)
        };
        let chance = as_f64(as_far + 1) / all;
        let allowed = crate::distribution::floor((1.0 - level) / 2.0 * all + 1e-9);
        let end = |deal: Option<&f64>| {
            deal.map(|deal| difference_ms - deal * self.error).filter(|end| end.is_finite())
        };
        let interval = match allowed.checked_sub(1) {
            Some(place) => ConfidenceInterval {
                low: end(self.deals.get(self.deals.len().wrapping_sub(1 + place))),
                high: end(self.deals.get(place)),
            },
            None => open,
        };
        let sure = (1.0 - chance).max(0.5);
        // Variation that both sides share is in the standard error of each, but not in their
        // difference.
        let reached = if difference_ms > 0.0 { interval.low } else { interval.high };
        let reach = reached.map(|end| (difference_ms - end).abs()).filter(|reach| *reach > 0.0);
        let distance = match reach.filter(|_| self.dealt.is_paired) {
            Some(reach) => normal::quantile(f64::midpoint(1.0, level)) * difference_ms.abs() / reach,
            None => distance,
        };
        Test { interval, sure, noise: (sure * (1.0 - sure) / all).sqrt(), distance }
    }

    pub(crate) fn estimate(&self) -> f64 {
        self.estimate
    }

    pub(crate) fn own_test(&self, level: f64) -> Test {
        self.test(self.estimate, level)
    }

    pub(crate) fn turned(mut self) -> Self {
        self.dealt.draws.reverse();
        self.estimate = -self.estimate;
        self.deals.iter_mut().for_each(|deal| *deal = -*deal);
        self.deals.reverse();
        self
    }
}
