//! Notes of one line each: crossovers, shifts, claims, and how the numbers were made.

use std::fmt::Write;

use claim::Judgement;

use super::look::{GREEN, RED, YELLOW, paint};
use crate::{
    model::{Comparison, Crossover, Shift, Side},
    text::{label, latency, percent, plain, sure, time},
};

pub(super) fn crossovers(comparison: &Comparison) -> String {
    let line = |crossover: &Crossover| {
        let ci = match (crossover.ci, &comparison.intervals) {
            (Some([low, high]), _) => format!(" [{}, {}]", percent(low), percent(high)),
            (None, Some(_)) => " [.., ..]".to_owned(),
            (None, None) => String::new(),
        };
        let faster = label(&crossover.faster_above, LABEL);
        let latency = latency(crossover.latency_ms);
        format!("{faster} is faster above p{}{ci} ({latency} ms)\n", percent(crossover.percentile))
    };
    first_few(&comparison.crossovers, line, "crossovers")
}

pub(super) fn shifts(comparison: &Comparison) -> String {
    let of_side = |side: &Side| {
        let line = |shift: &Shift| {
            format!(
                "{}: median {} ms up to {}, then {} ms ({} % sure)\n",
                label(&side.label, LABEL),
                latency(shift.before_ms),
                time(shift.at_s),
                latency(shift.after_ms),
                sure(shift.sure)
            )
        };
        first_few(&side.shifts, line, "shifts")
    };
    comparison.sides.iter().map(of_side).collect()
}

pub(super) fn judgements(judgements: &[Judgement]) -> String {
    let mut text = String::new();
    for judgement in judgements {
        let verdict = match (judgement.decided, judgement.holds) {
            (false, _) => paint("?     ", YELLOW),
            (true, true) => paint("holds ", GREEN),
            (true, false) => paint("FAILED", RED),
        };
        let _ =
            writeln!(text, "{verdict}  {}\n        {}", plain(&judgement.claim), plain(&judgement.figure));
    }
    text
}

pub(super) fn method(comparison: &Comparison) -> String {
    let Some(intervals) = &comparison.intervals else { return String::new() };
    let blocks = comparison.sides.iter().filter_map(|side| {
        let label = label(&side.label, LABEL);
        side.block_length
            .filter(|&length| length > 1)
            .map(|length| format!("{length} neighbours for {label}"))
    });
    let blocks: Vec<_> = blocks.collect();
    let blocks = if blocks.is_empty() { String::new() } else { format!("; blocks of {}", blocks.join(", ")) };
    let many = match comparison.pairs.len() {
        0 => String::new(),
        pairs => format!("; certainty is corrected for {pairs} pairs (Holm)"),
    };
    format!(
        "{} % intervals, {} resamples, seed {}{blocks}{many}\n",
        percent(intervals.level * 100.0),
        intervals.resamples,
        intervals.seed
    )
}

pub(super) fn errors(comparison: &Comparison) -> String {
    let line = |side: &Side| {
        let error = side.relative_error?;
        let label = label(&side.label, LABEL);
        Some(format!("{label}: each value is within {} % of the truth\n", percent(error * 100.0)))
    };
    comparison.sides.iter().filter_map(line).collect()
}

fn first_few<T>(all: &[T], line: impl Fn(&T) -> String, what: &str) -> String {
    let mut text: String = all.iter().take(FEW).map(line).collect();
    if all.len() > FEW {
        let _ = writeln!(text, "and {} more {what}: --json or --html shows all", all.len() - FEW);
    }
    text
}

const FEW: usize = 5;
const LABEL: usize = 24;
