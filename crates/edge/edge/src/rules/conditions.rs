//! Conditions of rules on requests and responses.

use std::{borrow::Cow, net::IpAddr};

use http_cache::path;
use http_stack::{HeaderMap, HeaderName, Method, Scheme, StatusCode, Uri, header};

use super::{
    address_list::AddressList,
    match_result::MatchResult,
    path_pattern::{PathPattern, Readings},
    pattern::Pattern,
};

/// Parts of a request that rules match.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    /// Method.
    pub method: &'a Method,
    /// URL with scheme and authority. Its path is in normal form.
    pub url: &'a Uri,
    /// Header fields.
    pub headers: &'a HeaderMap,
    /// Address of the client. If it is unknown, no condition on it matches.
    pub client: Option<IpAddr>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Conditions {
    pub(crate) path: Option<PathPattern>,
    pub(crate) host: Option<Pattern>,
    pub(crate) scheme: Option<Scheme>,
    pub(crate) clients: Option<AddressList>,
    pub(crate) methods: Option<Vec<Method>>,
    pub(crate) statuses: Option<Vec<StatusCode>>,
    pub(crate) query: Vec<(String, Pattern)>,
    pub(crate) headers: Vec<(HeaderName, Pattern)>,
    pub(crate) cookies: Vec<(String, Pattern)>,
    pub(crate) not: Option<Box<Self>>,
}

/// The URL of a request in the forms that conditions compare.
#[derive(Debug)]
pub(super) struct UrlForms<'u> {
    url: &'u Uri,
    host: Cow<'u, str>,
    pub(super) path: Readings<'u>,
}

impl<'u> UrlForms<'u> {
    pub(super) fn of(url: &'u Uri) -> Self {
        let host = bare_host(url.host().unwrap_or_default());
        let is_lower = !host.bytes().any(|letter| letter.is_ascii_uppercase());
        let host = if is_lower { Cow::Borrowed(host) } else { Cow::Owned(host.to_ascii_lowercase()) };
        Self { url, host, path: Readings::of(url.path()) }
    }
}

impl Conditions {
    pub(crate) fn host_pattern(host: &str) -> Pattern {
        Pattern::new(bare_host(host).to_ascii_lowercase().as_str())
    }

    /// The second value is whether another client address may have another result.
    pub(super) fn match_request(&self, input: RuleInput<'_>, forms: &UrlForms<'_>) -> (MatchResult, bool) {
        let mut fit = self.match_shared(input, forms);
        let mut is_client_specific = false;
        if fit == MatchResult::No {
            return (fit, is_client_specific);
        }
        if let Some(not) = &self.not {
            let (excluded, is_specific) = not.match_request(input, forms);
            is_client_specific |= is_specific;
            fit = fit.and(excluded.negated());
        }
        if let Some(clients) = &self.clients {
            is_client_specific = true;
            if !input.client.is_some_and(|client| clients.contains(client)) {
                fit = MatchResult::No;
            }
        }
        (fit, is_client_specific)
    }

    fn match_shared(&self, input: RuleInput<'_>, forms: &UrlForms<'_>) -> MatchResult {
        if !self.methods.as_ref().is_none_or(|methods| methods.contains(input.method)) {
            return MatchResult::No;
        }
        let url = self.match_own_url(forms);
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

    /// Whether some request for this URL may match.
    pub(super) fn match_url(&self, forms: &UrlForms<'_>) -> MatchResult {
        let fit = self.match_own_url(forms);
        match &self.not {
            Some(not) if not.reads_only_url() => fit.and(not.match_url(forms).negated()),
            _ => fit,
        }
    }

    fn match_own_url(&self, forms: &UrlForms<'_>) -> MatchResult {
        let is_scheme = |scheme: &Scheme| forms.url.scheme_str() == Some(scheme.name());
        if !self.host.as_ref().is_none_or(|pattern| pattern.matches(&forms.host))
            || !self.scheme.as_ref().is_none_or(is_scheme)
        {
            return MatchResult::No;
        }
        let path = self.path.as_ref().map_or(MatchResult::Yes, |pattern| pattern.fit(&forms.path));
        let query = forms.url.query().unwrap_or_default();
        self.query
            .iter()
            .map(|(name, pattern)| match_parameter(query, name, pattern))
            .fold(path, MatchResult::and)
    }

    fn reads_only_url(&self) -> bool {
        let Self { clients, methods, statuses, headers, cookies, not, .. } = self;
        clients.is_none()
            && methods.is_none()
            && statuses.is_none()
            && headers.is_empty()
            && cookies.is_empty()
            && not.as_ref().is_none_or(|not| not.reads_only_url())
    }

    /// The request fields that the conditions read.
    pub(super) fn fields(&self) -> Vec<HeaderName> {
        let mut names: Vec<_> = self.headers.iter().map(|(name, _)| name.clone()).collect();
        names.extend((!self.cookies.is_empty()).then_some(header::COOKIE));
        names.extend(self.not.iter().flat_map(|not| not.fields()));
        names
    }

    /// A URL that matches the conditions on the URL, except those in `not`.
    pub(super) fn example(&self, scheme: Scheme, host: &str) -> Option<Uri> {
        let path = self.path.as_ref().map_or_else(|| "/x".to_owned(), PathPattern::example);
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        let host = self.host.as_ref().map_or_else(|| host.to_owned(), |pattern| pattern.filled("x"));
        let query: Vec<_> =
            self.query.iter().map(|(name, pattern)| format!("{name}={}", pattern.filled("x"))).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}://{host}{path}{mark}{}", scheme.name(), query.join("&")).parse().ok()
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

pub(super) fn bare_host(host: &str) -> &str {
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

pub(crate) fn method(name: &str) -> Result<Method, String> {
    Method::from_bytes(name.as_bytes()).map_err(|_| format!("\"{name}\" is not a method, such as \"GET\""))
}

pub(crate) fn status(code: u16) -> Result<StatusCode, String> {
    let status = StatusCode::from_u16(code).ok().filter(|status| !status.is_informational());
    status.ok_or_else(|| format!("{code} is not the status of a response: expected 200 to 999"))
}
