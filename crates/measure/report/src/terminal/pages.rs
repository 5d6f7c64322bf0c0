//! The waits of real page views, if samples have page ids.

use super::{expectations::is_best, table::table};
use crate::{
    model::{Comparison, ObservedPages, Side},
    text::{count, label, latency, with_interval},
};

pub(super) fn pages(comparison: &Comparison) -> String {
    let sides = &comparison.sides;
    let with_pages = || sides.iter().filter_map(|side| Some((side, side.pages.as_ref()?)));
    if with_pages().next().is_none() {
        return String::new();
    }
    let some_failed = with_pages().any(|(_, pages)| pages.whole < pages.views);
    let verdicts = comparison.verdict.as_ref().and_then(|verdict| verdict.speed.as_ref());
    let verdict = verdicts.map(|verdicts| &verdicts.experienced);
    let row = |(side, pages): (&Side, &ObservedPages)| {
        let mut row = vec![label(&side.label, LABEL), count(pages.views)];
        if some_failed {
            row.push(count(pages.whole));
        }
        let star = if is_best(&side.label, verdict) { " *" } else { "  " };
        row.push(pages.expected_ms.map_or_else(
            || format!("-{star}"),
            |mean| with_interval(mean, pages.expected_ci_ms.as_ref()) + star,
        ));
        row.extend(["50", "95", "99"].map(|name| percentile(pages, name)));
        row
    };
    let mut header = vec!["real pages", "views"];
    if some_failed {
        header.push("whole");
    }
    header.extend(["mean wait  ", "p50 ", "p95 ", "p99 "]);
    table(header.into_iter().map(str::to_owned), with_pages().map(row))
}

fn percentile(pages: &ObservedPages, name: &str) -> String {
    let Some(&ms) = pages.percentiles_ms.get(name) else { return "- ".to_owned() };
    let is_thin = name.parse::<f64>().is_ok_and(|percentile| percentile >= pages.thin_above);
    format!("{}{}", latency(ms), if is_thin { "~" } else { " " })
}

const LABEL: usize = 15;
