//! One side against another: every difference with its interval.

use super::{
    ConfidenceInterval, Difference, PlacedCrossover, Resampled, crossing, difference::difference,
    share_faster,
};
use crate::{crossovers, page::percentile_to_watch};

/// A first side and a second, from the same [`super::Resamples`].
#[derive(Debug, Clone, Copy)]
pub struct Pair<'r> {
    first: &'r Resampled<'r>,
    second: &'r Resampled<'r>,
}

/// A percentile with the difference of the two sides there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DifferencePoint {
    /// Share of requests, 0..=1.
    pub share: f64,
    /// What is known about second less first.
    pub difference: Difference,
}

impl<'r> Pair<'r> {
    pub(super) fn new(first: &'r Resampled<'r>, second: &'r Resampled<'r>) -> Self {
        Self { first, second }
    }

    /// The difference of the expected request latencies.
    pub fn mean(&self) -> Difference {
        let resamples = self.first.means().zip(self.second.means());
        difference(self.first.mean_known(), self.second.mean_known(), resamples, self.level())
    }

    /// The difference of the expected waits for the slowest of the page's requests.
    pub fn expected_experienced(&self) -> Difference {
        let resamples = self.first.expected().zip(self.second.expected());
        difference(self.first.expected_known(), self.second.expected_known(), resamples, self.level())
    }

    /// The difference of the quantiles at any share of requests.
    pub fn quantile(&self, share: f64) -> Difference {
        let resamples = self.first.quantiles(share).zip(self.second.quantiles(share));
        difference(
            self.first.quantile_known(share),
            self.second.quantile_known(share),
            resamples,
            self.level(),
        )
    }

    /// The difference of what a share of visitors experience on the page.
    pub fn experienced_quantile(&self, visitors: f64) -> Difference {
        self.quantile(percentile_to_watch(self.first.requests, visitors))
    }

    /// The share of page views of `requests` requests on which the first side is faster than an independent view of the
    /// second ([`super::share_faster`]), with its interval. Ask for 1 request or for as many as were resampled for;
    /// for other numbers the interval is rougher.
    pub fn share_faster(&self, requests: u32) -> (f64, ConfidenceInterval) {
        share_faster::estimate(self.first, self.second, requests)
    }

    /// The differences at all shares of [`Resampled::band`] that both sides reach.
    pub fn difference_band(&self) -> Vec<DifferencePoint> {
        let shorter = if self.first.side.n() <= self.second.side.n() { self.first } else { self.second };
        shorter.reached().map(|share| DifferencePoint { share, difference: self.quantile(share) }).collect()
    }

    /// Where the faster side changes ([`crossovers`]), each with the interval of the share at which it does.
    pub fn crossovers(&self) -> Vec<PlacedCrossover> {
        let found = crossovers(self.first.side, self.second.side);
        let band = if found.is_empty() { Vec::new() } else { self.difference_band() };
        found.into_iter().map(|crossover| crossing::placed(crossover, &band)).collect()
    }

    fn level(&self) -> f64 {
        self.first.settings.level
    }
}
