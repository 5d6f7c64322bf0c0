//! A finding about a connection: one sentence, the evidence, and the one change that would help.

use schemars::JsonSchema;
use serde::Serialize;

/// A finding of one of several kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding<Kind> {
    /// The kind.
    pub kind: Kind,
    /// The finding as a sentence.
    pub sentence: String,
    /// The evidence: figures with their time.
    pub evidence: Vec<String>,
    /// The one change that would help.
    pub advice: String,
    /// Whether the cause is inferred instead of reported by the kernel.
    pub is_inferred: bool,
}

impl<Kind> Finding<Kind> {
    pub(crate) fn new(kind: Kind, sentence: String, evidence: Vec<String>, advice: String) -> Self {
        Self { kind, sentence, evidence, advice, is_inferred: false }
    }

    pub(crate) fn inferred(self) -> Self {
        Self { is_inferred: true, ..self }
    }
}
