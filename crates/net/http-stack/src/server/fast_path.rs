//! Plain requests that a handler can serve from memory, before a header map is built.

use std::str;

use httparse::Header;
use hyper::{
    HeaderMap, Method, Uri,
    header::{CONTENT_LENGTH, EXPECT, HOST, HeaderValue, TRAILER},
};

use super::{interim::Interim, peer::Peer, relay::Original};
use crate::{PeerIdentity, http1::head::RequestLines};

/// A GET or HEAD without a body on a persistent connection, with its fields as received. No field
/// contradicts that; over HTTP/1.1, the target and the host are not validated yet.
#[derive(Debug, Clone, Copy)]
pub struct RequestView<'h> {
    /// Whether the method is HEAD.
    pub is_head: bool,
    /// The target, which begins with a slash.
    pub target: &'h str,
    /// The only Host field, or the authority.
    pub host: &'h [u8],
    /// The client.
    pub peer: Peer,
    /// The client's certificate, if only members are served.
    pub caller: Option<&'h PeerIdentity>,
    fields: Fields<'h>,
    head: &'h [u8],
}

#[derive(Debug, Clone, Copy)]
enum Fields<'h> {
    Lines(&'h [Header<'h>]),
    Map(&'h HeaderMap),
}

impl<'h> RequestView<'h> {
    pub(super) fn of(
        lines: &RequestLines<'h>,
        (peer, caller): (Peer, Option<&'h PeerIdentity>),
    ) -> Option<Self> {
        let is_head = match lines.method {
            "GET" => false,
            "HEAD" => true,
            _ => return None,
        };
        if lines.minor != 1 || !lines.target.starts_with('/') {
            return None;
        }
        let mut host = None;
        for field in lines.fields {
            let is = |name: &str| field.name.eq_ignore_ascii_case(name);
            match field.name.len() {
                4 if is("host") && host.replace(field.value).is_some() => return None,
                10 if is("connection") && !field.value.eq_ignore_ascii_case(b"keep-alive") => return None,
                6 if is("expect") => return None,
                7 if is("upgrade") || is("trailer") => return None,
                14 if is("content-length") => return None,
                17 if is("transfer-encoding") => return None,
                _ => {}
            }
        }
        let fields = Fields::Lines(lines.fields);
        Some(Self { is_head, target: lines.target, host: host?, peer, caller, fields, head: lines.head })
    }

    pub(super) fn of_fields(
        method: &Method,
        uri: &'h Uri,
        fields: &'h HeaderMap,
        (peer, caller): (Peer, Option<&'h PeerIdentity>),
    ) -> Option<Self> {
        let is_head = match *method {
            Method::GET => false,
            Method::HEAD => true,
            _ => return None,
        };
        let host = uri.authority()?.as_str().as_bytes();
        let is_other = |other: &HeaderValue| other.as_bytes() != host;
        let has = |name| fields.contains_key(name);
        if fields.get_all(HOST).iter().any(is_other) || has(CONTENT_LENGTH) || has(EXPECT) || has(TRAILER) {
            return None;
        }
        let target = uri.path_and_query()?.as_str();
        Some(Self { is_head, target, host, peer, caller, fields: Fields::Map(fields), head: &[] })
    }

    /// The complete head of an HTTP/1.1 request; empty for other versions.
    pub fn head(&self) -> &'h [u8] {
        self.head
    }

    /// A copy of an HTTP/1.1 request; its interim responses are sent through `interim`.
    pub fn original(&self, interim: Interim) -> Original {
        Original::new(self.head, self.peer, interim)
    }

    /// The header fields, in order for HTTP/1.1: names as received, values without surrounding white
    /// space.
    pub fn fields(&self) -> impl Iterator<Item = (&'h str, &'h [u8])> {
        let (lines, map) = match self.fields {
            Fields::Lines(lines) => (lines, None),
            Fields::Map(map) => (&[][..], Some(map)),
        };
        let of_map = map.into_iter().flatten().map(|(name, value)| (name.as_str(), value.as_bytes()));
        lines.iter().map(|field| (field.name, field.value)).chain(of_map)
    }
}
