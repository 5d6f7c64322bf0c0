//! What to expect of each side, for one request and on the page, and how many samples say so.

use super::{Detail, table::table};
use crate::{
    model::{Ci, Comparison, Side},
    text::{count, label, latency, with_interval},
};

/// The table of expectations. The fastest and the slowest sample have their columns where intervals leave them room.
pub(super) fn expectations(comparison: &Comparison, detail: Detail) -> String {
    let sides = &comparison.sides;
    let with_ends = comparison.intervals.is_none() || detail == Detail::Wide;
    let best = |value: fn(&Side) -> f64| sides.iter().map(value).fold(f64::INFINITY, f64::min);
    let (request, experienced) =
        (best(|side| side.expected_request_ms), best(|side| side.expected_experienced_ms));
    // A star marks the better one, also where there is no colour.
    let mark = |value: f64, ci: Option<&Ci>, best: f64| {
        let is_best = sides.len() > 1 && value <= best;
        format!("{}{}", with_interval(value, ci), if is_best { " *" } else { "  " })
    };
    let is_page = comparison.page.effective_requests > 1;
    let row = |side: &Side| {
        let mut row = vec![
            label(&side.label, LABEL),
            count(side.n),
            mark(side.expected_request_ms, side.expected_request_ci_ms.as_ref(), request),
        ];
        if is_page {
            let ci = side.expected_experienced_ci_ms.as_ref();
            row.push(mark(side.expected_experienced_ms, ci, experienced));
        }
        if with_ends {
            row.extend([latency(side.min_ms), latency(side.max_ms)]);
        }
        row
    };
    // Two blanks stand over the star.
    let mut header = vec!["", "n", "expected request  "];
    if is_page {
        header.push("expected experienced  ");
    }
    if with_ends {
        header.extend(["min", "max"]);
    }
    table(header.into_iter().map(str::to_owned), sides.iter().map(row))
}

/// A line for each side of which not all that was read is behind the numbers.
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
