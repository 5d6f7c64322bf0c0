//! Generation of Cache-Status (RFC 9211).

use std::fmt;

use http_types::HeaderName;

/// Why a request was forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forward {
    /// The cache does not handle this request.
    Bypass,
    /// The method requires the origin.
    Method,
    /// There is no stored response for the URL.
    UriMiss,
    /// The stored responses do not match the request.
    VaryMiss,
    /// The stored response lacks requested bytes.
    Partial,
    /// The stored response is stale or must be validated.
    Stale,
    /// The client's directives require it.
    Request,
}

impl Forward {
    /// RFC 9211 section 2.2.
    const fn word(self) -> &'static str {
        match self {
            Self::Bypass => "bypass",
            Self::Method => "method",
            Self::UriMiss => "uri-miss",
            Self::VaryMiss => "vary-miss",
            Self::Partial => "partial",
            Self::Stale => "stale",
            Self::Request => "request",
        }
    }
}

/// A cache's member of Cache-Status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheStatus {
    /// The name of the cache: its data centre.
    pub cache: String,
    /// Why the request was forwarded; `None` is a hit.
    pub forward: Option<Forward>,
    /// The status of the origin's response.
    pub forward_status: Option<u16>,
    /// Seconds until the response becomes stale; negative if it is stale.
    pub ttl: Option<i64>,
    /// Whether the response was stored.
    pub stored: bool,
    /// Whether the request was collapsed with another one.
    pub collapsed: bool,
    /// Further information, a token.
    pub detail: Option<&'static str>,
}

impl fmt::Display for CacheStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl CacheStatus {
    /// The name of the field.
    pub const FIELD: HeaderName = HeaderName::from_static("cache-status");

    /// The text of the member.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.cache.len() + ROOM);
        // A token cannot begin with a digit (RFC 9651).
        let is_token = self.cache.starts_with(|letter: char| letter.is_ascii_alphabetic());
        let quote = if is_token { "" } else { "\"" };
        let mut add = |parts: [&str; 3]| parts.iter().for_each(|part| text.push_str(part));
        add([quote, &self.cache, quote]);
        match self.forward {
            None => add(["; hit", "", ""]),
            Some(forward) => add(["; fwd=", forward.word(), ""]),
        }
        if let Some(status) = self.forward_status {
            add(["; fwd-status=", itoa::Buffer::new().format(status), ""]);
        }
        if self.stored {
            add(["; stored", "", ""]);
        }
        if self.collapsed {
            add(["; collapsed", "", ""]);
        }
        if let Some(ttl) = self.ttl {
            add(["; ttl=", itoa::Buffer::new().format(ttl), ""]);
        }
        if let Some(detail) = self.detail {
            add(["; detail=", detail, ""]);
        }
        text
    }
}

const ROOM: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_written_as_the_rfc_has_it() {
        let hit = CacheStatus {
            cache: "lhr".into(),
            ttl: Some(-4),
            detail: Some("revalidating"),
            ..CacheStatus::default()
        };
        assert_eq!(hit.to_string(), "lhr; hit; ttl=-4; detail=revalidating");
        let miss = CacheStatus {
            cache: "1st".into(),
            forward: Some(Forward::UriMiss),
            forward_status: Some(200),
            stored: true,
            collapsed: true,
            ..CacheStatus::default()
        };
        assert_eq!(miss.to_string(), "\"1st\"; fwd=uri-miss; fwd-status=200; stored; collapsed");
    }
}
