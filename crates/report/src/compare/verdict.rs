//! Who wins, by how much, how surely, and sentences that say so.

use experience::{Difference, Page, Resamples, share_faster};

use super::{SideInput, inference};
use crate::{
    model::{Pair, Verdict, Verdicts},
    text::{certainty, latency, milliseconds},
};

/// The number that a verdict goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    MedianRequest,
    Request,
    Experienced,
}

/// The verdicts over at least two sides.
pub(super) fn verdicts(
    sides: &[SideInput],
    labels: &[String],
    page: Page,
    resamples: Option<&Resamples<'_>>,
) -> Option<Verdicts> {
    if sides.len() < 2 {
        return None;
    }
    let all: Vec<usize> = (0..sides.len()).collect();
    let judge = Judge { sides, labels, page, resamples };
    let median_request = judge.best(&all, By::MedianRequest);
    let request = judge.best(&all, By::Request);
    let experienced = judge.best(&all, By::Experienced);
    let headline = headline(&median_request, &experienced, page, sides.len());
    let certainty = certainly(&experienced, page);
    let sentence = certainty.as_ref().map_or_else(|| headline.clone(), |more| format!("{headline} {more}"));
    Some(Verdicts { median_request, request, experienced, headline, certainty, sentence })
}

/// Every side against every other, if there are more than two.
pub(super) fn pairs(
    sides: &[SideInput],
    labels: &[String],
    page: Page,
    resamples: Option<&Resamples<'_>>,
) -> Vec<Pair> {
    if sides.len() < 3 {
        return Vec::new();
    }
    let judge = Judge { sides, labels, page, resamples };
    let every =
        (0..sides.len()).flat_map(|first| (first + 1..sides.len()).map(move |second| [first, second]));
    every
        .map(|[first, second]| Pair {
            first: labels[first].clone(),
            second: labels[second].clone(),
            request: judge.best(&[first, second], By::Request),
            experienced: judge.best(&[first, second], By::Experienced),
        })
        .collect()
}

/// The verdict between two sides that are not part of a comparison's resamples, with resamples of their own.
pub(super) fn between(
    sides: &[SideInput; 2],
    labels: &[String],
    page: Page,
    resamples: Option<&Resamples<'_>>,
) -> Verdict {
    Judge { sides, labels, page, resamples }.best(&[0, 1], By::Experienced)
}

struct Judge<'j> {
    sides: &'j [SideInput],
    labels: &'j [String],
    page: Page,
    resamples: Option<&'j Resamples<'j>>,
}

impl Judge<'_> {
    /// The side with the smallest number among `contenders`, at least two, and its lead over the next.
    fn best(&self, contenders: &[usize], by: By) -> Verdict {
        let mut ranked: Vec<(f64, usize)> =
            contenders.iter().map(|&side| (self.number(side, by), side)).collect();
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let ((least, best), (next, other)) = (ranked[0], ranked[1]);
        let difference =
            self.resamples.and_then(|resamples| resamples.pair(best, other)).map(|pair| match by {
                By::MedianRequest => pair.quantile(0.5),
                By::Request => pair.mean(),
                By::Experienced => pair.expected_experienced(),
            });
        let ci_ms = difference.map(|difference: Difference| inference::ci(difference.interval));
        if next - least <= LEVEL * next {
            return Verdict {
                better: None,
                difference_ms: 0.0,
                ci_ms,
                share_better: None,
                share_better_ci: None,
                sure: None,
            };
        }
        let (share, share_ci) = self.share_faster(best, other, by);
        Verdict {
            better: Some(self.labels[best].clone()),
            difference_ms: next - least,
            ci_ms,
            share_better: Some(share),
            share_better_ci: share_ci,
            sure: difference.map(|difference| difference.sure),
        }
    }

    fn number(&self, side: usize, by: By) -> f64 {
        let samples = &self.sides[side].distribution;
        match by {
            By::MedianRequest => samples.quantile(0.5),
            By::Request => samples.mean(),
            By::Experienced => samples.expected_experienced(self.page.effective_requests()),
        }
    }

    /// The share of independent requests, or views of the page, for which `first` is faster.
    fn share_faster(&self, first: usize, second: usize, by: By) -> (f64, Option<[f64; 2]>) {
        let requests = if by == By::Experienced { self.page.effective_requests() } else { 1 };
        match self.resamples.and_then(|resamples| resamples.pair(first, second)) {
            Some(pair) => {
                let (share, interval) = pair.share_faster(requests);
                (share, inference::share_ci(interval))
            }
            None => {
                let side = |side: usize| &self.sides[side].distribution;
                (share_faster(side(first), side(second), requests), None)
            }
        }
    }
}

/// "swift is 41.2 ms faster at the median request, but steady is 71.9 ms faster for the expected page of 180 requests
/// (90 required)."
fn headline(median: &Verdict, experienced: &Verdict, page: Page, sides: usize) -> String {
    let than = if sides > 2 { " than the next" } else { "" };
    let lead = |verdict: &Verdict| format!("{} faster{than}", milliseconds(verdict.difference_ms));
    let (level, level_first) = if sides > 2 {
        ("the best are level", "The best are level")
    } else {
        ("both are level", "Both are level")
    };
    let page = page_phrase(page);
    match (&median.better, &experienced.better) {
        (Some(request), Some(person)) => {
            let turn = if request == person { " and".to_owned() } else { format!(", but {person} is") };
            format!("{request} is {} at the median request{turn} {} {page}.", lead(median), lead(experienced))
        }
        (Some(request), None) => {
            format!("{request} is {} at the median request, but {level} {page}.", lead(median))
        }
        (None, Some(person)) => {
            format!("{level_first} at the median request, but {person} is {} {page}.", lead(experienced))
        }
        (None, None) => format!("{level_first} at the median request and {page}."),
    }
}

fn page_phrase(page: Page) -> String {
    match (page.requests(), page.effective_requests()) {
        (1, _) => "on average".to_owned(),
        (all, 1) => format!("for the expected page of {all} requests (1 required)"),
        (all, required) if all == required => format!("for the expected page of {all} requests"),
        (all, required) => format!("for the expected page of {all} requests ({required} required)"),
    }
}

/// "steady is faster for 61-67 % of page views; its expected page is 42 ms faster, 95 % interval 31 to 54 ms: sure
/// (99.9 %)." Nothing where there are no intervals.
fn certainly(verdict: &Verdict, page: Page) -> Option<String> {
    let (better, sure) = (verdict.better.as_ref()?, verdict.sure?);
    let (views, expected) = if page.effective_requests() == 1 {
        ("requests", "its expected request")
    } else {
        ("page views", "its expected page")
    };
    let wins = match verdict.share_better_ci {
        // The mean can be won by few large leads.
        Some([low, high]) if high < 0.5 => {
            format!("{better} is faster for only {} of {views}, but {expected}", percents(low, high))
        }
        Some([low, high]) if high - low < SAYS_NOTHING => {
            format!("{better} is faster for {} of {views}; {expected}", percents(low, high))
        }
        _ => expected.replacen("its", &format!("{better}'s"), 1),
    };
    let [low, high] = verdict.ci_ms?;
    let interval = match (low, high) {
        (Some(low), Some(high)) => format!("interval {} to {} ms", latency(low), latency(high)),
        (Some(low), None) => format!("at least {} ms", latency(low)),
        (None, Some(high)) => format!("at most {} ms", latency(high)),
        (None, None) => "the samples cannot bound that".to_owned(),
    };
    let lead = milliseconds(verdict.difference_ms);
    let sure = certainty(sure, low.is_some_and(|low| low > 0.0));
    Some(format!("{wins} is {lead} faster ({interval}): {sure}."))
}

/// "61-67 %", "99.2-99.6 %".
fn percents(low: f64, high: f64) -> String {
    let decimals = if high - low < 0.02 { 1 } else { 0 };
    let text = |share: f64| format!("{:.decimals$}", share * 100.0);
    if text(low) == text(high) {
        format!("{} %", text(low))
    } else {
        format!("{}-{} %", text(low), text(high))
    }
}

/// An interval of a share that is wider than this leaves everything open.
const SAYS_NOTHING: f64 = 0.95;

/// Relative leads up to here are none: a nanosecond in a millisecond is finer than the clocks that measured it.
const LEVEL: f64 = 1e-6;
