//! Percentiles of requests and of what people experience.

use std::collections::BTreeMap;

use super::{Detail, table::table};
use crate::{
    model::{Ci, Comparison, Side, SideFigures},
    text::{interval, label, latency, percent},
};

pub(super) fn percentiles(comparison: &Comparison, detail: Detail) -> String {
    if comparison.sides.iter().all(|side| side.figures.is_none()) {
        return String::new();
    }
    let mut text = match detail {
        Detail::Short => by_side(comparison),
        Detail::Wide => kinds(comparison).iter().map(|kind| by_percentile(comparison, kind) + "\n").collect(),
    };
    if any_thin(comparison) {
        text += "~ fewer than 10 samples beyond\n";
    }
    text + &watch(comparison)
}

struct Kind {
    name: &'static str,
    values: fn(&SideFigures) -> &BTreeMap<String, f64>,
    intervals: fn(&SideFigures) -> &BTreeMap<String, Ci>,
    thin_above: fn(&SideFigures) -> f64,
}

const KINDS: [Kind; 2] = [
    Kind {
        name: "request",
        values: |side| &side.request_percentiles_ms,
        intervals: |side| &side.request_percentiles_ci_ms,
        thin_above: |side| side.thin_above,
    },
    Kind {
        name: "experienced",
        values: |side| &side.experienced_percentiles_ms,
        intervals: |side| &side.experienced_percentiles_ci_ms,
        thin_above: |side| side.experienced_thin_above,
    },
];

/// A person who waits for one request experiences that request.
fn kinds(comparison: &Comparison) -> &'static [Kind] {
    if comparison.page.effective_requests > 1 { &KINDS } else { &KINDS[..1] }
}

impl Kind {
    fn value(&self, side: &Side, name: &str) -> Option<String> {
        let figures = side.figures.as_ref()?;
        let value = *(self.values)(figures).get(name)?;
        Some(format!("{}{}", latency(value), if self.is_thin(figures, name) { THIN } else { ' ' }))
    }

    fn is_thin(&self, figures: &SideFigures, name: &str) -> bool {
        name.parse::<f64>().is_ok_and(|percentile| percentile >= (self.thin_above)(figures))
    }
}

fn any_thin(comparison: &Comparison) -> bool {
    kinds(comparison).iter().any(|kind| {
        let names = names(comparison, kind);
        let is_marked = |figures: &SideFigures, name: &String| {
            (kind.values)(figures).contains_key(name) && kind.is_thin(figures, name)
        };
        let mut all = comparison.sides.iter().filter_map(|side| side.figures.as_ref());
        all.any(|figures| names.iter().any(|name| is_marked(figures, name)))
    })
}

fn by_side(comparison: &Comparison) -> String {
    let names = names(comparison, &KINDS[0]);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for kind in kinds(comparison) {
        if !rows.is_empty() {
            rows.push(vec![kind.name.to_owned()]);
        }
        for side in &comparison.sides {
            let cell = |name: &String| kind.value(side, name).unwrap_or_default();
            rows.push(std::iter::once(label(&side.label, LABEL)).chain(names.iter().map(cell)).collect());
        }
    }
    let header =
        std::iter::once(KINDS[0].name.to_owned()).chain(names.iter().map(|name| format!("p{name} ")));
    table(header, rows)
}

fn by_percentile(comparison: &Comparison, kind: &Kind) -> String {
    let cell = |side: &Side, name: &str| {
        let ci = side.figures.as_ref().and_then(|figures| (kind.intervals)(figures).get(name));
        let ci = ci.map_or_else(String::new, |ci| format!(" {}", interval(ci)));
        kind.value(side, name).unwrap_or_default() + &ci
    };
    let rows = names(comparison, kind).into_iter().map(|name| {
        let cells = comparison.sides.iter().map(|side| cell(side, &name));
        std::iter::once(format!("p{name}")).chain(cells).collect::<Vec<_>>()
    });
    let labels = comparison.sides.iter().map(|side| label(&side.label, LABEL));
    table(std::iter::once(kind.name.to_owned()).chain(labels), rows)
}

/// Ordered by number and not by text.
fn names(comparison: &Comparison, kind: &Kind) -> Vec<String> {
    let first = comparison.sides.iter().find_map(|side| side.figures.as_ref());
    let Some(first) = first else { return Vec::new() };
    let mut names: Vec<String> = (kind.values)(first).keys().cloned().collect();
    names.sort_by(|a, b| a.parse().unwrap_or(f64::NAN).total_cmp(&b.parse().unwrap_or(f64::NAN)));
    names
}

fn watch(comparison: &Comparison) -> String {
    let watch = |people: &str| Some(percent(*comparison.percentile_to_watch.get(people)?));
    match (comparison.page.effective_requests, watch("50"), watch("90"), watch("99")) {
        (2.., Some(half), Some(most), Some(all)) => {
            format!("decides for 50 % of people: p{half} of requests; 90 %: p{most}; 99 %: p{all}\n")
        }
        _ => String::new(),
    }
}

/// Follows a number that fewer than ten samples decide.
const THIN: char = '~';
/// Leaves room for seven percentiles in 80 columns.
const LABEL: usize = 15;
