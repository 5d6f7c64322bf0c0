//! Status of failed paths to origins.

use ::tier_routing::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A failed path to an origin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RouteStatus {
    /// Origin: scheme, host and port.
    pub origin: String,
    /// IP address of the origin.
    pub address: String,
    /// "direct", or the data centre on the path.
    pub route: String,
    /// Reason of the failure, a stable identifier.
    #[serde(default)]
    pub reason: RouteReason,
    /// Reason of the failure for humans.
    pub error: String,
    /// Seconds since the failure was recorded.
    pub since_s: u64,
    /// Number of requests since then to which the failure applied.
    pub requests: u64,
    /// Number of the request that retries the path.
    pub next_test_at: u64,
    /// Data centre through which the origin is reached instead. Absent if no data centre is available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detour: Option<String>,
}

/// Reasons why a path to an origin failed. Names are from RFC 9209, section 2.3, where it defines one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RouteReason {
    /// No SYN-ACK arrived in time.
    ConnectionTimeout,
    /// The connection was refused, or no route leads to the address.
    ConnectionRefused,
    /// The connection was reset or closed before a complete response header.
    ConnectionTerminated,
    /// The TLS handshake failed, or an alert ended the connection.
    TlsProtocolError,
    /// The received bytes are not HTTP.
    HttpProtocolError,
    /// The request was sent, but no response header arrived in time.
    HttpResponseTimeout,
    /// The response has one of the zone's `detour_statuses`.
    HttpResponseStatus,
    /// The data centre on the path does not respond or cannot reach the origin.
    DestinationUnavailable,
    /// A data centre of another version reported an unknown reason or no reason.
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
