//! One side against another: every difference with its interval.

use std::sync::OnceLock;

use super::{
    ConfidenceInterval, Difference, DifferencePoint, PlacedCrossover, Resampled, crossing,
    difference::{by_permutation, difference},
    permutation::{self, Permuted, Test},
    share_faster,
};
use crate::{crossover::crossovers_of, page::percentile_to_watch};

/// A first side and a second, from the same [`super::Resamples`].
#[derive(Debug, Clone, Copy)]
pub struct Pair<'r> {
    first: &'r Resampled<'r>,
    second: &'r Resampled<'r>,
    permuted: &'r OnceLock<Option<Permuted>>,
}

impl<'r> Pair<'r> {
    pub(super) fn new(
        first: &'r Resampled<'r>,
        second: &'r Resampled<'r>,
        permuted: &'r OnceLock<Option<Permuted>>,
    ) -> Self {
        Self { first, second, permuted }
    }

    /// What chance does to the difference; made when it is first asked for.
    fn permuted(&self) -> Option<&'r Permuted> {
        let side = |side: &'r Resampled<'r>| (side.side, side.scheme);
        let permute = || {
            permutation::permuted(
                side(self.first),
                side(self.second),
                self.first.requests,
                &self.first.settings,
            )
        };
        self.permuted.get_or_init(permute).as_ref()
    }

    /// The difference of the expected request latencies.
    pub fn mean(&self) -> Difference {
        let (first, second) = (self.first.mean_estimate(), self.second.mean_estimate());
        match self.permuted() {
            Some(permuted) => by_permutation(first, second, &permuted.mean, self.level()),
            None => {
                difference(first, second, self.first.means().zip(self.second.means()), None, self.level())
            }
        }
    }

    /// The difference of the expected waits for the slowest of the page's requests.
    pub fn expected_experienced(&self) -> Difference {
        let (first, second) = (self.first.expected_estimate(), self.second.expected_estimate());
        match self.permuted() {
            Some(permuted) => by_permutation(first, second, &permuted.expected, self.level()),
            None => difference(
                first,
                second,
                self.first.expected().zip(self.second.expected()),
                None,
                self.level(),
            ),
        }
    }

    /// The difference of the quantiles at any share of requests.
    pub fn quantile(&self, share: f64) -> Difference {
        let chance = self.permuted().and_then(|permuted| permuted.quantile(share));
        self.quantile_with(share, chance.map(|chance| chance.own_test(self.level())))
    }

    fn quantile_with(&self, share: f64, test: Option<Test>) -> Difference {
        let resamples = self.first.quantiles(share).zip(self.second.quantiles(share));
        let (first, second) = (self.first.quantile_estimate(share), self.second.quantile_estimate(share));
        difference(first, second, resamples, test, self.level())
    }

    /// The difference of what a share of visitors experience on the page.
    pub fn experienced_quantile(&self, visitors: f64) -> Difference {
        self.quantile(percentile_to_watch(self.first.requests, visitors))
    }

    /// The share of page views of `requests` requests on which the first side is faster than an independent view of the
    /// second ([`super::share_faster`]), with its interval. Ask for 1 request or for as many as were resampled for;
    /// for other numbers the interval is rougher.
    pub fn share_faster(&self, requests: u32) -> (f64, ConfidenceInterval) {
        let (share, interval) = share_faster::estimate(self.first, self.second, requests);
        let chance = self.permuted().map(|permuted| &permuted.shares[usize::from(requests != 1)]);
        let Some(test) = chance.map(|chance| chance.own_test(self.level())) else { return (share, interval) };
        (share, share_faster::tested(share, interval, test, self.level()))
    }

    /// For a chart: the differences, each with the intervals of its two sides alone, at all shares of [`Resampled::band`] that both sides reach.
    pub fn difference_band(&self) -> Vec<DifferencePoint> {
        let shorter = if self.first.side.n() <= self.second.side.n() { self.first } else { self.second };
        shorter
            .reached()
            .map(|share| DifferencePoint { share, difference: self.quantile_with(share, None) })
            .collect()
    }

    /// Where the faster side changes ([`crate::crossovers`]), each with the interval of the share at which it does.
    pub fn crossovers(&self) -> Vec<PlacedCrossover> {
        let sides = [self.first, self.second];
        let found =
            crossovers_of(self.first.side, self.second.side, |side, share| sides[side].effective(share));
        let band = if found.is_empty() { Vec::new() } else { self.difference_band() };
        found.into_iter().map(|crossover| crossing::placed(crossover, &band)).collect()
    }

    fn level(&self) -> f64 {
        self.first.settings.level
    }
}
