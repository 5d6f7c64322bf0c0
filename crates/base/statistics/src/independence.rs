//! Tests the independent model: compares it with the latencies of recorded pages, if samples have
//! page ids.
//!
//! Requests of one page share a network, a server and a moment, so slow requests cluster in few
//! pages, and the model is pessimistic.
//!
//! The uncertainty is determined by pages: each page's influence on ln(model/observed) is computed
//! by the delta method, and the variance of their mean is Newey and West's (Econometrica 55, 1987)
//! with P^(1/3) lags, or none below [`FEWEST_PAGES`] pages.

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
    /// The smallest number of samples of a page.
    pub smallest: u32,
    /// The lower median of the numbers of samples.
    pub median: u32,
    /// The largest number of samples of a page.
    pub largest: u32,
    /// The slowest of the k = max(1, round(m x required)) requests that a page of m samples needs.
    pub slowest: Versus,
    /// The time until any k of its m requests are there: its k-th fastest sample.
    pub kth: Versus,
    /// The distribution of `slowest`.
    pub shares: Vec<PagePoint>,
}

impl Independence {
    /// Whether there are at least [`FEWEST_PAGES`] pages.
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
    /// The deviation of the model: model/observed - 1; infinite if only 0 was observed, and 0 if
    /// both are 0.
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
    /// The independent model's latency, for the same sizes of pages, ms.
    pub model_ms: f64,
}

/// Compares pages (`u32::MAX` for none) with the independent model. `required` is the share of its
/// requests that a page needs, above 0 and at most 1.
///
/// # Errors
/// Invalid samples or `required`, unequal lengths, or unsuitable pages ([`Error::TooFew`],
/// [`Error::Requests`]).
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
            let at = waits.partition_point(|&(_, up_to)| up_to < share - 5e-10).min(waits.len() - 1);
            PagePoint { share, observed_ms: waits[at].0, model_ms: model_quantile(cohort, share) }
        })
        .collect()
}

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

const SHARES: [f64; 12] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999];

/// Below this number of pages the deviation is a rough guess, and the correlation of successive
/// pages is not tested.
pub const FEWEST_PAGES: usize = 30;

/// Pages whose influence varies by less than a billionth are equal except for rounding.
const ALIKE: f64 = 1e-9;

const BISECTIONS: u32 = 52;

#[cfg(test)]
mod tests;
