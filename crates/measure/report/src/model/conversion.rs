//! The result of converting or merging recordings: the output of `convert --json` and `merge
//! --json`.

use claim::Caveat;
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
    /// Samples in the file. Failed ones are included if the format supports them, which all formats do except "hlog"
    /// and "hgrm". So `read` is `written` + `without_metric`, and + `failed` for these two.
    pub written: u64,
    /// Failed samples that were read.
    pub failed: u64,
    /// Successful samples that are left out, because the format holds one metric that they lack: 0 for "native",
    /// "csv" and "tsv".
    pub without_metric: u64,
    /// What the format cannot hold, as sentences.
    pub lost: Vec<String>,
    /// What a reader must know before trusting the samples, as sentences.
    pub warnings: Vec<String>,
    /// The warnings with the kind of each.
    #[serde(default)]
    pub doubts: Vec<Caveat>,
}

/// The schema of [`Conversion`] that this version writes.
pub const CONVERSION_SCHEMA: &str = "longhaul.convert/1";
