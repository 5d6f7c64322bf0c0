//! What became of recordings that were converted or merged: what `convert --json` and `merge --json` print.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Recordings that became one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conversion {
    /// [`CONVERSION_SCHEMA`].
    pub schema: String,
    /// The files read.
    pub inputs: Vec<String>,
    /// The file written.
    pub output: String,
    /// Its format: "native", "csv", "tsv", "hlog", "hgrm" or "prometheus".
    pub format: String,
    /// Samples read.
    pub read: u64,
    /// Samples written.
    pub written: u64,
    /// Samples read that had failed.
    pub failed: u64,
    /// What the format could not hold, as sentences.
    pub lost: Vec<String>,
    /// What a reader must know before trusting the samples, as sentences.
    pub warnings: Vec<String>,
}

/// The schema of [`Conversion`] that this version writes.
pub const CONVERSION_SCHEMA: &str = "longhaul.convert/1";
