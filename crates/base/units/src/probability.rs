//! Shares and probabilities.

use std::{fmt, str::FromStr};

use crate::{Error, number::Form};

/// A share from 0 to 1, written "0.1%" or "0.001".
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Probability(f64);

impl Probability {
    /// Probability 0.
    pub const ZERO: Self = Self(0.0);
    /// Probability 1.
    pub const ONE: Self = Self(1.0);

    /// `share` if it is in 0..=1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// The share, 0..=1.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Probability {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        FORM.parse(text).map(Self)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = format!("{:.10}", self.0 * 100.0);
        write!(f, "{}%", percent.trim_end_matches('0').trim_end_matches('.'))
    }
}

crate::serde_as_text!(Probability);

const FORM: Form = Form {
    units: &[("%", 0.01), ("", 1.0)],
    expected: "% or nothing (0.5 is 50%)",
    example: "\"0.1%\"",
    limit: "a share must be from 0% to 100%",
    most: 1.0,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_or_share() {
        assert_eq!("0.1%".parse::<Probability>().unwrap(), "0.001".parse().unwrap());
        assert_eq!("50 %".parse::<Probability>().unwrap().get(), 0.5);
        assert_eq!("0.1%".parse::<Probability>().unwrap().to_string(), "0.1%");
    }

    #[test]
    fn percentages_are_decimal() {
        for hundredths in 0..=10_000_u32 {
            let (whole, part) = (hundredths / 100, hundredths % 100);
            let percent: Probability = format!("{whole}.{part:02}%").parse().unwrap();
            let share: Probability =
                format!("{}.{:04}", hundredths / 10_000, hundredths % 10_000).parse().unwrap();
            assert_eq!(percent, share, "{whole}.{part:02}%");
        }
    }

    #[test]
    fn more_than_everything_is_refused() {
        let said = "120%".parse::<Probability>().unwrap_err().to_string();
        assert_eq!(said, "\"120%\" is out of range: a share must be from 0% to 100%");
        assert!("-1%".parse::<Probability>().is_err());
        assert!("nan".parse::<Probability>().is_err());
    }
}
