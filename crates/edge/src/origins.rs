//! Requests to origins: their order, their header fields, and their results.

mod known;

use std::time::Duration;

use self::known::Table;
use crate::{
    forwarded,
    log::AtOrigin,
    network::Zone,
    operator::OriginStatus,
    trailers,
    visit::{BUSY, CDN_LOOP, INCOMPLETE, NOT_TRUSTED, Refusal, TOO_SLOW, UNREACHABLE, Visit, loop_member},
};
use cache::{Time, internal, update::clear_connection_fields};
use http::{
    Body, Bytes, Client, Failure, HeaderMap, HeaderName, HeaderValue, Origin, Request, Response, StatusCode,
    Version,
    client::{Informed, Relayed, Reply, Trace},
    clock::http_date,
    header,
    server::Interim,
};

#[derive(Debug, Default)]
pub(crate) struct Origins {
    known: Table,
}

impl Origins {
    /// The origins of a zone in the order of use. Origins that failed recently are last.
    pub(crate) fn in_order<'z>(&self, zone: &'z Zone, now: Time) -> Vec<&'z Origin> {
        let mut origins: Vec<_> = zone.origins.iter().collect();
        if origins.len() > 1 {
            origins.sort_by_cached_key(|origin| !self.known.is_up(origin, now));
        }
        origins
    }

    pub(crate) fn reached(&self, origin: &Origin) {
        self.known.of(origin).reached();
    }

    /// Records that the direct route failed: each request then chooses a route, and requests are not relayed.
    pub(crate) fn path_failed(&self, origin: &Origin) {
        self.known.of(origin).path_failed();
    }

    pub(crate) async fn exchange(
        &self,
        client: &Client,
        origin: &Origin,
        mut request: Request<Body>,
        visit: &Visit,
        now: Time,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        tell_visitor(request.headers_mut(), visit);
        let asking = self.known.of(origin).begin(now);
        let traced = visit.traced.as_ref();
        let traced = traced.and_then(|traced| traced.ask(origin, &mut request, trace.started));
        let patience = visit.zone().first_byte;
        let answered = tokio::time::timeout(patience, client.send(origin, request, trace)).await;
        let answered = answered.unwrap_or(Err(Failure::Timeout));
        if let Some(at_origin) = &visit.at_origin {
            at_origin.add(trace, client.clock().now());
        }
        if let Some(traced) = traced {
            traced.answered(trace, answered.as_ref(), client.clock().now());
        }
        asking.answered(origin, trace, answered.as_ref().err(), now);
        answered
    }

    /// Relays a GET with this complete head to the zone's first healthy origin, if there is a connection for
    /// it and the direct route has not failed ([`Client::relay`]). Interim responses go to `interim`, and
    /// timings to the log.
    pub(crate) async fn relay<T>(
        &self,
        client: &Client,
        zone: &Zone,
        (head, interim): (&[u8], &Interim),
        (now, at_origin): (Time, Option<&AtOrigin>),
        read: impl FnOnce(&Reply<'_>) -> Option<T>,
    ) -> Result<Option<Relayed<T>>, Failure> {
        let origin = self.first(zone, now);
        let interim = interim.clone();
        let informed = Informed::new(move |code, fields| pass_on(&interim, code, fields));
        let known = self.known.of(origin);
        if known.has_failed_path() {
            return Ok(None);
        }
        let asking = known.begin(now);
        let mut trace = Trace::start(client.clock().now());
        let relayed = client.relay(origin, head, (zone.first_byte, Some(informed)), &mut trace, read).await;
        if matches!(relayed, Ok(None)) {
            asking.was_not_made();
            return Ok(None);
        }
        if let Some(at_origin) = at_origin {
            at_origin.add(&trace, client.clock().now());
        }
        asking.answered(origin, &trace, relayed.as_ref().err(), now);
        relayed
    }

    fn first<'z>(&self, zone: &'z Zone, now: Time) -> &'z Origin {
        let origins = &zone.origins;
        if origins.len() == 1 {
            return &origins[0];
        }
        origins.iter().find(|origin| self.known.is_up(origin, now)).unwrap_or(&origins[0])
    }

    pub(crate) fn report<'a>(
        &self,
        origins: impl Iterator<Item = &'a Origin>,
        connections: impl Fn(&Origin) -> usize,
        now: Time,
    ) -> Vec<OriginStatus> {
        origins.map(|origin| self.known.report(origin, connections(origin) as u64, now)).collect()
    }

    /// Whether all origins of the zone failed recently, or have not responded for longer than the time after
    /// which clients receive stale content.
    pub(crate) fn are_failing(&self, zone: &Zone, now: Time) -> bool {
        zone.origins.iter().all(|origin| self.known.is_failing(origin, zone.stale_after, now))
    }
}

/// The header of a forwarded request: end-to-end fields of the client, Via and CDN-Loop.
pub(crate) fn onward(visit: &Visit, centre: &str) -> HeaderMap {
    let mut headers = visit.headers.clone();
    headers.reserve(ADDED);
    if visit.accepts_trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("te"));
    }
    headers.remove(header::EXPECT);
    if let Some(authority) = visit.url.authority()
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        headers.insert(header::HOST, host);
    }
    append(&mut headers, &header::VIA, &via(visit.version, centre));
    append(&mut headers, &CDN_LOOP, &loop_member(&visit.network().name, centre));
    headers
}

/// Adds the client address and scheme, for origins only. Peers receive them in internal fields.
fn tell_visitor(headers: &mut HeaderMap, visit: &Visit) {
    let (ip, proto) = (visit.peer.address.ip().to_canonical(), visit.peer.scheme.name());
    let address = ip.to_string();
    append(headers, &FORWARDED_FOR, &[&address]);
    set(headers, &FORWARDED_PROTO, proto);
    if !headers.get_all(header::FORWARDED).iter().all(|line| forwarded::is_list(line.as_bytes())) {
        headers.remove(header::FORWARDED);
    }
    append(headers, &header::FORWARDED, &forwarded::element(&address, ip.is_ipv6(), proto));
}

/// Fields that are usually added: Host, if only the URL has it, Via, CDN-Loop and three forwarding fields.
const ADDED: usize = 6;

pub(crate) fn refusal_for(failure: Failure) -> Refusal {
    match failure {
        Failure::Timeout => TOO_SLOW,
        Failure::Tls(_) => NOT_TRUSTED,
        Failure::Source => INCOMPLETE,
        failure if is_own(failure) => BUSY,
        _ => UNREACHABLE,
    }
}

/// Whether the failure was a lack of capacity in this data centre.
fn is_own(failure: Failure) -> bool {
    failure == Failure::Busy || failure.is_own_shortage()
}

/// Removes internal and connection fields of a response. `patience` is the timeout between two reads of its
/// body.
pub(crate) fn received(mut response: Response<Body>, patience: Duration) -> Response<Body> {
    let (status, is_switched) = (response.status(), response.status() == StatusCode::SWITCHING_PROTOCOLS);
    let headers = response.headers_mut();
    internal::clear(headers);
    correct_length(status, headers);
    if !is_switched {
        clear_connection_fields(headers);
        headers.entry(header::DATE).or_insert_with(http_date);
    }
    response.map(|body| trailers::of_response(body.within(patience)))
}

/// Leaves one Content-Length with one value, and removes it for statuses without content (RFC 9110 section
/// 8.6): HTTP/2 and HTTP/3 clients reject such responses.
fn correct_length(status: StatusCode, headers: &mut HeaderMap) {
    if status.is_informational() || status == StatusCode::NO_CONTENT {
        headers.remove(header::CONTENT_LENGTH);
        return;
    }
    let mut values = headers.get_all(header::CONTENT_LENGTH).iter();
    let is_one = |value: &HeaderValue| !value.as_bytes().contains(&b',');
    if !(values.next().is_none_or(is_one) && values.next().is_none())
        && let Ok(Some(length)) = http::http1::framing::length(headers)
    {
        headers.insert(header::CONTENT_LENGTH, length.into());
    }
}

/// Forwards an interim response, except 100, which this server sends itself (RFC 9110 section 10.1.1).
pub(crate) fn pass_on(visitor: &Interim, status: StatusCode, fields: &HeaderMap) {
    if status != StatusCode::CONTINUE {
        let mut fields = fields.clone();
        clear_connection_fields(&mut fields);
        internal::clear(&mut fields);
        correct_length(status, &mut fields);
        visitor.send(status, fields);
    }
}

/// The parts of a Via member such as "1.1 lhr": the version of the received message (RFC 9110 section 7.6.3),
/// the name.
pub(crate) fn via(version: Version, centre: &str) -> [&str; 2] {
    let version = match version {
        Version::HTTP_10 => "1.0 ",
        Version::HTTP_2 => "2 ",
        Version::HTTP_3 => "3 ",
        _ => "1.1 ",
    };
    [version, centre]
}

/// Appends a member, given in parts, to a list field.
pub(crate) fn append(headers: &mut HeaderMap, name: &HeaderName, member: &[&str]) {
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

fn set(headers: &mut HeaderMap, name: &HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

const SEPARATOR: &[u8] = b", ";

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
