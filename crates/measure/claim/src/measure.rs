//! Statistics of request latencies and of page load times.

use std::{fmt, str::FromStr};

use statistics::{Difference, Distribution, Page, Pair, experienced_thin_above, thin_above};

/// A statistic of single requests, or of page views.
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

/// A statistic of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// A percentile, in percent: 0..100.
    Percentile(f64),
    /// The maximum.
    Max,
}

impl Measure {
    /// A statistic of the samples themselves.
    pub fn of_samples(statistic: Statistic) -> Self {
        Self { of: Of::Request, statistic }
    }

    /// A statistic of the time that users wait for a page.
    pub fn of_people(statistic: Statistic) -> Self {
        Self { of: Of::Experienced, statistic }
    }

    /// The value in milliseconds; `None` if there are too few samples.
    pub fn value(self, samples: &Distribution, page: Page) -> Option<f64> {
        let requests = page.effective_requests();
        match (self.of, self.statistic) {
            (Of::Request, statistic) => statistic.value(samples),
            (Of::Experienced, Statistic::Mean) => Some(samples.expected_experienced(requests)),
            (Of::Experienced, Statistic::Max) => Some(samples.max()),
            (Of::Experienced, Statistic::Percentile(percentile)) => {
                let share = percentile / 100.0;
                let is_thick = share < experienced_thin_above(samples.n(), requests);
                is_thick.then(|| samples.experienced_quantile(requests, share))
            }
        }
    }

    /// Whether it is about page views and not about requests.
    pub fn is_of_people(self) -> bool {
        self.of == Of::Experienced
    }

    /// The quantile as a share; `None` for a mean or a maximum.
    pub fn percentile(self) -> Option<f64> {
        match self.statistic {
            Statistic::Percentile(percentile) => Some(percentile / 100.0),
            Statistic::Mean | Statistic::Max => None,
        }
    }

    /// The difference between two sides with its interval; `None` for the maximum, which samples do
    /// not bound.
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

impl Statistic {
    /// The value; `None` for a percentile with fewer than 10 samples beyond it.
    pub fn value(self, samples: &Distribution) -> Option<f64> {
        match self {
            Self::Percentile(percentile) if percentile / 100.0 >= thin_above(samples.n()) => None,
            _ => Some(self.value_of_all(samples)),
        }
    }

    /// The value if the distribution is the whole population and not a sample.
    pub fn value_of_all(self, all: &Distribution) -> f64 {
        match self {
            Self::Mean => all.mean(),
            Self::Max => all.max(),
            Self::Percentile(percentile) => all.quantile(percentile / 100.0),
        }
    }

    /// Parses "mean", "max" or "p99.9".
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "mean" => Some(Self::Mean),
            "max" => Some(Self::Max),
            _ => {
                let percentile = text.strip_prefix('p')?.parse().ok()?;
                (0.0..100.0).contains(&percentile).then_some(Self::Percentile(percentile))
            }
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "\"{text}\" is not a measure; expected request. or experienced. with mean, max or a percentile such as p99.9"
            )
        };
        let (of, statistic) = text.split_once('.').ok_or_else(expected)?;
        let of = match of {
            "request" => Of::Request,
            "experienced" => Of::Experienced,
            _ => return Err(expected()),
        };
        match (of, Statistic::parse(statistic)) {
            (Of::Experienced, Some(Statistic::Max)) | (_, None) => Err(expected()),
            (_, Some(statistic)) => Ok(Self { of, statistic }),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.of {
            Of::Request => "request",
            Of::Experienced => "experienced",
        };
        write!(f, "{of}.{}", self.statistic)
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::Max => f.write_str("max"),
            Self::Percentile(percentile) => write!(f, "p{percentile}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_read_and_printed() {
        for text in ["request.mean", "request.p99.9", "request.max", "experienced.p95", "experienced.mean"] {
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), text);
        }
        for text in
            ["p99", "request", "request.p100", "request.p-1", "request.99", "experienced.max", "page.mean"]
        {
            assert!(text.parse::<Measure>().unwrap_err().contains("is not a measure"), "{text}");
        }
    }
}
