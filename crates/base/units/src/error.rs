//! Errors of parsing a quantity.

/// A quantity that cannot be parsed. Every variant contains the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text does not begin with a plain decimal number.
    #[error("\"{text}\" does not start with a number; expected something like {example}")]
    NotANumber {
        /// The text.
        text: String,
        /// A valid example.
        example: &'static str,
    },
    /// The unit is missing or unknown.
    #[error("\"{text}\" has {}; expected one of {expected}", found(.unit))]
    Unit {
        /// The text.
        text: String,
        /// The unit found, possibly empty.
        unit: String,
        /// The valid units.
        expected: &'static str,
    },
    /// Several parts in another order than from the largest unit to the smallest.
    #[error("\"{text}\" is not a sum of parts from the largest unit to the smallest, such as \"1h30m\"")]
    Order {
        /// The text.
        text: String,
    },
    /// The number is negative or too large.
    #[error("\"{text}\" is out of range: {limit}")]
    Range {
        /// The text.
        text: String,
        /// The limit, as a sentence.
        limit: &'static str,
    },
}

fn found(unit: &str) -> String {
    if unit.is_empty() { "no unit".to_owned() } else { format!("the unknown unit \"{unit}\"") }
}
