//! The first and the last line of a native recording.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The first line of a native recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The program that wrote it.
    #[serde(default)]
    pub tool: String,
    /// The version of the program.
    #[serde(default)]
    pub version: String,
    /// The measuring machine, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The clock of durations: "monotonic".
    #[serde(default)]
    pub clock: String,
    /// Wall-clock time of the start, RFC 3339. For display and for joining files only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The name of this recording, if the user gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The conditions: url, rate, connection policy, protocol and the like.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: BTreeMap<String, String>,
}

/// The last line, `{"end": {...}}`. A recording without it was truncated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    /// From the recording's start to its end.
    pub duration_ns: u64,
    /// Samples written, failed ones included.
    pub samples: u64,
    /// Samples that failed.
    pub failed: u64,
    /// The 99.9th percentile of the lateness of requests. Absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_lateness_p999_ns: Option<u64>,
    /// The share of one core that the generator used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// Whether the recording was interrupted, so that it is incomplete.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Start on CLOCK_MONOTONIC, which relates programs on one machine until it reboots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_monotonic_ns: Option<u64>,
    /// Reasons why the generator may have influenced the results. Empty for a valid recording.
    pub invalid: Vec<String>,
}

/// The schema that this version writes.
pub const SCHEMA: &str = "longhaul.recording/1";
