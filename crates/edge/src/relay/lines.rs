//! The lines of a request and of its response as a proxy passes them on: which stay, which go, and which have a member added.
//!
//! What becomes of them is what `onward` and `pass_back` make of a map; what is rarer than the lines of nearly all messages is left to
//! those.

use cache::{internal, is_never_stored};
use http::{
    HeaderName,
    client::Reply,
    clock::http_date,
    server::{Glance, Peer},
};

/// Members that a message gets in lists which it may have already, in the order of their names here.
struct Lists<'l, const N: usize> {
    names: [&'static str; N],
    lines: [Vec<&'l [u8]>; N],
}

impl<'l, const N: usize> Lists<'l, N> {
    fn new(names: [&'static str; N]) -> Self {
        Self { names, lines: [const { Vec::new() }; N] }
    }

    /// Takes a line if it is one of theirs.
    fn take(&mut self, name: &str, value: &'l [u8]) -> bool {
        let place = self.names.iter().position(|own| own.eq_ignore_ascii_case(name));
        if let Some(place) = place {
            self.lines[place].push(value);
        }
        place.is_some()
    }

    /// Writes them, with a new member each, of which these are the parts.
    fn write(&self, members: [&[&str]; N], to: &mut Vec<u8>) {
        for ((name, lines), member) in self.names.iter().zip(&self.lines).zip(members) {
            to.extend_from_slice(name.as_bytes());
            to.extend_from_slice(b": ");
            for line in lines.iter().filter(|line| line.is_ascii()) {
                to.extend_from_slice(line);
                to.extend_from_slice(b", ");
            }
            member.iter().for_each(|part| to.extend_from_slice(part.as_bytes()));
            to.extend_from_slice(b"\r\n");
        }
    }
}

/// Who passes a request on, for whom.
pub(super) struct Hop<'h> {
    pub(super) network: &'h str,
    pub(super) centre: &'h str,
    pub(super) peer: Peer,
}

/// The head of the request that goes on. `None` if there is something in it to be looked at closely.
pub(super) fn onward(request: &Glance<'_>, hop: &Hop<'_>) -> Option<Vec<u8>> {
    let mut head = Vec::with_capacity(ROOM);
    for part in [b"GET ", request.target.as_bytes(), b" HTTP/1.1\r\nhost: ", request.host, b"\r\n"] {
        head.extend_from_slice(part);
    }
    let mut lists = Lists::new(["via", "x-forwarded-for", "forwarded"]);
    for (name, value) in request.fields() {
        if !may_be_relayed(name) {
            return None;
        }
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let goes = is_of_connection(name) || is("host") || is("x-forwarded-proto");
        if !goes && !internal::is_internal_in_any_case(name.as_bytes()) && !lists.take(name, value) {
            put(name, value, &mut head);
        }
    }
    let Hop { network, centre, peer } = hop;
    let (address, proto) = (peer.address.ip().to_string(), peer.scheme.name());
    let (before, after) = if peer.address.is_ipv6() { ("\"[", "]\"") } else { ("", "") };
    lists.write(
        [&["1.1 ", centre], &[&address], &["for=", before, &address, after, ";proto=", proto]],
        &mut head,
    );
    for part in
        ["x-forwarded-proto: ", proto, "\r\ncdn-loop: longhaul;network=", network, ";data-centre=", centre]
    {
        head.extend_from_slice(part.as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head.extend_from_slice(b"\r\n");
    Some(head)
}

/// What is known of the zone of a response.
pub(super) struct Terms<'t> {
    /// Whether nothing is stored whatever the response says.
    pub(super) is_bypass: bool,
    /// Fields that go before Cache-Control.
    pub(super) targets: &'t [HeaderName],
    /// Whether text is compressed.
    pub(super) compresses: bool,
}

/// The head of the response that goes back, without what says where its body ends. `None` if it might be stored, is compressed on its way, or
/// has something in it to be looked at closely.
pub(super) fn back(reply: &Reply<'_>, terms: &Terms<'_>, centre: &str, told: &str) -> Option<Vec<u8>> {
    if !terms.is_bypass && !is_never_stored(reply.fields()) {
        return None;
    }
    let mut head = Vec::with_capacity(ROOM);
    let reason = reply.status.canonical_reason().unwrap_or_default();
    for part in ["HTTP/1.1 ", reply.status.as_str(), " ", reason, "\r\n"] {
        head.extend_from_slice(part.as_bytes());
    }
    let mut lists = Lists::new(["via", "cache-status"]);
    let (mut has_date, mut is_coded) = (false, false);
    for (name, value) in reply.fields() {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("alt-svc") || terms.targets.iter().any(|target| is(target.as_str())) {
            return None;
        }
        has_date |= is("date");
        is_coded |= is("content-encoding");
        let goes = is_of_connection(name) || is("cache-tag") || is("content-length");
        if !goes && !internal::is_internal_in_any_case(name.as_bytes()) && !lists.take(name, value) {
            put(name, value, &mut head);
        }
    }
    if terms.compresses && !is_coded {
        return None;
    }
    if !has_date {
        put("date", http_date().as_bytes(), &mut head);
    }
    lists.write([&["1.1 ", centre], &[told]], &mut head);
    Some(head)
}

fn put(name: &str, value: &[u8], to: &mut Vec<u8>) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        to.extend_from_slice(part);
    }
}

/// Whether a request with this field is passed on as any other: it asks nothing of caches, wants no trailers, and its name cannot be taken
/// for another one.
pub(crate) fn may_be_relayed(name: &str) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let asks = match name.len() {
        2 => is("te"),
        6 => is("pragma"),
        8 => is("cdn-loop"),
        13 => is("cache-control"),
        _ => false,
    };
    !asks && !name.as_bytes().contains(&b'_')
}

/// Whether a field is about a connection alone, whatever Connection names; that names nothing else here.
fn is_of_connection(name: &str) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    match name.len() {
        2 => is("te"),
        7 => is("trailer") || is("upgrade"),
        10 => is("connection") || is("keep-alive"),
        14 => is("http2-settings"),
        16 => is("proxy-connection"),
        17 => is("transfer-encoding"),
        18 => is("proxy-authenticate"),
        19 => is("proxy-authorization"),
        _ => false,
    }
}

/// More than most heads have, with what is added.
const ROOM: usize = 1536;
