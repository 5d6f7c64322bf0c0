//! Tests the independent model: compares it with the latencies of recorded pages, if samples have page ids.
//!
//! F(x)^N treats the N requests of a page as independent draws. Requests of one page share a network, a
//! server and a moment, so slow requests cluster: few pages have many of them. The model then spreads the
//! same slow requests over more pages than they hit, and is pessimistic. This module compares both for the
//! same pages.
//!
//! The uncertainty of the deviation is determined by pages, not by requests: a page is drawn as a whole, so
//! all its requests move together. Each page's influence on ln(model/observed) is computed (the delta method:
//! for the model, minus the integral of the density of F from each of its samples upwards), and the variance
//! of their mean is Newey and West's (Econometrica 55, 1987) with P^(1/3) lags, so that successive pages may
//! be correlated; below [`FEWEST_PAGES`] pages without lags, because there is too little data. Intervals are
//! the mean plus or minus the standard errors that Student's t prescribes.

mod cohort;
mod spread;

pub(crate) use cohort::subset_maximum;
use cohort::{Cohort, Kind};
use spread::margin;

use crate::{Distribution, Error, distribution::as_f64, page::percentile_to_watch};

/// The observed latencies of pages, and the prediction of the independent model.
#[derive(Debug, Clone, PartialEq)]
pub struct Independence {
    /// Pages with at least one sample; at least 2.
    pub pages: usize,
    /// Samples that belong to a page. The model draws from these.
    pub samples: usize,
    /// The fewest samples that a page has.
    pub smallest: u32,
    /// The median page's (the lower one of the two in the middle).
    pub median: u32,
    /// The most.
    pub largest: u32,
    /// The slowest of the requests that a page needs, for any choice of these: for a page of m samples, the
    /// maximum of k = max(1, round(m x required)) of them. Observed: the mean over all subsets of k of its
    /// samples.
    pub slowest: Versus,
    /// The time until any k of its m requests are there: its k-th fastest sample. The same as `slowest` if all are
    /// required.
    pub kth: Versus,
    /// The distribution of `slowest`.
    pub shares: Vec<PagePoint>,
}

impl Independence {
    /// Whether there are enough pages to judge the model by: [`FEWEST_PAGES`].
    pub fn is_conclusive(&self) -> bool {
        self.pages >= FEWEST_PAGES
    }
}

/// A mean over pages, observed and by the independent model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Versus {
    /// Mean over pages, ms.
    pub observed_ms: f64,
    /// Lower end of its 95 % interval, ms; 0 or more.
    pub observed_low_ms: f64,
    /// Upper end.
    pub observed_high_ms: f64,
    /// Mean over the same pages of the expectation over independent draws from all samples that have a page,
    /// ms. The draws are with replacement; with P pages of about one size that is lower than a deal of the
    /// same samples, by about the effect of 1/(2P) fewer requests per page. `off_high` allows for it.
    pub model_ms: f64,
    /// How far the model is off: model/observed - 1. Above 0 it is pessimistic. Infinite if nothing but 0 was observed
    /// where the model has more, and 0 if both are 0.
    pub off: f64,
    /// Lower end of its 95 % interval. An interval that contains 0 does not distinguish the model from
    /// reality. For independent requests it excludes 0 in 4 to 8 % of cases; with few pages of which not all
    /// requests are required in up to 13 %, and with a handful of requests of very heavy tails (lognormal,
    /// sigma 2) in 11 %. A few identical pages do not show any variation, so there it reaches to 0.
    pub off_low: f64,
    /// Upper end.
    pub off_high: f64,
}

/// The latency that a share of page views does not exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PagePoint {
    /// Share of page views, 0..=1.
    pub share: f64,
    /// Observed, ms: the smallest wait that at least this share of pages does not exceed.
    pub observed_ms: f64,
    /// The independent model's, for the same sizes of pages.
    pub model_ms: f64,
}

/// Compares pages with the independent model. `pages` holds each sample's page, in any order; `u32::MAX` is not a page,
/// and the sample is left out. Numbers of pages should ascend in time, for the interval's sake. `required` is the share
/// of its requests that a page needs, above 0 and at most 1.
///
/// # Errors
/// Unequal lengths; a sample that no [`Distribution`] takes; `required` that no [`crate::Page`] has. Unsuitable pages
/// have their own variants: [`Error::TooFew`] for fewer than two pages, and [`Error::Requests`] for a page with more
/// than [`crate::MOST_REQUESTS`] samples.
pub fn independence(values_ms: &[f64], pages: &[u32], required: f64) -> Result<Independence, Error> {
    let cohort = Cohort::new(values_ms, pages, required)?;
    let slowest = versus(&cohort, Kind::Slowest);
    let kth = if required < 1.0 { versus(&cohort, Kind::Kth) } else { slowest };
    let (smallest, median, largest) = cohort.sizes();
    Ok(Independence {
        pages: cohort.pages(),
        samples: cohort.side().n(),
        smallest,
        median,
        largest,
        slowest,
        kth,
        shares: shares(&cohort),
    })
}

fn versus(cohort: &Cohort, kind: Kind) -> Versus {
    let observed = cohort.observed(kind);
    let model = cohort.model(kind);
    let pages = as_f64(cohort.pages());
    let observed_ms = crate::sum::sum(observed.iter().copied()) / pages;
    let model_ms = crate::sum::sum(model.expected.iter().copied()) / pages;
    let deviations: Vec<f64> = observed.iter().map(|page| page - observed_ms).collect();
    let half = margin(&deviations);
    let relative =
        observed.iter().zip(&model.expected).zip(&model.influence).map(|((own, expected), moved)| {
            (expected - model_ms + moved) / model_ms - (own - observed_ms) / observed_ms
        });
    let (off, off_low, off_high) = if observed_ms > 0.0 {
        let ratio = model_ms / observed_ms;
        let spread = margin(&relative.collect::<Vec<f64>>()).exp();
        let dealt = (model.dealt_ms / observed_ms).max(ratio);
        let (low, high) = (ratio / spread - 1.0, dealt * spread - 1.0);
        if spread < 1.0 + ALIKE && cohort.pages() < FEWEST_PAGES {
            (ratio - 1.0, low.min(0.0), high.max(0.0))
        } else {
            (ratio - 1.0, low, high)
        }
    } else if model_ms > 0.0 {
        (f64::INFINITY, 0.0, f64::INFINITY)
    } else {
        (0.0, 0.0, 0.0)
    };
    Versus {
        observed_ms,
        observed_low_ms: (observed_ms - half).max(0.0),
        observed_high_ms: observed_ms + half,
        model_ms,
        off,
        off_low,
        off_high,
    }
}

fn shares(cohort: &Cohort) -> Vec<PagePoint> {
    let waits = cohort.waits();
    SHARES
        .into_iter()
        .map(|share| {
            // Half a billionth of a page is a rounding error, not a page that is missing.
            let at = waits.partition_point(|&(_, up_to)| up_to < share - 5e-10).min(waits.len() - 1);
            PagePoint { share, observed_ms: waits[at].0, model_ms: model_quantile(cohort, share) }
        })
        .collect()
}

/// The quantile of the mixture over pages of F^k: the request share u at which the mean of u^k is `share`, by
/// bisection between the solutions for the smallest and the largest k.
fn model_quantile(cohort: &Cohort, share: f64) -> f64 {
    let needs = cohort.needs();
    let mean = |u: f64| needs.iter().map(|&(weight, k)| weight * u.powf(f64::from(k))).sum::<f64>();
    let least = needs.iter().map(|need| need.1).min().unwrap_or(1);
    let most = needs.iter().map(|need| need.1).max().unwrap_or(1);
    let (mut low, mut high) = (percentile_to_watch(least, share), percentile_to_watch(most, share));
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if mean(middle) < share { low = middle } else { high = middle }
    }
    Distribution::quantile(cohort.side(), high)
}

/// Where [`Independence::shares`] looks, and charts have points.
const SHARES: [f64; 12] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999];

/// Below this number of pages the deviation is a rough guess, and the correlation of successive pages is not
/// tested: see [`Independence::is_conclusive`].
pub const FEWEST_PAGES: usize = 30;

/// Pages whose influence varies by less than a billionth are equal except for rounding.
const ALIKE: f64 = 1e-9;

/// Halvings that leave 2^-52 of an interval that is at most 1 long.
const BISECTIONS: u32 = 52;

#[cfg(test)]
mod tests;
