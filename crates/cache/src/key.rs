//! The name under which a response is found again.

use std::{
    cmp::Ordering,
    fmt,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    sync::{Arc, LazyLock},
};

use http_types::{HeaderMap, HeaderName, Uri, header::COOKIE};

/// Which parts of a request make its key, besides scheme, authority and path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyRule {
    /// Parameters of the query that count, in whatever order they come; `None` is the whole query as it stands.
    pub query: Option<Vec<String>>,
    /// Cookies whose values count.
    pub cookies: Vec<String>,
    /// Fields of the header whose values count.
    pub headers: Vec<HeaderName>,
}

/// The name of a resource in the store: its URL, and what else its rule counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Of the text, made once for all tables in which it is looked up. It is another one in each process.
    hash: u64,
    text: Arc<str>,
}

impl Key {
    /// The key of a request for this URL, which has a scheme and an authority.
    pub fn of(url: &Uri, request: &HeaderMap, rule: &KeyRule) -> Self {
        let mut key = String::with_capacity(USUAL);
        push_base(&mut key, url);
        key.push_str(url.path());
        match &rule.query {
            None => {
                if let Some(query) = url.query() {
                    key.push('?');
                    key.push_str(query);
                }
            }
            Some(names) => push_parameters(&mut key, url.query().unwrap_or_default(), names),
        }
        for name in &rule.cookies {
            push_extra(&mut key, name, cookie(request, name).unwrap_or_default());
        }
        for name in &rule.headers {
            let values: Vec<_> =
                request.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
            push_extra(&mut key, name.as_str(), &values.join(","));
        }
        Self { hash: HASHER.hash_one(&key), text: key.into() }
    }

    /// The URL's part of it.
    pub fn url(&self) -> &str {
        self.text.split(SEPARATOR).next().unwrap_or_default()
    }

    /// All of it.
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

/// Scheme and authority, such that two with the same meaning are equal.
fn push_base(key: &mut String, url: &Uri) {
    key.push_str(url.scheme_str().unwrap_or("http"));
    let usual = if key.eq_ignore_ascii_case("https") { 443 } else { 80 };
    key.push_str("://");
    key.push_str(url.host().unwrap_or_default().trim_end_matches('.'));
    key.make_ascii_lowercase();
    if let Some(port) = url.port_u16().filter(|&port| port != usual) {
        key.push(':');
        key.push_str(itoa::Buffer::new().format(port));
    }
}

/// The chosen parameters in the order of their names, as they stand.
fn push_parameters(key: &mut String, query: &str, names: &[String]) {
    let is_chosen = |parameter: &&str| {
        let name = parameter.split('=').next().unwrap_or_default();
        names.iter().any(|chosen| chosen == name)
    };
    let mut chosen: Vec<_> = query.split('&').filter(is_chosen).collect();
    chosen.sort_by_key(|parameter| parameter.split('=').next());
    for (at, parameter) in chosen.iter().enumerate() {
        key.push(if at == 0 { '?' } else { '&' });
        key.push_str(parameter);
    }
}

fn push_extra(key: &mut String, name: &str, value: &str) {
    key.push(SEPARATOR);
    key.push_str(name);
    key.push('=');
    key.push_str(value);
}

fn cookie<'a>(request: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = request.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(found, value)| (found == name).then_some(value))
}

static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Bytes of most keys.
const USUAL: usize = 128;

/// No URL, cookie or field can contain a line end.
const SEPARATOR: char = '\n';

#[cfg(test)]
mod tests {
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
    fn a_rule_chooses_parameters_cookies_and_fields() {
        let rule = KeyRule {
            query: Some(vec!["v".into(), "w".into()]),
            cookies: vec!["b".into()],
            ..KeyRule::default()
        };
        assert_eq!(key("http://a/?w=2&utm=x&v=1", &rule), "http://a/?v=1&w=2 b=2");
        assert_eq!(key("http://a/", &KeyRule { query: Some(vec![]), ..KeyRule::default() }), "http://a/");
    }
}
