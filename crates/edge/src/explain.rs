//! Why a request would be answered as it would: its zone, rule and key, and what is stored for it.

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
    /// Explains what a GET for this URL without any special field would be answered with.
    ///
    /// # Errors
    /// When no such request would be let in: why.
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
                "Origins may read this URL in several ways, and a rule is for some of them: the origin is asked, and nothing is stored."
                    .to_owned()
            }
            (_, true) => "The rule says bypass: the origin is asked, and nothing is stored.".to_owned(),
            (Found::Nothing, _) if self.on_disk.as_ref().is_some_and(|disk| disk.may_have(&visit.key)) => {
                "It is not in memory; something is on disk under this key, which is looked at when somebody asks."
                    .to_owned()
            }
            (Found::Nothing, _) => "Nothing is stored under this key: the origin is asked.".to_owned(),
            (Found::OtherVariant, _) => {
                "What is stored is for requests with other fields (Vary): the origin is asked.".to_owned()
            }
            (Found::Object(object), _) => sentence(object, object.stored.reuse(visit.wishes, now), now),
            (Found::InParts(object, parts), _) => format!(
                "{} Of its {} bytes only {} are here: others come from the origin.",
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
        return "It was purged softly or made invalid: the origin is asked whether it has changed."
            .to_owned();
    }
    match reuse {
        Reuse::Fresh => {
            format!("It is {age} s old and fresh for {lifetime} s by {source}{target}: it is the answer.")
        }
        Reuse::WhileRevalidated => format!(
            "It is {age} s old and was fresh for {lifetime} s by {source}{target}; stale-while-revalidate allows it \
             to be the answer while the origin is asked."
        ),
        Reuse::Stale | Reuse::Validate if terms.control.no_cache => {
            "The response says no-cache: the origin is asked each time whether it has changed.".to_owned()
        }
        Reuse::Stale | Reuse::Validate => format!(
            "It is {age} s old and was fresh for {lifetime} s by {source}{target}: the origin is asked whether it has changed."
        ),
    }
}
