//! The syntax of all quantities: a decimal number, optional whitespace, and a unit.

use crate::Error;

/// Spelling of a unit, and its size in base units.
pub(crate) type Unit = (&'static str, f64);

pub(crate) struct Form {
    /// Compared case-insensitively.
    pub units: &'static [Unit],
    pub expected: &'static str,
    pub example: &'static str,
    /// A sentence for error messages.
    pub limit: &'static str,
    /// In base units.
    pub most: f64,
}

impl Form {
    /// In base units, from 0 to `most`.
    pub(crate) fn parse(&self, text: &str) -> Result<f64, Error> {
        let (digits, unit) = split(text.trim(), self.example)?;
        let scale = self.scale(unit).ok_or_else(|| Error::Unit {
            text: text.to_owned(),
            unit: unit.to_owned(),
            expected: self.expected,
        })?;
        let number =
            digits.parse().map_err(|_| Error::NotANumber { text: text.to_owned(), example: self.example })?;
        let value = scaled(digits, number, scale);
        let is_negative = text.trim_start().starts_with('-');
        if is_negative || !value.is_finite() || value > self.most {
            return Err(Error::Range { text: text.to_owned(), limit: self.limit });
        }
        Ok(value)
    }

    /// As [`Self::parse`], or a sum of several parts with units from the largest to the smallest.
    pub(crate) fn parse_sum(&self, text: &str) -> Result<f64, Error> {
        let parts = parts(text.trim());
        if parts.len() < 2 {
            return self.parse(text);
        }
        let (mut sum, mut smallest) = (0.0, f64::INFINITY);
        for part in parts {
            let unit =
                part.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').trim();
            let value = self.parse(part).map_err(|error| match error {
                Error::Unit { expected, .. } => {
                    Error::Unit { text: text.to_owned(), unit: unit.to_owned(), expected }
                }
                Error::NotANumber { .. } | Error::Range { .. } | Error::Order { .. } => order(text),
            })?;
            let scale = self.scale(unit).filter(|&scale| scale < smallest).ok_or_else(|| order(text))?;
            (sum, smallest) = (sum + value, scale);
        }
        if sum > self.most { Err(Error::Range { text: text.to_owned(), limit: self.limit }) } else { Ok(sum) }
    }

    fn scale(&self, unit: &str) -> Option<f64> {
        self.units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|&(_, scale)| scale)
    }
}

fn order(text: &str) -> Error {
    Error::Order { text: text.to_owned() }
}

/// Splits where a digit follows a unit.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut has_unit) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        if has_unit && (letter.is_ascii_digit() || letter == '-' || letter == '.') {
            parts.push(text[begin..at].trim());
            (begin, has_unit) = (at, false);
        }
        has_unit |= letter.is_alphabetic();
    }
    parts.push(&text[begin..]);
    parts
}

/// Rounds once, from the decimal text: 0.07/100 would be 0.0007000000000000001.
fn scaled(digits: &str, number: f64, scale: f64) -> f64 {
    let places = scale.log10().round();
    if scale < 1.0 && 10_f64.powf(places) == scale {
        return format!("{digits}e{places}").parse().unwrap_or(number * scale);
    }
    number * scale
}

/// Accepts plain decimals only: no exponent, no infinity, no thousands separator.
fn split<'t>(text: &'t str, example: &'static str) -> Result<(&'t str, &'t str), Error> {
    let end = text
        .char_indices()
        .find(|&(at, c)| !(c.is_ascii_digit() || c == '.' || (at == 0 && (c == '-' || c == '+'))))
        .map_or(text.len(), |(at, _)| at);
    match text[..end].parse::<f64>() {
        Ok(_) => Ok((&text[..end], text[end..].trim_start())),
        Err(_) => Err(Error::NotANumber { text: text.to_owned(), example }),
    }
}

/// In the largest unit that needs at most three decimals.
pub(crate) fn show(f: &mut std::fmt::Formatter<'_>, value: f64, descending: &[Unit]) -> std::fmt::Result {
    let smallest = descending.last().copied().unwrap_or(("", 1.0));
    let (name, scale) = descending
        .iter()
        .copied()
        .find(|&(_, scale)| value >= scale && is_short_decimal(value / scale))
        .unwrap_or(smallest);
    write!(f, "{}{name}", value / scale)
}

/// At most three decimals, so that printing is lossless.
fn is_short_decimal(value: f64) -> bool {
    let thousandths = value * 1000.0;
    (thousandths - thousandths.round()).abs() < 1e-9 * thousandths.max(1.0)
}
