//! Tables and sentences for a terminal, 80 columns wide if labels permit. The caller removes styles
//! where they are not wanted.

use std::{fmt::Write, iter};

use claim::{Caveat, Fidelity};

use self::look::{BOLD, GREEN, RED, YELLOW, paint};
use crate::{
    model::{Comparison, Report},
    text::{self, plain, plural, share, time},
};

mod breakdown;
mod differences;
mod expectations;
mod experiment;
mod failures;
pub mod look;
mod matrix;
mod notes;
mod own_error;
mod pages;
mod percentiles;
mod phases;
pub mod table;

/// How much to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// The answer on one screen.
    #[default]
    Short,
    /// Also intervals of percentiles, the fastest and slowest samples, pairs by one request, and
    /// the method.
    Wide,
}

/// A whole report: comparison, claims, fidelity and warnings, and the verdict in the last line.
pub fn report(report: &Report, detail: Detail) -> String {
    let mut text = format!("{}\n\n", paint(&plain(&report.title), BOLD));
    if !report.valid {
        let _ = writeln!(
            text,
            "{}\n",
            paint("INVALID: these numbers describe the tool, not what it measured.", RED)
        );
        text += &undecided(report);
    }
    let requests = if report.comparison.sides.is_empty() {
        String::new()
    } else {
        comparison(&report.comparison, detail)
    };
    let experiments = report.experiments.iter().map(|figures| experiment::experiment(figures, detail));
    let claims = notes::judgements(&report.claims);
    text += &joined(&iter::once(requests).chain(experiments).chain([claims]).collect::<Vec<_>>());
    if let Some(figures) = &report.fidelity {
        let _ = writeln!(text, "\n{}", fidelity(figures));
    }
    // The comparison has already shown its warnings.
    let fresh = report.warnings.iter().filter(|warning| !report.comparison.warnings.contains(warning));
    text + &warnings(fresh) + &verdict(report)
}

fn verdict(report: &Report) -> String {
    let claims = report.claims.len();
    let [failed, undecided] = [true, false]
        .map(|decided| report.claims.iter().filter(|claim| !claim.holds && claim.decided == decided).count());
    let judged = match (claims, failed, undecided) {
        (0, ..) => "no claim was judged".to_owned(),
        (1, 0, 0) => "the claim holds".to_owned(),
        (_, 0, 0) => format!("all {claims} claims hold"),
        (_, _, 0) => format!("{failed} of {} FAILED", plural(claims as u64, "claim")),
        (_, 0, _) => format!("{undecided} of {} undecided", plural(claims as u64, "claim")),
        _ => format!("{failed} of {} FAILED, {undecided} undecided", plural(claims as u64, "claim")),
    };
    let valid = if report.valid { paint("valid", GREEN) } else { paint("INVALID", RED) };
    format!("verdict: {valid}, {judged}\n")
}

/// A comparison: the verdict, what to expect, percentiles, and notes.
pub fn comparison(comparison: &Comparison, detail: Detail) -> String {
    let sections = [
        opening(comparison),
        headed(comparison)
            + &expectations::expectations(comparison, detail)
            + &expectations::counts(comparison),
        failures::failures(comparison, detail),
        pages::pages(comparison),
        percentiles::percentiles(comparison, detail),
        own_error::own_error(comparison),
        differences::differences(comparison, detail),
        notes::crossovers(comparison) + &independence(comparison) + &notes::shifts(comparison),
        phases::phases(comparison),
        matrix::matrix(comparison, detail),
        breakdown::breakdown(comparison),
        notes::judgements(&comparison.thresholds),
        method(comparison, detail) + &warnings(comparison.warnings.iter()),
    ];
    joined(&sections)
}

/// Because of the emulator's own error; other reasons are next to their figure.
fn undecided(report: &Report) -> String {
    let is_own = |caveat: &&Caveat| matches!(caveat.kind.as_str(), "undecided" | "mostly_own_error");
    let lines = report.doubts.iter().filter(is_own).map(|caveat| plain(&caveat.sentence) + "\n");
    let text: String = lines.collect();
    if text.is_empty() { text } else { text + "\n" }
}

fn joined(sections: &[String]) -> String {
    let sections: Vec<&str> =
        sections.iter().map(String::as_str).filter(|section| !section.is_empty()).collect();
    sections.join("\n")
}

/// A planet's fidelity in one line, and its problems in further lines.
pub fn fidelity(fidelity: &Fidelity) -> String {
    let verdict = if fidelity.valid { paint("valid", GREEN) } else { paint("INVALID", RED) };
    let lateness = match (fidelity.lateness_us.get("50"), fidelity.lateness_us.get("99.9")) {
        (Some(median), Some(tail)) => {
            let [median, tail] = [median, tail].map(|us| time(us / 1e6));
            format!("late by {median} at the median, {tail} at p99.9")
        }
        _ => "nothing delivered yet".to_owned(),
    };
    let machine =
        fidelity.machine_cpu_share.map_or_else(String::new, |busy| format!(", machine {} busy", share(busy)));
    let mut text = format!(
        "fidelity: {verdict}; {}, {lateness}; own drops {}{machine}",
        plural(fidelity.delivered, "packet"),
        fidelity.own_drops
    );
    for reason in &fidelity.reasons {
        let _ = write!(text, "\n  {reason}");
    }
    text
}

fn opening(comparison: &Comparison) -> String {
    let mut text = String::new();
    for side in &comparison.sides {
        for reason in &side.invalid {
            let _ = writeln!(text, "{} {}: {}", paint("INVALID", RED), plain(&side.label), plain(reason));
        }
    }
    if let Some(verdict) = &comparison.verdict {
        let certainty = verdict.certainty.iter().map(|certainty| format!(" {}", plain(certainty)));
        let _ = writeln!(text, "{}{}", paint(&plain(&verdict.headline), BOLD), certainty.collect::<String>());
    }
    text
}

fn headed(comparison: &Comparison) -> String {
    let without = if comparison.excluded_phases.is_empty() {
        String::new()
    } else {
        format!(" without {}", comparison.excluded_phases.join(", "))
    };
    format!("{}{without} in ms; {}\n", comparison.metric, text::page(&comparison.page))
}

fn independence(comparison: &Comparison) -> String {
    let sentence = plain(&comparison.independence.sentence);
    if sentence.is_empty() { sentence } else { sentence + "\n" }
}

fn method(comparison: &Comparison, detail: Detail) -> String {
    let text = notes::errors(comparison) + &notes::method(comparison);
    if detail == Detail::Wide && !comparison.method.is_empty() {
        return text + &plain(&comparison.method) + "\n";
    }
    text
}

fn caveats(doubts: &[Caveat]) -> String {
    let line = |caveat: &&Caveat| {
        let word = if caveat.invalid { paint("INVALID:", RED) } else { paint("warning:", YELLOW) };
        format!("{word} {}\n", plain(&caveat.sentence))
    };
    let (invalid, weak): (Vec<_>, Vec<_>) = doubts.iter().partition(|caveat| caveat.invalid);
    invalid.iter().chain(&weak).map(line).collect()
}

fn warnings<'w>(warnings: impl Iterator<Item = &'w String>) -> String {
    warnings.map(|warning| format!("{} {}\n", paint("warning:", YELLOW), plain(warning))).collect()
}

#[cfg(test)]
mod tests;
