//! How many requests and page views failed: one row per side, with intervals.

use super::{Detail, table::table};
use crate::{
    model::{Basis, Comparison, Side},
    text::{count, label, percent},
};

pub(super) fn failures(comparison: &Comparison, detail: Detail) -> String {
    let sides = &comparison.sides;
    let anything = sides.iter().any(|side| side.failed > 0);
    if sides.is_empty() || !anything && detail == Detail::Short {
        return String::new();
    }
    let by_model = sides.iter().any(|side| side.failures.basis == Some(Basis::Model));
    let with_pages = comparison.page.effective_requests > 1 || !by_model;
    let row = |side: &Side| {
        let failures = &side.failures;
        let mut row = vec![
            label(&side.label, LABEL),
            format!("{} of {}", count(side.failed), count(side.failed + side.n)),
            share(failures.request_share, failures.request_share_ci),
        ];
        if with_pages {
            row.push(share(failures.page_share, failures.page_share_ci));
        }
        row
    };
    let mut header = vec!["failed", "requests", "% of requests"];
    if with_pages {
        header.push(if by_model { "% of pages, by the model" } else { "% of real page views" });
    }
    table(header.into_iter().map(str::to_owned), sides.iter().map(row))
}

pub(super) fn share(share: f64, ci: Option<[f64; 2]>) -> String {
    let ends = ci.map_or_else(String::new, |[low, high]| {
        format!(" [{}, {}]", percent(low * 100.0), percent(high * 100.0))
    });
    percent(share * 100.0) + &ends
}

const LABEL: usize = 18;
