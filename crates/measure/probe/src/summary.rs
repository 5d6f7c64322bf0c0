//! The result of a run: one object per phase, and the generator's measurements of itself.
//!
//! Percentiles are from HdrHistograms and within 0.1 % of the exact value; n, minimum, mean and
//! maximum are exact.

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
    /// Requests made, including failed ones. Each hop of a redirect counts.
    pub n: u64,
    /// Failed requests, which are in no phase.
    pub errors: u64,
    /// Failed requests by reason.
    pub errors_by_reason: BTreeMap<String, u64>,
    /// Responses by status.
    pub status: BTreeMap<String, u64>,
    /// Requests by version of HTTP, without those that got no connection.
    pub protocol: BTreeMap<String, u64>,
    /// Bytes of body received.
    pub body_bytes: u64,
    /// The distribution of each phase, and of sums of phases: "dns", "connect", "tls", "quic", "send",
    /// "wait", "load", "first_interim", "ttfb", "ttfb_without_dns", "total" and "response". Phases that never
    /// occurred are absent.
    pub phases: BTreeMap<String, Phase>,
    /// The lateness of requests relative to the schedule. Absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness_ms: Option<Phase>,
    /// The share of one core that the generator used while it sent.
    pub cpu_share: f64,
    /// Whether the run was interrupted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Whether the results are those of the target, not of the generator.
    pub valid: bool,
    /// Why the run is invalid. Empty if it is valid.
    pub reasons: Vec<String>,
    /// The reasons with a word for each kind. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// How percentiles were computed, as a sentence.
    pub method: String,
}

/// One duration of a request - a phase, or a sum of phases - over all requests that have it.
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
