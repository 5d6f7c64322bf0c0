//! Cache-Status: what a cache did with a request, for those who look (RFC 9211).

use std::fmt;

use http_types::HeaderName;

/// Why a request was sent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forward {
    /// The cache does not handle this request.
    Bypass,
    /// Its method has to reach the origin.
    Method,
    /// Nothing was stored for its URL.
    UriMiss,
    /// What was stored for its URL is for other requests.
    VaryMiss,
    /// What was stored is not all that is asked for.
    Partial,
    /// What was stored is stale, or has to be asked for each time.
    Stale,
    /// The client asked for it.
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

/// One cache's member of Cache-Status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheStatus {
    /// Which cache: the name of its data centre.
    pub cache: String,
    /// Why it was sent on; `None` is a hit.
    pub forward: Option<Forward>,
    /// What the origin said.
    pub forward_status: Option<u16>,
    /// Seconds until the response is stale; negative if it is.
    pub ttl: Option<i64>,
    /// Whether the response was stored.
    pub stored: bool,
    /// Whether it waited for another request's response.
    pub collapsed: bool,
    /// What else there is to say, in a word.
    pub detail: Option<&'static str>,
}

impl fmt::Display for CacheStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl CacheStatus {
    /// Where it stands.
    pub const FIELD: HeaderName = HeaderName::from_static("cache-status");

    /// As it stands there.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.cache.len() + ROOM);
        // A name that begins with a digit is no token (RFC 9651), but it can be a string.
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

/// Bytes of a member with all that is usual.
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
