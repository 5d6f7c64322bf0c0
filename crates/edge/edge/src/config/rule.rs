//! Rules of a zone: conditions on requests and responses, and caching settings.

use std::{borrow::Cow, collections::BTreeMap, sync::LazyLock, time::Duration};

use http_cache::{Key, KeyRule, path, rule_lifetime};
use http_stack::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};

use super::{
    Pattern, Zone,
    match_result::MatchResult,
    path_pattern::{PathPattern, Readings},
};

/// Caching settings that override the origin's headers.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Position in the file, as file:line:column.
    pub place: String,
    pub(super) conditions: Conditions,
    /// Freshness lifetime in the edge.
    pub edge_ttl: Option<Duration>,
    /// Freshness lifetime in browsers.
    pub browser_ttl: Option<Duration>,
    /// Whether requests bypass the cache.
    pub is_bypass: bool,
    /// Parts of the cache key in addition to scheme, host and path.
    pub key: KeyRule,
}

/// Parts of a request that rules match.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    /// Method.
    pub method: &'a Method,
    /// URL with scheme and authority. Its path is in normal form.
    pub url: &'a Uri,
    /// Header fields.
    pub headers: &'a HeaderMap,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    path: Option<PathPattern>,
    host: Option<Pattern>,
    methods: Option<Vec<Method>>,
    statuses: Option<Vec<StatusCode>>,
    query: Vec<(String, Pattern)>,
    headers: Vec<(HeaderName, Pattern)>,
    cookies: Vec<(String, Pattern)>,
}

impl Conditions {
    pub(super) fn new(
        (path, host): (Option<&str>, Option<&str>),
        (methods, statuses): (Option<&[String]>, Option<Vec<u16>>),
        [query, headers, cookies]: [&BTreeMap<String, String>; 3],
    ) -> Result<Self, String> {
        let methods =
            methods.map(|methods| methods.iter().map(|name| method(name)).collect::<Result<_, _>>());
        let statuses =
            statuses.map(|statuses| statuses.iter().map(|&code| status(code)).collect::<Result<_, _>>());
        let headers = headers.iter().map(|(name, pattern)| {
            let parsed = name.parse().map_err(|_| format!("\"{name}\" is not a field's name"))?;
            Ok((parsed, Pattern::new(pattern)))
        });
        let pairs = |table: &BTreeMap<String, String>| {
            table.iter().map(|(name, pattern)| (name.clone(), Pattern::new(pattern))).collect()
        };
        Ok(Self {
            path: path.map(PathPattern::new),
            host: host.map(|host| Pattern::new(bare_host(host).to_ascii_lowercase().as_str())),
            methods: methods.transpose()?,
            statuses: statuses.transpose()?,
            query: pairs(query),
            headers: headers.collect::<Result<_, String>>()?,
            cookies: pairs(cookies),
        })
    }

    fn match_request(&self, input: RuleInput<'_>, readings: &Readings<'_>) -> MatchResult {
        if !self.methods.as_ref().is_none_or(|methods| methods.contains(input.method)) {
            return MatchResult::No;
        }
        let url = self.match_url(input.url, readings);
        if url == MatchResult::No {
            return MatchResult::No;
        }
        let headers = self.headers.iter().map(|(name, pattern)| match_field(input.headers, name, pattern));
        let cookies = self.cookies.iter().map(|(name, pattern)| {
            let lines = input.headers.get_all(header::COOKIE).iter().map(|line| line.as_bytes());
            let pairs = lines.flat_map(|line| line.split(|&byte| byte == b';')).map(pair);
            MatchResult::of_all(
                pairs
                    .filter(|(found, _)| *found == name.as_bytes())
                    .map(|(_, value)| pattern.matches_bytes(value)),
            )
        });
        headers.chain(cookies).fold(url, MatchResult::and)
    }

    fn match_url(&self, url: &Uri, readings: &Readings<'_>) -> MatchResult {
        let host = || bare_host(url.host().unwrap_or_default()).to_ascii_lowercase();
        if !self.host.as_ref().is_none_or(|pattern| pattern.matches(&host())) {
            return MatchResult::No;
        }
        let path = self.path.as_ref().map_or(MatchResult::Yes, |pattern| pattern.fit(readings));
        let query = url.query().unwrap_or_default();
        self.query
            .iter()
            .map(|(name, pattern)| match_parameter(query, name, pattern))
            .fold(path, MatchResult::and)
    }
}

/// The rule matches only some interpretations of a request. It bypasses the cache, because the
/// origin may interpret the request differently.
static UNCLEAR: LazyLock<Rule> = LazyLock::new(|| Rule {
    place: "unclear".to_owned(),
    conditions: Conditions::default(),
    edge_ttl: None,
    browser_ttl: None,
    is_bypass: true,
    key: KeyRule::default(),
});

impl Rule {
    /// Whether this is the bypass for requests of which a rule matches only some interpretations.
    pub fn is_unclear(&self) -> bool {
        std::ptr::eq(self, &*UNCLEAR)
    }
}

impl Rule {
    /// Returns the freshness lifetime of a response with this status. It applies to errors only if
    /// the rule lists their status.
    pub fn edge_ttl_for(&self, status: StatusCode) -> Option<Duration> {
        let ttl = self.edge_ttl?;
        if self.conditions.statuses.is_some() { Some(ttl) } else { rule_lifetime(status, ttl) }
    }
}

impl Zone {
    /// Returns the rule for a request before its response is known.
    pub fn rule_for(&self, input: RuleInput<'_>) -> Option<&Rule> {
        self.first(input, |conditions| conditions.statuses.is_none())
    }

    /// Returns the index of that rule, for [`Self::rule_at`].
    pub fn place_of(&self, rule: &Rule) -> usize {
        self.rules.iter().position(|other| std::ptr::eq(rule, other)).unwrap_or(usize::MAX)
    }

    /// Returns the rule at an index.
    pub fn rule_at(&self, place: usize) -> &Rule {
        self.rules.get(place).unwrap_or(&UNCLEAR)
    }

    fn first(&self, input: RuleInput<'_>, counts: impl Fn(&Conditions) -> bool) -> Option<&Rule> {
        let readings = Readings::of(input.url.path());
        for rule in self.rules.iter().filter(|rule| counts(&rule.conditions)) {
            match rule.conditions.match_request(input, &readings) {
                MatchResult::No => {}
                MatchResult::Maybe if !rule.is_bypass => return Some(&UNCLEAR),
                MatchResult::Maybe | MatchResult::Yes => return Some(rule),
            }
        }
        None
    }

    /// Returns the URLs in cache keys of all objects that requests for this URL may have stored,
    /// with and without rules. The path need not be in normal form.
    pub fn key_urls(&self, url: &Uri) -> Vec<String> {
        let Some(url) = normal(url) else { return Vec::new() };
        let readings = Readings::of(url.path());
        let rules = self.rules.iter().filter(|rule| !rule.is_bypass);
        let fitting = rules.filter(|rule| rule.conditions.match_url(&url, &readings) != MatchResult::No);
        let usual = KeyRule::default();
        let mut urls: Vec<String> = Vec::new();
        for key in std::iter::once(&usual).chain(fitting.map(|rule| &rule.key)) {
            let key = Key::of(&url, &HeaderMap::new(), key);
            if !urls.iter().any(|known| known == key.url()) {
                urls.push(key.url().to_owned());
            }
        }
        urls
    }

    /// Whether a rule has a condition on the status.
    pub fn looks_at_statuses(&self) -> bool {
        self.rules.iter().any(|rule| rule.conditions.statuses.is_some())
    }

    /// Returns the request fields on which rules and cache keys depend.
    pub fn looks_at(&self) -> impl Iterator<Item = &HeaderName> {
        self.rules.iter().flat_map(|rule| {
            let Conditions { headers, cookies, .. } = &rule.conditions;
            let named = headers.iter().map(|(name, _)| name).chain(rule.key.fields());
            named.chain((!cookies.is_empty()).then_some(&header::COOKIE))
        })
    }

    /// Returns the rule for a response with this status.
    pub fn rule_for_response(&self, input: RuleInput<'_>, status: StatusCode) -> Option<&Rule> {
        self.first(input, |conditions| {
            conditions.statuses.as_ref().is_none_or(|statuses| statuses.contains(&status))
        })
    }
}

/// Returns the URL with its path in normal form, or `None` if the URL becomes too long.
pub fn normal(url: &Uri) -> Option<Cow<'_, Uri>> {
    let Cow::Owned(path) = path::normal(url.path()) else { return Some(Cow::Borrowed(url)) };
    let target = match url.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut parts = url.clone().into_parts();
    parts.path_and_query = Some(target.try_into().ok()?);
    Some(Cow::Owned(Uri::from_parts(parts).ok()?))
}

fn bare_host(host: &str) -> &str {
    let end = if host.starts_with('[') { host.find(']').map(|end| end + 1) } else { host.find(':') };
    host[..end.unwrap_or(host.len())].trim_end_matches('.')
}

/// Matches the field lines separately and combined (RFC 9110, section 5.3).
fn match_field(headers: &HeaderMap, name: &HeaderName, pattern: &Pattern) -> MatchResult {
    let lines: Vec<_> = headers.get_all(name).iter().map(|value| value.as_bytes()).collect();
    match &lines[..] {
        [] => MatchResult::No,
        [line] => MatchResult::of_all(std::iter::once(pattern.matches_bytes(line))),
        lines => {
            let joined = pattern.matches_bytes(&lines.join(&b", "[..]));
            if joined {
                MatchResult::Yes
            } else {
                MatchResult::of_all(lines.iter().map(|line| pattern.matches_bytes(line)))
            }
        }
    }
}

/// Matches both the verbatim and the decoded value. Some origins also separate parameters by `;`.
fn match_parameter(query: &str, name: &str, pattern: &Pattern) -> MatchResult {
    let of = |pieces: &mut dyn Iterator<Item = &str>| {
        let pairs = pieces.map(|piece| piece.split_once('=').unwrap_or((piece, "")));
        let named = pairs.filter(|(found, _)| *path::decoded_field(found.trim()) == *name.as_bytes());
        MatchResult::of_all(named.map(|(_, value)| {
            let value = value.trim();
            pattern.matches(value) || pattern.matches_bytes(&path::decoded_field(value))
        }))
    };
    let usual = of(&mut query.split('&'));
    if !query.contains(';') {
        return usual;
    }
    match (usual, of(&mut query.split(['&', ';']))) {
        (one, other) if one == other => one,
        _ => MatchResult::Maybe,
    }
}

fn pair(text: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = text.splitn(2, |&byte| byte == b'=');
    let mut part = || parts.next().unwrap_or_default().trim_ascii();
    (part(), part())
}

fn method(name: &str) -> Result<Method, String> {
    Method::from_bytes(name.as_bytes()).map_err(|_| format!("\"{name}\" is not a method, such as \"GET\""))
}

fn status(code: u16) -> Result<StatusCode, String> {
    let status = StatusCode::from_u16(code).ok().filter(|status| !status.is_informational());
    status.ok_or_else(|| format!("{code} is not the status of a response: expected 200 to 999"))
}
