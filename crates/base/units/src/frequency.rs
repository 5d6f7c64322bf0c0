//! Event rates.

use std::{fmt, str::FromStr, time::Duration};

use crate::{Error, number::Form};

/// Events per second, more than 0, written "50/s" or "3000/min".
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Frequency(f64);

impl Frequency {
    /// Events per second.
    pub fn per_second(self) -> f64 {
        self.0
    }

    /// The mean time between events.
    pub fn interval(self) -> Duration {
        Duration::from_secs_f64(1.0 / self.0)
    }
}

impl FromStr for Frequency {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let per_second = FORM.parse(text)?;
        if per_second < LEAST {
            return Err(Error::Range { text: text.to_owned(), limit: FORM.limit });
        }
        Ok(Self(per_second))
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >= 1.0 { write!(f, "{}/s", self.0) } else { write!(f, "{}/h", self.0 * 3600.0) }
    }
}

crate::serde_as_text!(Frequency);

/// Once a day. A slower schedule is a mistake.
const LEAST: f64 = 1.0 / 86_400.0;

const FORM: Form = Form {
    units: &[("/s", 1.0), ("/min", 1.0 / 60.0), ("/h", 1.0 / 3600.0)],
    expected: "/s, /min, /h",
    example: "\"50/s\"",
    limit: "a rate must be from once a day to 10000000/s",
    most: 1e7,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        assert_eq!("50/s".parse::<Frequency>().unwrap().interval(), Duration::from_millis(20));
        assert_eq!("30/min".parse::<Frequency>().unwrap().interval(), Duration::from_secs(2));
        assert!("0/s".parse::<Frequency>().is_err());
        assert!("-5/s".parse::<Frequency>().is_err());
    }
}
