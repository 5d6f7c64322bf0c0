//! What a command printed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{claim::Claim, subject::Subject};

/// The JSON that a command printed, and the numbers in it that claims speak of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Printed {
    /// The side that it measured.
    pub side: String,
    /// The host in which it ran.
    pub host: String,
    /// The numbers that claims speak of.
    pub figures: Vec<Figure>,
    /// All that it printed.
    pub value: Value,
}

/// A number in what a command printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Where it is: "json.summary.restart_s".
    pub at: String,
    /// The number with its unit, or why there is none.
    pub text: String,
}

impl Printed {
    /// What a side's command printed, with the figures of these claims.
    pub(crate) fn new(side: &str, host: &str, value: Value, claims: &[Claim]) -> Self {
        let mut printed = Self { side: side.to_owned(), host: host.to_owned(), figures: Vec::new(), value };
        for claim in claims.iter().filter(|claim| claim.is_about(side)) {
            let Subject::Printed(path) = &claim.subject else { continue };
            let at = path.to_string();
            if printed.figures.iter().all(|figure| figure.at != at) {
                let text =
                    path.number(&printed.value).map_or_else(|why| why, |number| path.unit().show(number));
                printed.figures.push(Figure { at, text });
            }
        }
        printed
    }
}
