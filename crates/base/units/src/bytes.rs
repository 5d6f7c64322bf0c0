//! Amounts of data.

use std::{fmt, str::FromStr};

use crate::{
    Error,
    number::{self, Form},
};

/// An amount of data in bytes, at most 1 PB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = Error;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "Form bounds it to 0..=1e15")]
    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(Self(FORM.parse(text)?.round() as u64))
    }
}

impl fmt::Display for Bytes {
    #[expect(clippy::cast_precision_loss, reason = "amounts are bounded to 1e15, below 2^53")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        number::show(f, self.0 as f64, &[("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)])
    }
}

crate::serde_as_text!(Bytes);

const FORM: Form = Form {
    units: &[
        ("b", 1.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("kib", 1024.0),
        ("mib", 1024.0 * 1024.0),
        ("gib", 1024.0 * 1024.0 * 1024.0),
        ("tib", 1024.0 * 1024.0 * 1024.0 * 1024.0),
    ],
    expected: "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB",
    example: "\"64KB\"",
    limit: "an amount must be from 0B to 1000TB",
    most: 1e15,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_units() {
        assert_eq!("64KB".parse(), Ok(Bytes(64_000)));
        assert_eq!("64KiB".parse(), Ok(Bytes(65_536)));
        assert_eq!("2TB".parse(), Ok(Bytes(2_000_000_000_000)));
        assert_eq!("1TiB".parse(), Ok(Bytes(1 << 40)));
        assert_eq!("1.5 MB".parse(), Ok(Bytes(1_500_000)));
    }

    #[test]
    fn prints_what_parses_back() {
        for bytes in [0, 1, 999, 1000, 1023, 1024, 65_536, 1_500_000, 123_456_789] {
            assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
        }
    }
}
