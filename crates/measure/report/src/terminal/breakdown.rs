//! The first two sides by the value of a label; values for which the first side is worse come
//! first.

use std::fmt::Write;

use super::table::table;
use crate::{
    model::{Basis, Breakdown, Certainty, Comparison, Group, GroupSide, Verdict},
    text::{count, label, latency, percent, plain, plural, sure},
};

pub(super) fn breakdown(comparison: &Comparison) -> String {
    let (Some(breakdown), [first, second, ..]) = (&comparison.breakdown, &comparison.sides[..]) else {
        return String::new();
    };
    let rows = breakdown.groups.iter().take(GROUPS).map(|group| row(group, &first.label));
    let header = [
        plain(&breakdown.label),
        "people %".to_owned(),
        format!("{} ", label(&first.label, LABEL)),
        format!("{} ", label(&second.label, LABEL)),
        "better".to_owned(),
        "sure %".to_owned(),
    ];
    let table = table(header, rows);
    let shown = || breakdown.groups.iter().take(GROUPS).filter_map(|group| group.experienced.as_ref());
    let is_used = |wanted: char| shown().any(|verdict| mark(verdict, &first.label) == Some(wanted));
    let mut marks = String::new();
    if is_used(WORSE) {
        let _ = write!(marks, "; {WORSE} where {} is worse", label(&first.label, LABEL));
    }
    if is_used(DOUBT) {
        let _ = write!(marks, "; {DOUBT} may be chance");
    }
    format!("expected experienced by {}, ms{marks}\n{table}", plain(&breakdown.label)) + &footnotes(breakdown)
}

fn row(group: &Group, first: &str) -> Vec<String> {
    let side = |side: Option<&GroupSide>| {
        let value = |side: &GroupSide| {
            format!("{}{}", latency(side.expected_experienced_ms), if side.thin { "~" } else { " " })
        };
        side.map_or_else(|| "- ".to_owned(), value)
    };
    let better = |verdict: &Verdict| {
        let Some(better) = &verdict.better else { return "level".to_owned() };
        if verdict.certainty == Some(Certainty::Undecided) {
            return "undecided".to_owned();
        }
        let mark = mark(verdict, first).map_or_else(String::new, |mark| format!("{mark} "));
        format!("{mark}{} by {}", label(better, LABEL), latency(verdict.difference_ms))
    };
    vec![
        label(&group.name, LABEL),
        percent_of(group.share),
        side(group.first.as_ref()),
        side(group.second.as_ref()),
        group.experienced.as_ref().map_or_else(String::new, better),
        group.experienced.as_ref().and_then(|verdict| verdict.sure).map_or_else(String::new, sure),
    ]
}

fn mark(verdict: &Verdict, first: &str) -> Option<char> {
    let better = verdict.better.as_ref()?;
    match verdict.certainty {
        Some(Certainty::Undecided) => None,
        Some(Certainty::Likely | Certainty::Borderline) => Some(DOUBT),
        Some(Certainty::Sure) | None => (better != first).then_some(WORSE),
    }
}

fn footnotes(breakdown: &Breakdown) -> String {
    let mut text = String::new();
    let verdicts = || breakdown.groups.iter().filter_map(|group| group.experienced.as_ref());
    if verdicts().any(|verdict| verdict.basis == Some(Basis::ObservedPages)) {
        text += "columns better and sure are from real page views, those before them from the model\n";
    }
    let judged = verdicts().filter(|verdict| verdict.sure.is_some()).count();
    if judged > 1 {
        let _ = writeln!(text, "certainty is corrected for {judged} groups (Holm)");
    }
    let groups = breakdown.groups.len();
    if groups > GROUPS {
        let _ = writeln!(text, "and {} more: --json or --html shows all", count((groups - GROUPS) as u64));
    }
    if breakdown.omitted > 0 {
        let _ = writeln!(text, "{} smaller ones are left out everywhere", count(breakdown.omitted));
    }
    let is_thin = |side: &Option<GroupSide>| side.as_ref().is_some_and(|side| side.thin);
    if breakdown.groups.iter().take(GROUPS).any(|group| is_thin(&group.first) || is_thin(&group.second)) {
        text += "~ fewer than 10 samples decide what the median person waits for\n";
    }
    if breakdown.unlabelled > 0 {
        let _ =
            writeln!(text, "{} without {}", plural(breakdown.unlabelled, "sample"), plain(&breakdown.label));
    }
    text
}

fn percent_of(share: f64) -> String {
    percent(share * 100.0)
}

/// Before a winner other than the first side.
const WORSE: char = '!';
/// Before a winner that is not sure.
const DOUBT: char = '?';
/// There is room for this many on a screen.
const GROUPS: usize = 15;
const LABEL: usize = 14;
