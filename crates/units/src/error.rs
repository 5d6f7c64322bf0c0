//! What can be wrong with a quantity that somebody wrote.

/// A quantity that could not be read. Every variant carries the text it was found in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text does not begin with a plain decimal number.
    #[error("\"{text}\" does not start with a number; expected something like {example}")]
    NotANumber {
        /// What was written.
        text: String,
        /// One correct spelling.
        example: &'static str,
    },
    /// The number is followed by no unit or by one that this quantity does not have.
    #[error("\"{text}\" has {}; expected one of {expected}", found(.unit))]
    Unit {
        /// What was written.
        text: String,
        /// The unit that was found, possibly empty.
        unit: String,
        /// The units that would do.
        expected: &'static str,
    },
    /// The number is negative, or beyond what the quantity can hold.
    #[error("\"{text}\" is out of range: {limit}")]
    Range {
        /// What was written.
        text: String,
        /// The limit that it breaks, as a sentence.
        limit: &'static str,
    },
}

fn found(unit: &str) -> String {
    if unit.is_empty() { "no unit".to_owned() } else { format!("the unknown unit \"{unit}\"") }
}
