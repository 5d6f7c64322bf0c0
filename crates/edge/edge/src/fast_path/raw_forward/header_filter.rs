//! The lines of a relayed request and response: which are retained, removed or extended.
//!
//! The result equals that of the normal path. Messages with rare fields are left to the normal
//! path.

use http_cache::{hop_by_hop::is_hop_by_hop, internal_headers, is_never_stored, names_coding};
use http_stack::{
    HeaderName, Version,
    client::Reply,
    clock::http_date,
    server::{Peer, RequestView},
};

use super::head::Head;
use crate::{
    request::context::loop_member,
    upstream::{forwarded, origins::via},
    util::format::push_address,
};

struct ListHeaders<'l, const N: usize> {
    names: [&'static str; N],
    lines: [Vec<&'l [u8]>; N],
}

impl<'l, const N: usize> ListHeaders<'l, N> {
    fn new(names: [&'static str; N]) -> Self {
        Self { names, lines: [const { Vec::new() }; N] }
    }

    fn take(&mut self, name: &str, value: &'l [u8]) -> bool {
        let place = self.names.iter().position(|own| own.eq_ignore_ascii_case(name));
        if let Some(place) = place {
            self.lines[place].push(value);
        }
        place.is_some()
    }

    fn write(&self, members: [&[&str]; N], to: &mut Head<'_>) {
        for ((name, lines), member) in self.names.iter().zip(&self.lines).zip(members) {
            let before = lines.iter().filter(|line| line.is_ascii()).flat_map(|line| [*line, b", "]);
            to.put(name, before.chain(member.iter().map(|part| part.as_bytes())));
        }
    }
}

pub(super) struct ForwardingHop<'h> {
    pub(super) network: &'h str,
    pub(super) centre: &'h str,
    pub(super) peer: Peer,
}

pub(super) fn request_headers(request: &RequestView<'_>, hop: &ForwardingHop<'_>) -> Option<Vec<u8>> {
    let target = request.target.as_bytes();
    let first: [&[u8]; 5] = [b"GET ", target, b" HTTP/1.1\r\nhost: ", request.host, b"\r\n"];
    let mut head = Head::new(request.head(), &first);
    let mut list_headers = ListHeaders::new(["via", "x-forwarded-for", "forwarded"]);
    for (name, value) in request.fields() {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if !may_be_forwarded_raw(name) || (is("forwarded") && !forwarded::is_list(value)) {
            return None;
        }
        let goes = is_hop_by_hop(name) || is("host") || is("x-forwarded-proto");
        if !goes
            && !internal_headers::is_internal_in_any_case(name.as_bytes())
            && !list_headers.take(name, value)
        {
            head.keep(name, value);
        }
    }
    let ForwardingHop { network, centre, peer } = hop;
    let (ip, proto) = (peer.address.ip().to_canonical(), peer.scheme.name());
    let mut address = String::with_capacity(MAX_IPV4_BYTES);
    push_address(&mut address, ip);
    let element = forwarded::element(&address, ip.is_ipv6(), proto, None);
    list_headers.write([&via(Version::HTTP_11, centre), &[&address], &element], &mut head);
    head.put("x-forwarded-proto", [proto]);
    head.put("cdn-loop", loop_member(network, centre));
    let mut head = head.written();
    head.extend_from_slice(b"\r\n");
    Some(head)
}

pub(super) struct ResponseFreshness<'t> {
    pub(super) is_bypass: bool,
    pub(super) targets: &'t [HeaderName],
    pub(super) compresses: bool,
}

/// The body framing is left out. `None` if the response may be stored or compressed, or needs the
/// normal path.
pub(super) fn response_headers(
    reply: &Reply<'_>,
    terms: &ResponseFreshness<'_>,
    centre: &str,
    cache_status: &str,
) -> Option<Vec<u8>> {
    if !terms.is_bypass && !is_never_stored(reply.fields()) {
        return None;
    }
    let reason = reply.status.canonical_reason().unwrap_or_default();
    let first = ["HTTP/1.1 ", reply.status.as_str(), " ", reason, "\r\n"].map(str::as_bytes);
    let mut head = Head::new(reply.head(), &first);
    let mut list_headers = ListHeaders::new(["via", "cache-status"]);
    let (mut has_date, mut is_coded) = (false, false);
    for (name, value) in reply.fields() {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("alt-svc") || terms.targets.iter().any(|target| is(target.as_str())) {
            return None;
        }
        has_date |= is("date");
        is_coded |= is("content-encoding") && names_coding(value);
        let goes = is_hop_by_hop(name) || is("cache-tag") || is("surrogate-key") || is("content-length");
        if !goes
            && !internal_headers::is_internal_in_any_case(name.as_bytes())
            && !list_headers.take(name, value)
        {
            head.keep(name, value);
        }
    }
    if terms.compresses && !is_coded {
        return None;
    }
    if !has_date {
        head.put("date", [http_date()]);
    }
    list_headers.write([&via(Version::HTTP_11, centre), &[cache_status]], &mut head);
    Some(head.written())
}

/// No cache directive, If-Range, TE or CDN-Loop, and no underscore in the name.
pub(crate) fn may_be_forwarded_raw(name: &str) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let asks = match name.len() {
        2 => is("te"),
        6 => is("pragma"),
        8 => is("cdn-loop") || is("if-range"),
        13 => is("cache-control"),
        _ => false,
    };
    !asks && !name.as_bytes().contains(&b'_')
}

const MAX_IPV4_BYTES: usize = "255.255.255.255".len();
