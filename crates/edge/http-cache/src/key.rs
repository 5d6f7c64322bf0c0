//! Cache keys.

mod query;
mod rule;

use std::{
    cmp::Ordering,
    fmt,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    sync::{Arc, LazyLock},
};

use http_types::{HeaderMap, Uri, header::COOKIE};

pub use self::rule::KeyRule;
use crate::path;

/// The URL, and the parts that the rule selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Computed once for all tables. It differs between processes.
    hash: u64,
    text: Arc<str>,
}

impl Key {
    /// The key of a request, whose URL has a normal path. Fields that may override the URL or the
    /// method are always included.
    pub fn of(url: &Uri, request: &HeaderMap, rule: &KeyRule) -> Self {
        let mut key = String::with_capacity(USUAL);
        push_base(&mut key, url, rule.host.as_deref());
        key.push_str(url.path());
        query::push(&mut key, url.query(), rule);
        for name in &rule.cookies {
            for pair in cookies(request, name) {
                push_bytes(&mut key, &[pair]);
            }
        }
        for name in &rule.headers {
            for value in request.get_all(name) {
                push_bytes(&mut key, &[name.as_str().as_bytes(), b":", value.as_bytes()]);
            }
        }
        if rule.device {
            push_bytes(&mut key, &[b"device:", rule::device(request).as_bytes()]);
        }
        for (name, value) in request {
            let (name, value) = (name.as_str(), value.as_bytes());
            if !overrides_request(name, value) {
                continue;
            }
            if name == FORWARDED {
                forwarded(value).for_each(|pair| push_bytes(&mut key, &[b"forwarded:", pair]));
            } else {
                push_bytes(&mut key, &[name.as_bytes(), b":", value]);
            }
        }
        Self { hash: HASHER.hash_one(&key), text: key.into() }
    }

    /// The URL in the key.
    pub fn url(&self) -> &str {
        self.text.split(SEPARATOR).next().unwrap_or_default()
    }

    /// The whole key.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text.replace(SEPARATOR, " "))
    }
}

fn push_base(key: &mut String, url: &Uri, host: Option<&str>) {
    key.push_str(url.scheme_str().unwrap_or("http"));
    let usual = if key.eq_ignore_ascii_case("https") { 443 } else { 80 };
    key.push_str("://");
    key.push_str(host.or(url.host()).unwrap_or_default().trim_end_matches('.'));
    key.make_ascii_lowercase();
    if let Some(port) = url.port_u16().filter(|&port| port != usual) {
        key.push(':');
        key.push_str(itoa::Buffer::new().format(port));
    }
}

/// PHP ends the name at `[` and NUL, and treats `.` and spaces as `_`; ASP.NET ignores case.
fn is_named(parameter: &str, name: &str) -> bool {
    let written = parameter.split('=').next().unwrap_or_default();
    if written == name {
        return true;
    }
    let plain = |text: &[u8]| -> Vec<u8> {
        let text = text.trim_ascii_start();
        let ends = |&(at, byte): &(usize, &u8)| at > 0 && matches!(byte, b'[' | b'\0');
        let end = text.iter().enumerate().find(ends).map_or(text.len(), |(at, _)| at);
        let alike = |byte: &u8| if matches!(byte, b'.' | b' ') { b'_' } else { byte.to_ascii_lowercase() };
        text[..end].iter().map(alike).collect()
    };
    let is_shorter = written.len() < name.len();
    !is_shorter && plain(&path::decoded_field(written)) == plain(name.as_bytes())
}

/// Whether common origins use this field instead of the host, path, scheme or method.
pub fn overrides_request(name: &str, value: &[u8]) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    match name.len() {
        6 => is("x-host"),
        9 => is(FORWARDED) && forwarded(value).next().is_some(),
        12 => is("x-url-scheme"),
        13 => is("x-http-method") || is("x-rewrite-url") || is("x-script-name"),
        14 => is("x-original-url") || is("x-original-uri"),
        15 => {
            ["x-forwarded-ssl", "x-forwarded-uri", "x-original-host", "front-end-https"].into_iter().any(is)
        }
        16 => is("x-forwarded-host") || is("x-forwarded-port") || is("x-forwarded-path"),
        17 => is("x-method-override"),
        18 => is("x-forwarded-scheme") || is("x-forwarded-prefix") || is("x-forwarded-server"),
        20 => is("x-forwarded-protocol") || is("x-http-host-override"),
        22 => is("x-http-method-override"),
        _ => false,
    }
}

/// RFC 7239 section 4. The addresses vary by client, and origins override nothing by them.
fn forwarded(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let pairs = value.split(|byte| b",;".contains(byte)).map(<[u8]>::trim_ascii);
    pairs.filter(|pair| {
        let name = pair.split(|&byte| byte == b'=').next().unwrap_or_default().trim_ascii();
        name.eq_ignore_ascii_case(b"host") || name.eq_ignore_ascii_case(b"proto")
    })
}

/// Non-ASCII bytes are read as Latin-1.
fn push_bytes(key: &mut String, parts: &[&[u8]]) {
    key.push(SEPARATOR);
    key.extend(parts.iter().copied().flatten().map(|&byte| char::from(byte)));
}

fn cookies<'a>(request: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a [u8]> {
    let lines = request.get_all(COOKIE).iter();
    let pairs = lines.flat_map(|line| line.as_bytes().split(|&byte| byte == b';')).map(<[u8]>::trim_ascii);
    pairs.filter(move |pair| {
        let found = pair.split(|&byte| byte == b'=').next().unwrap_or_default().trim_ascii_end();
        found == name.as_bytes() || std::str::from_utf8(found).is_ok_and(|found| is_named(found, name))
    })
}

const FORWARDED: &str = "forwarded";

static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

const USUAL: usize = 128;

/// URLs, cookies and fields cannot contain a line end.
const SEPARATOR: char = '\n';

#[cfg(test)]
mod tests {
    use http_types::HeaderName;

    use super::*;

    fn key(url: &str, rule: &KeyRule) -> String {
        let cookies = [(COOKIE, "a=1; b=2".parse().unwrap())].into_iter().collect();
        Key::of(&url.parse().unwrap(), &cookies, rule).to_string()
    }

    #[test]
    fn urls_with_the_same_meaning_have_one_key() {
        let rule = KeyRule::default();
        assert_eq!(key("HTTP://Shop.Example.:80/A?b=1", &rule), "http://shop.example/A?b=1");
        assert_ne!(key("http://shop.example/a", &rule), key("https://shop.example/a", &rule));
        assert_ne!(key("http://shop.example/a", &rule), key("http://shop.example:8080/a", &rule));
        assert_ne!(key("http://shop.example/a", &rule), key("http://shop.example/a?", &rule));
    }

    #[test]
    fn all_occurrences_of_a_chosen_part_count() {
        let rule = KeyRule {
            query: Some(vec!["v".into(), "w".into()]),
            cookies: vec!["lang".into()],
            headers: vec![HeaderName::from_static("x-dev")],
            ..KeyRule::default()
        };
        let of = |query: &str, fields: &[(&'static str, &[u8])]| {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.append(*name, http_types::HeaderValue::from_bytes(value).unwrap());
            }
            Key::of(&format!("http://a/{query}").parse().unwrap(), &headers, &rule).as_str().to_owned()
        };
        type Fields<'f> = &'f [(&'static str, &'f [u8])];
        let requests: &[(&str, Fields<'_>)] = &[
            ("", &[]),
            ("?v", &[]),
            ("?v=1", &[]),
            ("?v=2", &[]),
            ("?v=1&v=2", &[]),
            ("?v=2&v=1", &[]),
            ("?v=1&%76=2", &[]),
            ("?v=1&utm=a;v=2", &[]),
            ("?v=1&utm=b;w=2", &[]),
            ("?v=1;w=2&w=3", &[]),
            ("?w=3&v=1;w=2", &[]),
            ("?v=1&v[]=2", &[]),
            ("?v=1&+V=2", &[]),
            ("", &[("cookie", b"lang=")]),
            ("", &[("cookie", b"lang")]),
            ("", &[("cookie", b"lang=de")]),
            ("", &[("cookie", b"lang=de; lang=fr")]),
            ("", &[("cookie", b"lang=fr; lang=de")]),
            ("", &[("cookie", b"lang=de"), ("cookie", b"lang=en")]),
            ("", &[("cookie", b"lang=\xe9")]),
            ("", &[("cookie", b"lang=\xe8")]),
            ("", &[("x-dev", b"")]),
            ("", &[("x-dev", b"a")]),
            ("", &[("x-dev", b"a"), ("x-dev", b"b")]),
            ("", &[("x-dev", b"b"), ("x-dev", b"a")]),
            ("", &[("x-dev", b"a,b")]),
            ("", &[("x-dev", b"\xff")]),
        ];
        let keys: Vec<_> = requests.iter().map(|(query, fields)| of(query, fields)).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{key}");
        }
        assert_eq!(of("?w=2&utm=x&v=1", &[]), of("?v=1&w=2", &[]));
        assert_eq!(
            of("", &[("cookie", b"a=1; lang=de"), ("cookie", b"b=2")]),
            of("", &[("cookie", b"lang=de")])
        );
    }

    #[test]
    fn fields_that_may_take_the_place_of_the_url_count_always() {
        let of = |fields: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.append(*name, value.parse().unwrap());
            }
            Key::of(&"http://a/".parse().unwrap(), &headers, &KeyRule::default()).as_str().to_owned()
        };
        let requests: &[&[(&'static str, &str)]] = &[
            &[],
            &[("x-forwarded-host", "evil.test")],
            &[("x-forwarded-host", "a"), ("x-forwarded-host", "evil.test")],
            &[("x-host", "evil.test")],
            &[("x-original-url", "/admin")],
            &[("x-rewrite-url", "/admin")],
            &[("x-http-method-override", "DELETE")],
            &[("x-forwarded-scheme", "http")],
            &[("x-forwarded-port", "1")],
            &[("forwarded", "for=192.0.2.1;Host=evil.test")],
            &[("forwarded", "proto=http")],
        ];
        let keys: Vec<_> = requests.iter().map(|fields| of(fields)).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{key}");
        }
        for fields in [[("x-forwarded-for", "192.0.2.1")], [("forwarded", "for=192.0.2.1;by=_x")]] {
            assert_eq!(of(&fields), keys[0]);
        }
        let through = |client| format!("for={client};proto=https;host=a");
        assert_eq!(
            of(&[("forwarded", &through("192.0.2.1"))]),
            of(&[("forwarded", &through("192.0.2.2"))]),
            "clients of one proxy have one key"
        );
    }

    #[test]
    fn a_rule_chooses_parameters_cookies_and_fields() {
        let rule = KeyRule {
            query: Some(vec!["v".into(), "w".into()]),
            cookies: vec!["b".into()],
            ..KeyRule::default()
        };
        assert_eq!(key("http://a/?w=2&utm=x&v=1", &rule), "http://a/?v=1&w=2 b=2");
        let cookies = [(COOKIE, "b=2; b[x]=3; B=4; c=5; bb=6".parse().unwrap())].into_iter().collect();
        let found = Key::of(&"http://a/".parse().unwrap(), &cookies, &rule).to_string();
        assert_eq!(found, "http://a/ b=2 b[x]=3 B=4");
        let alias = KeyRule { host: Some("a".into()), device: true, ..KeyRule::default() };
        assert_eq!(key("http://m.a:8080/?x", &alias), "http://a:8080/?x device:desktop");
        assert_eq!(key("http://a/", &KeyRule { query: Some(vec![]), ..KeyRule::default() }), "http://a/");
    }
}
