//! What to expect of each side, for one request and on the page, with the number of samples.

use super::{Detail, table::table};
use crate::{
    model::{Basis, Certainty, Ci, Comparison, Side, Verdict},
    text::{count, label, latency, with_interval},
};

pub(super) fn expectations(comparison: &Comparison, detail: Detail) -> String {
    let sides = &comparison.sides;
    let with_ends = comparison.intervals.is_none() || detail == Detail::Wide;
    let verdicts = comparison.verdict.as_ref();
    let verdicts = verdicts.and_then(|verdicts| verdicts.speed.as_ref());
    let request = verdicts.map(|verdicts| &verdicts.request);
    let experienced = verdicts.and_then(|verdicts| match verdicts.experienced.basis {
        Some(Basis::ObservedPages) => verdicts.model.as_ref(),
        _ => Some(&verdicts.experienced),
    });
    // A star marks the better one, also on terminals without colour.
    let mark = |value: f64, ci: Option<&Ci>, label: &str, verdict: Option<&Verdict>| {
        format!("{}{}", with_interval(value, ci), if is_best(label, verdict) { " *" } else { "  " })
    };
    let is_page = comparison.page.effective_requests > 1;
    let row = |side: &Side| {
        let mut row = vec![label(&side.label, LABEL), count(side.n)];
        let Some(figures) = &side.figures else { return row };
        let ci = figures.expected_request_ci_ms.as_ref();
        row.push(mark(figures.expected_request_ms, ci, &side.label, request));
        if is_page {
            let ci = figures.expected_experienced_ci_ms.as_ref();
            row.push(mark(figures.expected_experienced_ms, ci, &side.label, experienced));
        }
        if with_ends {
            row.extend([latency(figures.min_ms), latency(figures.max_ms)]);
        }
        row
    };
    let mut header = vec!["", "n", "expected request  "];
    if is_page {
        header.push("expected experienced  ");
    }
    if with_ends {
        header.extend(["min", "max"]);
    }
    table(header.into_iter().map(str::to_owned), sides.iter().map(row))
}

pub(super) fn is_best(label: &str, verdict: Option<&Verdict>) -> bool {
    verdict.is_some_and(|verdict| {
        verdict.better.as_deref() == Some(label) && matches!(verdict.certainty, None | Some(Certainty::Sure))
    })
}

/// Only sides of which some samples are not in the numbers.
pub(super) fn counts(comparison: &Comparison) -> String {
    let incomplete = comparison.sides.iter().filter(|side| side.read != side.n);
    let line = |side: &Side| {
        format!(
            "{}: read {}, used {}, failed {}, without {} {}, excluded {}\n",
            label(&side.label, LABEL),
            count(side.read),
            count(side.n),
            count(side.failed),
            comparison.metric,
            count(side.without_metric),
            count(side.excluded)
        )
    };
    incomplete.map(line).collect()
}

/// Leaves room for two numbers with their intervals in 80 columns.
const LABEL: usize = 18;
