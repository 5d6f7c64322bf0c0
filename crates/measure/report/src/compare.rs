//! From samples to the numbers of a comparison: fills the model and draws nothing.

use std::collections::BTreeMap;

use claim::{Caveat, Doubt, Threshold};
use recording::Metric;
use statistics::{
    Distribution, Faster, Page, Resampled, Resamples, Settings, crossovers, experienced_thin_above,
    thin_above,
};

use crate::model::{
    Band, Comparison, Crossover, Failures, Intervals, Page as PageModel, Quantiles, Side, SideFigures,
};

mod breakdown;
mod certainty;
mod charts;
mod differences;
mod failures;
mod headline;
mod identical;
mod independence;
mod inference;
pub(crate) mod observed;
mod own_error;
mod phases;
mod side;
mod step;
mod threshold;
mod unanswered;
mod verdict;
mod warnings;

use failures::SideFailures;
pub use inference::{Blocks, fitting_resamples};
use observed::{Observed, ObservedSide};
pub use side::{Columns, SideInput};
use threshold::Evidence;
pub use unanswered::Unanswered;
use verdict::Judge;

/// The question put to recordings.
#[derive(Debug, Clone)]
pub struct Question {
    /// The metric of all sides.
    pub metric: Metric,
    /// Phases that are subtracted from it.
    pub excluded_phases: Vec<Metric>,
    /// The page that people open.
    pub page: Page,
    /// How to make confidence intervals; `None`: without them.
    pub intervals: Option<Settings>,
    /// Which neighbours in time are resampled together.
    pub blocks: Blocks,
    /// The label to break the comparison down by.
    pub by: Option<String>,
    /// Thresholds that make the comparison fail.
    pub thresholds: Vec<Threshold>,
}

impl Question {
    /// A question with every default.
    pub fn new(metric: Metric, page: Page) -> Self {
        Self {
            metric,
            excluded_phases: Vec::new(),
            page,
            intervals: Some(Settings::default()),
            blocks: Blocks::Automatic,
            by: None,
            thresholds: Vec::new(),
        }
    }
}

/// A comparison, and further data for its charts.
#[derive(Debug, Clone)]
pub struct Analysis<'s> {
    metric: Metric,
    sides: &'s [SideInput],
    labels: Vec<String>,
    resamples: Option<Resamples<'s>>,
    page_views: Vec<Option<(Quantiles, Option<Band>)>>,
    /// The numbers.
    pub comparison: Comparison,
}

/// Compares sides as people on the question's page experience them; crossovers, phases and labels
/// compare the first two. One side gets no verdict.
///
/// # Errors
///
/// Invalid settings or times.
pub fn compare<'s>(question: &Question, sides: &'s [SideInput]) -> Result<Analysis<'s>, statistics::Error> {
    let labels = side::distinct_labels(sides);
    let requests = question.page.effective_requests();
    let inferred = inference::infer(sides, requests, question.blocks, question.intervals)?;
    let resamples = inferred.resamples;
    let page = question.page;
    let views: Vec<Option<ObservedSide>> =
        sides.iter().map(|side| observed::observe(side, page.required())).collect::<Result<_, _>>()?;
    let observed = Observed::of_all(&views, question)?;
    let alone = |view| Observed::new(std::iter::once(view), question.intervals, question.blocks);
    let alone = match observed {
        Some(_) => Vec::new(),
        None => views.iter().map(|view| alone(view.as_ref())).collect::<Result<Vec<_>, _>>()?,
    };
    let drawn = |place: usize| match &observed {
        Some(observed) => Some((observed, place)),
        None => alone[place].as_ref().map(|observed| (observed, 0)),
    };
    let failing: Vec<SideFailures> =
        sides.iter().zip(&views).map(|(side, view)| SideFailures::new(side, view.as_ref())).collect();
    let level = question.intervals.map(|settings| settings.level);
    let describe = |(number, side): (usize, &SideInput)| {
        let resampled = resamples.as_ref().map(|all| &all.sides()[number]);
        let mut described =
            described(&labels[number], side, page, resampled, inferred.block_lengths[number])?;
        described.shifts.clone_from(&inferred.shifts[number]);
        described.failures = failing[number].described(page, level);
        described.pages = views[number].as_ref().map(|view| observed::described(view, drawn(number)));
        Ok(described)
    };
    let described = sides.iter().enumerate().map(describe).collect::<Result<Vec<_>, _>>()?;
    let judge = Judge {
        sides,
        labels: &labels,
        page,
        resamples: resamples.as_ref(),
        observed: observed.as_ref(),
        settings: question.intervals.unwrap_or_default(),
    };
    let evidence = Evidence { judge: &judge, failing: &failing };
    let identical = identical::identical(sides);
    let weak = warnings::warnings(question, sides, &labels, judge.observed, &identical);
    let invalid = sides.iter().zip(&labels).flat_map(|(side, label)| {
        side.invalid.iter().map(|words| Doubt::Recorded(words.clone()).of(label.as_str()))
    });
    let verdict = verdict::verdicts(&judge, &failing, &identical);
    let own = own_error::doubts(&described);
    let doubts: Vec<Caveat> = invalid.chain(own).chain(weak).map(Caveat::from).collect();
    let comparison = Comparison {
        schema: SCHEMA.to_owned(),
        metric: question.metric.name().to_owned(),
        excluded_phases: question.excluded_phases.iter().map(|phase| phase.name().to_owned()).collect(),
        valid: claim::is_valid(&doubts),
        page: page_model(page),
        percentile_to_watch: by_percentile(|visitors| page.percentile_to_watch(visitors) * 100.0),
        intervals: question.intervals.map(|settings| Intervals {
            level: settings.level,
            resamples: settings.resamples,
            seed: settings.seed,
        }),
        sides: described,
        verdict,
        pairs: verdict::pairs(&judge),
        identical: identical.iter().map(|pair| pair.map(|place| labels[place].clone())).collect(),
        differences: judge.differences(),
        crossovers: crossed(sides, &labels, resamples.as_ref()),
        independence: independence::check(sides, &labels, question)?,
        phases: phases::difference(question.metric, sides)?,
        breakdown: breakdown::breakdown(sides, question)?,
        thresholds: question.thresholds.iter().map(|threshold| evidence.judge(threshold)).collect(),
        method: method(question, observed.is_some(), sides.len()),
        warnings: claim::warnings(&doubts),
        doubts,
    };
    let page_views = (0..sides.len()).map(|place| drawn(place).map(|(observed, at)| observed.chart(at)));
    let page_views = page_views.collect();
    Ok(Analysis { metric: question.metric, sides, labels, resamples, page_views, comparison })
}

fn page_model(page: Page) -> PageModel {
    PageModel {
        requests: page.requests(),
        required: page.required(),
        effective_requests: page.effective_requests(),
    }
}

fn described(
    label: &str,
    side: &SideInput,
    page: Page,
    resampled: Option<&Resampled<'_>>,
    block_length: Option<usize>,
) -> Result<Side, statistics::Error> {
    let (samples, requests): (&Distribution, u32) = (&side.distribution, page.effective_requests());
    let intervals = |share: &dyn Fn(f64) -> f64| {
        let of = |resampled: &Resampled<'_>| {
            by_percentile(|people| inference::ci(resampled.quantile(share(people))))
        };
        resampled.map(of).unwrap_or_default()
    };
    let figures = SideFigures {
        expected_request_ms: samples.mean(),
        expected_request_ci_ms: resampled.map(|side| inference::ci(side.mean())),
        standard_deviation_ms: samples.standard_deviation(),
        expected_experienced_ms: samples.expected_experienced(requests),
        expected_experienced_ci_ms: resampled.map(|side| inference::ci(side.expected_experienced())),
        min_ms: samples.min(),
        max_ms: samples.max(),
        request_percentiles_ms: by_percentile(|share| samples.quantile(share)),
        request_percentiles_ci_ms: intervals(&|share| share),
        experienced_percentiles_ms: by_percentile(|visitors| {
            samples.experienced_quantile(requests, visitors)
        }),
        experienced_percentiles_ci_ms: intervals(&|visitors| page.percentile_to_watch(visitors)),
        thin_above: thin_above(samples.n()) * 100.0,
        experienced_thin_above: experienced_thin_above(samples.n(), requests) * 100.0,
    };
    Ok(Side {
        label: label.to_owned(),
        format: side.format.clone(),
        read: side.read,
        n: samples.n() as u64,
        failed: side.failed,
        without_metric: side.without_metric,
        excluded: side.excluded,
        relative_error: samples.relative_error(),
        invalid: side.invalid.clone(),
        own_error_ms: own_error::described(side, page),
        figures: Some(figures),
        failures: Failures::default(),
        pages: None,
        block_length: block_length.map(|length| length as u64),
        shifts: Vec::new(),
    })
}

fn by_percentile<T>(value: impl Fn(f64) -> T) -> BTreeMap<String, T> {
    PERCENTILES.iter().map(|&(name, share)| (name.to_owned(), value(share))).collect()
}

fn crossed(sides: &[SideInput], labels: &[String], resamples: Option<&Resamples<'_>>) -> Vec<Crossover> {
    let ([first, second, ..], [first_label, second_label, ..]) = (sides, labels) else { return Vec::new() };
    let model = |crossover: statistics::Crossover, ci: Option<[f64; 2]>| Crossover {
        percentile: crossover.share * 100.0,
        ci,
        latency_ms: crossover.latency_ms,
        faster_above: match crossover.faster_above {
            Faster::First => first_label.clone(),
            Faster::Second => second_label.clone(),
        },
    };
    match resamples.and_then(|resamples| resamples.pair(0, 1)) {
        Some(pair) => pair
            .crossovers()
            .into_iter()
            .map(|placed| model(placed.crossover, inference::share_ci(placed.share).map(percent)))
            .collect(),
        None => crossovers(&first.distribution, &second.distribution)
            .into_iter()
            .map(|crossover| model(crossover, None))
            .collect(),
    }
}

fn percent([low, high]: [f64; 2]) -> [f64; 2] {
    [low * 100.0, high * 100.0]
}

fn method(question: &Question, is_observed: bool, sides: usize) -> String {
    let requests = question.page.effective_requests();
    let mut text = "Percentiles are type 7 (linear between samples), the default of numpy and R.".to_owned();
    if is_observed {
        text += " Verdicts and limits on what people experience come from the page views of the recordings, by their page \
                 ids; a page waits for the slowest of its required requests, and fails if one of them does. The \
                 columns \"experienced\" come from the model.";
    }
    text += &if requests == 1 {
        " A person waits for 1 request.".to_owned()
    } else {
        let model = if is_observed { " In the model a" } else { " A" };
        format!("{model} person waits for the slowest of {requests} requests, assumed to be independent.")
    };
    text += " A crossover is reported where the lead changes between percentiles at which the 99 % intervals of the two \
             sides do not overlap. Intervals of failures are Clopper and Pearson's, one side is compared with another by \
             Fisher's exact test.";
    if let Some(settings) = question.intervals {
        text += &format!(
            " Intervals contain the true value {} % of the time. They come from the bootstrap with {} resamples (BCa); for \
             percentiles from order statistics, and for differences of means and pages from permutations.",
            settings.level * 100.0,
            settings.resamples
        );
        text += match sides {
            0 | 1 => "",
            2 => {
                " Intervals are not corrected for multiple comparisons; the certainty of the two verdicts of the headline is \
                 corrected for both (Holm)."
            }
            _ => {
                " Intervals are not corrected for multiple comparisons; the certainty of a verdict is corrected for all pairs of \
                 sides, and in the headline for both of its verdicts (Holm)."
            }
        };
    }
    text
}

/// In the order of the charts' `percentiles_ms`.
const PERCENTILES: [(&str, f64); 7] =
    [("50", 0.5), ("75", 0.75), ("90", 0.9), ("95", 0.95), ("99", 0.99), ("99.9", 0.999), ("99.99", 0.9999)];

const SCHEMA: &str = "longhaul.compare/1";

#[cfg(test)]
mod tests;
