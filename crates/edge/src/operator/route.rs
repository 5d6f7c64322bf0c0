//! Failed paths to origins, as the operator sees them.

use ::tiers::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path to an origin that failed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RouteStatus {
    /// The origin: scheme, host and port.
    pub origin: String,
    /// The address of the origin.
    pub address: String,
    /// "direct", or the data centre through which it led.
    pub route: String,
    /// Why it failed, as a name that never changes.
    #[serde(default)]
    pub reason: RouteReason,
    /// The same for people.
    pub error: String,
    /// Since when that is remembered.
    pub since_s: u64,
    /// How many requests have met it.
    pub requests: u64,
    /// Which of them will try it again.
    pub next_test_at: u64,
    /// The data centre through which the origin is reached instead; absent if none can be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detour: Option<String>,
}

/// Why a path to an origin failed, under the names of RFC 9209 section 2.3 where it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RouteReason {
    /// No SYN-ACK arrived in time.
    ConnectionTimeout,
    /// The connection was refused, or no route leads to the address.
    ConnectionRefused,
    /// The connection was reset or closed before a complete response head.
    ConnectionTerminated,
    /// The TLS handshake failed, or an alert ended the connection.
    TlsProtocolError,
    /// The bytes that arrived are not HTTP.
    HttpProtocolError,
    /// The request was sent, and no response head arrived in time.
    HttpResponseTimeout,
    /// The response has one of the zone's `detour_statuses`.
    HttpResponseStatus,
    /// The data centre on the path does not answer, or does not reach the origin either.
    DestinationUnavailable,
    /// A data centre of another version gave a reason that this one has no name for, or none.
    #[default]
    #[serde(other)]
    Unknown,
}

impl From<Fault> for RouteReason {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::ConnectionTimeout => Self::ConnectionTimeout,
            Fault::ConnectionRefused => Self::ConnectionRefused,
            Fault::ConnectionTerminated => Self::ConnectionTerminated,
            Fault::TlsProtocolError => Self::TlsProtocolError,
            Fault::HttpProtocolError => Self::HttpProtocolError,
            Fault::HttpResponseTimeout => Self::HttpResponseTimeout,
            Fault::HttpResponseStatus => Self::HttpResponseStatus,
            Fault::DestinationUnavailable => Self::DestinationUnavailable,
        }
    }
}
