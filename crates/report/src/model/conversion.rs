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
    /// Samples in the file, those that failed included where the format has them: everywhere but in "hlog" and "hgrm".
    /// So `read` is `written` + `without_metric`, and + `failed` for these two.
    pub written: u64,
    /// Samples read that had failed.
    pub failed: u64,
    /// Samples that had not failed and are left out, because the format holds one metric and they do not have it: 0 for
    /// "native", "csv" and "tsv".
    pub without_metric: u64,
    /// What the format could not hold, as sentences.
    pub lost: Vec<String>,
    /// What a reader must know before trusting the samples, as sentences.
    pub warnings: Vec<String>,
}

/// The schema of [`Conversion`] that this version writes.
pub const CONVERSION_SCHEMA: &str = "longhaul.convert/1";
