//! Thresholds for continuous integration: "experienced.p95 worse by 5%", and whether it came to that.

use std::{str::FromStr, time::Duration};

use experience::{Page, Resamples};
use scenario::{Judgement, Measure};
use units::{Probability, duration};

use crate::{
    compare::SideInput,
    text::{difference, difference_beside, milliseconds},
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
    /// More events failed than this share.
    Failed { limit: f64 },
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
                 by 10ms\", \"p99 above 300ms\" or \"failed above 1%\""
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let condition = match words.as_slice() {
            ["failed", "above", limit] => {
                let limit: Probability = limit.parse().map_err(|error| expected(&format!("{error}")))?;
                Condition::Failed { limit: limit.get() }
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
    pub sides: &'e [SideInput],
    pub labels: &'e [String],
    pub page: Page,
    pub resamples: Option<&'e Resamples<'e>>,
}

impl Threshold {
    /// Whether it needs confidence intervals.
    pub fn is_about_certainty(&self) -> bool {
        matches!(self.condition, Condition::Worse { surely: Surely::Yes, .. })
    }

    /// Whether it needs a baseline to be worse than.
    pub fn is_relative(&self) -> bool {
        matches!(self.condition, Condition::Worse { .. })
    }

    /// Whether all sides stay on the right side of it. What cannot be judged, because too few samples stand behind the
    /// number, does not hold.
    pub(crate) fn judge(&self, evidence: &Evidence<'_>) -> Judgement {
        let first = usize::from(self.is_relative());
        let findings: Vec<(bool, String)> =
            (first..evidence.sides.len()).map(|side| self.judge_side(evidence, side)).collect();
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
        let (input, label) = (&evidence.sides[side], &evidence.labels[side]);
        let value = |measure: Measure, side: &SideInput| measure.value(&side.distribution, evidence.page);
        match self.condition {
            Condition::Failed { limit } => {
                let all = input.distribution.n() as u64 + input.failed;
                let share = input.failed as f64 / all as f64;
                (
                    share <= limit,
                    format!("{label}: {} of {all} failed ({:.3} %)", input.failed, share * 100.0),
                )
            }
            Condition::Above { measure, limit_ms } => match value(measure, input) {
                Some(ms) => (ms <= limit_ms, format!("{label}: {}", milliseconds(ms))),
                None => (false, format!("{label}: too few samples to say")),
            },
            Condition::Worse { measure, by, surely } => {
                let baseline = value(measure, &evidence.sides[0]);
                let (Some(baseline), Some(ms)) = (baseline, value(measure, input)) else {
                    return (false, format!("{label}: too few samples to say"));
                };
                let limit = by.milliseconds(baseline);
                let mut figure = format!("{label}: {} against {}", milliseconds(ms), milliseconds(baseline));
                if baseline > 0.0 {
                    let percent = difference_beside((ms / baseline - 1.0) * 100.0, 10.0);
                    figure += &format!(" ({percent} %)");
                }
                if surely == Surely::No {
                    return (ms - baseline <= limit, figure);
                }
                let pair = evidence.resamples.and_then(|resamples| resamples.pair(0, side));
                match pair.and_then(|pair| measure.difference(&pair)) {
                    Some(found) => {
                        let low = found.interval.low;
                        let interval = low.map_or_else(
                            || "the interval has no lower end".to_owned(),
                            |low| format!("the interval begins at {} ms", difference(low)),
                        );
                        (low.is_none_or(|low| low <= limit), format!("{figure}, {interval}"))
                    }
                    None => (false, format!("{figure}, without an interval")),
                }
            }
        }
    }
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
            ("experienced.max above 1s", "experienced.max"),
        ] {
            let said = text.parse::<Threshold>().unwrap_err();
            assert!(said.contains(expected) && said.contains("expected"), "{text}: {said}");
        }
    }
}
