//! Explains the handling of a request: zone, rule, cache key, and the stored object.

use std::sync::Arc;

use http_cache::Reuse;
use http_stack::{Body, Request, Scheme, Uri, header, server::Peer};

use crate::{
    admin::api::{ExplainedRule, Explanation},
    config::Rule,
    request::context::RequestContext,
    server::node::Node,
    store::memory::{Lookup, Object},
};

impl Node {
    /// For a GET request without special fields. The error is the reason for which such a request
    /// would be refused.
    pub(crate) fn explain(self: &Arc<Self>, url: &Uri) -> Result<Explanation, String> {
        let scheme = match url.scheme_str() {
            Some("https") => Scheme::Https,
            Some("http") => Scheme::Http,
            _ => return Err(format!("\"{url}\" is not a URL that begins with http:// or https://")),
        };
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = url.clone();
        request.extensions_mut().insert(Peer { address: ([127, 0, 0, 1], 0).into(), scheme });
        let (context, _) = RequestContext::admit(&self.network(), &self.data_centre, request)
            .map_err(|rejection| rejection.message.to_owned())?;
        let rule = context.rule();
        let now = self.now();
        let found = self.store.find(&context.key, &context.headers);
        let purged_as: Vec<_> = context.zone().rules.key_urls(url);
        let rules = context.zone().rules.describe(context.matches());
        let rules = rules.map(|(place, effect, is_clear)| ExplainedRule {
            place: place.to_owned(),
            effect,
            is_ambiguous: !is_clear,
        });
        let rules: Vec<_> = rules.collect();
        let why = match (&found, rule.is_some_and(|rule| rule.is_bypass)) {
            _ if context.answer.is_some() => describe_answer(&context),
            (_, true) if rule.is_some_and(Rule::is_unclear) => {
                "A rule matches only some interpretations of this URL: the request is forwarded and nothing is stored."
                    .to_owned()
            }
            (_, true) => "The rule is a bypass: the request is forwarded and nothing is stored.".to_owned(),
            (Lookup::Absent, _) if self.disk.as_ref().is_some_and(|disk| disk.may_have(&context.key)) => {
                "It is not in memory. The disk has an object with this key, which the next request looks up."
                    .to_owned()
            }
            (Lookup::Absent, _) => "Nothing is stored under this key: the request is forwarded.".to_owned(),
            (Lookup::OtherVariant, _) => {
                "The stored variants are for requests with other fields (Vary): the request is forwarded.".to_owned()
            }
            (Lookup::Object(object), _) => describe_freshness(object, object.stored.reuse(context.wishes, now), now),
            (Lookup::Partial(object, parts), _) => format!(
                "{} Of its {} bytes, {} are stored: the others are fetched from the origin.",
                describe_freshness(object, object.stored.reuse(context.wishes, now), now),
                parts.length(),
                parts.bytes()
            ),
        };
        let terms = match &found {
            Lookup::Object(object) | Lookup::Partial(object, _) => Some(&object.stored.terms),
            Lookup::OtherVariant | Lookup::Absent => None,
        };
        Ok(Explanation {
            zone: context.zone().name.clone(),
            rule: rule.filter(|rule| !rule.is_unclear()).map(|rule| rule.place.clone()),
            purged_as: if purged_as == [context.key.url()] { Vec::new() } else { purged_as },
            rules,
            rewritten: (context.url != *context.original_url()).then(|| context.url.to_string()),
            key: context.key.to_string(),
            stored: terms.is_some(),
            fresh_for_s: terms.map(|terms| terms.seconds_left(now)),
            age_s: terms.map(|terms| terms.age(now).as_secs()),
            why,
        })
    }
}

/// For a request with a response of a rule.
fn describe_answer(context: &RequestContext) -> String {
    let Some(answer) = &context.answer else { return String::new() };
    let status = answer.response.status.as_u16();
    let location = answer.response.headers.get(header::LOCATION).and_then(|location| location.to_str().ok());
    match location {
        Some(location) => format!("The edge redirects with {status} to {location}, before the cache."),
        None => format!("A rule responds with {status}, before the cache."),
    }
}

fn describe_freshness(object: &Object, reuse: Reuse, now: http_cache::Time) -> String {
    let terms = &object.stored.terms;
    let (age, lifetime) = (terms.age(now).as_secs(), terms.lifetime.as_secs());
    let source = terms.source.phrase();
    let target = terms.control.target.as_ref().map_or_else(String::new, |target| format!(" in {target}"));
    if terms.outdated.is_some() && !terms.is_fresh(now) {
        return "It was soft-purged or invalidated: it is revalidated at the origin.".to_owned();
    }
    match reuse {
        Reuse::Fresh => {
            format!(
                "It is {age} s old and fresh for {lifetime} s by {source}{target}: it is served from the store."
            )
        }
        Reuse::WhileRevalidated => format!(
            "It is {age} s old and was fresh for {lifetime} s by {source}{target}; stale-while-revalidate allows it \
             to be served during revalidation."
        ),
        Reuse::Stale | Reuse::Validate if terms.control.no_cache => {
            "The response contains no-cache: it is revalidated at the origin for each request.".to_owned()
        }
        Reuse::Stale | Reuse::Validate => format!(
            "It is {age} s old and was fresh for {lifetime} s by {source}{target}: it is revalidated at the origin."
        ),
    }
}
