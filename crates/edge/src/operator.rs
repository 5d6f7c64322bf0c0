//! What an operator is told by a data centre that runs, and how it is asked.

mod route;

use std::{net::SocketAddr, time::Duration};

use http::{Body, Client, Method, Origin, Request, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use self::route::{RouteReason, RouteStatus};
use crate::Error;

/// A data centre at this moment: `edge status --json`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Its name.
    pub data_centre: String,
    /// The place of the last purge that it has done; 0 before the first.
    pub epoch: u64,
    /// Requests since it was started.
    pub requests: Requests,
    /// Connections of visitors.
    #[serde(default)]
    pub connections: Connections,
    /// What is stored.
    pub store: Usage,
    /// How the access log fares, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogStatus>,
    /// How traces fare, if any are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<TraceStatus>,
    /// Its key-value store, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv: Option<values::Status>,
    /// All origins of its zones.
    pub origins: Vec<OriginStatus>,
    /// Requests of other data centres since it was started, where there are links to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_of_others: Option<Requests>,
    /// Whom each zone's misses go to, where there are links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierStatus>,
    /// The other data centres.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkStatus>,
    /// Ways to origins that failed in the last ten minutes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteStatus>,
    /// How far it has heard of purges, where there are links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purges: Option<PurgesStatus>,
}

/// How far a data centre has heard of the network's purges, and the others with it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PurgesStatus {
    /// Its own log, another one after each start.
    pub log: String,
    /// How far it is in each log.
    pub position: Vec<LogOf>,
    /// The other data centres.
    pub data_centres: Vec<HeardFrom>,
    /// Purges that it remembers, as one of the others may lack them.
    pub remembered: u64,
    /// Whether it hears of too few others, so that it may not know of a purge.
    pub cut_off: bool,
    /// The stream through which purges travel as well, if the network has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<BusStatus>,
}

/// How the stream fares through which purges travel as well.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BusStatus {
    /// Where it is, without who connects.
    pub stream: String,
    /// Why it is not used, or nothing is put into it; absent while all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Purges that are done here and not in the stream.
    pub waiting: u64,
    /// Purges that were put into it here since the start.
    pub put: u64,
    /// Purges that came through it since the start, and were not known before.
    pub taken: u64,
    /// How often the stream was recreated or had gone back since the start, so that everything became stale here.
    #[serde(default)]
    pub resets: u64,
    /// Messages in it that are none of purges, and were passed over.
    pub unread: u64,
    /// That another process has the name of this data centre; absent if none was heard in the last 15 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namesake: Option<String>,
}

/// How far a data centre is in a log of purges.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LogOf {
    /// The log.
    pub log: String,
    /// The data centre that writes to it; absent once that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_centre: Option<String>,
    /// How many of its purges are done here.
    pub purges: u64,
}

/// Another data centre, as to purges.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HeardFrom {
    /// Its name.
    pub data_centre: String,
    /// Purges that are done here, and not there, as far as is known; absent if it has never answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
    /// Purges that are done there, and not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// How long ago all was known here that it had purged, from it or by way of another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_s: Option<u64>,
}

/// Whom a zone's misses go to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TierStatus {
    /// The zone.
    pub zone: String,
    /// none, smart, generic or custom.
    pub mode: String,
    /// The data centre that is asked, if it is the same for all keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<String>,
    /// In a sentence.
    pub why: String,
    /// Data centres that measured the zone's first origin, the nearest first.
    pub candidates: Vec<Candidate>,
}

/// What a data centre measured of an origin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Its name.
    pub data_centre: String,
    /// The median of its connect times.
    pub connect_ms: f64,
    /// Of how many.
    pub n: u64,
}

/// The link to another data centre.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LinkStatus {
    /// Its name.
    pub to: String,
    /// The round trip to it; absent if it was not measured yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// The share of segments to it that were sent again, on the connections on which it asks: what was lost, and at times what was only
    /// late. Absent if the kernel does not tell, or nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The latest rate at which it acknowledged what was sent to it on one of these, bits a second: the path may carry more, if there was less to
    /// send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bps: Option<u64>,
    /// Whether it can be asked.
    pub up: bool,
    /// For how long that has been so.
    pub since_s: u64,
    /// Why it cannot be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Requests that it was asked.
    pub requests: u64,
    /// Those of them without an answer.
    pub failures: u64,
}

/// Requests, and what the cache did with them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// All.
    pub total: u64,
    /// One of these each.
    pub by_cache_status: ByCacheStatus,
}

/// What the cache did with requests.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct ByCacheStatus {
    /// A fresh object was the answer.
    pub hit: u64,
    /// The origin was asked, or another data centre, as nothing stored could be the answer.
    pub miss: u64,
    /// A stale object was the answer.
    pub stale: u64,
    /// The origin confirmed what was stored.
    pub revalidated: u64,
    /// The origin was asked without looking at what is stored.
    pub bypass: u64,
    /// The answer was fetched for another request.
    pub collapsed: u64,
    /// Nobody was asked, or nobody answered.
    pub refused: u64,
}

impl ByCacheStatus {
    /// Each number with its name, in the order in which they are shown.
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

/// Connections of visitors, over TCP and QUIC.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// At this moment.
    pub open: u64,
    /// Those that were refused since the start, as their address had too many.
    pub refused: u64,
    /// How many an address may have, an IPv6 /64 being one.
    pub limit_per_address: u64,
}

/// What is stored, and how much can be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Bytes of all objects that are whole, with their headers and what keeps them in order.
    pub memory_bytes: u64,
    /// How many there may be.
    pub memory_limit_bytes: u64,
    /// Bytes on disk, if there is one, with what is not needed any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// Why the disk is not written to; absent while it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_error: Option<String>,
    /// Looks at the disk that were given up since the start, as it was too slow: origins were asked instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_given_up: Option<u64>,
    /// Objects in memory, variants counted one by one.
    pub objects: u64,
    /// Objects in memory that gave way to others.
    pub evicted: u64,
}

/// How the access log fares.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LogStatus {
    /// Lines that are in no file, as it could not be written, or not fast enough.
    pub lost: u64,
    /// Why it is not written; absent while it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How traces fare: their spans, which are the steps of requests.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TraceStatus {
    /// Spans that the collector has.
    pub sent: u64,
    /// Spans that nobody has: there was no room for them any more, or the collector did not want them.
    pub lost: u64,
    /// Spans that wait to be sent.
    pub waiting: u64,
    /// Why the collector takes none; absent while it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One origin, as this data centre sees it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OriginStatus {
    /// Scheme, host and port.
    pub address: String,
    /// Whether it is asked in its turn: it has not failed in the last ten seconds.
    pub healthy: bool,
    /// Connections to it, those that are idle or being opened among them.
    pub connections: u64,
    /// Requests whose response has not begun.
    pub in_flight: u64,
    /// Requests since the start.
    pub requests: u64,
    /// Those of them without a response.
    pub failures: u64,
    /// How long the connection took that was opened last; absent if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<f64>,
}

/// What a GET for a URL would be answered with, and why: `edge explain --json`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The zone that the URL's host belongs to.
    pub zone: String,
    /// Where the rule is written, file:line:column; absent if none fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Under which name a response is stored.
    pub key: String,
    /// The URLs, as in keys, that a purge of this URL reaches, if there is another one than the key's: one for each rule that may be for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub purged_as: Vec<String>,
    /// Whether one is, for a request without any field that Vary names.
    pub stored: bool,
    /// Seconds until it is stale; negative if it has been stale for that long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_for_s: Option<i64>,
    /// How old it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// In a sentence.
    pub why: String,
}

/// What a purge came to: `edge purge --json`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Purged {
    /// The zone.
    pub id: String,
    /// Its place among all purges of the data centre.
    pub epoch: u64,
    /// Objects that it named.
    pub objects: u64,
    /// The other data centres, where there are links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_centres: Vec<PurgedIn>,
}

/// What another data centre has done of a purge.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PurgedIn {
    /// Its name.
    pub data_centre: String,
    /// How long after the request it was known to have done it; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_ms: Option<f64>,
    /// Why that is not known. It does it when it is reached again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
}

/// What is to be purged; at least one thing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Purges {
    /// URLs, with scheme and host.
    pub files: Vec<String>,
    /// Tags that origins gave in Cache-Tag.
    pub tags: Vec<String>,
    /// Hosts.
    pub hosts: Vec<String>,
    /// What URLs begin with, from their host on.
    pub prefixes: Vec<String>,
    /// All of the zone.
    pub purge_everything: bool,
    /// Whether what is named is gone, and not only stale.
    pub hard: bool,
}

/// The envelope of what is answered to a purge.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Envelope<T> {
    pub(crate) success: bool,
    pub(crate) errors: Vec<Fault>,
    pub(crate) messages: Vec<Fault>,
    pub(crate) result: Option<T>,
}

/// Why a request was refused, or what there is to say of one that was not.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: u16,
    pub(crate) message: String,
}

/// How a data centre's operator's address is reached. Its methods block; they are to be called outside of any tokio runtime.
#[derive(Debug, Clone)]
pub struct Operator {
    address: SocketAddr,
}

impl Operator {
    /// The data centre whose operator's side is at this address.
    pub fn at(address: SocketAddr) -> Self {
        Self { address }
    }

    /// What it does at this moment.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn status(&self) -> Result<Status, Error> {
        self.ask(Method::GET, "/status", None, Vec::new())
    }

    /// What a GET for this URL would be answered with.
    ///
    /// # Errors
    /// When it does not answer, or does not serve the URL.
    pub fn explain(&self, url: &str) -> Result<Explanation, Error> {
        let url = utf8_percent_encode(url, ENCODED);
        self.ask(Method::GET, &format!("/explain?url={url}"), None, Vec::new())
    }

    /// Purges in a zone.
    ///
    /// # Errors
    /// When it does not answer, or refuses: the token, the zone, or what is named.
    pub fn purge(&self, zone: &str, token: &str, purges: &Purges) -> Result<Purged, Error> {
        let text = serde_json::to_vec(purges).unwrap_or_default();
        let path = format!("/client/v4/zones/{zone}/purge_cache");
        let envelope: Envelope<Purged> = self.ask(Method::POST, &path, Some(token), text)?;
        envelope.result.ok_or_else(|| self.refused("it answered without a result"))
    }

    /// Accepts the stream of the key-value store in this state, although it lacks acknowledged messages. Returns the difference.
    ///
    /// # Errors
    /// When it does not answer, or refuses: the token, a stream that is not refused, or has changed since.
    pub fn accept_stream(
        &self,
        token: &str,
        found: Option<&values::Seen>,
    ) -> Result<values::RefusedStream, Error> {
        let text = serde_json::to_vec(&found).unwrap_or_default();
        let envelope: Envelope<values::RefusedStream> =
            self.ask(Method::POST, "/kv/accept", Some(token), text)?;
        envelope.result.ok_or_else(|| self.refused("it answered without a result"))
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
        let asked = async { tokio::time::timeout(PATIENCE, self.exchange(method, path, token, body)).await };
        let unreachable = |failure| Error::Unreachable { address: self.address, failure };
        let asked = runtime.block_on(asked).unwrap_or(Err(http::Failure::Timeout));
        let (status, text) = asked.map_err(unreachable)?;
        if !status.is_success() {
            let envelope: Option<Envelope<serde_json::Value>> = serde_json::from_slice(&text).ok();
            let fault = envelope.and_then(|envelope| envelope.errors.into_iter().next());
            return Err(self.refused(&fault.map_or_else(|| status.to_string(), |fault| fault.message)));
        }
        serde_json::from_slice(&text)
            .map_err(|error| self.refused(&format!("its answer is not as expected: {error}")))
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Vec<u8>,
    ) -> Result<(StatusCode, http::Bytes), http::Failure> {
        let client = Client::new(&http::client::Config::default()).map_err(|_| http::Failure::Source)?;
        let origin = Origin {
            scheme: http::Scheme::Http,
            host: self.address.ip().to_string(),
            port: self.address.port(),
        };
        let mut request = Request::new(Body::whole(body));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().map_err(|_| http::Failure::Source)?;
        if let Some(token) = token.and_then(|token| format!("Bearer {token}").parse().ok()) {
            request.headers_mut().insert(header::AUTHORIZATION, token);
        }
        let mut trace = http::client::Trace::start(client.clock().now());
        let response = client.send(&origin, request, &mut trace).await?;
        let status = response.status();
        Ok((status, response.into_body().collect(LARGEST_ANSWER).await?))
    }

    fn refused(&self, why: &str) -> Error {
        Error::Refused { address: self.address, why: why.to_owned() }
    }
}

/// What a URL in a query does not stand for itself.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b':');

/// A data centre that takes longer does not answer.
const PATIENCE: Duration = Duration::from_secs(10);
const LARGEST_ANSWER: usize = 16 << 20;
