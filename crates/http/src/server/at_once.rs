//! Requests that a handler can answer from memory, before anything is made of their lines.

use std::str;

use httparse::Header;
use hyper::{
    HeaderMap, Method, Uri,
    header::{CONTENT_LENGTH, EXPECT, HOST, HeaderValue, TRAILER},
};

use super::{interim::Interim, peer::Peer, relay::Original};
use crate::{Caller, http1::head::RequestLines};

/// A GET or HEAD without a body, on a connection that is kept: its fields as they came. That nothing in them says otherwise was looked
/// at; over HTTP/1.1, whether target and host are what they have to be was not.
#[derive(Debug, Clone, Copy)]
pub struct Glance<'h> {
    /// Whether only the head is wanted.
    pub is_head: bool,
    /// Its target; it begins with a slash.
    pub target: &'h str,
    /// Its only Host field, or its authority.
    pub host: &'h [u8],
    /// Who asks.
    pub peer: Peer,
    /// Whose certificate that one has shown, where only members are served.
    pub caller: Option<&'h Caller>,
    fields: Fields<'h>,
    /// All of an HTTP/1.1 request's head.
    head: &'h [u8],
}

#[derive(Debug, Clone, Copy)]
enum Fields<'h> {
    Lines(&'h [Header<'h>]),
    Map(&'h HeaderMap),
}

impl<'h> Glance<'h> {
    /// `None` if the request may be anything else.
    pub(super) fn of(lines: &RequestLines<'h>, (peer, caller): (Peer, Option<&'h Caller>)) -> Option<Self> {
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

    /// The same of a request over HTTP/2 or HTTP/3, of which is known that no body follows.
    pub(super) fn of_fields(
        method: &Method,
        uri: &'h Uri,
        fields: &'h HeaderMap,
        (peer, caller): (Peer, Option<&'h Caller>),
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

    /// All of an HTTP/1.1 request's head, of which its lines are; of another one, nothing.
    pub fn head(&self) -> &'h [u8] {
        self.head
    }

    /// A copy of an HTTP/1.1 request, whose interim responses go there.
    pub fn original(&self, interim: Interim) -> Original {
        Original::new(self.head, self.peer, interim)
    }

    /// The header's fields, those of HTTP/1.1 in their order: names as they were written, values without the white space around them.
    pub fn fields(&self) -> impl Iterator<Item = (&'h str, &'h [u8])> {
        let (lines, map) = match self.fields {
            Fields::Lines(lines) => (lines, None),
            Fields::Map(map) => (&[][..], Some(map)),
        };
        let of_map = map.into_iter().flatten().map(|(name, value)| (name.as_str(), value.as_bytes()));
        lines.iter().map(|field| (field.name, field.value)).chain(of_map)
    }
}
