//! Serde visitor for quantities written as strings in configuration files.

use std::fmt;

use serde::de::Visitor;

use crate::Error;

/// The error for a bare number contains an example.
pub(crate) struct Text<T> {
    pub parse: fn(&str) -> Result<T, Error>,
    /// In quotes.
    pub example: &'static str,
}

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a quantity in quotes such as {}", self.example)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }
}
