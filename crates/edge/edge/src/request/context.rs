//! Request admission: finds the zone, the rule and the cache key of a request, or refuses it.

use std::{borrow::Cow, sync::Arc};

use http_cache::{Coding, DateMatch, Key, KeyRule, RequestDirectives};
use http_stack::{
    Body, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Scheme, StatusCode, Uri, Version,
    header,
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
        rejection::{
            BAD_HOST, BAD_TARGET, LONG_URL, LOOP, NO_PEER, NO_TUNNELS, OTHER_RULES, Rejection, UNKNOWN_HOST,
        },
    },
    rules::{
        answer::Answer,
        match_list::MatchList,
        response_changes::ResponseChanges,
        rule_set::{Decision, UnusableUrl},
    },
    telemetry::{access_log::UpstreamTiming, traces::RequestTrace},
    upstream::trailers,
};

#[derive(Debug)]
pub(crate) struct RequestContext {
    network: Arc<Network>,
    zone: usize,
    rule: Option<usize>,
    matches: MatchList,
    /// The request as the client sent it, if a rule changed its URL or its fields.
    original: Option<Box<OriginalRequest>>,
    pub(crate) response_changes: Option<Arc<ResponseChanges>>,
    /// The response of a rule that ends the request.
    pub(crate) answer: Option<Box<Answer>>,
    pub(crate) method: Method,
    /// Absolute, with the path in normal form, after a rewrite. Cache keys, peers and origins all
    /// use this form.
    pub(crate) url: Uri,
    /// Only end-to-end fields, after the changes of rules: keys and conditional requests use the
    /// same fields that the origin receives.
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

#[derive(Debug)]
struct OriginalRequest {
    url: Uri,
    headers: HeaderMap,
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
        let input = RuleInput {
            method: &parts.method,
            url: &url,
            headers: &parts.headers,
            client: Some(peer.address.ip().to_canonical()),
        };
        let decision = match &forwarded {
            None => zone.rules.decide(input).map_err(|UnusableUrl| LONG_URL)?,
            Some(forwarded) => {
                zone.rules.decide_for_peer(input, forwarded.rules.as_deref()).ok_or(OTHER_RULES)?
            }
        };
        let Decision { matches, answer, url: rewritten, request_changes, response_changes } = decision;
        let is_changed = rewritten.is_some() || !request_changes.is_empty();
        let original = is_changed
            .then(|| Box::new(OriginalRequest { url: url.clone(), headers: parts.headers.clone() }));
        let url = rewritten.unwrap_or(url);
        request_changes.iter().for_each(|change| change.apply(&mut parts.headers));
        let place = zone.rules.cache_rule(&matches, None);
        let key_rule = place.map(|place| &zone.rules.rule_at(place).key);
        let key = Key::of(&url, &parts.headers, key_rule.unwrap_or(&KeyRule::default()));
        let wishes = RequestDirectives::read(&parts.headers);
        let context = Self {
            zone: number,
            rule: place,
            matches,
            original,
            response_changes,
            answer: answer.map(Box::new),
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

    /// Each of such requests counts, so the fast paths do not answer them.
    pub(crate) fn has_rate_limit(&self) -> bool {
        let limits = &self.zone().rate_limits;
        self.forwarded.is_none() && limits.iter().any(|limit| limit.covers(self.original_url().path()))
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
        self.rule.map(|place| self.zone().rules.rule_at(place))
    }

    pub(crate) fn rule_for(&self, status: StatusCode) -> Option<&Rule> {
        let rules = &self.zone().rules;
        if !rules.has_status() {
            return self.rule();
        }
        rules.cache_rule(&self.matches, Some(status)).map(|place| rules.rule_at(place))
    }

    pub(crate) fn matches(&self) -> &MatchList {
        &self.matches
    }

    /// For a peer, if it receives another request than the client sent.
    pub(crate) fn rules_for_peer(&self) -> Option<String> {
        let rules = &self.zone().rules;
        rules.transforms_requests().then(|| self.matches.to_field(rules.hash()))
    }

    pub(crate) fn original_url(&self) -> &Uri {
        self.original.as_ref().map_or(&self.url, |original| &original.url)
    }

    pub(crate) fn original_headers(&self) -> &HeaderMap {
        self.original.as_ref().map_or(&self.headers, |original| &original.headers)
    }

    /// Whether rules change the request or its responses.
    pub(crate) fn has_actions(&self) -> bool {
        self.original.is_some() || self.response_changes.is_some()
    }

    pub(crate) fn change_response(&self, response: &mut Response<Body>) {
        if let Some(changes) = &self.response_changes {
            changes.apply(response.status(), response.headers_mut());
        }
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
