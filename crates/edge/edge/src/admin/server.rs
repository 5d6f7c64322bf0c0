//! Admin interface: status, metrics, explanations, settings and purges, on a separate address.

use std::sync::Arc;

use http_cache::purge::{self, Depth, Purge};
use http_stack::{
    Body, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header,
    token::{self, TokenHash},
};
use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::{task::spawn_blocking, time::Instant};

use crate::{
    Error,
    admin::{
        api::{
            Connections, Envelope, Fault, Purged, PurgedIn, Purges, PurgesStatus, RateLimitStatus, Status,
            Usage,
        },
        metrics,
        tier_settings::{EXPECTED, TierSetting},
    },
    config::{Network, Zone},
    purge::log::MAX_PURGE_NAME_BYTES,
    server::node::Node,
    store::disk::DiskTier,
    telemetry::access_log::AccessLog,
};

/// A token that authorizes purges, the output of `edge token --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Token {
    /// Secret token. It is not stored anywhere.
    pub token: String,
    /// SHA-256 of the token, for `tokens` in the network's file.
    pub sha256: String,
}

impl Token {
    /// Creates a token of 192 random bits.
    /// # Errors
    /// If no random numbers are available.
    pub fn make() -> Result<Self, Error> {
        let token = token::make().map_err(Error::Runtime)?;
        Ok(Self { sha256: TokenHash::of(token.as_bytes()).to_string(), token })
    }
}

pub(crate) async fn serve(node: &Arc<Node>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let path: Vec<_> = parts.uri.path().split('/').skip(1).collect();
    match (&parts.method, &path[..]) {
        (&Method::GET, ["status"]) => respond(StatusCode::OK, &status(node)),
        (&Method::GET | &Method::HEAD, ["healthz"]) => probe_response(StatusCode::OK, "ok\n"),
        (&Method::GET | &Method::HEAD, ["readyz"]) if *node.is_handing_over() => {
            probe_response(StatusCode::SERVICE_UNAVAILABLE, "another process takes over\n")
        }
        (&Method::GET | &Method::HEAD, ["readyz"]) => probe_response(StatusCode::OK, "ready\n"),
        (&Method::GET, ["metrics"]) => {
            page(metrics::prometheus(&status(node), &node.traffic, &node.handshakes))
        }
        (&Method::GET, ["explain"]) => explain(node, &parts.uri),
        (&Method::POST, ["client", "v4", "zones", zone, "purge_cache"]) => {
            if !is_allowed(node, &parts.headers) {
                return unauthorized();
            }
            match body.collect(MAX_REQUEST_BYTES).await {
                Ok(text) => purge(node, zone, &text).await,
                Err(_) => failure(StatusCode::BAD_REQUEST, "the request is truncated or longer than 1 MB"),
            }
        }
        (method, ["client", "v4", "zones", zone, path @ ..])
            if TierSetting::at(path).is_some() && matches!(*method, Method::GET | Method::PATCH) =>
        {
            if *method == Method::PATCH && !is_allowed(node, &parts.headers) {
                return unauthorized();
            }
            let text = body.collect(MAX_REQUEST_BYTES).await.unwrap_or_default();
            tier_setting(node, zone, path, (*method == Method::PATCH).then_some(&text))
        }
        (&Method::POST, ["kv", "accept"]) => {
            if !is_allowed(node, &parts.headers) {
                return unauthorized();
            }
            let text = body.collect(MAX_REQUEST_BYTES).await.unwrap_or_default();
            accept_stream(node, &text).await
        }
        _ => failure(StatusCode::NOT_FOUND, NOT_FOUND_MESSAGE),
    }
}

/// `null` is a missing stream.
async fn accept_stream(node: &Node, text: &[u8]) -> Response<Body> {
    let Some(kv) = &node.kv else {
        return failure(StatusCode::NOT_FOUND, "this data centre has no key-value store");
    };
    let Ok(found) = serde_json::from_slice(text) else {
        return failure(StatusCode::BAD_REQUEST, "expected `found` of refused_stream in the status, or null");
    };
    match kv.accept_stream(found).await {
        Ok(lost) => {
            let (errors, messages, result) = (vec![], vec![], Some(lost));
            respond(StatusCode::OK, &Envelope { success: true, errors, messages, result })
        }
        Err(problem) => failure(problem.status, &problem.message),
    }
}

fn status(node: &Node) -> Status {
    let (usage, network, peers) = (node.store.usage(), node.network(), node.peers());
    let mut origins: Vec<_> = network.zones.iter().flat_map(|zone| &zone.origins).collect();
    origins.sort_by_key(|origin| (origin.to_string(), origin.server_name.clone()));
    origins.dedup_by_key(|url| url.origin());
    let (disk_bytes, disk_error) = node.disk.as_ref().map(DiskTier::report).unzip();
    Status {
        data_centre: node.data_centre.clone(),
        epoch: node.store.epoch(),
        requests: node.client_counters.report(),
        connections: Connections {
            open: node.per_address.open(),
            refused: node.per_address.refused(),
            limit_per_address: node.per_address.most() as u64,
        },
        certificates: node.certificates.report(),
        store: Usage {
            memory_bytes: usage.bytes,
            memory_limit_bytes: node.store.capacity(),
            disk_bytes,
            disk_error: disk_error.flatten(),
            disk_given_up: node.disk.as_ref().map(DiskTier::timeouts),
            objects: usage.objects as u64,
            evicted: usage.evicted,
        },
        log: node.access_log.as_ref().map(AccessLog::report),
        traces: node.traces.report(),
        kv: node.kv.as_ref().map(|kv| kv.report()),
        origins: node.origins.report(origins.into_iter(), |origin| node.connections(origin), node.now()),
        pools: node.origins.pools.report(),
        rate_limits: rate_limits(node, &network),
        requests_of_others: peers.as_ref().map(|_| node.peer_counters.report()),
        tiers: peers.as_ref().map_or_else(Vec::new, |peers| peers.report_tiers(&network)),
        links: peers.as_ref().map_or_else(Vec::new, |peers| peers.report_links()),
        routes: peers.as_ref().map_or_else(Vec::new, |peers| peers.report_routes(&network)),
        purges: peers.as_ref().map(|peers| {
            let names = peers.all().map(|(_, peer)| peer.name.as_str());
            PurgesStatus { bus: node.nats_status(), ..node.purge_log.report(&node.data_centre, names) }
        }),
    }
}

fn rate_limits(node: &Node, network: &Network) -> Vec<RateLimitStatus> {
    let zones = network.zones.iter().filter(|zone| !zone.rate_limits.is_empty());
    let status = |zone: &Zone| RateLimitStatus {
        rate_limited: node.rate_limiter.limited(&zone.name),
        zone: zone.name.clone(),
    };
    zones.map(status).collect()
}

fn explain(node: &Arc<Node>, request: &Uri) -> Response<Body> {
    let url = request.query().and_then(|query| query.strip_prefix("url="));
    let url = url.map(|url| percent_decode_str(url).decode_utf8_lossy());
    let Some(url) = url.and_then(|url| url.parse::<Uri>().ok()) else {
        return failure(StatusCode::BAD_REQUEST, "expected ?url= and a URL, percent-encoded");
    };
    match node.explain(&url) {
        Ok(explanation) => respond(StatusCode::OK, &explanation),
        Err(why) => failure(StatusCode::NOT_FOUND, &why),
    }
}

async fn purge(node: &Arc<Node>, zone: &str, text: &[u8]) -> Response<Body> {
    let began = Instant::now();
    let network = node.network();
    let zone = match zone_of(&network, zone) {
        Ok(zone) => zone,
        Err(why) => return failure(StatusCode::NOT_FOUND, &why),
    };
    let asked: Purges = match serde_json::from_slice(text) {
        Ok(asked) => asked,
        Err(error) => {
            return failure(StatusCode::BAD_REQUEST, &format!("the request is malformed: {error}"));
        }
    };
    let depth = if asked.hard { Depth::Hard } else { Depth::Soft };
    let purges = match parse_purges(zone, &asked) {
        Ok(purges) => purges,
        Err(why) => return failure(StatusCode::BAD_REQUEST, &why),
    };
    let (here, name) = (Arc::clone(node), zone.name.clone());
    // Blocking: a purge may wait for the disk.
    let purged = spawn_blocking(move || here.purge(&name, purges, depth)).await.ok().flatten();
    let Some((epoch, objects)) = purged else {
        let why =
            "nothing was purged because a handover to another process is in progress: retry in a moment";
        return failure(StatusCode::SERVICE_UNAVAILABLE, why);
    };
    tracing::info!(zone = zone.name, epoch, objects, ?depth, "purged");
    let data_centres = node.send_and_wait_for_acks(began).await;
    let messages = data_centres.iter().map(peer_message).collect();
    let result = Some(Purged { id: zone.name.clone(), epoch, objects: objects as u64, data_centres });
    respond(StatusCode::OK, &Envelope { success: true, errors: vec![], messages, result })
}

fn zone_of<'n>(network: &'n Network, zone: &str) -> Result<&'n Zone, String> {
    network.zones.iter().find(|known| known.name == zone).ok_or_else(|| {
        let names: Vec<_> = network.zones.iter().map(|zone| zone.name.as_str()).collect();
        format!("there is no zone \"{zone}\", only {}", names.join(", "))
    })
}

fn tier_setting(node: &Node, zone: &str, path: &[&str], wanted: Option<&[u8]>) -> Response<Body> {
    let network = node.network();
    let (Some(setting), zone) = (TierSetting::at(path), zone_of(&network, zone)) else {
        return failure(StatusCode::NOT_FOUND, NOT_FOUND_MESSAGE);
    };
    let zone = match zone {
        Ok(zone) => zone,
        Err(why) => return failure(StatusCode::NOT_FOUND, &why),
    };
    let answer = wanted.map_or_else(|| Ok(setting.of(zone)), |text| setting.change(zone, text));
    match answer {
        Ok(answer) => {
            let (errors, messages, result) = (vec![], vec![], Some(answer));
            respond(StatusCode::OK, &Envelope { success: true, errors, messages, result })
        }
        Err(Some(why)) => failure(StatusCode::CONFLICT, &why),
        Err(None) => failure(StatusCode::BAD_REQUEST, EXPECTED),
    }
}

fn peer_message(there: &PurgedIn) -> Fault {
    let PurgedIn { data_centre, applied_ms, unreachable } = there;
    let (code, message) = match (applied_ms, unreachable) {
        (Some(ms), _) => (StatusCode::OK, format!("{data_centre} acknowledged the purge after {ms:.1} ms")),
        (None, why) => {
            let why = why.as_deref().unwrap_or("it did not respond");
            let message = format!(
                "{data_centre} has not acknowledged the purge and applies it once it is reachable: until then its clients may receive purged objects ({why})"
            );
            (StatusCode::GATEWAY_TIMEOUT, message)
        }
    };
    Fault { code: code.as_u16(), message }
}

type PurgeParser = fn(&str) -> Result<Purge, purge::Nameless>;

/// A URL becomes its cache keys under all rules of the zone.
fn parse_purges(zone: &Zone, asked: &Purges) -> Result<Vec<Purge>, String> {
    let Purges { files, tags, hosts, prefixes, purge_everything, hard: _ } = asked;
    let count = files.len() + tags.len() + hosts.len() + prefixes.len() + usize::from(*purge_everything);
    match count {
        0 => {
            let why = "nothing to purge: expected files, tags, hosts, prefixes or purge_everything";
            return Err(why.to_owned());
        }
        count if count > MAX_PURGES => {
            return Err(format!("the request contains {count} names; the limit is {MAX_PURGES}"));
        }
        _ => {}
    }
    if [files, tags, hosts, prefixes].into_iter().flatten().any(|name| name.len() > MAX_NAME_BYTES) {
        return Err(format!("a name is longer than {MAX_NAME_BYTES} bytes"));
    }
    let mut purges = Vec::new();
    for file in files {
        purges.extend(key_urls(zone, file)?.into_iter().map(Purge::Url));
    }
    let readers: [(&Vec<String>, PurgeParser); 3] =
        [(tags, purge::tag), (hosts, purge::host), (prefixes, purge::prefix)];
    for (names, read) in readers {
        for name in names {
            purges.push(read(name).map_err(|why| why.to_string())?);
        }
    }
    if *purge_everything {
        purges.push(Purge::Everything);
    }
    Ok(purges)
}

fn key_urls(zone: &Zone, file: &str) -> Result<Vec<String>, String> {
    let url: Uri = file.trim().parse().map_err(|_| format!("\"{file}\" is not a URL"))?;
    if url.scheme().is_none() || url.host().is_none_or(str::is_empty) {
        return Err(format!("\"{file}\" is not a URL with a scheme and a host"));
    }
    Ok(zone.rules.key_urls(&url))
}

fn is_allowed(node: &Node, headers: &HeaderMap) -> bool {
    let token = headers.get(header::AUTHORIZATION).and_then(|field| token::bearer(field.as_bytes()));
    token.is_some_and(|token| node.network().tokens.contains(&TokenHash::of(token)))
}

/// RFC 9110, section 11.6.1, and RFC 6750, section 3.
fn unauthorized() -> Response<Body> {
    let mut response = failure(StatusCode::UNAUTHORIZED, UNAUTHORIZED_MESSAGE);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

fn failure(status: StatusCode, message: &str) -> Response<Body> {
    let errors = vec![Fault { code: status.as_u16(), message: message.to_owned() }];
    respond(status, &Envelope::<Purged> { success: false, errors, messages: vec![], result: None })
}

/// For the probes of an orchestrator. Both paths respond from the moment at which all listeners are
/// open until the process stops.
fn probe_response(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::whole(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn page(text: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn respond(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    let text = serde_json::to_vec_pretty(value).unwrap_or_default();
    let mut response = Response::new(Body::whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

const UNAUTHORIZED_MESSAGE: &str = "the request has no token, or its token is not in [admin] tokens";
const NOT_FOUND_MESSAGE: &str = "available: GET /status, GET /metrics, GET /healthz, GET /readyz, GET /explain?url=URL, POST /kv/accept, and below /client/v4/zones/ZONE POST purge_cache and GET and PATCH \
                     argo/tiered_caching, cache/tiered_cache_smart_topology_enable and cache/regional_tiered_cache";
const MAX_REQUEST_BYTES: usize = 1 << 20;
/// Other data centres receive the name together with the zone.
const MAX_NAME_BYTES: usize = MAX_PURGE_NAME_BYTES / 2;
const MAX_PURGES: usize = 1000;
