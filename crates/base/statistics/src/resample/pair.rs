//! One side against another: every difference with its interval.

use std::sync::OnceLock;

use super::{
    ConfidenceInterval, Difference, DifferencePoint, PlacedCrossover, Resampled,
    chance::Test,
    crossing,
    difference::{SideEstimate, by_permutation, by_windows, difference},
    permutation::{self, Evidence, Permuted},
    quarters::{Margin, share_by_parts},
    share_faster,
};
use crate::{crossover::crossovers_of, page::percentile_to_watch};

/// A first side and a second, from the same [`super::Resamples`].
#[derive(Debug, Clone, Copy)]
pub struct Pair<'r> {
    first: &'r Resampled<'r>,
    second: &'r Resampled<'r>,
    permuted: &'r OnceLock<Permuted>,
}

impl<'r> Pair<'r> {
    pub(super) fn new(
        first: &'r Resampled<'r>,
        second: &'r Resampled<'r>,
        permuted: &'r OnceLock<Permuted>,
    ) -> Self {
        Self { first, second, permuted }
    }

    /// Made on first use.
    fn permuted(&self) -> &'r Permuted {
        let permute = || {
            let (first, second) = (self.first, self.second);
            permutation::permuted(first.as_side(), second.as_side(), first.requests, &first.settings)
        };
        self.permuted.get_or_init(permute)
    }

    /// The difference of the expected request latencies.
    pub fn mean(&self) -> Difference {
        let sides = [self.first, self.second];
        match &self.permuted().mean {
            Evidence::Deals(chance) => {
                by_permutation(sides.map(Resampled::mean_estimate), chance, 1, self.level())
            }
            Evidence::Quarters(short) => self.by_quarters(
                *short,
                |side, margin| side.expected_estimate_by_quarters(1, margin),
                |side| side.mean_estimate(),
            ),
            Evidence::SideIntervals => {
                let [first, second] = sides.map(Resampled::mean_estimate);
                difference(first, second, self.first.means().zip(self.second.means()), None, self.level())
            }
        }
    }

    /// The difference of the expected waits for the slowest of the page's requests.
    pub fn expected_experienced(&self) -> Difference {
        let (sides, requests) = ([self.first, self.second], self.first.requests);
        match &self.permuted().expected {
            Evidence::Deals(chance) => {
                by_permutation(sides.map(Resampled::expected_estimate), chance, requests, self.level())
            }
            Evidence::Quarters(short) => self.by_quarters(
                *short,
                |side, margin| side.expected_estimate_by_quarters(requests, margin),
                |side| side.expected_estimate(),
            ),
            Evidence::SideIntervals => {
                let [first, second] = sides.map(Resampled::expected_estimate);
                let resamples = self.first.expected().zip(self.second.expected());
                difference(first, second, resamples, None, self.level())
            }
        }
    }

    /// The difference of the quantiles at any share of requests.
    pub fn quantile(&self, share: f64) -> Difference {
        let (first, second) = (self.first.as_side(), self.second.as_side());
        match permutation::quantile(first, second, share, &self.first.settings) {
            Evidence::Deals(chance) => {
                let sides = [self.first, self.second].map(|side| side.quantile_estimate(share));
                by_windows(sides, &chance, share, self.level())
                    .unwrap_or_else(|| self.quantile_with(share, Some(chance.own_test(self.level()))))
            }
            Evidence::Quarters(short) => self.by_quarters(
                short,
                |side, margin| side.quantile_estimate_by_quarters(share, margin),
                |side| side.quantile_estimate(share),
            ),
            Evidence::SideIntervals => self.quantile_with(share, None),
        }
    }

    /// `short` marks the sides whose interval is that of their quarters.
    fn by_quarters(
        &self,
        short: [bool; 2],
        by_quarters: impl Fn(&Resampled<'_>, Margin) -> Option<SideEstimate>,
        own: impl Fn(&Resampled<'_>) -> SideEstimate,
    ) -> Difference {
        let margin = Margin::between(self.first.side, self.second.side);
        let estimate = |side: &Resampled<'_>, is_short: bool| {
            is_short.then(|| by_quarters(side, margin)).flatten().unwrap_or_else(|| own(side))
        };
        let (first, second) = (estimate(self.first, short[0]), estimate(self.second, short[1]));
        difference(first, second, std::iter::empty(), None, self.level())
    }

    fn quantile_with(&self, share: f64, test: Option<Test>) -> Difference {
        let resamples = self.first.quantiles(share).zip(self.second.quantiles(share));
        let (first, second) = (self.first.quantile_estimate(share), self.second.quantile_estimate(share));
        difference(first, second, resamples, test, self.level())
    }

    /// The difference of the latency that a share of page views does not exceed.
    pub fn experienced_quantile(&self, visitors: f64) -> Difference {
        self.quantile(percentile_to_watch(self.first.requests, visitors))
    }

    /// The share of page views of `requests` requests on which the first side is faster
    /// ([`super::share_faster`]), with its interval.
    pub fn share_faster(&self, requests: u32) -> (f64, ConfidenceInterval) {
        let (share, interval) = share_faster::estimate(self.first, self.second, requests);
        match &self.permuted().shares[usize::from(requests != 1)] {
            Evidence::Deals(chance) => {
                let test = chance.own_test(self.level());
                let of_test = |end: Option<f64>| end.map(|end| (0.5 + end).clamp(0.0, 1.0));
                if chance.dealt.is_paired && requests == 1 {
                    let ConfidenceInterval { low, high } = test.interval;
                    return (share, ConfidenceInterval { low: of_test(low), high: of_test(high) });
                }
                (share, share_faster::tested(share, interval, test, self.level()))
            }
            Evidence::Quarters(_) => {
                let parts = [self.first.parts(), self.second.parts()];
                let margin = Margin::between(self.first.side, self.second.side);
                (share, share_by_parts(parts, requests, margin, self.level()))
            }
            Evidence::SideIntervals => (share, interval),
        }
    }

    /// The differences, each with the intervals of its two sides alone, at all shares of
    /// [`Resampled::band`] that both sides reach.
    pub fn difference_band(&self) -> Vec<DifferencePoint> {
        let shorter = if self.first.side.n() <= self.second.side.n() { self.first } else { self.second };
        shorter
            .reached()
            .map(|share| DifferencePoint { share, difference: self.quantile_with(share, None) })
            .collect()
    }

    /// Where the faster side changes ([`crate::crossovers`]), each with the interval of its share.
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
