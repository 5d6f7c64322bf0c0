//! Admin interface: status, metrics, explanations, settings and purges, on a separate address.

use std::sync::Arc;

use cache::purge::{self, Depth, Purge};
use http::{
    Body, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header,
    token::{self, TokenHash},
};
use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::{task::spawn_blocking, time::Instant};

use crate::{
    Error,
    bus::LONGEST_NAME,
    centre::Edge,
    log::Log,
    metrics,
    network::{Network, Zone},
    on_disk::OnDisk,
    operator::{Connections, Envelope, Fault, Purged, PurgedIn, Purges, PurgesStatus, Status, Usage},
    settings::{EXPECTED, Setting},
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

pub(crate) async fn serve(edge: &Arc<Edge>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let path: Vec<_> = parts.uri.path().split('/').skip(1).collect();
    match (&parts.method, &path[..]) {
        (&Method::GET, ["status"]) => respond(StatusCode::OK, &status(edge)),
        (&Method::GET, ["metrics"]) => page(metrics::prometheus(&status(edge))),
        (&Method::GET, ["explain"]) => explain(edge, &parts.uri),
        (&Method::POST, ["client", "v4", "zones", zone, "purge_cache"]) => {
            if !is_allowed(edge, &parts.headers) {
                return unauthorized();
            }
            match body.collect(LARGEST_REQUEST).await {
                Ok(text) => purge(edge, zone, &text).await,
                Err(_) => failure(StatusCode::BAD_REQUEST, "the request is truncated or longer than 1 MB"),
            }
        }
        (method, ["client", "v4", "zones", zone, path @ ..])
            if Setting::at(path).is_some() && matches!(*method, Method::GET | Method::PATCH) =>
        {
            if *method == Method::PATCH && !is_allowed(edge, &parts.headers) {
                return unauthorized();
            }
            let text = body.collect(LARGEST_REQUEST).await.unwrap_or_default();
            setting(edge, zone, path, (*method == Method::PATCH).then_some(&text))
        }
        (&Method::POST, ["kv", "accept"]) => {
            if !is_allowed(edge, &parts.headers) {
                return unauthorized();
            }
            let text = body.collect(LARGEST_REQUEST).await.unwrap_or_default();
            accept_stream(edge, &text).await
        }
        _ => failure(StatusCode::NOT_FOUND, PATHS),
    }
}

/// Accepts the stream of the key-value store in the state that the request contains. `null` is a missing
/// stream.
async fn accept_stream(edge: &Edge, text: &[u8]) -> Response<Body> {
    let Some(kv) = &edge.kv else {
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

fn status(edge: &Edge) -> Status {
    let (usage, network, others) = (edge.store.usage(), edge.network(), edge.others());
    let mut origins: Vec<_> = network.zones.iter().flat_map(|zone| &zone.origins).collect();
    origins.sort_by_key(|origin| origin.to_string());
    origins.dedup();
    let (disk_bytes, disk_error) = edge.on_disk.as_ref().map(OnDisk::report).unzip();
    Status {
        data_centre: edge.centre.clone(),
        epoch: edge.store.epoch(),
        requests: edge.counts.report(),
        connections: Connections {
            open: edge.per_address.open(),
            refused: edge.per_address.refused(),
            limit_per_address: edge.per_address.most() as u64,
        },
        store: Usage {
            memory_bytes: usage.bytes,
            memory_limit_bytes: edge.store.capacity(),
            disk_bytes,
            disk_error: disk_error.flatten(),
            disk_given_up: edge.on_disk.as_ref().map(OnDisk::given_up),
            objects: usage.objects as u64,
            evicted: usage.evicted,
        },
        log: edge.log.as_ref().map(Log::report),
        traces: edge.traces.report(),
        kv: edge.kv.as_ref().map(|kv| kv.report()),
        origins: edge.origins.report(origins.into_iter(), |origin| edge.connections(origin), edge.now()),
        requests_of_others: others.as_ref().map(|_| edge.counts_of_others.report()),
        tiers: others.as_ref().map_or_else(Vec::new, |others| others.report_tiers(&network)),
        links: others.as_ref().map_or_else(Vec::new, |others| others.report_links()),
        routes: others.as_ref().map_or_else(Vec::new, |others| others.report_routes(&network)),
        purges: others.as_ref().map(|others| {
            let names = others.all().map(|(_, peer)| peer.name.as_str());
            PurgesStatus { bus: edge.bus_status(), ..edge.bus.report(&edge.centre, names) }
        }),
    }
}

fn explain(edge: &Arc<Edge>, request: &Uri) -> Response<Body> {
    let url = request.query().and_then(|query| query.strip_prefix("url="));
    let url = url.map(|url| percent_decode_str(url).decode_utf8_lossy());
    let Some(url) = url.and_then(|url| url.parse::<Uri>().ok()) else {
        return failure(StatusCode::BAD_REQUEST, "expected ?url= and a URL, percent-encoded");
    };
    match edge.explain(&url) {
        Ok(explanation) => respond(StatusCode::OK, &explanation),
        Err(why) => failure(StatusCode::NOT_FOUND, &why),
    }
}

async fn purge(edge: &Arc<Edge>, zone: &str, text: &[u8]) -> Response<Body> {
    let began = Instant::now();
    let network = edge.network();
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
    let purges = match read(zone, &asked) {
        Ok(purges) => purges,
        Err(why) => return failure(StatusCode::BAD_REQUEST, &why),
    };
    let (here, name) = (Arc::clone(edge), zone.name.clone());
    // Blocking: a purge may wait for the disk.
    let purged = spawn_blocking(move || here.purge(&name, purges, depth)).await.ok().flatten();
    let Some((epoch, objects)) = purged else {
        let why =
            "nothing was purged because a handover to another process is in progress: retry in a moment";
        return failure(StatusCode::SERVICE_UNAVAILABLE, why);
    };
    tracing::info!(zone = zone.name, epoch, objects, ?depth, "purged");
    let data_centres = edge.acknowledged(began).await;
    let messages = data_centres.iter().map(message).collect();
    let result = Some(Purged { id: zone.name.clone(), epoch, objects: objects as u64, data_centres });
    respond(StatusCode::OK, &Envelope { success: true, errors: vec![], messages, result })
}

fn zone_of<'n>(network: &'n Network, zone: &str) -> Result<&'n Zone, String> {
    network.zones.iter().find(|known| known.name == zone).ok_or_else(|| {
        let names: Vec<_> = network.zones.iter().map(|zone| zone.name.as_str()).collect();
        format!("there is no zone \"{zone}\", only {}", names.join(", "))
    })
}

/// Returns a tier setting of a zone. `wanted` is the body of a PATCH request.
fn setting(edge: &Edge, zone: &str, path: &[&str], wanted: Option<&[u8]>) -> Response<Body> {
    let network = edge.network();
    let (Some(setting), zone) = (Setting::at(path), zone_of(&network, zone)) else {
        return failure(StatusCode::NOT_FOUND, PATHS);
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

/// Converts the result of another data centre to a message.
fn message(there: &PurgedIn) -> Fault {
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

type Reader = fn(&str) -> Result<Purge, purge::Nameless>;

/// Parses the purges of a request. A URL becomes its cache keys under all rules of the zone.
fn read(zone: &Zone, asked: &Purges) -> Result<Vec<Purge>, String> {
    let Purges { files, tags, hosts, prefixes, purge_everything, hard: _ } = asked;
    let count = files.len() + tags.len() + hosts.len() + prefixes.len() + usize::from(*purge_everything);
    match count {
        0 => {
            let why = "nothing to purge: expected files, tags, hosts, prefixes or purge_everything";
            return Err(why.to_owned());
        }
        count if count > MOST_PURGES => {
            return Err(format!("the request contains {count} names; the limit is {MOST_PURGES}"));
        }
        _ => {}
    }
    if [files, tags, hosts, prefixes].into_iter().flatten().any(|name| name.len() > LONGEST) {
        return Err(format!("a name is longer than {LONGEST} bytes"));
    }
    let mut purges = Vec::new();
    for file in files {
        purges.extend(key_urls(zone, file)?.into_iter().map(Purge::Url));
    }
    let readers: [(&Vec<String>, Reader); 3] =
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
    Ok(zone.key_urls(&url))
}

fn is_allowed(edge: &Edge, headers: &HeaderMap) -> bool {
    let token = headers.get(header::AUTHORIZATION).and_then(|field| token::bearer(field.as_bytes()));
    token.is_some_and(|token| edge.network().tokens.contains(&TokenHash::of(token)))
}

/// A 401 with its challenge (RFC 9110, section 11.6.1, and RFC 6750, section 3).
fn unauthorized() -> Response<Body> {
    let mut response = failure(StatusCode::UNAUTHORIZED, NO_TOKEN);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

fn failure(status: StatusCode, message: &str) -> Response<Body> {
    let errors = vec![Fault { code: status.as_u16(), message: message.to_owned() }];
    respond(status, &Envelope::<Purged> { success: false, errors, messages: vec![], result: None })
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

const NO_TOKEN: &str = "the request has no token, or its token is not in [admin] tokens";
const PATHS: &str = "available: GET /status, GET /metrics, GET /explain?url=URL, POST /kv/accept, and below /client/v4/zones/ZONE POST purge_cache and GET and PATCH \
                     argo/tiered_caching, cache/tiered_cache_smart_topology_enable and cache/regional_tiered_cache";
const LARGEST_REQUEST: usize = 1 << 20;
/// Maximum bytes of a name. Other data centres receive it together with the zone.
const LONGEST: usize = LONGEST_NAME / 2;
/// Maximum number of names in one request.
const MOST_PURGES: usize = 1000;
