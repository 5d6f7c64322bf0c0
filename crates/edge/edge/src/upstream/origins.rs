//! Requests to origins: their order, their header fields, and their results.

mod health;

use std::{sync::Arc, time::Duration};

use self::health::OriginHealth;
use crate::{
    admin::api::OriginStatus,
    config::{OriginHost, OriginUrl, Zone},
    request::{
        context::{CDN_LOOP, RequestContext, loop_member},
        rejection::{BUSY, INCOMPLETE, NOT_TRUSTED, Rejection, TOO_SLOW, UNREACHABLE},
    },
    telemetry::{access_log::UpstreamTiming, traffic::TrafficMetrics},
    upstream::{
        balance::{choice::OriginChoice, pools::Pools},
        forwarded,
        origin_request::{change_request, trim_vary},
        trailers,
    },
};
use http_cache::{Time, hop_by_hop::remove_hop_by_hop, internal_headers, purge::move_surrogate_keys};
use http_stack::{
    Body, Bytes, Client, Failure, HeaderMap, HeaderName, HeaderValue, Origin, Request, Response, StatusCode,
    Version,
    client::{OnInterim, Relayed, Reply, Trace},
    clock::http_date,
    header,
    server::Interim,
    uri::Authority,
};

pub(crate) struct OriginPool {
    health: OriginHealth,
    traffic: Arc<TrafficMetrics>,
    pub(crate) pools: Pools,
}

impl OriginPool {
    pub(crate) fn new(traffic: &Arc<TrafficMetrics>) -> Self {
        let (health, pools) = (OriginHealth::default(), Pools::default());
        Self { health, traffic: Arc::clone(traffic), pools }
    }

    pub(crate) fn choose<'z>(&self, context: &'z RequestContext, now: Time) -> OriginChoice<'z> {
        match self.pools.of(context.zone()) {
            Some(pool) => OriginChoice::of_pool(pool, context),
            None => OriginChoice::of_list(context.zone(), self.ordered_origins(context.zone(), now)),
        }
    }

    /// Origins that failed recently are last.
    fn ordered_origins<'z>(&self, zone: &'z Zone, now: Time) -> Vec<&'z OriginUrl> {
        let mut origins: Vec<_> = zone.origins.iter().collect();
        if origins.len() > 1 {
            origins.sort_by_cached_key(|origin| !self.health.is_up(origin, now));
        }
        origins
    }

    pub(crate) fn mark_reached(&self, origin: &Origin) {
        self.health.of(origin).mark_reached();
    }

    /// Each request then chooses a route, and requests are not relayed.
    pub(crate) fn mark_path_failed(&self, origin: &Origin) {
        self.health.of(origin).mark_path_failed();
    }

    pub(crate) async fn send(
        &self,
        client: &Client,
        origin: &OriginUrl,
        mut request: Request<Body>,
        context: &RequestContext,
        now: Time,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        let changes = &context.zone().origin_request;
        add_forwarded_headers(request.headers_mut(), context);
        change_request(&mut request, changes, (origin, now))?;
        let asking = self.health.of(origin).begin(now);
        let traced = context.trace.as_ref();
        let traced = traced.and_then(|traced| traced.begin_upstream(origin, &mut request, trace.started));
        let max_wait = context.zone().first_byte;
        let result = tokio::time::timeout(max_wait, client.send(origin, request, trace)).await;
        let result = result.unwrap_or(Err(Failure::Timeout));
        if result.is_ok() {
            let took = client.clock().now().saturating_sub(trace.started);
            self.traffic.record_origin(&context.zone().name, origin, took);
        }
        if let Some(upstream_timing) = &context.upstream_timing {
            upstream_timing.add(trace, client.clock().now());
        }
        if let Some(traced) = traced {
            traced.answered(trace, result.as_ref(), client.clock().now());
        }
        asking.answered(origin, trace, result.as_ref().err(), now);
        result.map(|mut response| {
            trim_vary(response.headers_mut(), changes);
            response
        })
    }

    /// Relays a GET only if there is a connection to the zone's first healthy origin and the direct
    /// route has not failed ([`Client::relay`]).
    pub(crate) async fn send_raw<T>(
        &self,
        client: &Client,
        zone: &Zone,
        (head, interim): (&[u8], &Interim),
        (now, upstream_timing): (Time, Option<&UpstreamTiming>),
        read: impl FnOnce(&Reply<'_>) -> Option<T>,
    ) -> Result<Option<Relayed<T>>, Failure> {
        let origin = self.first_origin(zone, now);
        let interim = interim.clone();
        let informed = OnInterim::new(move |code, fields| forward_interim(&interim, code, fields));
        let state = self.health.of(origin);
        if state.has_failed_path() {
            return Ok(None);
        }
        let asking = state.begin(now);
        let mut trace = Trace::start(client.clock().now());
        let relayed = client.relay(origin, head, (zone.first_byte, Some(informed)), &mut trace, read).await;
        if matches!(relayed, Ok(None)) {
            asking.cancel();
            return Ok(None);
        }
        if relayed.is_ok() {
            let took = client.clock().now().saturating_sub(trace.started);
            self.traffic.record_origin(&zone.name, origin, took);
        }
        if let Some(upstream_timing) = upstream_timing {
            upstream_timing.add(&trace, client.clock().now());
        }
        asking.answered(origin, &trace, relayed.as_ref().err(), now);
        relayed
    }

    fn first_origin<'z>(&self, zone: &'z Zone, now: Time) -> &'z OriginUrl {
        let origins = &zone.origins;
        if origins.len() == 1 {
            return &origins[0];
        }
        origins.iter().find(|origin| self.health.is_up(origin, now)).unwrap_or(&origins[0])
    }

    pub(crate) fn report<'a>(
        &self,
        origins: impl Iterator<Item = &'a OriginUrl>,
        connections: impl Fn(&Origin) -> usize,
        now: Time,
    ) -> Vec<OriginStatus> {
        origins.map(|origin| self.health.report(origin, connections(origin) as u64, now)).collect()
    }

    /// All origins of the zone failed recently, or are silent for longer than the time after which
    /// clients receive stale content.
    pub(crate) fn are_failing(&self, zone: &Zone, now: Time) -> bool {
        let is_failing = |origin: &OriginUrl| {
            self.health.is_failing(origin, zone.stale_after, now) || !self.pools.is_up(zone, origin)
        };
        zone.origins.iter().all(is_failing)
    }
}

pub(crate) fn upstream_headers(context: &RequestContext, centre: &str) -> HeaderMap {
    let mut headers = context.headers.clone();
    headers.reserve(ADDED_HEADERS);
    if context.accepts_trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("te"));
    }
    headers.remove(header::EXPECT);
    if let Some(authority) = context.url.authority()
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        headers.insert(header::HOST, host);
    }
    append_member(&mut headers, &header::VIA, &via(context.version, centre));
    append_member(&mut headers, &CDN_LOOP, &loop_member(&context.network().name, centre));
    headers
}

/// For origins only. Peers receive these values in internal fields.
fn add_forwarded_headers(headers: &mut HeaderMap, context: &RequestContext) {
    let (ip, proto) = (context.peer.address.ip().to_canonical(), context.peer.scheme.name());
    let address = ip.to_string();
    append_member(headers, &FORWARDED_FOR, &[&address]);
    set_header(headers, &FORWARDED_PROTO, proto);
    if !headers.get_all(header::FORWARDED).iter().all(|line| forwarded::is_list(line.as_bytes())) {
        headers.remove(header::FORWARDED);
    }
    let host = context.url.authority().map(Authority::as_str);
    let host = host.filter(|_| context.zone().origin_request.host != OriginHost::Visitor);
    if let Some(host) = host {
        set_header(headers, &FORWARDED_HOST, host);
    }
    append_member(headers, &header::FORWARDED, &forwarded::element(&address, ip.is_ipv6(), proto, host));
}

/// Host, if only the URL has it, Via, CDN-Loop and four forwarding fields.
const ADDED_HEADERS: usize = 7;

pub(crate) fn rejection_for(failure: Failure) -> Rejection {
    match failure {
        Failure::Timeout => TOO_SLOW,
        Failure::Tls(_) => NOT_TRUSTED,
        Failure::Source => INCOMPLETE,
        failure if is_local_failure(failure) => BUSY,
        _ => UNREACHABLE,
    }
}

fn is_local_failure(failure: Failure) -> bool {
    failure == Failure::Busy || failure.is_own_shortage()
}

pub(crate) fn clean_response(mut response: Response<Body>, max_wait: Duration) -> Response<Body> {
    let (status, is_switched) = (response.status(), response.status() == StatusCode::SWITCHING_PROTOCOLS);
    let headers = response.headers_mut();
    internal_headers::clear(headers);
    normalize_content_length(status, headers);
    move_surrogate_keys(headers);
    if !is_switched {
        remove_hop_by_hop(headers);
        headers.entry(header::DATE).or_insert_with(http_date);
    }
    response.map(|body| trailers::for_response(body.within(max_wait)))
}

/// HTTP/2 and HTTP/3 clients reject several lengths, and a length in a status without content (RFC
/// 9110 section 8.6).
fn normalize_content_length(status: StatusCode, headers: &mut HeaderMap) {
    if status.is_informational() || status == StatusCode::NO_CONTENT {
        headers.remove(header::CONTENT_LENGTH);
        return;
    }
    let mut values = headers.get_all(header::CONTENT_LENGTH).iter();
    let is_one = |value: &HeaderValue| !value.as_bytes().contains(&b',');
    if !(values.next().is_none_or(is_one) && values.next().is_none())
        && let Ok(Some(length)) = http_stack::http1::framing::length(headers)
    {
        headers.insert(header::CONTENT_LENGTH, length.into());
    }
}

/// Except 100, which this server sends itself (RFC 9110 section 10.1.1).
pub(crate) fn forward_interim(visitor: &Interim, status: StatusCode, fields: &HeaderMap) {
    if status != StatusCode::CONTINUE {
        let mut fields = fields.clone();
        remove_hop_by_hop(&mut fields);
        internal_headers::clear(&mut fields);
        normalize_content_length(status, &mut fields);
        visitor.send(status, fields);
    }
}

/// The version of the received message (RFC 9110 section 7.6.3) and the name.
pub(crate) fn via(version: Version, centre: &str) -> [&str; 2] {
    let version = match version {
        Version::HTTP_10 => "1.0 ",
        Version::HTTP_2 => "2 ",
        Version::HTTP_3 => "3 ",
        _ => "1.1 ",
    };
    [version, centre]
}

pub(crate) fn append_member(headers: &mut HeaderMap, name: &HeaderName, member: &[&str]) {
    let all = headers.get_all(name);
    let lines = || all.iter().filter_map(|line| line.to_str().ok());
    let before: usize = lines().map(|line| line.len() + SEPARATOR.len()).sum();
    let mut list = Vec::with_capacity(before + member.iter().map(|part| part.len()).sum::<usize>());
    for line in lines() {
        list.extend_from_slice(line.as_bytes());
        list.extend_from_slice(SEPARATOR);
    }
    member.iter().for_each(|part| list.extend_from_slice(part.as_bytes()));
    if let Ok(list) = HeaderValue::from_maybe_shared(Bytes::from(list)) {
        headers.insert(name, list);
    }
}

fn set_header(headers: &mut HeaderMap, name: &HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

const SEPARATOR: &[u8] = b", ";

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
