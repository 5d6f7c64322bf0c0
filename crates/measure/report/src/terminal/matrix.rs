//! Every side against every other, if there are more than two.

use super::{Detail, table::table};
use crate::{
    model::{Basis, Certainty, Comparison, Pair, Verdict},
    text::{difference, label, plural},
};

/// A cell is the latency of its row minus that of its column.
pub(super) fn matrix(comparison: &Comparison, detail: Detail) -> String {
    let pairs = &comparison.pairs;
    if pairs.is_empty() {
        return String::new();
    }
    if comparison.sides.len() > SIDES {
        return format!("{}: --json or --html shows them\n", plural(pairs.len() as u64, "pair"));
    }
    let is_observed = pairs.iter().all(|pair| pair.experienced.basis == Some(Basis::ObservedPages));
    let people = if is_observed { "mean of real page views" } else { "expected experienced" };
    let mut text = one(comparison, people, |pair| &pair.experienced);
    if detail == Detail::Wide {
        text = one(comparison, "expected request", |pair| &pair.request) + "\n" + &text;
    }
    text
}

fn one(comparison: &Comparison, what: &str, verdict: fn(&Pair) -> &Verdict) -> String {
    let labels = || comparison.sides.iter().map(|side| side.label.as_str());
    let between = |row: &str, column: &str| {
        let is_theirs = |pair: &&Pair| {
            (&*pair.first, &*pair.second) == (row, column) || (&*pair.second, &*pair.first) == (row, column)
        };
        comparison.pairs.iter().find(is_theirs).map_or_else(String::new, |pair| cell(verdict(pair), row))
    };
    let rows = labels().map(|row| {
        std::iter::once(label(row, LABEL))
            .chain(labels().map(|column| between(row, column)))
            .collect::<Vec<_>>()
    });
    let header =
        std::iter::once(String::new()).chain(labels().map(|column| format!("{} ", label(column, LABEL))));
    let table = table(header, rows);
    let doubt = if comparison.pairs.iter().any(|pair| may_be_chance(verdict(pair))) {
        "; ? may be chance, of so many pairs"
    } else {
        ""
    };
    format!("{what}, row less column, ms: below 0 the row is faster{doubt}\n{table}")
}

fn cell(verdict: &Verdict, row: &str) -> String {
    let Some(better) = &verdict.better else { return "level ".to_owned() };
    let sign = if better == row { -1.0 } else { 1.0 };
    let mark = if may_be_chance(verdict) { CHANCE } else { ' ' };
    format!("{}{mark}", difference(sign * verdict.difference_ms))
}

fn may_be_chance(verdict: &Verdict) -> bool {
    verdict.better.is_some() && verdict.certainty.is_some_and(|certainty| certainty != Certainty::Sure)
}

/// Follows a difference that is not sure.
const CHANCE: char = '?';
const SIDES: usize = 8;
const LABEL: usize = 10;
