//! What is found of a connection, whoever looks: one sentence, the figures that say so, and the one change that would help.

use schemars::JsonSchema;
use serde::Serialize;

/// What was found, as one of some kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding<Kind> {
    /// Which.
    pub kind: Kind,
    /// It in a sentence.
    pub sentence: String,
    /// The figures that say so, with what time they are of.
    pub evidence: Vec<String>,
    /// The one change that would help.
    pub advice: String,
    /// Whether the cause is not told by the kernel but follows from what is.
    pub is_inferred: bool,
}

impl<Kind> Finding<Kind> {
    pub(crate) fn new(kind: Kind, sentence: String, evidence: Vec<String>, advice: String) -> Self {
        Self { kind, sentence, evidence, advice, is_inferred: false }
    }

    /// The same, when the kernel did not tell the cause.
    pub(crate) fn inferred(self) -> Self {
        Self { is_inferred: true, ..self }
    }
}
