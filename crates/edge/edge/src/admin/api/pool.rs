//! The load balancing of a zone's origins, in the status.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Load balancing of a zone.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PoolStatus {
    /// Name of the zone.
    pub zone: String,
    /// first, round-robin, least-connections or hash.
    pub balance: String,
    /// Origins of the zone, in the order of the file.
    pub origins: Vec<PoolMemberStatus>,
}

/// An origin in the load balancing of a zone.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PoolMemberStatus {
    /// Scheme, host, port and path prefix.
    pub address: String,
    /// up, down (health checks or the last request failed) or ejected.
    pub state: String,
    /// Reason of the state. Absent while the origin is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Current weight. During a slow start it is lower than in the file.
    pub weight: f64,
    /// Number of requests of this zone in flight, until the end of the response.
    pub in_flight: u64,
    /// Maximum of `in_flight`. Absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<u64>,
    /// Number of requests of this zone since the start.
    pub requests: u64,
    /// Number of ejections since the start.
    pub ejections: u64,
    /// Seconds until the origin is used again. Absent if it was not taken out of use for a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ejected_for_s: Option<u64>,
    /// Number of health checks since the start.
    pub checks: u64,
    /// Number of health checks that failed.
    pub check_failures: u64,
}
