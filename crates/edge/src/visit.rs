//! Request admission: finds the zone, the rule and the cache key of a request, or refuses it.

use std::{borrow::Cow, sync::Arc};

use cache::{Coding, DateMatch, Key, Wishes};
use http::{
    Body, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Scheme, StatusCode, Uri, Version,
    header,
    request::Parts,
    server::{Interim, Peer},
    uri::{self, Authority, PathAndQuery},
};
use tiers::{KeyHash, Role};

use crate::{
    came::Came,
    end_to_end::{HopByHop, keep_end_to_end},
    log::AtOrigin,
    network::{self, Asked, Network, Rule, Zone},
    traces::Traced,
    trailers,
};

/// An admitted request, without its body.
#[derive(Debug)]
pub(crate) struct Visit {
    network: Arc<Network>,
    zone: usize,
    /// Index into the rules of the zone.
    rule: Option<usize>,
    pub(crate) method: Method,
    /// Absolute, with the path in normal form. Rules, cache keys, peer data centres and origins all use this
    /// form.
    pub(crate) url: Uri,
    /// Only end-to-end fields, so that rules, keys and conditions use the same fields that the origin
    /// receives.
    pub(crate) headers: HeaderMap,
    pub(crate) version: Version,
    pub(crate) peer: Peer,
    /// The protocol of the Upgrade field, for example WebSocket.
    pub(crate) protocol: Option<HeaderValue>,
    pub(crate) accepts_trailers: bool,
    /// The channel for interim (1xx) responses; `None` for HTTP versions without them.
    pub(crate) interim: Option<Interim>,
    pub(crate) key: Key,
    pub(crate) wishes: Wishes,
    /// Hop data, if a peer data centre forwarded the request.
    pub(crate) came: Option<Arc<Came>>,
    /// Times and tier of the upstream request, for the access log; `None` without a log.
    pub(crate) at_origin: Option<Arc<AtOrigin>>,
    pub(crate) traced: Option<Arc<Traced>>,
}

/// A response that this data centre generates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// The `detail` parameter of Cache-Status.
    pub(crate) word: &'static str,
    pub(crate) sentence: &'static str,
}

impl Visit {
    pub(crate) fn admit(
        network: &Arc<Network>,
        centre: &str,
        request: Request<Body>,
    ) -> Result<(Self, Body), Refusal> {
        let peer = *request.extensions().get::<Peer>().ok_or(NO_PEER)?;
        Self::admit_from(network, centre, request, peer, None)
    }

    pub(crate) fn admit_from_other(
        network: &Arc<Network>,
        centre: &str,
        request: Request<Body>,
        came: Came,
    ) -> Result<(Self, Body), Refusal> {
        let visitor = Peer { address: came.visitor, scheme: came.scheme };
        let came = Arc::new(came);
        let (visit, body) = Self::admit_from(network, centre, request, visitor, Some(Arc::clone(&came)))?;
        // If the two data centres had different rules for this key, the peer would store another object than
        // it requested.
        let is_same = visit.zone().name == came.zone && visit.key_hash() == came.key;
        if is_same { Ok((visit, body)) } else { Err(OTHER_RULES) }
    }

    fn admit_from(
        network: &Arc<Network>,
        centre: &str,
        request: Request<Body>,
        peer: Peer,
        came: Option<Arc<Came>>,
    ) -> Result<(Self, Body), Refusal> {
        let (mut parts, body) = request.into_parts();
        let HopByHop { protocol, accepts_trailers } =
            keep_end_to_end(&parts.method, parts.version, &mut parts.headers);
        let url = url(&parts, peer.scheme)?;
        let host = url.host().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
        let number = network.zone_of(&host).ok_or(UNKNOWN_HOST)?;
        if comes_from_here(&parts.headers, &network.name, centre) {
            return Err(LOOP);
        }
        let zone = &network.zones[number];
        let asked = Asked { method: &parts.method, url: &url, headers: &parts.headers };
        let rule = zone.rule_for(asked);
        let place = rule.map(|rule| zone.place_of(rule));
        let key = Key::of(&url, &parts.headers, &rule.map(|rule| rule.key.clone()).unwrap_or_default());
        let wishes = Wishes::read(&parts.headers);
        let visit = Self {
            zone: number,
            rule: place,
            network: Arc::clone(network),
            method: parts.method,
            url,
            headers: parts.headers,
            version: parts.version,
            peer,
            protocol,
            accepts_trailers,
            interim: parts.extensions.get().cloned(),
            key,
            wishes: if zone.obeys_clients { wishes } else { wishes.ignored() },
            came,
            at_origin: None,
            traced: parts.extensions.get().cloned(),
        };
        Ok((visit, trailers::of_request(body)))
    }

    pub(crate) fn zone(&self) -> &Zone {
        &self.network.zones[self.zone]
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    pub(crate) fn place(&self) -> (&Arc<Network>, usize) {
        (&self.network, self.zone)
    }

    /// `Role::Lower` for a client's request.
    pub(crate) fn role(&self) -> Role {
        self.came.as_ref().map_or(Role::Lower, |came| came.role)
    }

    pub(crate) fn through(&self) -> &[String] {
        self.came.as_ref().map_or(&[], |came| &came.through)
    }

    pub(crate) fn key_hash(&self) -> KeyHash {
        KeyHash::of(self.key.as_str().as_bytes())
    }

    pub(crate) fn date_match(&self) -> DateMatch {
        if self.came.is_some() { DateMatch::Exact } else { DateMatch::NotNewer }
    }

    /// A response to a peer data centre is not compressed: the peer compresses it for its own clients.
    pub(crate) fn compress(&self) -> &[Coding] {
        if self.came.is_some() { &[] } else { &self.zone().compress }
    }

    /// The rule that applies before the response is known.
    pub(crate) fn rule(&self) -> Option<&Rule> {
        self.rule.map(|place| self.zone().rule_at(place))
    }

    pub(crate) fn rule_for(&self, status: StatusCode) -> Option<&Rule> {
        let zone = self.zone();
        if zone.looks_at_statuses() { zone.rule_for_response(self.asked(), status) } else { self.rule() }
    }

    fn asked(&self) -> Asked<'_> {
        Asked { method: &self.method, url: &self.url, headers: &self.headers }
    }
}

/// The absolute URL of a request. If the request target and the Host field both name a host, they must match
/// (RFC 9112 section 3.2, RFC 9113 section 8.3.1).
fn url(parts: &Parts, scheme: Scheme) -> Result<Uri, Refusal> {
    if parts.method == Method::CONNECT {
        return Err(NO_TUNNELS);
    }
    let mut hosts = parts.headers.get_all(header::HOST).iter();
    let named =
        hosts.next().map(|host| Authority::try_from(host.as_bytes())).transpose().map_err(|_| BAD_HOST)?;
    let authority = match (parts.uri.authority(), named) {
        _ if hosts.next().is_some() => return Err(BAD_HOST),
        (Some(target), Some(host)) if *target != host => return Err(BAD_HOST),
        (Some(target), _) => target.clone(),
        (None, Some(host)) => host,
        (None, None) => return Err(BAD_HOST),
    };
    if authority.as_str().contains('@') {
        return Err(BAD_HOST);
    }
    let path = parts.uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    if !path.as_str().starts_with('/') {
        return Err(BAD_TARGET);
    }
    let authority = normal_authority(authority, scheme)?;
    let mut url = uri::Parts::default();
    url.scheme = Some(match scheme {
        Scheme::Http => uri::Scheme::HTTP,
        Scheme::Https => uri::Scheme::HTTPS,
    });
    (url.authority, url.path_and_query) = (Some(authority), Some(path));
    let url = Uri::from_parts(url).map_err(|_| BAD_TARGET)?;
    let normal = match network::normal(&url) {
        None => return Err(BAD_TARGET),
        Some(Cow::Borrowed(_)) => None,
        Some(Cow::Owned(normal)) => Some(normal),
    };
    Ok(normal.unwrap_or(url))
}

/// The authority in normal form: host in lower case, without a trailing dot and without the default port of
/// the scheme. The origin receives this form too, because it may respond differently to another spelling.
fn normal_authority(authority: Authority, scheme: Scheme) -> Result<Authority, Refusal> {
    let usual = if scheme == Scheme::Https { 443 } else { 80 };
    let host = authority.host();
    // A name has no empty labels (RFC 1035 section 3.1).
    if host.starts_with('.') || host.contains("..") {
        return Err(BAD_HOST);
    }
    let mut normal = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if let Some(port) = authority.port_u16().filter(|port| *port != usual) {
        normal.push(':');
        normal.push_str(itoa::Buffer::new().format(port));
    }
    if normal == authority.as_str() { Ok(authority) } else { normal.parse().map_err(|_| BAD_HOST) }
}

/// The pieces of this data centre's member of CDN-Loop (RFC 8586).
pub(crate) fn loop_member<'p>(network: &'p str, centre: &'p str) -> [&'p str; 4] {
    ["longhaul;network=", network, ";data-centre=", centre]
}

fn comes_from_here(headers: &HeaderMap, network: &str, centre: &str) -> bool {
    let mut lines = headers.get_all(CDN_LOOP).iter().filter_map(|line| line.to_str().ok());
    lines.any(|line| is_member(line, network, centre))
}

/// Whether a CDN-Loop line contains the member of the data centre `centre`.
pub(crate) fn is_member(line: &str, network: &str, centre: &str) -> bool {
    let parts = loop_member(network, centre);
    let length = parts.iter().map(|part| part.len()).sum::<usize>();
    line.split(',').map(str::trim).filter(|member| member.len() == length).any(|member| {
        let mut left = member;
        parts.iter().all(|part| {
            let (begin, rest) = left.split_at_checked(part.len()).unwrap_or_default();
            left = rest;
            begin.eq_ignore_ascii_case(part)
        })
    })
}

impl Refusal {
    const fn new(status: StatusCode, word: &'static str, sentence: &'static str) -> Self {
        Self { status, word, sentence }
    }

    pub(crate) fn response(self) -> Response<Body> {
        let mut response = Response::new(Body::whole(format!("{}\n", self.sentence)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

pub(crate) const CDN_LOOP: HeaderName = HeaderName::from_static("cdn-loop");

const NO_PEER: Refusal =
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "no-peer", "The request has no client.");
const NO_TUNNELS: Refusal =
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "no-tunnels", "CONNECT is not supported.");
pub(crate) const BAD_HOST: Refusal =
    Refusal::new(StatusCode::BAD_REQUEST, "bad-host", "The request does not name one host.");
const BAD_TARGET: Refusal =
    Refusal::new(StatusCode::BAD_REQUEST, "bad-target", "The request's target is not a path.");
const UNKNOWN_HOST: Refusal =
    Refusal::new(StatusCode::MISDIRECTED_REQUEST, "unknown-host", "This network does not serve that host.");
const LOOP: Refusal =
    Refusal::new(StatusCode::LOOP_DETECTED, "loop", "Request loop: the origin leads back to this network.");
const OTHER_RULES: Refusal = Refusal::new(
    StatusCode::MISDIRECTED_REQUEST,
    "other-rules",
    "This data centre has another zone or another key for the request.",
);
pub(crate) const NOT_CACHED: Refusal = Refusal::new(
    StatusCode::GATEWAY_TIMEOUT,
    "not-cached",
    "The request requires a stored response, but no usable one exists.",
);
pub(crate) const UNREACHABLE: Refusal = Refusal::new(
    StatusCode::BAD_GATEWAY,
    "origin-unreachable",
    "The origin could not be reached, or closed the connection early.",
);
pub(crate) const BROKE_OFF: Refusal = Refusal::new(
    StatusCode::BAD_GATEWAY,
    "origin-broke-off",
    "The origin's response ended early, before any of it was sent.",
);
pub(crate) const NOT_TRUSTED: Refusal =
    Refusal::new(StatusCode::BAD_GATEWAY, "origin-not-trusted", "The TLS handshake with the origin failed.");
pub(crate) const BUSY: Refusal = Refusal::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "busy",
    "Too many requests are already waiting for the origin.",
);
pub(crate) const INCOMPLETE: Refusal = Refusal::new(
    StatusCode::REQUEST_TIMEOUT,
    "incomplete",
    "The request's body did not arrive in time or is truncated.",
);
pub(crate) const TOO_SLOW: Refusal =
    Refusal::new(StatusCode::GATEWAY_TIMEOUT, "origin-too-slow", "The origin did not respond in time.");
