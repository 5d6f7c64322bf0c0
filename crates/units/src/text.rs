//! Reads a quantity from a configuration file, where it is written as a string.

use std::fmt;

use serde::de::Visitor;

use crate::Error;

/// Expects a string, and says how to write one when it meets a bare number.
pub(crate) struct Text<T> {
    /// Reads the string.
    pub parse: fn(&str) -> Result<T, Error>,
    /// One correct spelling, in quotes.
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
