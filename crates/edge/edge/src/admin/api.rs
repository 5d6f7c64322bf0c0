//! Client of the admin interface, and the types of its responses.

mod certificate;
mod pool;
mod route;

use std::{net::SocketAddr, time::Duration};

use http_stack::{Body, Client, Method, Origin, Request, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use self::{
    certificate::{CertificateSource, CertificateStatus},
    pool::{PoolMemberStatus, PoolStatus},
    route::{RouteReason, RouteStatus},
};
use crate::Error;

/// Current state of a data centre, the output of `edge status --json`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Name of the data centre.
    pub data_centre: String,
    /// Sequence number of the last purge. 0 before the first one.
    pub epoch: u64,
    /// Client requests since the start.
    pub requests: Requests,
    /// Client connections.
    #[serde(default)]
    pub connections: Connections,
    /// Certificates for clients. Empty without TLS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<CertificateStatus>,
    /// Usage of the object store.
    pub store: Usage,
    /// State of the access log. Absent without a log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogStatus>,
    /// State of trace export. Absent without a collector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<TraceStatus>,
    /// State of the key-value store. Absent without a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv: Option<kv_server::Status>,
    /// All origins of the zones.
    pub origins: Vec<OriginStatus>,
    /// Zones with load balancing, health checks, ejection, failover or limits of their origins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolStatus>,
    /// Zones with rate limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_limits: Vec<RateLimitStatus>,
    /// Requests from other data centres since the start. Absent without links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_of_others: Option<Requests>,
    /// Upper tier of each zone. Empty without links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierStatus>,
    /// Links to the other data centres.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkStatus>,
    /// Paths to origins that failed in the last ten minutes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteStatus>,
    /// Replication of purges between data centres. Absent without links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purges: Option<PurgesStatus>,
}

/// Replication of purges between data centres.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PurgesStatus {
    /// Id of this data centre's purge log. It changes with each start.
    pub log: String,
    /// Position in each purge log.
    pub position: Vec<LogOf>,
    /// The other data centres.
    pub data_centres: Vec<HeardFrom>,
    /// Number of purges kept in memory because another data centre may lack them.
    pub remembered: u64,
    /// Whether heartbeats of too few others arrive, so that purges may be missing.
    pub cut_off: bool,
    /// NATS stream that also carries purges. Absent without a bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<BusStatus>,
}

/// State of the NATS stream that also carries purges.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BusStatus {
    /// Address of the stream, without credentials.
    pub stream: String,
    /// Reason why the stream is not read or not written. Absent while it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Number of purges applied here that are not yet in the stream.
    pub waiting: u64,
    /// Number of purges written to the stream since the start.
    pub put: u64,
    /// Number of purges first received through the stream since the start.
    pub taken: u64,
    /// How often since the start the stream was recreated or lost messages. Each time all objects become
    /// stale.
    #[serde(default)]
    pub resets: u64,
    /// Number of messages in the stream that contain no purge. They are skipped.
    pub unread: u64,
    /// Another process with the name of this data centre. Absent if no message of one arrived in the last 15
    /// seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namesake: Option<String>,
}

/// Position in a purge log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LogOf {
    /// Id of the log.
    pub log: String,
    /// Data centre that writes the log. Absent for the log of a process that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_centre: Option<String>,
    /// Number of its purges that are applied here.
    pub purges: u64,
}

/// Replication of purges with another data centre.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HeardFrom {
    /// Name of the other data centre.
    pub data_centre: String,
    /// Number of purges that are applied here and not known to be applied there. Absent before its first
    /// response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
    /// Number of purges that are applied there and not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// Seconds since this data centre was last known to have all purges of the other one, received directly
    /// or through a third one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_s: Option<u64>,
}

/// Upper tier of a zone.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TierStatus {
    /// Name of the zone.
    pub zone: String,
    /// none, smart, generic or custom.
    pub mode: String,
    /// Upper tier, if it is the same for all keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<String>,
    /// Explanation, one sentence.
    pub why: String,
    /// Data centres with measurements of the zone's first origin, nearest first.
    pub candidates: Vec<Candidate>,
}

/// Connect time from a data centre to an origin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Name of the data centre.
    pub data_centre: String,
    /// Median connect time.
    pub connect_ms: f64,
    /// Number of measurements.
    pub n: u64,
}

/// Link to another data centre.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LinkStatus {
    /// Name of the other data centre.
    pub to: String,
    /// Round-trip time. Absent before the first measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// Share of segments that were retransmitted, on the connections that carry requests to the data centre.
    /// Some retransmissions are spurious, because a segment was only late. Absent if nothing was sent or TCP
    /// statistics are unavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Latest delivery rate in bit/s on one of these connections. It is below the capacity of the path if
    /// there was less to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bps: Option<u64>,
    /// Whether requests can be sent over the link.
    pub up: bool,
    /// Seconds since `up` changed.
    pub since_s: u64,
    /// Reason why the link is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Number of requests sent over the link.
    pub requests: u64,
    /// Number of them without a response.
    pub failures: u64,
}

/// Number of requests by cache status.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// All requests.
    pub total: u64,
    /// Number of requests with each cache status. The sum is `total`.
    pub by_cache_status: ByCacheStatus,
}

/// Number of requests with each cache status.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct ByCacheStatus {
    /// A fresh object was served from the store.
    pub hit: u64,
    /// The request was forwarded to the origin or another data centre, because no stored object was usable.
    pub miss: u64,
    /// A stale object was served.
    pub stale: u64,
    /// The origin confirmed a stored object.
    pub revalidated: u64,
    /// The request was forwarded without a cache lookup.
    pub bypass: u64,
    /// The response was fetched for another request.
    pub collapsed: u64,
    /// The request was not forwarded, or no response was received.
    pub refused: u64,
}

impl ByCacheStatus {
    /// Returns each number with its name, in display order.
    pub fn named(self) -> [(&'static str, u64); 7] {
        let Self { hit, miss, stale, revalidated, bypass, collapsed, refused } = self;
        [
            ("hit", hit),
            ("miss", miss),
            ("stale", stale),
            ("revalidated", revalidated),
            ("bypass", bypass),
            ("collapsed", collapsed),
            ("refused", refused),
        ]
    }
}

/// Client connections over TCP and QUIC.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// Number of open connections.
    pub open: u64,
    /// Number of connections refused since the start, because of the limit per address.
    pub refused: u64,
    /// Maximum number of connections per IPv4 address or IPv6 /64.
    pub limit_per_address: u64,
}

/// Rate limits of a zone.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RateLimitStatus {
    /// Name of the zone.
    pub zone: String,
    /// Number of requests rejected since the start.
    pub rate_limited: u64,
}

/// Usage of the object store.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Bytes of all complete objects in memory, including headers and index.
    pub memory_bytes: u64,
    /// Maximum of `memory_bytes`.
    pub memory_limit_bytes: u64,
    /// Bytes on disk, including obsolete records. Absent without a disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// Reason why nothing is written to the disk. Absent while it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_error: Option<String>,
    /// Number of disk lookups since the start that took too long. These requests were sent to the origin
    /// instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_given_up: Option<u64>,
    /// Number of objects in memory. Each variant counts.
    pub objects: u64,
    /// Number of objects evicted from memory.
    pub evicted: u64,
}

/// State of the access log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LogStatus {
    /// Number of lines lost, because the file was not writable or too slow.
    pub lost: u64,
    /// Reason why the file is not written. Absent while it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// State of trace export. A span is one step of a request.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TraceStatus {
    /// Number of spans that the collector accepted.
    pub sent: u64,
    /// Number of spans lost, because the queue was full or the collector rejected them.
    pub lost: u64,
    /// Number of spans in the queue.
    pub waiting: u64,
    /// Reason why the collector accepts no spans. Absent while it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// State of an origin as observed by this data centre.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OriginStatus {
    /// Scheme, host and port, and the server name of TLS if it is not the host.
    pub address: String,
    /// Whether the origin is used in its order: it has not failed in the last ten seconds.
    pub healthy: bool,
    /// Reason of the last failure. Absent if the origin is healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of connections, including idle ones and those being opened.
    pub connections: u64,
    /// Number of requests whose response header has not arrived.
    pub in_flight: u64,
    /// Number of requests since the start.
    pub requests: u64,
    /// Number of them without a response.
    pub failures: u64,
    /// Duration of the latest connection setup. Absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<f64>,
}

/// A rule that matches a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedRule {
    /// Position of the rule, file:line:column.
    pub place: String,
    /// Settings and actions of the rule.
    pub effect: String,
    /// Whether the rule matches only some interpretations of the URL. Then only refusals and bypasses apply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ambiguous: bool,
}

/// How a GET request for a URL would be served, the output of `edge explain --json`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Zone of the URL's host.
    pub zone: String,
    /// Position of the rule whose cache settings apply, file:line:column. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Rules that match the request, in the order of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ExplainedRule>,
    /// The URL that the origin gets, if a rule rewrites it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<String>,
    /// Cache key.
    pub key: String,
    /// URLs in cache keys that a purge of this URL covers, one for each rule that may match. Empty if only
    /// the URL in `key` is covered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub purged_as: Vec<String>,
    /// Whether an object is stored, for a request without the fields in Vary.
    pub stored: bool,
    /// Remaining freshness lifetime in seconds. Negative for a stale object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_for_s: Option<i64>,
    /// Age of the object in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// Explanation, one sentence.
    pub why: String,
}

/// Result of a purge, the output of `edge purge --json`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Purged {
    /// Name of the zone.
    pub id: String,
    /// Sequence number among all purges of the data centre.
    pub epoch: u64,
    /// Number of stored objects that the purge covers.
    pub objects: u64,
    /// Results of the other data centres. Empty without links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_centres: Vec<PurgedIn>,
}

/// Result of a purge in another data centre.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PurgedIn {
    /// Name of the data centre.
    pub data_centre: String,
    /// Time from the request to the acknowledgement. Absent without an acknowledgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_ms: Option<f64>,
    /// Reason for a missing acknowledgement. The data centre applies the purge once it is reachable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
}

/// A purge request. At least one field must be set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Purges {
    /// URLs with scheme and host.
    pub files: Vec<String>,
    /// Tags from the origin's Cache-Tag field.
    pub tags: Vec<String>,
    /// Hosts.
    pub hosts: Vec<String>,
    /// URL prefixes, beginning with the host.
    pub prefixes: Vec<String>,
    /// Purges all objects of the zone.
    pub purge_everything: bool,
    /// Whether the objects are removed instead of marked stale.
    pub hard: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Envelope<T> {
    pub(crate) success: bool,
    pub(crate) errors: Vec<Fault>,
    pub(crate) messages: Vec<Fault>,
    pub(crate) result: Option<T>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: u16,
    pub(crate) message: String,
}

/// Client of a data centre's admin interface. The methods block and must not be called within a
/// tokio runtime.
#[derive(Debug, Clone)]
pub struct Operator {
    address: SocketAddr,
}

impl Operator {
    /// Creates a client for the admin interface at this address.
    pub fn at(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Requests the current state.
    /// # Errors
    /// If no valid response is received.
    pub fn status(&self) -> Result<Status, Error> {
        self.ask(Method::GET, "/status", None, Vec::new())
    }

    /// Requests an explanation of the response to a GET request for this URL.
    /// # Errors
    /// If no valid response is received or the URL belongs to no zone.
    pub fn explain(&self, url: &str) -> Result<Explanation, Error> {
        let url = utf8_percent_encode(url, QUERY_ENCODE_SET);
        self.ask(Method::GET, &format!("/explain?url={url}"), None, Vec::new())
    }

    /// Purges objects of a zone.
    /// # Errors
    /// If no valid response is received or the request is rejected: the token, the zone or the
    /// purge is invalid.
    pub fn purge(&self, zone: &str, token: &str, purges: &Purges) -> Result<Purged, Error> {
        let text = serde_json::to_vec(purges).unwrap_or_default();
        let path = format!("/client/v4/zones/{zone}/purge_cache");
        let envelope: Envelope<Purged> = self.ask(Method::POST, &path, Some(token), text)?;
        envelope.result.ok_or_else(|| self.refused("its response contains no result"))
    }

    /// Accepts the stream of the key-value store in this state, although it lacks acknowledged
    /// messages. Returns the difference.
    /// # Errors
    /// If no valid response is received or the request is rejected: the token is invalid, the
    /// stream is not refused, or it has changed since.
    pub fn accept_stream(
        &self,
        token: &str,
        found: Option<&kv_server::Seen>,
    ) -> Result<kv_server::RefusedStream, Error> {
        let text = serde_json::to_vec(&found).unwrap_or_default();
        let envelope: Envelope<kv_server::RefusedStream> =
            self.ask(Method::POST, "/kv/accept", Some(token), text)?;
        envelope.result.ok_or_else(|| self.refused("its response contains no result"))
    }

    fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Vec<u8>,
    ) -> Result<T, Error> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
        let asked =
            async { tokio::time::timeout(REQUEST_TIMEOUT, self.exchange(method, path, token, body)).await };
        let unreachable = |failure| Error::Unreachable { address: self.address, failure };
        let asked = runtime.block_on(asked).unwrap_or(Err(http_stack::Failure::Timeout));
        let (status, text) = asked.map_err(unreachable)?;
        if !status.is_success() {
            let envelope: Option<Envelope<serde_json::Value>> = serde_json::from_slice(&text).ok();
            let fault = envelope.and_then(|envelope| envelope.errors.into_iter().next());
            return Err(self.refused(&fault.map_or_else(|| status.to_string(), |fault| fault.message)));
        }
        serde_json::from_slice(&text)
            .map_err(|error| self.refused(&format!("its response is malformed: {error}")))
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Vec<u8>,
    ) -> Result<(StatusCode, http_stack::Bytes), http_stack::Failure> {
        let client =
            Client::new(&http_stack::client::Config::default()).map_err(|_| http_stack::Failure::Source)?;
        let origin = Origin {
            scheme: http_stack::Scheme::Http,
            host: self.address.ip().to_string(),
            port: self.address.port(),
            server_name: None,
        };
        let mut request = Request::new(Body::whole(body));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().map_err(|_| http_stack::Failure::Source)?;
        if let Some(token) = token.and_then(|token| format!("Bearer {token}").parse().ok()) {
            request.headers_mut().insert(header::AUTHORIZATION, token);
        }
        let mut trace = http_stack::client::Trace::start(client.clock().now());
        let response = client.send(&origin, request, &mut trace).await?;
        let status = response.status();
        Ok((status, response.into_body().collect(MAX_RESPONSE_BYTES).await?))
    }

    fn refused(&self, why: &str) -> Error {
        Error::Refused { address: self.address, why: why.to_owned() }
    }
}

const QUERY_ENCODE_SET: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b':');

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE_BYTES: usize = 16 << 20;
