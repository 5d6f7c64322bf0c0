//! What a run comes to: one object a phase, and what the generator must admit about itself.
//!
//! Percentiles come from HdrHistograms with three significant digits: they are within 0.1 % of the sample
//! that they stand for, and take the same memory however long the run is. n, minimum, mean and maximum are
//! exact.

mod tally;

use std::collections::BTreeMap;

use claim::Caveat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::tally::{Run, Tally};

/// A finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The URL, or the first one.
    pub url: String,
    /// From the first request's start to the last response's end, in seconds.
    pub duration_s: f64,
    /// Requests made, each hop of a redirect being one. Those that failed are among them.
    pub n: u64,
    /// Those that failed and so are in no phase.
    pub errors: u64,
    /// The same by reason.
    pub errors_by_reason: BTreeMap<String, u64>,
    /// Responses by status.
    pub status: BTreeMap<String, u64>,
    /// Requests by version of HTTP. Those that got no connection are not among them.
    pub protocol: BTreeMap<String, u64>,
    /// Bytes of body received.
    pub body_bytes: u64,
    /// The distribution of each phase, and of sums of phases: "dns", "connect", "tls", "quic", "send", "wait", "load", "first_interim", "ttfb",
    /// "ttfb_without_dns", "total" and "response". Those that never occurred are absent.
    pub phases: BTreeMap<String, Phase>,
    /// How late requests started against the schedule. Absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness_ms: Option<Phase>,
    /// The share of one core that the generator used while it sent.
    pub cpu_share: f64,
    /// Whether somebody ended the run before its time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Whether the target shaped the numbers, and not the generator.
    pub valid: bool,
    /// Why they are not valid. Empty if they are.
    pub reasons: Vec<String>,
    /// The same with a word for each kind. Absent if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// How percentiles were computed, as a sentence.
    pub method: String,
}

/// One length of time of a request - a phase, or a sum of phases - over all requests that have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Requests that have it.
    pub n: u64,
    /// The least.
    pub min_ms: f64,
    /// The mean.
    pub mean_ms: f64,
    /// The greatest.
    pub max_ms: f64,
    /// Percentiles "50", "75", "90", "95", "99" and "99.9".
    pub percentiles_ms: BTreeMap<String, f64>,
    /// Percentiles at or above this one have fewer than 10 samples beyond them.
    pub thin_above: f64,
}

/// The schema that this version writes.
pub const SCHEMA: &str = "longhaul.probe/2";

#[cfg(test)]
mod tests;
