//! Requests that a handler can answer from memory, before anything is made of their lines.

use std::str;

use httparse::Header;

use super::peer::Peer;
use crate::http1::head::RequestLines;

/// A request without a body over HTTP/1.1, GET or HEAD, on a connection that is kept: its lines as they came. That nothing in them
/// says otherwise was looked at; whether target and host are what they have to be was not.
#[derive(Debug)]
pub struct Glance<'h> {
    /// Whether only the head is wanted.
    pub is_head: bool,
    /// Its target; it begins with a slash.
    pub target: &'h str,
    /// Its only Host field.
    pub host: &'h [u8],
    /// Who asks.
    pub peer: Peer,
    fields: &'h [Header<'h>],
}

impl<'h> Glance<'h> {
    /// `None` if the request may be anything else.
    pub(super) fn of(lines: &RequestLines<'h>, peer: Peer) -> Option<Self> {
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
        Some(Self { is_head, target: lines.target, host: host?, peer, fields: lines.fields })
    }

    /// The header's fields in their order: names as they were written, values without the white space around them.
    pub fn fields(&self) -> impl Iterator<Item = (&'h str, &'h [u8])> {
        self.fields.iter().map(|field| (field.name, field.value))
    }
}
