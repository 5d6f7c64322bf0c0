//! Queue disciplines and their text format.

use std::{fmt, str::FromStr, time::Duration};

use units::duration;

use crate::NameError;

/// A queue discipline, written as its name with optional parameters: "codel target 20ms interval
/// 400ms".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Discipline {
    /// First in, first out.
    #[default]
    DropTail,
    /// Segments are dropped after the queue delay has exceeded the target for an interval (RFC
    /// 8289).
    Codel {
        /// The acceptable standing delay.
        target: Duration,
        /// How long the delay may exceed the target.
        interval: Duration,
    },
    /// One queue per flow, served round-robin, each with CoDel (RFC 8290).
    FqCodel {
        /// The acceptable standing delay of a flow's queue.
        target: Duration,
        /// How long the delay may exceed the target.
        interval: Duration,
        /// Number of queues, 1 to 65536.
        flows: u32,
        /// Bytes per flow and round, 256 to 1 MB.
        quantum: u32,
    },
}

impl Discipline {
    /// CoDel with the parameters of RFC 8289, 4.4.
    pub const CODEL: Self = Self::Codel { target: TARGET, interval: INTERVAL };
    /// FQ-CoDel with the parameters of RFC 8290, 5.2.
    pub const FQ_CODEL: Self =
        Self::FqCodel { target: TARGET, interval: INTERVAL, flows: FLOWS, quantum: QUANTUM };
}

/// A text that is not a valid discipline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DisciplineError {
    /// No discipline has this name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The discipline has no such parameter.
    #[error("{discipline} has no \"{word}\"; expected {expected}")]
    Parameter {
        /// The discipline's name.
        discipline: &'static str,
        /// The given text.
        word: String,
        /// Its parameters.
        expected: &'static str,
    },
    /// A parameter without a valid value.
    #[error("the {parameter} of {discipline} is \"{value}\"; expected {expected}")]
    Value {
        /// The discipline's name.
        discipline: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The given text, possibly empty.
        value: String,
        /// The expected form.
        expected: &'static str,
    },
}

impl FromStr for Discipline {
    type Err = DisciplineError;

    fn from_str(text: &str) -> Result<Self, DisciplineError> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let mut discipline = match name {
            "droptail" => Self::DropTail,
            "codel" => Self::CODEL,
            "fq_codel" => Self::FQ_CODEL,
            _ => return Err(NameError::new("queue discipline", name, "droptail, codel or fq_codel").into()),
        };
        while let Some(word) = words.next() {
            discipline.set(word, words.next().unwrap_or_default())?;
        }
        Ok(discipline)
    }
}

impl Discipline {
    /// The name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DropTail => "droptail",
            Self::Codel { .. } => "codel",
            Self::FqCodel { .. } => "fq_codel",
        }
    }

    fn set(&mut self, word: &str, value: &str) -> Result<(), DisciplineError> {
        let discipline = self.name();
        let wrong = |parameter, expected| DisciplineError::Value {
            discipline,
            parameter,
            value: value.to_owned(),
            expected,
        };
        let time = |parameter| {
            let positive = duration::parse(value).ok().filter(|time| !time.is_zero());
            positive.ok_or_else(|| wrong(parameter, "a time above 0 such as 5ms"))
        };
        match (self, word) {
            (Self::Codel { target, .. } | Self::FqCodel { target, .. }, "target") => {
                *target = time("target")?;
            }
            (Self::Codel { interval, .. } | Self::FqCodel { interval, .. }, "interval") => {
                *interval = time("interval")?;
            }
            (Self::FqCodel { flows, .. }, "flows") => {
                let number = value.parse().ok().filter(|flows| (1..=65_536).contains(flows));
                *flows = number.ok_or_else(|| wrong("flows", "a number of queues from 1 to 65536"))?;
            }
            (Self::FqCodel { quantum, .. }, "quantum") => {
                let bytes = value.parse().ok().filter(|bytes| (256..=1_000_000).contains(bytes));
                *quantum = bytes.ok_or_else(|| wrong("quantum", "a number of bytes from 256 to 1000000"))?;
            }
            (of, _) => {
                let expected = match of {
                    Self::DropTail => "nothing after it",
                    Self::Codel { .. } => "target or interval",
                    Self::FqCodel { .. } => "target, interval, flows or quantum",
                };
                return Err(DisciplineError::Parameter { discipline, word: word.to_owned(), expected });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        let (target, interval) = match self {
            Self::DropTail => return Ok(()),
            Self::Codel { target, interval } | Self::FqCodel { target, interval, .. } => (*target, *interval),
        };
        if target != TARGET {
            write!(f, " target {}", duration::show(target))?;
        }
        if interval != INTERVAL {
            write!(f, " interval {}", duration::show(interval))?;
        }
        let Self::FqCodel { flows, quantum, .. } = *self else { return Ok(()) };
        if flows != FLOWS {
            write!(f, " flows {flows}")?;
        }
        if quantum != QUANTUM {
            write!(f, " quantum {quantum}")?;
        }
        Ok(())
    }
}

const TARGET: Duration = Duration::from_millis(5);
const INTERVAL: Duration = Duration::from_millis(100);
const FLOWS: u32 = 1024;
/// A full Ethernet frame without preamble, gap and checksum.
const QUANTUM: u32 = 1514;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_parses_back() {
        for text in [
            "droptail",
            "codel",
            "codel target 20ms interval 400ms",
            "fq_codel",
            "fq_codel interval 1s flows 64 quantum 300",
        ] {
            assert_eq!(text.parse::<Discipline>().unwrap().to_string(), text);
        }
        assert_eq!("codel target 5ms interval 100ms".parse(), Ok(Discipline::CODEL));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("red", "\"red\" is not a queue discipline; expected droptail, codel or fq_codel"),
            ("droptail target 5ms", "droptail has no \"target\"; expected nothing after it"),
            ("codel flows 3", "codel has no \"flows\"; expected target or interval"),
            ("codel target", "the target of codel is \"\"; expected a time above 0 such as 5ms"),
            ("codel interval 0ms", "the interval of codel is \"0ms\"; expected a time above 0 such as 5ms"),
            (
                "fq_codel quantum 12",
                "the quantum of fq_codel is \"12\"; expected a number of bytes from 256 to 1000000",
            ),
        ] {
            assert_eq!(text.parse::<Discipline>().unwrap_err().to_string(), expected);
        }
    }
}
