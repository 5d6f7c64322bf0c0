//! The summary of a stored result.

use std::time::Duration;

use http_stack::clock::rfc3339;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Network;
use crate::{result::Outcome, rubric::Measured, wire::Token};

/// The summary of a stored result, for the operator's list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Identifies the result in links.
    #[schemars(with = "String")]
    pub id: Token,
    /// Time of storage, Unix time in seconds, on the server's clock.
    pub kept_s: u64,
    /// The client's network: 24 bits of IPv4, 48 of IPv6.
    pub network: String,
    /// The plan's name.
    pub plan: String,
    /// "http/1.1", "h2" or "h3".
    pub protocol: String,
    /// Its figures.
    pub measured: Measured,
}

impl Row {
    /// The summary of a validated result.
    pub fn of(id: Token, kept_s: u64, network: Network, outcome: &Outcome) -> Self {
        Self {
            id,
            kept_s,
            network: network.to_string(),
            plan: outcome.plan.clone(),
            protocol: outcome.protocol.clone(),
            measured: outcome.measured(),
        }
    }

    /// Serializes the row.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Deserializes a row; `None` if it is invalid.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let row: Self = serde_json::from_slice(bytes).ok()?;
        (row.kept_s < LATEST_S).then_some(row)
    }

    /// Time of storage in the format of RFC 3339.
    pub fn kept(&self) -> String {
        rfc3339(Duration::from_secs(self.kept_s))
    }
}

/// The year 9999 is the last one with four digits.
const LATEST_S: u64 = 253_402_300_800;
