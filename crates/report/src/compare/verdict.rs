//! Who wins, and a sentence that says so.

use experience::Page;

use super::SideInput;
use crate::model::{Verdict, Verdicts};

/// The verdicts over at least two sides.
pub(super) fn verdicts(sides: &[SideInput], labels: &[String], page: Page) -> Option<Verdicts> {
    if sides.len() < 2 {
        return None;
    }
    let by = |number: &dyn Fn(&SideInput) -> f64| best(labels, sides.iter().map(number));
    let median_request = by(&|side| side.distribution.quantile(0.5));
    let request = by(&|side| side.distribution.mean());
    let experienced = by(&|side| side.distribution.expected_experienced(page.effective_requests()));
    let sentence = sentence(&median_request, &experienced, page, sides.len());
    Some(Verdicts { median_request, request, experienced, sentence })
}

/// The side with the smallest number, and its lead over the next.
fn best(labels: &[String], numbers: impl Iterator<Item = f64>) -> Verdict {
    let mut ranked: Vec<(f64, &String)> = numbers.zip(labels).collect();
    ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (least, label) = ranked[0];
    let next = ranked[1].0;
    if next - least <= LEVEL * next {
        return Verdict { better: None, difference_ms: 0.0 };
    }
    Verdict { better: Some(label.clone()), difference_ms: next - least }
}

/// "swift is 41.2 ms faster at the median request, but steady is 71.9 ms faster for the expected page of 180 requests
/// (90 required)."
fn sentence(median: &Verdict, experienced: &Verdict, page: Page, sides: usize) -> String {
    let than = if sides > 2 { " than the next" } else { "" };
    let lead = |verdict: &Verdict| format!("{} faster{than}", milliseconds(verdict.difference_ms));
    let page = page_phrase(page);
    let (level, level_first) = if sides > 2 {
        ("the best are level", "The best are level")
    } else {
        ("both are level", "Both are level")
    };
    match (&median.better, &experienced.better) {
        (Some(request), Some(person)) => {
            let turn = if request == person { " and".to_owned() } else { format!(", but {person} is") };
            format!(
                "{request} is {} at the median request{turn} {} for {page}.",
                lead(median),
                lead(experienced)
            )
        }
        (Some(request), None) => {
            format!("{request} is {} at the median request, but {level} for {page}.", lead(median))
        }
        (None, Some(person)) => {
            format!("{level_first} at the median request, but {person} is {} for {page}.", lead(experienced))
        }
        (None, None) => format!("{level_first} at the median request and for {page}."),
    }
}

fn page_phrase(page: Page) -> String {
    match (page.requests(), page.effective_requests()) {
        (1, _) => "the expected page of 1 request".to_owned(),
        (all, required) if all == required => format!("the expected page of {all} requests"),
        (all, required) => format!("the expected page of {all} requests ({required} required)"),
    }
}

/// A tenth of a millisecond is enough for a lead of milliseconds; a smaller one gets two digits that count.
fn milliseconds(difference: f64) -> String {
    let decimals = (0..=9).find(|&digits| difference * 10_f64.powi(digits) >= 9.5).unwrap_or(9).max(1);
    format!("{difference:.*} ms", usize::try_from(decimals).unwrap_or(1))
}

/// Relative leads up to here are none: a nanosecond in a millisecond is finer than the clocks that measured it.
const LEVEL: f64 = 1e-6;
