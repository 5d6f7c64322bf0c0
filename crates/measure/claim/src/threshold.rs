//! Thresholds for continuous integration: "experienced.p95 worse by 5%".

use std::{str::FromStr, time::Duration};

use units::{Probability, duration};

use crate::measure::Measure;

/// A condition under which a comparison fails, for all sides except the baseline, which is the
/// first. Without a baseline it applies to every side.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    text: String,
    condition: Condition,
}

/// The condition of failure.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// A number exceeds the baseline's by more than an amount.
    Worse {
        /// The number.
        measure: Measure,
        /// The amount.
        by: Amount,
        /// The required certainty.
        surely: Surely,
    },
    /// A number exceeds a limit.
    Above {
        /// The number.
        measure: Measure,
        /// The limit, ms.
        limit_ms: f64,
    },
    /// The share of failures exceeds a limit.
    Failed {
        /// The events to count.
        of: Failed,
        /// The share, 0..=1.
        limit: f64,
    },
    /// The share of failures is significantly higher than the baseline's.
    FailsMore {
        /// The events to count.
        of: Failed,
    },
}

/// The events whose failures count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// Requests.
    Requests,
    /// Page views, which fail if a request that the page needs fails.
    Pages,
}

/// The required certainty of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surely {
    /// The samples show the difference.
    No,
    /// The whole confidence interval is beyond the amount.
    Yes,
}

/// The permitted increase of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// A share of the baseline's number.
    Share(f64),
    /// Milliseconds.
    Milliseconds(f64),
}

impl Amount {
    /// The amount in milliseconds.
    pub fn milliseconds(self, baseline_ms: f64) -> f64 {
        match self {
            Self::Share(share) => share * baseline_ms,
            Self::Milliseconds(ms) => ms,
        }
    }
}

impl FromStr for Threshold {
    type Err = String;

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
            _ => return Err(expected("it is not a threshold")),
        };
        Ok(Self { text: words.join(" "), condition })
    }
}

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
            _ => Err(format!("\"{text}\" is not a percentage")),
        };
    }
    duration::parse(text).map(|limit| Amount::Milliseconds(in_ms(limit))).map_err(|error| error.to_string())
}

fn in_ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

impl Threshold {
    /// The condition of failure.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// Whether it needs confidence intervals.
    pub fn is_about_certainty(&self) -> bool {
        matches!(self.condition, Condition::Worse { surely: Surely::Yes, .. })
    }

    /// Whether it needs a baseline.
    pub fn is_relative(&self) -> bool {
        matches!(self.condition, Condition::Worse { .. } | Condition::FailsMore { .. })
    }

    /// The requirement: the opposite of the condition of failure.
    pub fn requirement(&self) -> String {
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
            ("p95", "it is not a threshold"),
            ("p95 worse by", "it is not a threshold"),
            ("p95 worse by five", "five"),
            ("p95 worse by -5%", "not a percentage"),
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
