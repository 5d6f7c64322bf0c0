//! Request admission: finds the zone, the rule and the cache key of a request, or refuses it.

use std::{borrow::Cow, sync::Arc};

use http_cache::{Coding, DateMatch, Key, RequestDirectives};
use http_stack::{
    Body, HeaderMap, HeaderName, HeaderValue, Method, Request, Scheme, StatusCode, Uri, Version, header,
    request::Parts,
    server::{Interim, Peer},
    uri::{self, Authority, PathAndQuery},
};
use tier_routing::{KeyHash, Role};

use crate::{
    config::{self, Network, Rule, RuleInput, Zone},
    peers::headers::ForwardedRequest,
    request::{
        hop_by_hop::{HopByHop, strip_hop_by_hop},
        rejection::{BAD_HOST, BAD_TARGET, LOOP, NO_PEER, NO_TUNNELS, OTHER_RULES, Rejection, UNKNOWN_HOST},
    },
    telemetry::{access_log::UpstreamTiming, traces::RequestTrace},
    upstream::trailers,
};

#[derive(Debug)]
pub(crate) struct RequestContext {
    network: Arc<Network>,
    zone: usize,
    rule: Option<usize>,
    pub(crate) method: Method,
    /// Absolute, with the path in normal form. Rules, cache keys, peers and origins all use this
    /// form.
    pub(crate) url: Uri,
    /// Only end-to-end fields: rules, keys and conditions use the same fields that the origin
    /// receives.
    pub(crate) headers: HeaderMap,
    pub(crate) version: Version,
    pub(crate) peer: Peer,
    pub(crate) protocol: Option<HeaderValue>,
    pub(crate) accepts_trailers: bool,
    /// `None` for HTTP versions without interim (1xx) responses.
    pub(crate) interim: Option<Interim>,
    pub(crate) key: Key,
    pub(crate) wishes: RequestDirectives,
    pub(crate) forwarded: Option<Arc<ForwardedRequest>>,
    pub(crate) upstream_timing: Option<Arc<UpstreamTiming>>,
    pub(crate) trace: Option<Arc<RequestTrace>>,
}

impl RequestContext {
    pub(crate) fn admit(
        network: &Arc<Network>,
        centre: &str,
        request: Request<Body>,
    ) -> Result<(Self, Body), Rejection> {
        let peer = *request.extensions().get::<Peer>().ok_or(NO_PEER)?;
        Self::admit_from(network, centre, request, peer, None)
    }

    pub(crate) fn admit_from_peer(
        network: &Arc<Network>,
        centre: &str,
        request: Request<Body>,
        forwarded: ForwardedRequest,
    ) -> Result<(Self, Body), Rejection> {
        let client = Peer { address: forwarded.client, scheme: forwarded.scheme };
        let forwarded = Arc::new(forwarded);
        let (context, body) =
            Self::admit_from(network, centre, request, client, Some(Arc::clone(&forwarded)))?;
        // With different rules for this key, the peer would store another object than it requested.
        let is_same = context.zone().name == forwarded.zone && context.key_hash() == forwarded.key;
        if is_same { Ok((context, body)) } else { Err(OTHER_RULES) }
    }

    fn admit_from(
        network: &Arc<Network>,
        centre: &str,
        request: Request<Body>,
        peer: Peer,
        forwarded: Option<Arc<ForwardedRequest>>,
    ) -> Result<(Self, Body), Rejection> {
        let (mut parts, body) = request.into_parts();
        let HopByHop { protocol, accepts_trailers } =
            strip_hop_by_hop(&parts.method, parts.version, &mut parts.headers);
        let url = url(&parts, peer.scheme)?;
        let host = url.host().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
        let number = network.zone_of(&host).ok_or(UNKNOWN_HOST)?;
        if has_own_loop_member(&parts.headers, &network.name, centre) {
            return Err(LOOP);
        }
        let zone = &network.zones[number];
        let input = RuleInput { method: &parts.method, url: &url, headers: &parts.headers };
        let rule = zone.rule_for(input);
        let place = rule.map(|rule| zone.place_of(rule));
        let key = Key::of(&url, &parts.headers, &rule.map(|rule| rule.key.clone()).unwrap_or_default());
        let wishes = RequestDirectives::read(&parts.headers);
        let context = Self {
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
            forwarded,
            upstream_timing: None,
            trace: parts.extensions.get().cloned(),
        };
        Ok((context, trailers::for_request(body)))
    }

    pub(crate) fn zone(&self) -> &Zone {
        &self.network.zones[self.zone]
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    pub(crate) fn zone_place(&self) -> (&Arc<Network>, usize) {
        (&self.network, self.zone)
    }

    pub(crate) fn role(&self) -> Role {
        self.forwarded.as_ref().map_or(Role::Lower, |forwarded| forwarded.role)
    }

    pub(crate) fn through(&self) -> &[String] {
        self.forwarded.as_ref().map_or(&[], |forwarded| &forwarded.through)
    }

    pub(crate) fn key_hash(&self) -> KeyHash {
        KeyHash::of(self.key.as_str().as_bytes())
    }

    pub(crate) fn date_match(&self) -> DateMatch {
        if self.forwarded.is_some() { DateMatch::Exact } else { DateMatch::NotNewer }
    }

    /// A response to a peer is not compressed: the peer compresses it for its own clients.
    pub(crate) fn compress(&self) -> &[Coding] {
        if self.forwarded.is_some() { &[] } else { &self.zone().compress }
    }

    /// The rule that applies before the response is known.
    pub(crate) fn rule(&self) -> Option<&Rule> {
        self.rule.map(|place| self.zone().rule_at(place))
    }

    pub(crate) fn rule_for(&self, status: StatusCode) -> Option<&Rule> {
        let zone = self.zone();
        if zone.looks_at_statuses() { zone.rule_for_response(self.rule_input(), status) } else { self.rule() }
    }

    fn rule_input(&self) -> RuleInput<'_> {
        RuleInput { method: &self.method, url: &self.url, headers: &self.headers }
    }
}

/// The request target and the Host field must name the same host (RFC 9112 section 3.2, RFC 9113
/// section 8.3.1).
fn url(parts: &Parts, scheme: Scheme) -> Result<Uri, Rejection> {
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
    let normal = match config::normal(&url) {
        None => return Err(BAD_TARGET),
        Some(Cow::Borrowed(_)) => None,
        Some(Cow::Owned(normal)) => Some(normal),
    };
    Ok(normal.unwrap_or(url))
}

/// The host is in lower case, without a trailing dot and without the default port. The origin
/// receives this form too, because it may respond differently to another spelling.
fn normal_authority(authority: Authority, scheme: Scheme) -> Result<Authority, Rejection> {
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

/// RFC 8586.
pub(crate) fn loop_member<'p>(network: &'p str, centre: &'p str) -> [&'p str; 4] {
    ["longhaul;network=", network, ";data-centre=", centre]
}

fn has_own_loop_member(headers: &HeaderMap, network: &str, centre: &str) -> bool {
    let mut lines = headers.get_all(CDN_LOOP).iter().filter_map(|line| line.to_str().ok());
    lines.any(|line| is_member(line, network, centre))
}

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

pub(crate) const CDN_LOOP: HeaderName = HeaderName::from_static("cdn-loop");
