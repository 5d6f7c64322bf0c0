//! Thresholds for continuous integration: "experienced.p95 worse by 5%", and whether it came to that.

use std::{str::FromStr, time::Duration};

use scenario::{Judgement, Measure};
use units::{Probability, duration};

use crate::{
    compare::{Judge, SideFailures},
    text::{difference, difference_beside, milliseconds, percent},
};

/// A statement that makes a comparison fail if it is true of any side but the first, which is the baseline; or, where it
/// needs no baseline, of any side at all.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    text: String,
    condition: Condition,
}

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    /// A number is larger than the baseline's by more than an amount.
    Worse { measure: Measure, by: Amount, surely: Surely },
    /// A number is larger than a limit.
    Above { measure: Measure, limit_ms: f64 },
    /// More failed than this share.
    Failed { of: Failed, limit: f64 },
    /// More failed than of the baseline, beyond chance.
    FailsMore { of: Failed },
}

/// What fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failed {
    /// Requests.
    Requests,
    /// Page views, because of a request that the page needs.
    Pages,
}

/// How sure a difference must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Surely {
    /// The samples show it.
    No,
    /// The whole confidence interval lies beyond the amount.
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Amount {
    Share(f64),
    Milliseconds(f64),
}

impl Amount {
    fn milliseconds(self, baseline_ms: f64) -> f64 {
        match self {
            Self::Share(share) => share * baseline_ms,
            Self::Milliseconds(ms) => ms,
        }
    }
}

impl FromStr for Threshold {
    type Err = String;

    /// `[request.|experienced.](mean|max|pNN) [surely] worse by (5%|10ms)`, `... above 300ms`, `failed above 1%`.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected = |what: &str| {
            format!(
                "\"{text}\": {what}; expected for example \"experienced.p95 worse by 5%\", \"request.mean surely worse \
                 by 10ms\", \"p99 above 300ms\", \"failed above 1%\" or \"experienced.failed surely worse\""
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let condition = match words.as_slice() {
            [failed @ ("failed" | "request.failed" | "experienced.failed"), rest @ ..] => {
                let of = if *failed == "experienced.failed" { Failed::Pages } else { Failed::Requests };
                match rest {
                    ["above", limit] => {
                        let limit: Probability =
                            limit.parse().map_err(|error| expected(&format!("{error}")))?;
                        Condition::Failed { of, limit: limit.get() }
                    }
                    ["surely", "worse"] => Condition::FailsMore { of },
                    _ => return Err(expected("what failed is \"above\" a share or \"surely worse\"")),
                }
            }
            [measure, "above", limit] => {
                let limit = duration::parse(limit).map_err(|error| expected(&format!("{error}")))?;
                Condition::Above { measure: parse_measure(measure)?, limit_ms: in_ms(limit) }
            }
            [measure, "worse", "by", amount] => Condition::Worse {
                measure: parse_measure(measure)?,
                by: parse_amount(amount).map_err(|error| expected(&error))?,
                surely: Surely::No,
            },
            [measure, "surely", "worse", "by", amount] => Condition::Worse {
                measure: parse_measure(measure)?,
                by: parse_amount(amount).map_err(|error| expected(&error))?,
                surely: Surely::Yes,
            },
            [measure, "surely", "worse"] => Condition::Worse {
                measure: parse_measure(measure)?,
                by: Amount::Milliseconds(0.0),
                surely: Surely::Yes,
            },
            _ => return Err(expected("it is no threshold")),
        };
        Ok(Self { text: words.join(" "), condition })
    }
}

/// "p95" is "request.p95".
fn parse_measure(text: &str) -> Result<Measure, String> {
    if text.contains('.') && !text.starts_with('p') {
        return text.parse();
    }
    format!("request.{text}").parse().map_err(|error: String| error.replace("\"request.", "\""))
}

fn parse_amount(text: &str) -> Result<Amount, String> {
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.parse::<f64>() {
            Ok(percent) if percent >= 0.0 && percent.is_finite() => Ok(Amount::Share(percent / 100.0)),
            _ => Err(format!("\"{text}\" is no percentage")),
        };
    }
    duration::parse(text).map(|limit| Amount::Milliseconds(in_ms(limit))).map_err(|error| error.to_string())
}

fn in_ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// What a threshold is judged by.
pub(crate) struct Evidence<'e> {
    pub judge: &'e Judge<'e>,
    pub failing: &'e [SideFailures],
}

impl Threshold {
    /// Whether it needs confidence intervals.
    pub fn is_about_certainty(&self) -> bool {
        matches!(self.condition, Condition::Worse { surely: Surely::Yes, .. })
    }

    /// Whether it needs a baseline to be worse than.
    pub fn is_relative(&self) -> bool {
        matches!(self.condition, Condition::Worse { .. } | Condition::FailsMore { .. })
    }

    /// Whether all sides stay on the right side of it. What cannot be judged, because too few samples stand behind the
    /// number, does not hold.
    pub(crate) fn judge(&self, evidence: &Evidence<'_>) -> Judgement {
        let first = usize::from(self.is_relative());
        let findings: Vec<(bool, String)> = (first..evidence.judge.sides.len())
            .map(|side| {
                let (holds, figure) = self.judge_side(evidence, side);
                (holds, format!("{}: {figure}", evidence.judge.labels[side]))
            })
            .collect();
        Judgement {
            claim: self.requirement(),
            holds: findings.iter().all(|(holds, _)| *holds),
            figure: findings.into_iter().map(|(_, figure)| figure).collect::<Vec<_>>().join("; "),
        }
    }

    /// What must hold, where the text says what must not.
    fn requirement(&self) -> String {
        if let Some((of, limit)) = self.text.split_once(" above ") {
            return format!("{of} at most {limit}");
        }
        let (of, limit) = self.text.split_once(" worse").unwrap_or((&self.text, ""));
        let limit = limit.trim_start_matches(" by ");
        match of.strip_suffix(" surely") {
            Some(of) if limit.is_empty() => format!("{of} not surely worse"),
            Some(of) => format!("{of} not surely more than {limit} worse"),
            None => format!("{of} at most {limit} worse"),
        }
    }

    fn judge_side(&self, evidence: &Evidence<'_>, side: usize) -> (bool, String) {
        let judge = evidence.judge;
        match self.condition {
            Condition::Failed { of, limit } => {
                let (share, figure) = failed(evidence, side, of);
                (share <= limit, figure)
            }
            Condition::FailsMore { of } => {
                let (baseline, candidate) = (&evidence.failing[0], &evidence.failing[side]);
                let chance = candidate.chance_of_more(baseline, of == Failed::Pages);
                // One comparison for each side that is held against the baseline.
                let chance = (chance * (judge.sides.len() - 1) as f64).min(1.0);
                let ((_, figure), (_, of_baseline)) = (failed(evidence, side, of), failed(evidence, 0, of));
                let sure = crate::text::sure((1.0 - chance).max(0.0));
                let holds = chance > (1.0 - judge.settings.level) / 2.0;
                let word = if holds { String::new() } else { format!(": sure ({sure} %)") };
                (holds, format!("{figure} against {of_baseline}{word}"))
            }
            Condition::Above { measure, limit_ms } => match judge.value(measure, side) {
                Some(ms) => (ms <= limit_ms, milliseconds(ms)),
                None => (false, "too few samples to say".to_owned()),
            },
            Condition::Worse { measure, by, surely } => {
                let (Some(baseline), Some(ms)) = (judge.value(measure, 0), judge.value(measure, side)) else {
                    return (false, "too few samples to say".to_owned());
                };
                let limit = by.milliseconds(baseline);
                let mut figure = format!("{} against {}", milliseconds(ms), milliseconds(baseline));
                if baseline > 0.0 {
                    let percent = difference_beside((ms / baseline - 1.0) * 100.0, 10.0);
                    figure += &format!(" ({percent} %)");
                }
                let fails_more = fails_more(evidence, side);
                if surely == Surely::No {
                    return (ms - baseline <= limit, figure + &fails_more);
                }
                match judge.surely_above(measure, side, limit) {
                    Some((is_above, low, word)) => {
                        let interval = low.map_or_else(
                            || "the interval has no lower end".to_owned(),
                            |low| format!("the interval begins at {} ms", difference(low)),
                        );
                        (!is_above, format!("{figure}, {interval}{word}{fails_more}"))
                    }
                    None => (false, format!("{figure}, without an interval")),
                }
            }
        }
    }
}

/// The share that failed, and "40 of 1000 failed (4.000 %)".
fn failed(evidence: &Evidence<'_>, side: usize, of: Failed) -> (f64, String) {
    let failing = &evidence.failing[side];
    let shown = |share: f64| format!("{:.3} %", share * 100.0);
    match of {
        Failed::Requests => {
            let (failed, all, share) = failing.of_requests();
            (share, format!("{failed} of {all} failed ({})", shown(share)))
        }
        Failed::Pages => match failing.of_pages() {
            Some((failed, all, share)) => {
                (share, format!("{failed} of {all} page views failed ({})", shown(share)))
            }
            None => {
                let share = failing.described(evidence.judge.page, None).page_share;
                (share, format!("{} of page views fail, by the model", shown(share)))
            }
        },
    }
}

/// A word where a side that is judged by its speed fails more than the baseline: speed alone would hide it.
fn fails_more(evidence: &Evidence<'_>, side: usize) -> String {
    let (baseline, candidate) = (&evidence.failing[0], &evidence.failing[side]);
    let by_pages = baseline.of_pages().is_some() && candidate.of_pages().is_some();
    if candidate.chance_of_more(baseline, by_pages) > (1.0 - evidence.judge.settings.level) / 2.0 {
        return String::new();
    }
    let share = |side: &SideFailures| match side.of_pages().filter(|_| by_pages) {
        Some((.., share)) => percent(share * 100.0),
        None => percent(side.of_requests().2 * 100.0),
    };
    let what = if by_pages { "page views" } else { "requests" };
    format!("; of what came: {} % of {what} failed, of the baseline {} %", share(candidate), share(baseline))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_said() {
        for text in [
            "experienced.p95 worse by 5%",
            "experienced.mean surely worse by 10ms",
            "request.p99.9 above 1.5s",
            "p95 worse by 0%",
            "p99.9 above 1s",
            "mean surely worse",
            "max above 2s",
            "failed above 1%",
            "experienced.failed above 1%",
            "failed surely worse",
            "experienced.failed surely worse",
        ] {
            assert_eq!(text.parse::<Threshold>().map(|threshold| threshold.text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_must_hold_is_the_opposite() {
        for (text, requirement) in [
            ("experienced.p95 worse by 5%", "experienced.p95 at most 5% worse"),
            ("mean surely worse by 10ms", "mean not surely more than 10ms worse"),
            ("mean surely worse", "mean not surely worse"),
            ("p99 above 300ms", "p99 at most 300ms"),
            ("failed above 1%", "failed at most 1%"),
            ("experienced.failed surely worse", "experienced.failed not surely worse"),
        ] {
            assert_eq!(text.parse::<Threshold>().unwrap().requirement(), requirement);
        }
    }

    #[test]
    fn what_cannot_be_said_gets_an_example() {
        for (text, expected) in [
            ("p95", "it is no threshold"),
            ("p95 worse by", "it is no threshold"),
            ("p95 worse by five", "five"),
            ("p95 worse by -5%", "no percentage"),
            ("p100 above 1s", "p100"),
            ("failed above 120%", "120%"),
            ("failed worse by 3%", "\"above\" a share or \"surely worse\""),
            ("experienced.max above 1s", "experienced.max"),
        ] {
            let said = text.parse::<Threshold>().unwrap_err();
            assert!(said.contains(expected) && said.contains("expected"), "{text}: {said}");
        }
    }
}
