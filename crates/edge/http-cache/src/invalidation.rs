//! Invalidation by unsafe requests (RFC 9111 section 4.4, RFC 9875).

use http_types::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri,
    header::{CONTENT_LOCATION, LOCATION},
};
use sfv::{BareItem, ListEntry, Parser};

use crate::path;

/// The URLs that this response invalidates, in normal form: those of the request, Location and
/// Content-Location with the same origin. Empty for a safe method or an error.
pub fn urls(method: &Method, url: &Uri, status: StatusCode, response: &HeaderMap) -> Vec<Uri> {
    if is_safe(method) || !(status.is_success() || status.is_redirection()) {
        return Vec::new();
    }
    let lines = [LOCATION, CONTENT_LOCATION].map(|name| response.get_all(name));
    let named = lines.iter().flatten().filter_map(|value| resolve(url, value.as_bytes()));
    let same_origin = named.filter(|named| origin(named) == origin(url));
    std::iter::once(url.clone()).chain(same_origin).collect()
}

/// Whether Content-Location is the URL of the request (RFC 9110 section 9.3.3).
pub fn is_own_location(url: &Uri, response: &HeaderMap) -> bool {
    let mut locations = response.get_all(CONTENT_LOCATION).iter().peekable();
    let is_own = |location: &HeaderValue| {
        resolve(url, location.as_bytes()).is_some_and(|location| {
            origin(&location) == origin(url) && location.path_and_query() == url.path_and_query()
        })
    };
    locations.peek().is_some() && locations.all(is_own)
}

/// Whether a method is safe (IANA's HTTP Method Registry).
pub fn is_safe(method: &Method) -> bool {
    const OTHERS: [&str; 5] = ["PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH"];
    method.is_safe() || OTHERS.contains(&method.as_str())
}

/// The groups in `Cache-Groups`; empty if the field is invalid.
pub fn groups(response: &HeaderMap) -> Vec<String> {
    strings(response, &CACHE_GROUPS)
}

/// The groups that an unsafe request invalidates.
pub fn invalidated_groups(method: &Method, response: &HeaderMap) -> Vec<String> {
    if is_safe(method) { Vec::new() } else { strings(response, &CACHE_GROUP_INVALIDATION) }
}

fn strings(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let lines: Vec<_> = headers.get_all(name).iter().map(|line| line.as_bytes()).collect();
    let Ok(list) = Parser::new(&lines.join(&b","[..])).parse::<sfv::List>() else { return Vec::new() };
    let strings = list.into_iter().filter_map(|entry| match entry {
        ListEntry::Item(sfv::Item { bare_item: BareItem::String(text), .. }) => {
            Some(text.as_str().to_owned())
        }
        _ => None,
    });
    // RFC 9875 requires at least 32 groups of 32 characters.
    strings.filter(|group| group.len() <= LONGEST_GROUP).take(MOST_GROUPS).collect()
}

fn origin(url: &Uri) -> (Option<&str>, Option<String>, Option<u16>) {
    let usual = if url.scheme_str() == Some("https") { 443 } else { 80 };
    let host = url.host().map(|host| host.trim_end_matches('.').to_ascii_lowercase());
    (url.scheme_str(), host, Some(url.port_u16().unwrap_or(usual)))
}

/// RFC 3986 section 5.2. The result is in normal form and has no fragment.
fn resolve(base: &Uri, reference: &[u8]) -> Option<Uri> {
    let reference = String::from_utf8_lossy(reference);
    let reference = reference.trim().split('#').next().unwrap_or_default();
    if reference.is_empty() {
        return Some(base.clone());
    }
    let (reference, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(path::normal_encoding(query))),
        None => (reference, None),
    };
    let (own, authority) = (base.scheme_str()?, base.authority()?);
    let (scheme, rest) = match scheme_of(reference) {
        Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
        None => (None, reference),
    };
    let (authority, path) = match (rest.strip_prefix("//"), &scheme) {
        (Some(rest), _) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            (authority.rsplit('@').next().unwrap_or_default(), path.to_owned())
        }
        (None, Some(_)) => return None,
        (None, None) if rest.is_empty() => (authority.as_str(), base.path().to_owned()),
        (None, None) if rest.starts_with('/') => (authority.as_str(), rest.to_owned()),
        (None, None) => {
            let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            (authority.as_str(), format!("{folder}/{rest}"))
        }
    };
    let path = if path.is_empty() { "/".into() } else { path::normal(&path) };
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    let scheme = scheme.as_deref().unwrap_or(own);
    format!("{scheme}://{authority}{path}{query}").parse().ok()
}

/// RFC 3986 section 3.1.
fn scheme_of(reference: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = reference.split_once(':')?;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme =
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_letter);
    is_scheme.then_some((scheme, rest))
}

const CACHE_GROUPS: HeaderName = HeaderName::from_static("cache-groups");
const CACHE_GROUP_INVALIDATION: HeaderName = HeaderName::from_static("cache-group-invalidation");
const MOST_GROUPS: usize = 64;
const LONGEST_GROUP: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn references_mean_what_rfc_3986_says() {
        let base = "http://a/b/c/d?q".parse().unwrap();
        for (reference, expected) in [
            ("g", "http://a/b/c/g"),
            ("./g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g/h", "http://g/h"),
            ("?y", "http://a/b/c/d?y"),
            ("g?y#s", "http://a/b/c/g?y"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../../g", "http://a/g"),
            ("", "http://a/b/c/d?q"),
            ("https://x/", "https://x/"),
            ("HTTP://x", "http://x/"),
            ("/%7ex/../y?a=%2f", "http://a/y?a=%2F"),
            ("/login?next=http://x/", "http://a/login?next=http://x/"),
            ("http://user:pw@a:80/x", "http://a:80/x"),
            ("/caf\u{e9}", "http://a/caf%C3%A9"),
        ] {
            assert_eq!(resolve(&base, reference.as_bytes()).unwrap().to_string(), expected, "{reference}");
        }
    }

    #[test]
    fn only_what_changed_something_makes_urls_of_its_own_origin_invalid() {
        let url = "http://a/b/c".parse().unwrap();
        let response = headers(&[("location", "d"), ("content-location", "http://elsewhere/")]);
        let of = |method: &Method, status: u16| {
            urls(method, &url, StatusCode::from_u16(status).unwrap(), &response)
                .iter()
                .map(Uri::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&Method::POST, 201), ["http://a/b/c", "http://a/b/d"]);
        assert_eq!(of(&Method::from_bytes(b"M-SEARCH").unwrap(), 302), ["http://a/b/c", "http://a/b/d"]);
        assert!(of(&Method::POST, 500).is_empty());
        for safe in ["GET", "HEAD", "OPTIONS", "TRACE", "PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH"] {
            assert!(of(&Method::from_bytes(safe.as_bytes()).unwrap(), 200).is_empty(), "{safe}");
        }
    }

    #[test]
    fn a_location_of_the_same_origin_may_be_written_otherwise() {
        let url = "http://plain.test/form".parse().unwrap();
        for (location, is_same) in [
            ("http://plain.test:80/loc", true),
            ("http://PLAIN.test/loc", true),
            ("http://plain.test./loc", true),
            ("http://user@plain.test/loc", true),
            ("HTTP://plain.test/loc", true),
            ("//Plain.Test:80/./%6coc", true),
            ("/x/../loc", true),
            ("https://plain.test/loc", false),
            ("http://plain.test:8080/loc", false),
            ("http://plain.test@evil.test/loc", false),
            ("mailto:a@plain.test", false),
        ] {
            let named = urls(&Method::POST, &url, StatusCode::CREATED, &headers(&[("location", location)]));
            let paths: Vec<_> = named.iter().map(Uri::path).collect();
            assert_eq!(paths, if is_same { &["/form", "/loc"][..] } else { &["/form"] }, "{location}");
        }
    }

    #[test]
    fn a_response_can_say_that_it_is_the_resource() {
        let url = "http://a/b/c?d".parse().unwrap();
        for (location, is_own) in [
            ("/b/c?d", true),
            ("c?d", true),
            ("http://a/b/c?d", true),
            ("/b/c", false),
            ("https://a/b/c?d", false),
            ("http://A:80/b/./c?d", true),
        ] {
            assert_eq!(
                is_own_location(&url, &headers(&[("content-location", location)])),
                is_own,
                "{location}"
            );
        }
        assert!(!is_own_location(&url, &HeaderMap::new()));
        let mut two = headers(&[("content-location", "c?d")]);
        two.append(CONTENT_LOCATION, "c?d".parse().unwrap());
        assert!(is_own_location(&url, &two));
        two.append(CONTENT_LOCATION, "/b/c".parse().unwrap());
        assert!(!is_own_location(&url, &two));
    }

    #[test]
    fn groups_are_lists_of_strings() {
        let response =
            headers(&[("cache-groups", "\"a\", \"b c\";x=1, d"), ("cache-group-invalidation", "\"a\"")]);
        assert_eq!(groups(&response), ["a", "b c"]);
        assert_eq!(invalidated_groups(&Method::POST, &response), ["a"]);
        assert!(invalidated_groups(&Method::GET, &response).is_empty());
        assert!(groups(&headers(&[("cache-groups", "\"a")])).is_empty());
    }
}
