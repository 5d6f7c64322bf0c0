//! What a request that changes something makes invalid (RFC 9111 section 4.4, RFC 9875).

use http_types::{
    HeaderMap, HeaderName, Method, StatusCode, Uri,
    header::{CONTENT_LOCATION, LOCATION},
};
use sfv::{BareItem, ListEntry, Parser};

/// The URLs that an answer to this request makes invalid: its own, and those of the same origin that Location and Content-Location
/// name. None if the method is safe or the answer an error.
pub fn urls(method: &Method, url: &Uri, status: StatusCode, response: &HeaderMap) -> Vec<Uri> {
    if method.is_safe() || !(status.is_success() || status.is_redirection()) {
        return Vec::new();
    }
    let named = [LOCATION, CONTENT_LOCATION]
        .into_iter()
        .filter_map(|name| resolve(url, response.get(name)?.to_str().ok()?));
    let same_origin = named.filter(|named| origin(named) == origin(url));
    std::iter::once(url.clone()).chain(same_origin).collect()
}

/// Whether a response says that it is what a GET of the same URL is answered with (RFC 9110 section 9.3.3).
pub fn is_own_location(url: &Uri, response: &HeaderMap) -> bool {
    let location = response.get(CONTENT_LOCATION).and_then(|location| location.to_str().ok());
    location.and_then(|location| resolve(url, location)).is_some_and(|location| location == *url)
}

/// The groups that a response belongs to (`Cache-Groups`); none if the field cannot be read.
pub fn groups(response: &HeaderMap) -> Vec<String> {
    strings(response, &CACHE_GROUPS)
}

/// The groups that an answer to a request that is not safe makes invalid (`Cache-Group-Invalidation`).
pub fn invalidated_groups(method: &Method, response: &HeaderMap) -> Vec<String> {
    if method.is_safe() { Vec::new() } else { strings(response, &CACHE_GROUP_INVALIDATION) }
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
    // RFC 9875 asks for at least 32 groups of 32 letters.
    strings.filter(|group| group.len() <= LONGEST_GROUP).take(MOST_GROUPS).collect()
}

fn origin(url: &Uri) -> (Option<&str>, Option<String>) {
    (url.scheme_str(), url.authority().map(|authority| authority.as_str().to_ascii_lowercase()))
}

/// What a reference means at a URL (RFC 3986 section 5.2); fragments are not sent and so not looked at.
fn resolve(base: &Uri, reference: &str) -> Option<Uri> {
    let reference = reference.split('#').next().unwrap_or_default();
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    if reference.contains("://") {
        return reference.parse().ok();
    }
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}").parse().ok();
    }
    if reference.is_empty() {
        return Some(base.clone());
    }
    let path = match path {
        "" => base.path().to_owned(),
        _ if path.starts_with('/') => without_dots(path),
        _ => {
            let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            without_dots(&format!("{folder}/{path}"))
        }
    };
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    format!("{scheme}://{authority}{path}{query}").parse().ok()
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<_> = path.split('/').skip(1).collect();
    for (at, &segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
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
        ] {
            assert_eq!(resolve(&base, reference).unwrap().to_string(), expected, "{reference}");
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
        assert!(of(&Method::GET, 200).is_empty());
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
        ] {
            assert_eq!(
                is_own_location(&url, &headers(&[("content-location", location)])),
                is_own,
                "{location}"
            );
        }
        assert!(!is_own_location(&url, &HeaderMap::new()));
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
