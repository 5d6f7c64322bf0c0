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
    pub requests: u64,
    /// Requests that failed and so are in no phase.
    pub failed: u64,
    /// Failed requests by reason.
    pub failed_by_reason: BTreeMap<String, u64>,
    /// Responses by status.
    pub status: BTreeMap<String, u64>,
    /// Requests by version of HTTP. Those that got no connection are not among them.
    pub protocol: BTreeMap<String, u64>,
    /// Bytes of body received.
    pub body_bytes: u64,
    /// The distributions of each metric, in the order in which a request meets them. Metrics that never occurred are
    /// absent.
    pub phases: Vec<Phase>,
    /// How late requests started against the schedule. Absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Phase>,
    /// The share of one core that the generator used while it sent.
    pub cpu_share: f64,
    /// Whether somebody ended the run before its time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Why the generator, and not the target, may have shaped the numbers. Empty if there is no reason.
    pub invalid: Vec<String>,
    /// The same with a word for each kind. Absent if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// How percentiles were computed, as a sentence.
    pub method: String,
}

/// One number of a request - a phase, or a sum of phases - over all requests that have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// "dns", "connect", "tls", "quic", "send", "wait", "load", "ttfb", "ttfb_without_dns", "total", "response" or
    /// "lateness".
    pub name: String,
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
pub const SCHEMA: &str = "longhaul.probe/1";

#[cfg(test)]
mod tests;
