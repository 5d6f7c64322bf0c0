//! From samples to the numbers of a comparison: fills the model, draws nothing.

use std::collections::{BTreeMap, BTreeSet};

use experience::{Distribution, Faster, Page, crossovers, experienced_thin_above, thin_above};
use recording::{Metric, Series};

use crate::model::{Comparison, Crossover, Page as PageModel, Side};

mod charts;
mod verdict;

pub use charts::{CHART_REQUESTS, charts};

/// One side of a comparison: the samples of one metric, and what is missing from them.
#[derive(Debug, Clone, PartialEq)]
pub struct SideInput {
    /// What the side is called. Equal labels are told apart by " (2)", " (3)".
    pub label: String,
    /// The samples.
    pub distribution: Distribution,
    /// The same samples in the order of their recording, if it says when they started.
    pub timed: Option<Timed>,
    /// Events that failed and so have no latency.
    pub failed: u64,
    /// Samples that carry no such metric.
    pub without_metric: u64,
    /// Why whatever measured may have shaped the samples itself.
    pub invalid: Vec<String>,
}

/// Samples with the time at which each started, as columns of equal length.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// Seconds since the measurement's start.
    pub started_s: Vec<f64>,
    /// Latency, ms.
    pub values_ms: Vec<f64>,
}

impl TryFrom<Series> for SideInput {
    type Error = experience::Error;

    /// Takes over what was read. The series' header and warnings are not in a side: show them yourself.
    fn try_from(series: Series) -> Result<Self, experience::Error> {
        let timed =
            series.started_s.map(|started_s| Timed { started_s, values_ms: series.values_ms.clone() });
        Ok(Self {
            label: series.label,
            distribution: Distribution::new(series.values_ms)?,
            timed,
            failed: series.failed,
            without_metric: series.without_metric,
            invalid: series.invalid,
        })
    }
}

/// Compares sides as people on `page` experience them. One side is described, two or more get verdicts; crossovers are
/// between the first two.
pub fn compare(metric: Metric, sides: &[SideInput], page: Page) -> Comparison {
    let labels = distinct_labels(sides);
    Comparison {
        schema: SCHEMA.to_owned(),
        metric: metric.name().to_owned(),
        valid: sides.iter().all(|side| side.invalid.is_empty()),
        page: page_model(page),
        percentile_to_watch: by_percentile(|visitors| page.percentile_to_watch(visitors) * 100.0),
        sides: sides.iter().zip(&labels).map(|(side, label)| describe(label, side, page)).collect(),
        verdict: verdict::verdicts(sides, &labels, page),
        crossovers: crossed(sides, &labels),
        method: method(page),
        warnings: warnings(metric, sides, &labels, page),
    }
}

fn page_model(page: Page) -> PageModel {
    PageModel {
        requests: page.requests(),
        required: page.required(),
        effective_requests: page.effective_requests(),
    }
}

fn describe(label: &str, side: &SideInput, page: Page) -> Side {
    let (samples, requests) = (&side.distribution, page.effective_requests());
    Side {
        label: label.to_owned(),
        n: samples.n() as u64,
        failed: side.failed,
        without_metric: side.without_metric,
        invalid: side.invalid.clone(),
        expected_request_ms: samples.mean(),
        standard_deviation_ms: samples.standard_deviation(),
        expected_experienced_ms: samples.expected_experienced(requests),
        min_ms: samples.min(),
        max_ms: samples.max(),
        request_percentiles_ms: by_percentile(|share| samples.quantile(share)),
        experienced_percentiles_ms: by_percentile(|visitors| {
            samples.experienced_quantile(requests, visitors)
        }),
        thin_above: thin_above(samples.n()) * 100.0,
        experienced_thin_above: experienced_thin_above(samples.n(), requests) * 100.0,
    }
}

fn by_percentile(value: impl Fn(f64) -> f64) -> BTreeMap<String, f64> {
    PERCENTILES.iter().map(|&(name, share)| (name.to_owned(), value(share))).collect()
}

fn crossed(sides: &[SideInput], labels: &[String]) -> Vec<Crossover> {
    let ([first, second, ..], [first_label, second_label, ..]) = (sides, labels) else { return Vec::new() };
    crossovers(&first.distribution, &second.distribution)
        .into_iter()
        .map(|crossover| Crossover {
            percentile: crossover.share * 100.0,
            latency_ms: crossover.latency_ms,
            faster_above: match crossover.faster_above {
                Faster::First => first_label.clone(),
                Faster::Second => second_label.clone(),
            },
        })
        .collect()
}

fn method(page: Page) -> String {
    let requests = page.effective_requests();
    let waits = if requests == 1 {
        "A person waits for 1 request".to_owned()
    } else {
        format!("A person waits for the slowest of {requests} requests, taken to be independent")
    };
    format!(
        "Percentiles are type 7 (linear between samples), the default of numpy and R. {waits}. A crossover is reported \
         where the lead changes between percentiles at which the 99 % intervals of the two sides do not overlap."
    )
}

/// What the numbers themselves give reason to doubt.
fn warnings(metric: Metric, sides: &[SideInput], labels: &[String], page: Page) -> Vec<String> {
    let mut warnings = Vec::new();
    for (side, label) in sides.iter().zip(labels) {
        let n = side.distribution.n() as u64;
        let all = n + side.failed + side.without_metric;
        if side.failed > 0 {
            let failed = side.failed;
            warnings.push(format!("{label}: {failed} of {all} events failed; they are in no percentile."));
        }
        if side.without_metric > 0 {
            let without = side.without_metric;
            warnings
                .push(format!("{label}: {without} of {all} samples carry no {metric}; they are left out."));
        }
        warnings.extend(thinness(side, label, page));
    }
    if sides.len() > 1 && sides.iter().take(2).any(|side| side.distribution.n() < ENOUGH_TO_CROSS) {
        warnings.push(format!(
            "Fewer than {ENOUGH_TO_CROSS} samples on a side: too few to say where they cross."
        ));
    }
    warnings
}

/// A sentence if the tail that people on the page meet has too few samples behind it.
fn thinness(side: &SideInput, label: &str, page: Page) -> Option<String> {
    let (n, requests) = (side.distribution.n(), page.effective_requests());
    let thin = experienced_thin_above(n, requests);
    let samples = if n == 1 { "1 sample".to_owned() } else { format!("{n} samples") };
    if thin <= 0.5 {
        return Some(format!(
            "{label}: {samples} are too few for {requests} effective requests: what even the median person waits \
             for is decided by fewer than 10 of them."
        ));
    }
    (thin <= 0.99).then(|| {
        format!(
            "{label}: with {samples}, what people above the {:.1}th percentile experience is decided by fewer than \
             10 of them.",
            // Rounded down: the mark must not lie above the first thin percentile.
            (thin * 1000.0).floor() / 10.0
        )
    })
}

/// The labels, with " (2)", " (3)", ... where one has been used already.
fn distinct_labels(sides: &[SideInput]) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut distinct = |label: &str| {
        let numbered = (2_u64..).map(|number| format!("{label} ({number})"));
        let mut candidates = std::iter::once(label.to_owned()).chain(numbered);
        candidates.find(|candidate| used.insert(candidate.clone())).unwrap_or_default()
    };
    sides.iter().map(|side| distinct(&side.label)).collect()
}

/// The percentiles that are shown: their names, and as shares. In the order of the charts' `percentiles_ms`.
const PERCENTILES: [(&str, f64); 7] =
    [("50", 0.5), ("75", 0.75), ("90", 0.9), ("95", 0.95), ("99", 0.99), ("99.9", 0.999), ("99.99", 0.9999)];

/// The least number of samples with which [`crossovers`] can find one: ten on either side of the median.
const ENOUGH_TO_CROSS: usize = 20;

const SCHEMA: &str = "longhaul.compare/1";

#[cfg(test)]
mod tests;
