//! One rule of a zone: its conditions, its cache settings and its actions.

use std::{fmt::Write as _, net::IpAddr, sync::LazyLock, time::Duration};

use http_cache::{KeyRule, rule_lifetime};
use http_stack::{Scheme, StatusCode, Uri};

use super::{
    answer::FixedResponse,
    conditions::{Conditions, UrlForms, normal},
    cors::Cors,
    header_changes::HeaderChanges,
    match_result::MatchResult,
    target::{Redirect, Target},
    template::Values,
};

/// Cache settings that override the origin's headers, and actions.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// Position in the file, as file:line:column.
    pub place: String,
    pub(crate) conditions: Conditions,
    /// Freshness lifetime in the edge.
    pub edge_ttl: Option<Duration>,
    /// Freshness lifetime in browsers.
    pub browser_ttl: Option<Duration>,
    /// Whether requests bypass the cache.
    pub is_bypass: bool,
    /// Parts of the cache key in addition to scheme, host and path.
    pub key: KeyRule,
    pub(crate) has_key: bool,
    pub(crate) actions: Actions,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Actions {
    pub(crate) end: Option<EndAction>,
    pub(crate) rewrite: Option<Target>,
    pub(crate) request_headers: HeaderChanges,
    pub(crate) response_headers: HeaderChanges,
    pub(crate) cors: Option<Cors>,
}

/// An action that ends a request before the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EndAction {
    Redirect(Redirect),
    Respond(FixedResponse),
}

/// The rule matches only some interpretations of a request. It bypasses the cache, because the
/// origin may interpret the request differently.
pub(super) static UNCLEAR: LazyLock<Rule> =
    LazyLock::new(|| Rule { place: "unclear".to_owned(), is_bypass: true, ..Rule::default() });

impl Actions {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A refusal is the safe reading of an ambiguous request.
    pub(super) fn refuses(&self) -> bool {
        matches!(&self.end, Some(EndAction::Respond(response)) if response.status.as_u16() >= 400)
    }
}

impl Rule {
    /// Whether this is the bypass for requests of which a rule matches only some interpretations.
    pub fn is_unclear(&self) -> bool {
        std::ptr::eq(self, &*UNCLEAR)
    }

    /// A rule without settings and actions is an exception to the cache settings of later rules.
    pub(crate) fn decides_caching(&self) -> bool {
        self.edge_ttl.is_some()
            || self.browser_ttl.is_some()
            || self.is_bypass
            || self.has_key
            || self.actions.is_empty()
    }

    /// Returns the freshness lifetime of a response with this status. It applies to errors only if
    /// the rule lists their status.
    pub fn edge_ttl_for(&self, status: StatusCode) -> Option<Duration> {
        let ttl = self.edge_ttl?;
        if self.conditions.statuses.is_some() { Some(ttl) } else { rule_lifetime(status, ttl) }
    }

    pub(super) fn values<'v>(
        &self,
        url: &'v Uri,
        forms: &'v UrlForms<'_>,
        client: Option<IpAddr>,
    ) -> Values<'v> {
        let path = self.conditions.path.as_ref();
        Values { url, captures: path.map_or_else(Vec::new, |path| path.captures(&forms.path)), client }
    }

    pub(super) fn reads_client_in_values(&self) -> bool {
        self.actions.request_headers.reads_client() || self.actions.response_headers.reads_client()
    }

    /// Returns a URL and its redirect if the rule matches both, and the redirect of the redirect.
    /// `is_own` is whether the zone serves a host. Conditions on other parts than the URL are
    /// assumed to match again, except those on the method.
    pub(crate) fn redirect_loop(
        &self,
        host: &str,
        is_own: impl Fn(&str) -> bool,
    ) -> Option<(String, String)> {
        let Some(EndAction::Redirect(redirect)) = &self.actions.end else { return None };
        if self.conditions.methods.is_some() {
            return None;
        }
        let step = |url: &Uri| -> Option<Uri> {
            let url = normal(url)?;
            let forms = UrlForms::of(&url);
            if self.conditions.match_url(&forms) != MatchResult::Yes || !is_own(url.host()?) {
                return None;
            }
            let location = redirect.location(&self.values(&url, &forms, None))?;
            absolute(&url, location.to_str().ok()?)
        };
        [Scheme::Http, Scheme::Https].into_iter().find_map(|scheme| {
            let url = self.conditions.example(scheme, host)?;
            let first = step(&url)?;
            step(&step(&first)?)?;
            Some((url.to_string(), first.to_string()))
        })
    }

    /// Returns the settings and actions as one line.
    pub(crate) fn describe(&self) -> String {
        let mut parts = Vec::new();
        let actions = &self.actions;
        match &actions.end {
            Some(EndAction::Redirect(Redirect { to, status })) => {
                parts.push(format!("redirect to {} with {}", to.template, status.as_u16()));
            }
            Some(EndAction::Respond(response)) => {
                parts.push(format!("respond with {}", response.status.as_u16()));
            }
            None => {}
        }
        parts.extend(actions.rewrite.iter().map(|to| format!("rewrite to {}", to.template)));
        for (message, changes) in
            [("request", &actions.request_headers), ("response", &actions.response_headers)]
        {
            if !changes.is_empty() {
                parts.push(format!("{message} headers: {}", changes.describe()));
            }
        }
        parts.extend(actions.cors.as_ref().map(|_| "cors".to_owned()));
        parts.extend(self.is_bypass.then(|| "bypass".to_owned()));
        for (name, ttl) in [("edge_ttl", self.edge_ttl), ("browser_ttl", self.browser_ttl)] {
            parts.extend(ttl.map(|ttl| format!("{name} {}", units::duration::show(ttl))));
        }
        parts.extend(self.has_key.then(|| "key".to_owned()));
        if parts.is_empty() {
            parts.push("no setting: the origin's headers decide".to_owned());
        }
        let mut text = parts.join("; ");
        if let Some(statuses) = &self.conditions.statuses {
            let statuses: Vec<_> = statuses.iter().map(|status| status.as_str().to_owned()).collect();
            let _ = write!(text, " (for status {})", statuses.join(", "));
        }
        text
    }
}

fn absolute(base: &Uri, location: &str) -> Option<Uri> {
    let location = location.split('#').next().unwrap_or_default();
    if !location.starts_with('/') {
        return location.parse().ok();
    }
    format!("{}://{}{location}", base.scheme_str()?, base.authority()?).parse().ok()
}
