//! Units of numbers: parsing, formatting, and which of two values is faster.

use units::{Bitrate, Bytes, Frequency, Probability, duration, show};

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// A counted share, 0..=1.
    Share,
    /// An estimated share, 0..=1.
    Estimate,
    /// Events per second.
    Frequency,
    /// A plain number.
    Number,
}

/// Whether the smaller or the larger value is faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faster {
    /// The smaller.
    Less,
    /// The larger.
    More,
}

impl Unit {
    /// Parses a value such as "2s", "50Mbit", "0B", "100%", "300/s" or "12".
    ///
    /// # Errors
    ///
    /// A sentence with the expected form.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        let value: Result<f64, units::Error> = match self {
            Self::Time => duration::parse(text).map(|time| time.as_secs_f64() * 1e3),
            Self::Rate => text.parse().map(|rate: Bitrate| as_f64(rate.bits_per_second())),
            Self::Size => text.parse().map(|size: Bytes| as_f64(size.0)),
            Self::Share | Self::Estimate => text.parse().map(Probability::get),
            Self::Frequency => text.parse().map(Frequency::per_second),
            Self::Number => {
                let number = text.parse().ok().filter(|number: &f64| number.is_finite());
                return number
                    .ok_or_else(|| format!("\"{text}\" is not a plain number, such as \"12\" or \"0.5\""));
            }
        };
        value.map_err(|error| error.to_string())
    }

    /// Whether a larger or a smaller value is faster; `None` if the unit does not express speed.
    pub fn faster(self) -> Option<Faster> {
        match self {
            Self::Time => Some(Faster::Less),
            Self::Rate | Self::Frequency => Some(Faster::More),
            Self::Size | Self::Share | Self::Estimate | Self::Number => None,
        }
    }

    /// Whether values are exact, so that two of them can be equal.
    pub fn is_counted(self) -> bool {
        matches!(self, Self::Size | Self::Share | Self::Estimate | Self::Number)
    }

    /// The value with its unit, rounded to the significant digits.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Time => show::time(value / 1e3),
            Self::Rate => show::rate(value),
            Self::Size => show::bytes(whole(value)),
            Self::Share | Self::Estimate => show::share(value),
            Self::Frequency => show::frequency(value),
            Self::Number => show::number(value),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of bytes is not negative, and far below 2^53"
)]
fn whole(bytes: f64) -> u64 {
    bytes.round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "units bounds both below 2^53")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_unit_of_their_subject() {
        assert_eq!(Unit::Time.parse("2s").unwrap(), 2000.0);
        assert_eq!(Unit::Rate.parse("50Mbit").unwrap(), 5e7);
        assert_eq!(Unit::Size.parse("0B").unwrap(), 0.0);
        assert_eq!(Unit::Share.parse("100%").unwrap(), 1.0);
        assert_eq!(Unit::Frequency.parse("600/min").unwrap(), 10.0);
        assert_eq!(Unit::Number.parse("-0.5").unwrap(), -0.5);
        assert!(Unit::Size.parse("2s").unwrap_err().contains("expected one of B, KB"));
        for text in ["2s", "inf", ""] {
            assert!(Unit::Number.parse(text).unwrap_err().contains("is not a plain number"), "{text}");
        }
    }

    #[test]
    fn values_are_shown_as_figures_are_everywhere() {
        assert_eq!(Unit::Share.show(89_699.0 / 89_700.0), "99.9989 %", "nearly all is not all");
        assert_eq!(Unit::Time.show(0.0124), "12.4 us");
        assert_eq!(Unit::Time.show(15_204.0), "15.2 s");
        assert_eq!(Unit::Rate.show(1_250_000_000.0), "1.25 Gbit/s");
        assert_eq!(Unit::Size.show(359_816_060.0), "360 MB");
        assert_eq!(Unit::Frequency.show(10.0), "10/s");
        assert_eq!(Unit::Number.show(0.5), "0.500");
    }
}
