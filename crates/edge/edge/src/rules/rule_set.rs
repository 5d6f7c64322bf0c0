//! The rules of a zone in order, and their decision about one request.
//!
//! Each request is matched once, in the data centre that it reaches first. The site settings come
//! first. Then the first redirect or fixed response ends the request, the first rewrite applies,
//! all header changes apply, and the first rule with cache settings decides about the cache.

use std::sync::Arc;

use http_cache::{Key, KeyRule};
use http_stack::{HeaderMap, HeaderName, StatusCode, Uri, header};
use tier_routing::KeyHash;

use super::{
    answer::{Answer, AnswerKind, FixedResponse},
    conditions::{RuleInput, UrlForms, normal},
    header_changes::HeaderChange,
    match_list::{Match, MatchList},
    match_result::MatchResult,
    response_changes::{ResponseChanges, StatusChanges},
    rule::{EndAction, Rule, UNCLEAR},
    site::SiteSettings,
    target::location_fields,
};

/// The rules of a zone, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    site: SiteSettings,
    hash: u64,
    fields: Vec<HeaderName>,
    transforms_requests: bool,
    has_rewrite: bool,
    has_status: bool,
}

/// The decision of the rules about a request.
#[derive(Debug, Default)]
pub(crate) struct Decision {
    pub(crate) matches: MatchList,
    pub(crate) answer: Option<Answer>,
    /// The rewritten URL.
    pub(crate) url: Option<Uri>,
    pub(crate) request_changes: Vec<HeaderChange>,
    pub(crate) response_changes: Option<Arc<ResponseChanges>>,
}

/// The rewritten URL, or the location of a redirect, is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnusableUrl;

impl RuleSet {
    pub(crate) fn new(rules: Vec<Rule>, site: SiteSettings) -> Self {
        let mut fields: Vec<HeaderName> = Vec::new();
        for rule in &rules {
            let depends_on_origin =
                rule.actions.cors.as_ref().is_some_and(super::cors::Cors::depends_on_origin);
            let named = rule.conditions.fields().into_iter().chain(rule.key.fields().cloned());
            for name in named.chain(depends_on_origin.then_some(header::ORIGIN)) {
                if !fields.contains(&name) {
                    fields.push(name);
                }
            }
        }
        let has_rewrite = rules.iter().any(|rule| rule.actions.rewrite.is_some());
        let changes_headers = rules.iter().any(|rule| !rule.actions.request_headers.is_empty());
        Self {
            hash: hash(&rules),
            fields,
            transforms_requests: has_rewrite || changes_headers,
            has_rewrite,
            has_status: rules.iter().any(|rule| rule.conditions.statuses.is_some()),
            rules,
            site,
        }
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether peers receive other requests than clients sent.
    pub(crate) fn transforms_requests(&self) -> bool {
        self.transforms_requests
    }

    /// Whether a rule has a condition on the status.
    pub(crate) fn has_status(&self) -> bool {
        self.has_status
    }

    /// Returns the request fields on which rules and cache keys depend.
    pub(crate) fn looks_at(&self) -> &[HeaderName] {
        &self.fields
    }

    /// Decides about a client's request.
    pub(crate) fn decide(&self, input: RuleInput<'_>) -> Result<Decision, UnusableUrl> {
        if self.rules.is_empty() && self.site == SiteSettings::default() {
            return Ok(Decision::default());
        }
        let forms = UrlForms::of(input.url);
        let matches = self.match_all(input, &forms);
        let mut decision = Decision {
            answer: self.answer(&matches, input, &forms)?,
            response_changes: self.response_changes(&matches, input, &forms),
            ..Decision::default()
        };
        if decision.answer.is_none() {
            decision.url = self.rewritten(&matches, input.url, &forms)?;
            for rule in self.clear_rules(&matches) {
                let values = rule.values(input.url, &forms, input.client);
                decision.request_changes.extend(rule.actions.request_headers.render(&values));
            }
        }
        Ok(Decision { matches, ..decision })
    }

    /// Decides about a request from a peer, which has applied the actions. `None` if the peer has
    /// other rules.
    pub(crate) fn decide_for_peer(&self, input: RuleInput<'_>, field: Option<&str>) -> Option<Decision> {
        let matches = match field {
            Some(field) => MatchList::from_field(field, self.hash, self.rules.len())?,
            None if self.transforms_requests => return None,
            None if self.rules.is_empty() => MatchList::default(),
            None => self.match_all(input, &UrlForms::of(input.url)),
        };
        Some(Decision { matches, ..Decision::default() })
    }

    fn match_all(&self, input: RuleInput<'_>, forms: &UrlForms<'_>) -> MatchList {
        let mut list = MatchList::default();
        for (place, rule) in self.rules.iter().enumerate() {
            let (fit, is_client_specific) = rule.conditions.match_request(input, forms);
            list.is_client_specific |= is_client_specific;
            if fit != MatchResult::No {
                list.is_client_specific |= rule.reads_client_in_values();
                list.entries.push(Match { rule: place, fit });
            }
        }
        list
    }

    /// The rules whose actions apply.
    fn clear_rules<'s>(&'s self, matches: &'s MatchList) -> impl Iterator<Item = &'s Rule> {
        let clear = matches.entries.iter().filter(|entry| entry.fit == MatchResult::Yes);
        clear.filter_map(|entry| self.rules.get(entry.rule))
    }

    fn answer(
        &self,
        matches: &MatchList,
        input: RuleInput<'_>,
        forms: &UrlForms<'_>,
    ) -> Result<Option<Answer>, UnusableUrl> {
        let answer = |kind, status, headers| {
            let body = http_stack::Bytes::new();
            Some(Answer { response: FixedResponse { status, headers, body }, kind })
        };
        if let Some(location) = self.site.location(input.url) {
            let status = StatusCode::PERMANENT_REDIRECT;
            return Ok(answer(AnswerKind::Redirect, status, location_fields(location)));
        }
        for entry in &matches.entries {
            let Some(rule) = self.rules.get(entry.rule) else { continue };
            let is_clear = entry.fit == MatchResult::Yes;
            let cors = rule.actions.cors.as_ref().filter(|_| is_clear);
            if let Some(fields) = cors.and_then(|cors| cors.preflight(input.method, input.headers)) {
                return Ok(answer(AnswerKind::Preflight, StatusCode::NO_CONTENT, fields));
            }
            match &rule.actions.end {
                Some(EndAction::Redirect(redirect)) if is_clear => {
                    let values = rule.values(input.url, forms, input.client);
                    let location = redirect.location(&values).ok_or(UnusableUrl)?;
                    return Ok(answer(AnswerKind::Redirect, redirect.status, location_fields(location)));
                }
                Some(EndAction::Respond(response)) if is_clear || rule.actions.refuses() => {
                    return Ok(Some(Answer { response: response.clone(), kind: AnswerKind::Respond }));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn rewritten(
        &self,
        matches: &MatchList,
        url: &Uri,
        forms: &UrlForms<'_>,
    ) -> Result<Option<Uri>, UnusableUrl> {
        let found = self.clear_rules(matches).find_map(|rule| Some((rule, rule.actions.rewrite.as_ref()?)));
        let Some((rule, to)) = found else { return Ok(None) };
        to.rewritten(&rule.values(url, forms, None)).map(Some).ok_or(UnusableUrl)
    }

    fn response_changes(
        &self,
        matches: &MatchList,
        input: RuleInput<'_>,
        forms: &UrlForms<'_>,
    ) -> Option<Arc<ResponseChanges>> {
        let changing = self.clear_rules(matches).filter(|rule| !rule.actions.response_headers.is_empty());
        let headers = changing.map(|rule| {
            let values = rule.values(input.url, forms, input.client);
            let statuses = rule.conditions.statuses.clone();
            StatusChanges { statuses, changes: rule.actions.response_headers.render(&values) }
        });
        let cors = self.clear_rules(matches).find_map(|rule| rule.actions.cors.as_ref());
        let changes = ResponseChanges {
            headers: headers.collect(),
            cors: cors.map(|cors| cors.grant(input.headers)),
            hsts: self.site.hsts_for(input.url),
        };
        (!changes.is_empty()).then(|| Arc::new(changes))
    }

    /// Returns the index of the rule whose cache settings apply, for [`Self::rule_at`]: before the
    /// response is known, or for a response with this status.
    pub(crate) fn cache_rule(&self, matches: &MatchList, status: Option<StatusCode>) -> Option<usize> {
        let is_unclear = |entry: &Match| {
            let is_maybe = entry.fit == MatchResult::Maybe;
            let rule = self.rules.get(entry.rule).filter(|_| is_maybe);
            rule.is_some_and(|rule| !rule.actions.is_empty() && !rule.actions.refuses())
        };
        if matches.entries.iter().any(is_unclear) {
            return Some(usize::MAX);
        }
        for Match { rule: place, fit } in &matches.entries {
            let Some(rule) = self.rules.get(*place) else { continue };
            let applies = match (&rule.conditions.statuses, status) {
                (None, _) => true,
                (Some(statuses), Some(status)) => statuses.contains(&status),
                (Some(_), None) => false,
            };
            if applies && rule.decides_caching() {
                let is_certain = *fit == MatchResult::Yes || rule.is_bypass;
                return Some(if is_certain { *place } else { usize::MAX });
            }
        }
        None
    }

    /// Returns the rule at an index.
    pub(crate) fn rule_at(&self, place: usize) -> &Rule {
        self.rules.get(place).unwrap_or(&UNCLEAR)
    }

    /// Returns place and effect of each matching rule, for `edge explain`. The last value is false
    /// for a rule that matches only some interpretations.
    pub(crate) fn describe<'s>(
        &'s self,
        matches: &'s MatchList,
    ) -> impl Iterator<Item = (&'s str, String, bool)> {
        matches.entries.iter().filter_map(|entry| {
            let rule = self.rules.get(entry.rule)?;
            Some((&*rule.place, rule.describe(), entry.fit == MatchResult::Yes))
        })
    }

    /// Returns the rule for a request before its response is known.
    pub fn rule_for(&self, input: RuleInput<'_>) -> Option<&Rule> {
        let matches = self.match_all(input, &UrlForms::of(input.url));
        self.cache_rule(&matches, None).map(|place| self.rule_at(place))
    }

    /// Returns the rule for a response with this status.
    pub fn rule_for_response(&self, input: RuleInput<'_>, status: StatusCode) -> Option<&Rule> {
        let matches = self.match_all(input, &UrlForms::of(input.url));
        self.cache_rule(&matches, Some(status)).map(|place| self.rule_at(place))
    }

    /// Returns the URL that the origin and the cache key get. `None` if no rule rewrites it.
    pub fn rewritten_url(&self, input: RuleInput<'_>) -> Option<Uri> {
        self.decide(input).ok()?.url
    }

    /// Returns the URLs in cache keys of all objects that requests for this URL may have stored,
    /// with and without rules. The URL may also be a rewritten one. Its path need not be in normal
    /// form.
    pub fn key_urls(&self, url: &Uri) -> Vec<String> {
        let Some(url) = normal(url) else { return Vec::new() };
        let forms = UrlForms::of(&url);
        let may_match = |rule: &&Rule| rule.conditions.match_url(&forms) != MatchResult::No;
        let targets =
            self.rules.iter().filter(may_match).filter_map(|rule| {
                rule.actions.rewrite.as_ref()?.rewritten(&rule.values(&url, &forms, None))
            });
        let targets: Vec<_> = std::iter::once(url.clone().into_owned()).chain(targets).collect();
        // The conditions apply to the URL before the rewrite, which a purge need not name.
        let rules = self.rules.iter().filter(|rule| !rule.is_bypass && rule.decides_caching());
        let keys = rules.filter(|rule| self.has_rewrite || may_match(rule)).map(|rule| &rule.key);
        let usual = KeyRule::default();
        let keys: Vec<_> = std::iter::once(&usual).chain(keys).collect();
        let mut urls: Vec<String> = Vec::new();
        for (target, key) in targets.iter().flat_map(|target| keys.iter().map(move |key| (target, key))) {
            let key = Key::of(target, &HeaderMap::new(), key);
            if !urls.iter().any(|known| known == key.url()) {
                urls.push(key.url().to_owned());
            }
        }
        urls
    }
}

/// The same in all data centres with the same rules and the same version.
fn hash(rules: &[Rule]) -> u64 {
    let parts: Vec<_> = rules
        .iter()
        .map(|Rule { place: _, conditions, edge_ttl, browser_ttl, is_bypass, key, has_key, actions }| {
            format!("{:?}", (conditions, edge_ttl, browser_ttl, is_bypass, key, has_key, actions))
        })
        .collect();
    KeyHash::of(parts.join("\n").as_bytes()).0
}
