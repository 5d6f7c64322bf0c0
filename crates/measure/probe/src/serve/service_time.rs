//! The service time of an origin: a distribution in a textual form.

use std::{fmt, str::FromStr, time::Duration};

use rand_core::Rng;

use crate::{Error, random};

/// A distribution of service times. All are cut off at [`ServiceTime::MAX`].
///
/// ```
/// use probe::serve::ServiceTime;
/// for text in ["5ms", "uniform:1ms..9ms", "exp:5ms", "lognormal:5ms,0.5", "pareto:1ms,1.5"] {
///     assert_eq!(text.parse::<ServiceTime>()?.to_string(), text);
/// }
/// # Ok::<(), probe::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServiceTime {
    /// "5ms": always the same.
    Constant(Duration),
    /// "uniform:1ms..9ms": uniform between two bounds.
    Uniform {
        /// The lower bound.
        min: Duration,
        /// The upper bound, not below the lower one.
        max: Duration,
    },
    /// "exp:5ms": exponential.
    Exponential {
        /// Its mean.
        mean: Duration,
    },
    /// "lognormal:5ms,0.5": the usual shape of service times.
    LogNormal {
        /// The median, e^mu.
        median: Duration,
        /// Standard deviation of the logarithm, 0 to 10.
        sigma: f64,
    },
    /// "pareto:1ms,1.5": an unbounded tail; its mean is infinite at shape 1 and below.
    Pareto {
        /// The smallest value.
        min: Duration,
        /// The exponent of the tail, 0.1 to 100; the smaller, the heavier.
        shape: f64,
    },
}

impl ServiceTime {
    /// The maximum: the tail of a Pareto distribution would exceed the length of any experiment.
    pub const MAX: Duration = Duration::from_secs(3600);

    /// The next time, from a generator that the caller has seeded.
    pub fn draw(&self, rng: &mut impl Rng) -> Duration {
        let seconds = match *self {
            Self::Constant(time) => return time.min(Self::MAX),
            Self::Uniform { min, max } => {
                let span = max.saturating_sub(min).as_secs_f64();
                min.as_secs_f64() + span * random::unit(rng)
            }
            Self::Exponential { mean } => mean.as_secs_f64() * random::exponential(rng),
            Self::LogNormal { median, sigma } => median.as_secs_f64() * (sigma * random::normal(rng)).exp(),
            // By inversion: min / U^(1/shape).
            Self::Pareto { min, shape } => min.as_secs_f64() * (random::exponential(rng) / shape).exp(),
        };
        Duration::from_secs_f64(seconds.clamp(0.0, Self::MAX.as_secs_f64()))
    }
}

impl FromStr for ServiceTime {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text.trim()).map_err(|why| Error::ServiceTime {
            text: text.to_owned(),
            why,
            expected: EXPECTED,
        })
    }
}

impl fmt::Display for ServiceTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = units::duration::show;
        match *self {
            Self::Constant(time) => f.write_str(&show(time)),
            Self::Uniform { min, max } => write!(f, "uniform:{}..{}", show(min), show(max)),
            Self::Exponential { mean } => write!(f, "exp:{}", show(mean)),
            Self::LogNormal { median, sigma } => write!(f, "lognormal:{},{sigma}", show(median)),
            Self::Pareto { min, shape } => write!(f, "pareto:{},{shape}", show(min)),
        }
    }
}

fn parse(text: &str) -> Result<ServiceTime, String> {
    let Some((shape, rest)) = text.split_once(':') else {
        return Ok(ServiceTime::Constant(time(text)?));
    };
    match shape.trim() {
        "uniform" => {
            let (min, max) = rest.split_once("..").ok_or("it lacks the two dots between its bounds")?;
            let (min, max) = (time(min)?, time(max)?);
            if min > max {
                return Err("its upper bound is below the lower one".to_owned());
            }
            Ok(ServiceTime::Uniform { min, max })
        }
        "exp" => Ok(ServiceTime::Exponential { mean: time(rest)? }),
        "lognormal" => {
            let (median, sigma) = rest.split_once(',').ok_or("it lacks sigma after a comma")?;
            Ok(ServiceTime::LogNormal { median: time(median)?, sigma: number(sigma, 0.0, 10.0)? })
        }
        "pareto" => {
            let (min, shape) = rest.split_once(',').ok_or("it lacks the shape after a comma")?;
            Ok(ServiceTime::Pareto { min: time(min)?, shape: number(shape, 0.1, 100.0)? })
        }
        other => {
            let meant = units::nearest(other, SHAPES)
                .map(|name| format!("; did you mean \"{name}\"?"))
                .unwrap_or_default();
            Err(format!("no distribution is called \"{other}\"{meant}"))
        }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let time = units::duration::parse(text.trim()).map_err(|error| error.to_string())?;
    if time > ServiceTime::MAX { Err("nothing may take longer than an hour".to_owned()) } else { Ok(time) }
}

fn number(text: &str, min: f64, max: f64) -> Result<f64, String> {
    let refused = || format!("\"{}\" is not a number between {min} and {max}", text.trim());
    let number: f64 = text.trim().parse().map_err(|_| refused())?;
    if (min..=max).contains(&number) { Ok(number) } else { Err(refused()) }
}

const SHAPES: [&str; 4] = ["uniform", "exp", "lognormal", "pareto"];
const EXPECTED: &str =
    "5ms, uniform:1ms..9ms, exp:5ms, lognormal:5ms,0.5 (median, sigma) or pareto:1ms,1.5 (min, shape)";

#[cfg(test)]
mod tests;
