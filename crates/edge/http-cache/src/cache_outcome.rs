//! Parsing of Cache-Status (RFC 9211): how the caches handled a request.

use http_types::HeaderMap;

use crate::CacheStatus;

/// How the nearest cache handled the request, and the source of the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOutcome {
    /// "hit", "stale", "miss", "revalidated", "collapsed" or "bypass".
    pub cache: &'static str,
    /// The name of the cache with the hit, or "origin".
    pub tier: String,
}

impl CacheOutcome {
    /// Parses the field; `None` if it is missing or has no valid member.
    pub fn read(headers: &HeaderMap) -> Option<Self> {
        let lines = headers.get_all(CacheStatus::FIELD).iter().filter_map(|line| line.to_str().ok());
        let members: Vec<Member<'_>> =
            lines.flat_map(|line| split(line, b',')).filter_map(Member::read).collect();
        let nearest = members.last()?;
        // Members before a hit describe the request that stored the response.
        let stored = members.iter().rev().find(|member| member.is_hit);
        let tier = stored.map_or("origin", |member| member.name).to_owned();
        Some(Self { cache: nearest.word(), tier })
    }
}

struct Member<'s> {
    name: &'s str,
    is_hit: bool,
    is_collapsed: bool,
    forward: Option<&'s str>,
    forward_status: Option<&'s str>,
    ttl: Option<i64>,
}

impl<'s> Member<'s> {
    fn read(text: &'s str) -> Option<Self> {
        let mut parts = split(text, b';').map(str::trim);
        let name = parts.next()?.trim_matches('"');
        let mut member = Self {
            name: (!name.is_empty()).then_some(name)?,
            is_hit: false,
            is_collapsed: false,
            forward: None,
            forward_status: None,
            ttl: None,
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, "?1"));
            match key.trim_end() {
                "hit" => member.is_hit = value != "?0",
                "collapsed" => member.is_collapsed = value != "?0",
                "fwd" => member.forward = Some(value),
                "fwd-status" => member.forward_status = Some(value),
                "ttl" => member.ttl = value.parse().ok(),
                _ => {}
            }
        }
        Some(member)
    }

    fn word(&self) -> &'static str {
        match (self.is_hit, self.forward) {
            (true, _) if self.ttl.is_some_and(|ttl| ttl < 0) => "stale",
            (true, _) => "hit",
            _ if self.is_collapsed => "collapsed",
            (_, Some("bypass" | "method")) => "bypass",
            (_, Some("stale" | "request")) if self.forward_status == Some("304") => "revalidated",
            _ => "miss",
        }
    }
}

fn split(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |sign: char| {
        let escapes = is_quoted && !is_escaped && sign == '\\';
        if sign == '"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = escapes;
        !is_quoted && sign == char::from(separator)
    })
}

#[cfg(test)]
mod tests {
    use http_types::HeaderValue;

    use super::*;

    fn read(lines: &[&str]) -> Option<(&'static str, String)> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("cache-status", HeaderValue::from_str(line).unwrap());
        }
        CacheOutcome::read(&headers).map(|status| (status.cache, status.tier))
    }

    #[test]
    fn the_last_member_is_the_nearest_cache() {
        for (lines, cache, tier) in [
            (&["lhr; hit; ttl=376"][..], "hit", "lhr"),
            (&["lhr; hit; ttl=-4; detail=stale"], "stale", "lhr"),
            (&["lhr; fwd=uri-miss; fwd-status=200; stored"], "miss", "origin"),
            (&["lhr; fwd=uri-miss; collapsed"], "collapsed", "origin"),
            (&["lhr; fwd=stale; fwd-status=304; stored"], "revalidated", "origin"),
            (&["lhr; fwd=bypass"], "bypass", "origin"),
            (&["fra; hit, lhr; fwd=uri-miss; stored"], "miss", "fra"),
            (&["fra; hit", "lhr; hit; ttl=3"], "hit", "lhr"),
            (&["\"a, b; c\"; hit=?1"], "hit", "a, b; c"),
            (&["a; detail=\"x\\\", y\"; hit"], "hit", "a"),
            (&["a; hit=?0; fwd=miss"], "miss", "origin"),
        ] {
            assert_eq!(read(lines), Some((cache, tier.to_owned())), "{lines:?}");
        }
        for lines in [&[][..], &[""], &[" , "], &["; hit"]] {
            assert_eq!(read(lines), None, "{lines:?}");
        }
    }
}
