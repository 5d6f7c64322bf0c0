//! What is known of a result without reading all of it.

use std::time::Duration;

use http::clock::rfc3339;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Network;
use crate::{result::Outcome, rubric::Measured, wire::Token};

/// A result in short, as an operator has it in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Names it in links.
    #[schemars(with = "String")]
    pub id: Token,
    /// When it was left here, seconds since 1970, UTC, by the server's clock.
    pub kept_s: u64,
    /// The network that it was left from: 24 bits of IPv4, 48 of IPv6.
    pub network: String,
    /// The plan's name.
    pub plan: String,
    /// "http/1.1", "h2" or "h3".
    pub protocol: String,
    /// Its figures.
    pub measured: Measured,
}

impl Row {
    /// Of a result that was checked.
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

    /// As it is stored.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What was stored; none if it is something else.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let row: Self = serde_json::from_slice(bytes).ok()?;
        (row.kept_s < LATEST_S).then_some(row)
    }

    /// When it was left, as RFC 3339 has it.
    pub fn kept(&self) -> String {
        rfc3339(Duration::from_secs(self.kept_s))
    }
}

/// The year 9999 is the last one with four digits.
const LATEST_S: u64 = 253_402_300_800;
