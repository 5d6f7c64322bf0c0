//! A zone's rules: which requests and responses they are for, and what they say.

use std::{collections::BTreeMap, time::Duration};

use cache::{KeyRule, rule_lifetime};
use http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};

use super::{Pattern, Zone};

/// What goes before what the origin says.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Where it is written: file:line:column.
    pub place: String,
    pub(super) conditions: Conditions,
    /// How long responses are fresh here.
    pub edge_ttl: Option<Duration>,
    /// How long browsers are told that they are.
    pub browser_ttl: Option<Duration>,
    /// Requests go to the origin, and nothing is stored.
    pub is_bypass: bool,
    /// What makes the key besides scheme, host and path.
    pub key: KeyRule,
}

/// What rules look at.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Its URL, with scheme and authority.
    pub url: &'a Uri,
    /// Its header.
    pub headers: &'a HeaderMap,
}

/// All of them have to be true.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    path: Option<Pattern>,
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
            path: path.map(Pattern::new),
            host: host.map(Pattern::new),
            methods: methods.transpose()?,
            statuses: statuses.transpose()?,
            query: pairs(query),
            headers: headers.collect::<Result<_, String>>()?,
            cookies: pairs(cookies),
        })
    }

    fn fit(&self, asked: Asked<'_>) -> bool {
        let is = |pattern: &Option<Pattern>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
        };
        is(&self.path, asked.url.path())
            && is(&self.host, asked.url.host().unwrap_or_default())
            && self.methods.as_ref().is_none_or(|methods| methods.contains(asked.method))
            && self.query.iter().all(|(name, pattern)| has(pairs(asked.url.query(), '&'), name, pattern))
            && self.headers.iter().all(|(name, pattern)| {
                asked
                    .headers
                    .get_all(name)
                    .iter()
                    .filter_map(|value| value.to_str().ok())
                    .any(|value| pattern.matches(value))
            })
            && self.cookies.iter().all(|(name, pattern)| {
                let lines =
                    asked.headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
                has(lines.flat_map(|line| pairs(Some(line), ';')), name, pattern)
            })
    }
}

impl Rule {
    /// How long a response with this status is fresh because of this rule: an error only if the rule names its status.
    pub fn edge_ttl_for(&self, status: StatusCode) -> Option<Duration> {
        let ttl = self.edge_ttl?;
        if self.conditions.statuses.is_some() { Some(ttl) } else { rule_lifetime(status, ttl) }
    }
}

impl Zone {
    /// The rule for a request before there is a response.
    pub fn rule_for(&self, asked: Asked<'_>) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.conditions.statuses.is_none() && rule.conditions.fit(asked))
    }

    /// Whether a rule is only for some statuses.
    pub fn looks_at_statuses(&self) -> bool {
        self.rules.iter().any(|rule| rule.conditions.statuses.is_some())
    }

    /// Fields of requests that its rules and keys depend on.
    pub fn looks_at(&self) -> impl Iterator<Item = &HeaderName> {
        self.rules.iter().flat_map(|rule| {
            let Conditions { headers, cookies, .. } = &rule.conditions;
            let looks_at_cookies = !cookies.is_empty() || !rule.key.cookies.is_empty();
            let named = headers.iter().map(|(name, _)| name).chain(&rule.key.headers);
            named.chain(looks_at_cookies.then_some(&header::COOKIE))
        })
    }

    /// The rule for a response with this status to such a request.
    pub fn rule_for_response(&self, asked: Asked<'_>, status: StatusCode) -> Option<&Rule> {
        self.rules.iter().find(|rule| {
            let Conditions { statuses, .. } = &rule.conditions;
            statuses.as_ref().is_none_or(|statuses| statuses.contains(&status)) && rule.conditions.fit(asked)
        })
    }
}

fn pairs(text: Option<&str>, separator: char) -> impl Iterator<Item = (&str, &str)> {
    text.unwrap_or_default()
        .split(separator)
        .map(|pair| pair.trim().split_once('=').unwrap_or((pair.trim(), "")))
}

fn has<'a>(mut pairs: impl Iterator<Item = (&'a str, &'a str)>, name: &str, pattern: &Pattern) -> bool {
    pairs.any(|(found, value)| found == name && pattern.matches(value))
}

fn method(name: &str) -> Result<Method, String> {
    Method::from_bytes(name.as_bytes()).map_err(|_| format!("\"{name}\" is not a method, such as \"GET\""))
}

fn status(code: u16) -> Result<StatusCode, String> {
    let status = StatusCode::from_u16(code).ok().filter(|status| !status.is_informational());
    status.ok_or_else(|| format!("{code} is not the status of a response: expected 200 to 999"))
}
