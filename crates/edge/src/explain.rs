//! Explains the handling of a request: zone, rule, cache key, and the stored object.

use std::sync::Arc;

use cache::Reuse;
use http::{Body, Request, Scheme, Uri, server::Peer};

use crate::{
    centre::Edge,
    network::Rule,
    operator::Explanation,
    store::{Found, Object},
    visit::Visit,
};

impl Edge {
    /// Explains the response to a GET request for this URL without special fields.
    ///
    /// # Errors
    /// The reason for which such a request would be refused.
    pub(crate) fn explain(self: &Arc<Self>, url: &Uri) -> Result<Explanation, String> {
        let scheme = match url.scheme_str() {
            Some("https") => Scheme::Https,
            Some("http") => Scheme::Http,
            _ => return Err(format!("\"{url}\" is not a URL that begins with http:// or https://")),
        };
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = url.clone();
        request.extensions_mut().insert(Peer { address: ([127, 0, 0, 1], 0).into(), scheme });
        let (visit, _) = Visit::admit(&self.network(), &self.centre, request)
            .map_err(|refusal| refusal.sentence.to_owned())?;
        let rule = visit.rule();
        let now = self.now();
        let found = self.store.find(&visit.key, &visit.headers);
        let purged_as: Vec<_> = visit.zone().key_urls(url);
        let why = match (&found, rule.is_some_and(|rule| rule.is_bypass)) {
            (_, true) if rule.is_some_and(Rule::is_unclear) => {
                "A rule matches only some interpretations of this URL: the request is forwarded and nothing is stored."
                    .to_owned()
            }
            (_, true) => "The rule is a bypass: the request is forwarded and nothing is stored.".to_owned(),
            (Found::Nothing, _) if self.on_disk.as_ref().is_some_and(|disk| disk.may_have(&visit.key)) => {
                "It is not in memory. The disk has an object with this key, which the next request looks up."
                    .to_owned()
            }
            (Found::Nothing, _) => "Nothing is stored under this key: the request is forwarded.".to_owned(),
            (Found::OtherVariant, _) => {
                "The stored variants are for requests with other fields (Vary): the request is forwarded.".to_owned()
            }
            (Found::Object(object), _) => sentence(object, object.stored.reuse(visit.wishes, now), now),
            (Found::InParts(object, parts), _) => format!(
                "{} Of its {} bytes, {} are stored: the others are fetched from the origin.",
                sentence(object, object.stored.reuse(visit.wishes, now), now),
                parts.length(),
                parts.bytes()
            ),
        };
        let terms = match &found {
            Found::Object(object) | Found::InParts(object, _) => Some(&object.stored.terms),
            Found::OtherVariant | Found::Nothing => None,
        };
        Ok(Explanation {
            zone: visit.zone().name.clone(),
            rule: rule.filter(|rule| !rule.is_unclear()).map(|rule| rule.place.clone()),
            purged_as: if purged_as == [visit.key.url()] { Vec::new() } else { purged_as },
            key: visit.key.to_string(),
            stored: terms.is_some(),
            fresh_for_s: terms.map(|terms| terms.seconds_left(now)),
            age_s: terms.map(|terms| terms.age(now).as_secs()),
            why,
        })
    }
}

fn sentence(object: &Object, reuse: Reuse, now: cache::Time) -> String {
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
