//! Claims: statements about a result, and whether they hold. Pure.

use std::{fmt, str::FromStr, time::Duration};

use experience::{Difference, Distribution, Page, Pair, experienced_thin_above, thin_above};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A statement about a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The statement as people read it.
    pub text: String,
    /// The number it speaks of.
    pub measure: Measure,
    /// What it says of that number.
    pub says: Says,
}

/// What a claim says.
#[derive(Debug, Clone, PartialEq)]
pub enum Says {
    /// One side is faster than another.
    Faster {
        /// The faster side.
        side: String,
        /// The slower side.
        than: String,
        /// By more than this.
        by: Duration,
    },
    /// A side stays below a limit.
    Below {
        /// The side.
        side: String,
        /// The limit.
        limit: Duration,
    },
}

/// A claim and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The claim as its author put it.
    pub claim: String,
    /// Whether it held.
    pub holds: bool,
    /// The figures that decide it, as a sentence.
    pub figure: String,
}

/// A number of a side: of one request, or of a person on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    of: Of,
    statistic: Statistic,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Of {
    Request,
    Experienced,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Statistic {
    Mean,
    Percentile(f64),
    Max,
}

impl Measure {
    /// Its value in milliseconds; `None` if too few samples stand behind it.
    pub fn value(self, samples: &Distribution, page: Page) -> Option<f64> {
        let requests = page.effective_requests();
        match (self.of, self.statistic) {
            (Of::Request, Statistic::Mean) => Some(samples.mean()),
            (Of::Experienced, Statistic::Mean) => Some(samples.expected_experienced(requests)),
            (_, Statistic::Max) => Some(samples.max()),
            (Of::Request, Statistic::Percentile(percentile)) => {
                let share = percentile / 100.0;
                (share < thin_above(samples.n())).then(|| samples.quantile(share))
            }
            (Of::Experienced, Statistic::Percentile(percentile)) => {
                let share = percentile / 100.0;
                let is_thick = share < experienced_thin_above(samples.n(), requests);
                is_thick.then(|| samples.experienced_quantile(requests, share))
            }
        }
    }
}

impl Measure {
    /// How two sides differ in it, with its interval; `None` for the maximum, which no samples bound.
    pub fn difference(self, pair: &Pair<'_>) -> Option<Difference> {
        match (self.of, self.statistic) {
            (_, Statistic::Max) => None,
            (Of::Request, Statistic::Mean) => Some(pair.mean()),
            (Of::Experienced, Statistic::Mean) => Some(pair.expected_experienced()),
            (Of::Request, Statistic::Percentile(percentile)) => Some(pair.quantile(percentile / 100.0)),
            (Of::Experienced, Statistic::Percentile(percentile)) => {
                Some(pair.experienced_quantile(percentile / 100.0))
            }
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "\"{text}\" is no measure; expected request. or experienced. with mean, max or a percentile such as p99.9"
            )
        };
        let (of, statistic) = text.split_once('.').ok_or_else(expected)?;
        let of = match of {
            "request" => Of::Request,
            "experienced" => Of::Experienced,
            _ => return Err(expected()),
        };
        let statistic = match (of, statistic) {
            (_, "mean") => Statistic::Mean,
            (Of::Request, "max") => Statistic::Max,
            (_, percentile) => {
                let number = percentile.strip_prefix('p').and_then(|number| number.parse::<f64>().ok());
                match number {
                    Some(number) if (0.0..100.0).contains(&number) => Statistic::Percentile(number),
                    _ => return Err(expected()),
                }
            }
        };
        Ok(Self { of, statistic })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.of {
            Of::Request => "request",
            Of::Experienced => "experienced",
        };
        match self.statistic {
            Statistic::Mean => write!(f, "{of}.mean"),
            Statistic::Max => write!(f, "{of}.max"),
            Statistic::Percentile(percentile) => write!(f, "{of}.p{percentile}"),
        }
    }
}

/// Judges a claim by the samples of the sides it names. A number with too few samples behind it proves nothing, so the
/// claim does not hold.
pub fn judge<'s>(claim: &Claim, page: Page, samples: impl Fn(&str) -> Option<&'s Distribution>) -> Judgement {
    let value = |side: &str| {
        let samples = samples(side).ok_or_else(|| format!("{side} was not measured"))?;
        let too_few = || {
            format!("{} of {side} has fewer than 10 of its {} samples beyond it", claim.measure, samples.n())
        };
        claim.measure.value(samples, page).ok_or_else(too_few)
    };
    let verdict = || match &claim.says {
        Says::Faster { side, than, by } => {
            let (fast, slow) = (value(side)?, value(than)?);
            let figure = format!(
                "{}: {side} {fast:.1} ms, {than} {slow:.1} ms; {side} is {:.1} ms {}",
                claim.measure,
                (slow - fast).abs(),
                if fast <= slow { "faster" } else { "slower" }
            );
            Ok((slow - fast > by.as_secs_f64() * 1000.0, figure))
        }
        Says::Below { side, limit } => {
            let (value, limit) = (value(side)?, limit.as_secs_f64() * 1000.0);
            Ok((value < limit, format!("{}: {side} {value:.1} ms, limit {limit:.1} ms", claim.measure)))
        }
    };
    let (holds, figure) = verdict().unwrap_or_else(|reason: String| (false, reason));
    Judgement { claim: claim.text.clone(), holds, figure }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        Page::new(180, 0.5).unwrap()
    }

    /// 990 samples of 10 ms and 10 of 500 ms, against 1000 of 20 ms.
    fn sides() -> [(&'static str, Distribution); 2] {
        let mut swift = vec![10.0; 990];
        swift.extend([500.0; 10]);
        [
            ("swift", Distribution::new(swift).unwrap()),
            ("steady", Distribution::new(vec![20.0; 1000]).unwrap()),
        ]
    }

    fn judged(at: &str, says: Says) -> Judgement {
        let sides = sides();
        let find = |name: &str| sides.iter().find(|(side, _)| *side == name).map(|(_, samples)| samples);
        judge(&Claim { text: "it is so".to_owned(), measure: at.parse().unwrap(), says }, page(), find)
    }

    fn faster(side: &str, than: &str) -> Says {
        Says::Faster { side: side.to_owned(), than: than.to_owned(), by: Duration::ZERO }
    }

    #[test]
    fn the_faster_median_can_lose_the_page() {
        let median = judged("request.p50", faster("swift", "steady"));
        assert!(median.holds);
        assert_eq!(median.figure, "request.p50: swift 10.0 ms, steady 20.0 ms; swift is 10.0 ms faster");
        // 10 + 490 (1 - 0.99^90) = 301.7 ms.
        let page = judged("experienced.mean", faster("steady", "swift"));
        assert!(page.holds);
        assert_eq!(
            page.figure,
            "experienced.mean: steady 20.0 ms, swift 301.7 ms; steady is 281.7 ms faster"
        );
        assert!(!judged("experienced.mean", faster("swift", "steady")).holds);
    }

    #[test]
    fn a_margin_must_be_met_and_a_limit_kept() {
        let by =
            |ms| Says::Faster { side: "swift".into(), than: "steady".into(), by: Duration::from_millis(ms) };
        assert!(judged("request.p50", by(9)).holds);
        assert!(!judged("request.p50", by(10)).holds);
        let below = |ms| Says::Below { side: "steady".into(), limit: Duration::from_millis(ms) };
        assert!(judged("request.max", below(21)).holds);
        assert!(!judged("request.max", below(20)).holds);
    }

    #[test]
    fn a_thin_tail_proves_nothing() {
        let thin = judged("request.p99.9", faster("steady", "swift"));
        assert!(!thin.holds);
        assert_eq!(thin.figure, "request.p99.9 of steady has fewer than 10 of its 1000 samples beyond it");
    }

    #[test]
    fn a_side_that_was_not_measured_proves_nothing() {
        assert_eq!(judged("request.p50", faster("nobody", "swift")).figure, "nobody was not measured");
    }

    #[test]
    fn measures_are_read_and_printed() {
        for text in ["request.mean", "request.p99.9", "request.max", "experienced.p95", "experienced.mean"] {
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), text);
        }
        for text in
            ["p99", "request", "request.p100", "request.p-1", "request.99", "experienced.max", "page.mean"]
        {
            assert!(text.parse::<Measure>().unwrap_err().contains("is no measure"), "{text}");
        }
    }
}
