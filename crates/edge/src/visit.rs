//! Who is let in: a request that names a URL of this network, with its zone, its rule and its key.

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

/// A request that was let in, without its body.
#[derive(Debug)]
pub(crate) struct Visit {
    network: Arc<Network>,
    zone: usize,
    /// The place of its rule among the zone's.
    rule: Option<usize>,
    pub(crate) method: Method,
    /// With scheme and authority, and its path in normal form: rules, keys, other data centres and origins see this form.
    pub(crate) url: Uri,
    /// End-to-end fields alone: what the origin gets is what rules, keys and conditions see.
    pub(crate) headers: HeaderMap,
    pub(crate) version: Version,
    pub(crate) peer: Peer,
    /// The protocol in its Upgrade field, such as WebSocket.
    pub(crate) protocol: Option<HeaderValue>,
    /// Whether its client accepts trailers.
    pub(crate) accepts_trailers: bool,
    /// Takes interim responses, where its version of HTTP has them.
    pub(crate) interim: Option<Interim>,
    pub(crate) key: Key,
    pub(crate) wishes: Wishes,
    /// How it came, if another data centre sent it.
    pub(crate) came: Option<Arc<Came>>,
    /// Takes what origins took, where there is a log to say it in.
    pub(crate) at_origin: Option<Arc<AtOrigin>>,
    /// Its trace, if it has one.
    pub(crate) traced: Option<Arc<Traced>>,
}

/// Why there is no response from anywhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// A word for Cache-Status.
    pub(crate) word: &'static str,
    /// For the person who sees it.
    pub(crate) sentence: &'static str,
}

impl Visit {
    /// Lets a visitor's request in, at the data centre of this name.
    pub(crate) fn admit(
        network: &Arc<Network>,
        centre: &str,
        request: Request<Body>,
    ) -> Result<(Self, Body), Refusal> {
        let peer = *request.extensions().get::<Peer>().ok_or(NO_PEER)?;
        Self::admit_from(network, centre, request, peer, None)
    }

    /// Lets in what another data centre passes on for a visitor.
    pub(crate) fn admit_from_other(
        network: &Arc<Network>,
        centre: &str,
        request: Request<Body>,
        came: Came,
    ) -> Result<(Self, Body), Refusal> {
        let visitor = Peer { address: came.visitor, scheme: came.scheme };
        let came = Arc::new(came);
        let (visit, body) = Self::admit_from(network, centre, request, visitor, Some(Arc::clone(&came)))?;
        // Who has other rules for the key would get, and store, another object than it asked for.
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

    /// Its network, and which of its zones.
    pub(crate) fn place(&self) -> (&Arc<Network>, usize) {
        (&self.network, self.zone)
    }

    /// As what this data centre is asked.
    pub(crate) fn role(&self) -> Role {
        self.came.as_ref().map_or(Role::Lower, |came| came.role)
    }

    /// The names of the data centres through which it came.
    pub(crate) fn through(&self) -> &[String] {
        self.came.as_ref().map_or(&[], |came| &came.through)
    }

    /// Its key as data centres know it.
    pub(crate) fn key_hash(&self) -> KeyHash {
        KeyHash::of(self.key.as_str().as_bytes())
    }

    /// How `If-Modified-Since` is compared.
    pub(crate) fn date_match(&self) -> DateMatch {
        if self.came.is_some() { DateMatch::Exact } else { DateMatch::NotNewer }
    }

    /// Codings that text is given on its way to it: none on its way to another data centre, which has its own visitors.
    pub(crate) fn compress(&self) -> &[Coding] {
        if self.came.is_some() { &[] } else { &self.zone().compress }
    }

    /// Its rule, before there is a response.
    pub(crate) fn rule(&self) -> Option<&Rule> {
        self.rule.map(|place| self.zone().rule_at(place))
    }

    /// The rule for a response with this status.
    pub(crate) fn rule_for(&self, status: StatusCode) -> Option<&Rule> {
        let zone = self.zone();
        if zone.looks_at_statuses() { zone.rule_for_response(self.asked(), status) } else { self.rule() }
    }

    fn asked(&self) -> Asked<'_> {
        Asked { method: &self.method, url: &self.url, headers: &self.headers }
    }
}

/// The URL that a request is about. Two names for its host must be one (RFC 9112 section 3.2, RFC 9113 section 8.3.1).
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

/// An authority as its key has it: host in lower case, without a final dot and without the scheme's own port. The origin gets this
/// form too, as it may answer another spelling in another way.
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

/// This data centre's member of CDN-Loop in its parts (RFC 8586).
pub(crate) fn loop_member<'p>(network: &'p str, centre: &'p str) -> [&'p str; 4] {
    ["longhaul;network=", network, ";data-centre=", centre]
}

fn comes_from_here(headers: &HeaderMap, network: &str, centre: &str) -> bool {
    let mut lines = headers.get_all(CDN_LOOP).iter().filter_map(|line| line.to_str().ok());
    lines.any(|line| is_member(line, network, centre))
}

/// Whether a data centre of a network is among the members of CDN-Loop in a line.
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

    /// As a response: a line of text that nobody stores.
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
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "no-tunnels", "This server makes no tunnels (CONNECT).");
pub(crate) const BAD_HOST: Refusal =
    Refusal::new(StatusCode::BAD_REQUEST, "bad-host", "The request does not name one host.");
const BAD_TARGET: Refusal =
    Refusal::new(StatusCode::BAD_REQUEST, "bad-target", "The request's target is not a path.");
const UNKNOWN_HOST: Refusal =
    Refusal::new(StatusCode::MISDIRECTED_REQUEST, "unknown-host", "This network does not serve that host.");
const LOOP: Refusal = Refusal::new(
    StatusCode::LOOP_DETECTED,
    "loop",
    "The request was here before: its origin leads back to this network.",
);
const OTHER_RULES: Refusal = Refusal::new(
    StatusCode::MISDIRECTED_REQUEST,
    "other-rules",
    "This data centre has another zone or another key for the request.",
);
pub(crate) const NOT_CACHED: Refusal = Refusal::new(
    StatusCode::GATEWAY_TIMEOUT,
    "not-cached",
    "The request asks for a stored response, and there is none.",
);
pub(crate) const UNREACHABLE: Refusal = Refusal::new(
    StatusCode::BAD_GATEWAY,
    "origin-unreachable",
    "The origin could not be reached, or broke off.",
);
pub(crate) const BROKE_OFF: Refusal = Refusal::new(
    StatusCode::BAD_GATEWAY,
    "origin-broke-off",
    "The origin's response broke off before any of it was sent.",
);
pub(crate) const NOT_TRUSTED: Refusal = Refusal::new(
    StatusCode::BAD_GATEWAY,
    "origin-not-trusted",
    "The origin could not prove who it is: its TLS handshake failed.",
);
pub(crate) const BUSY: Refusal =
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "Too many requests wait for the origin already.");
pub(crate) const INCOMPLETE: Refusal = Refusal::new(
    StatusCode::REQUEST_TIMEOUT,
    "incomplete",
    "The request's body did not come in time, or broke off.",
);
pub(crate) const TOO_SLOW: Refusal =
    Refusal::new(StatusCode::GATEWAY_TIMEOUT, "origin-too-slow", "The origin did not answer in time.");
