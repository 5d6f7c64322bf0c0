//! Which of the responses of one URL belongs to a request: Vary (RFC 9111 section 4.1).

use http_types::{
    HeaderMap, HeaderName,
    header::{ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_LANGUAGE, VARY},
};

use crate::directives::elements;

/// The fields of a request that its response was selected by, with what they come to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    fields: Vec<(HeaderName, Option<String>)>,
    /// The response's language, if it has one.
    language: Option<String>,
}

impl Selection {
    /// What selected this response; `None` if no other request can know that it would have (`Vary: *`).
    pub fn of(request: &HeaderMap, response: &HeaderMap) -> Option<Self> {
        let mut fields: Vec<(HeaderName, Option<String>)> = Vec::new();
        for name in elements(response, &VARY) {
            // Neither "*" nor anything that is not a name.
            let name: HeaderName = name.parse().ok().filter(|_| name != "*")?;
            if fields.iter().all(|(known, _)| *known != name) {
                let value = normal(request, &name);
                fields.push((name, value));
            }
        }
        let mut languages = elements(response, &CONTENT_LANGUAGE);
        let language = languages.next().filter(|_| languages.next().is_none()).map(str::to_ascii_lowercase);
        Some(Self { fields, language })
    }

    /// Whether this request would have selected it too.
    pub fn matches(&self, request: &HeaderMap) -> bool {
        self.fields.iter().all(|(name, value)| {
            normal(request, name) == *value || (*name == ACCEPT_LANGUAGE && self.is_first_choice(request))
        })
    }

    /// The fields that count.
    pub fn names(&self) -> impl Iterator<Item = &HeaderName> {
        self.fields.iter().map(|(name, _)| name)
    }

    /// The fields that count, with what they come to; to be kept elsewhere.
    pub fn fields(&self) -> impl Iterator<Item = (&HeaderName, Option<&str>)> {
        self.fields.iter().map(|(name, value)| (name, value.as_deref()))
    }

    /// The response's language, if it has one.
    pub fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }

    /// The same again, from what was kept of it.
    pub fn again(fields: Vec<(HeaderName, Option<String>)>, language: Option<String>) -> Self {
        Self { fields, language }
    }

    /// Whether the response has the language that the request prefers to all others: no negotiation would find a better one.
    fn is_first_choice(&self, request: &HeaderMap) -> bool {
        let weighed = weighed(request, &ACCEPT_LANGUAGE);
        let Some(language) = &self.language else { return false };
        match &weighed[..] {
            [(first, _)] => first == language,
            [(first, best), (_, next), ..] => first == language && best > next,
            [] => false,
        }
    }
}

/// A field's value such that two with the same meaning are equal; `None` if the request does not have it.
fn normal(request: &HeaderMap, name: &HeaderName) -> Option<String> {
    if !request.contains_key(name) {
        return None;
    }
    let mut weighed = match *name {
        ACCEPT_LANGUAGE | ACCEPT_ENCODING => weighed(request, name),
        _ => return Some(elements(request, name).collect::<Vec<_>>().join(",")),
    };
    if *name == ACCEPT_ENCODING {
        // Which codings are accepted is what servers go by, not how much.
        weighed.retain(|(_, weight)| *weight > 0);
        weighed.iter_mut().for_each(|(_, weight)| *weight = WHOLE);
    }
    weighed.sort();
    weighed.dedup();
    Some(weighed.iter().map(|(name, weight)| format!("{name};q={weight}")).collect::<Vec<_>>().join(","))
}

/// A list with weights (RFC 9110 section 12.4.2) in thousandths, the greatest first, in lower case.
pub(crate) fn weighed(request: &HeaderMap, name: &HeaderName) -> Vec<(String, u16)> {
    let mut weighed: Vec<_> = elements(request, name)
        .map(|element| {
            let (value, parameters) = element.split_once(';').unwrap_or((element, ""));
            let weight = parameters.split(';').find_map(|parameter| {
                let (name, weight) = parameter.split_once('=')?;
                name.trim().eq_ignore_ascii_case("q").then(|| thousandths(weight.trim()))
            });
            (value.trim().to_ascii_lowercase(), weight.unwrap_or(WHOLE))
        })
        .collect();
    weighed.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    weighed
}

/// "0.5" is 500; what is not a weight counts as a whole one.
fn thousandths(text: &str) -> u16 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{part:0<3}");
    match (whole, digits.get(..3).and_then(|digits| digits.parse::<u16>().ok())) {
        ("0", Some(part)) => part,
        _ => WHOLE,
    }
}

const WHOLE: u16 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn matches(vary: &str, first: &[(&'static str, &str)], second: &[(&'static str, &str)]) -> bool {
        let selection = Selection::of(&headers(first), &headers(&[("vary", vary)])).unwrap();
        selection.matches(&headers(second))
    }

    #[test]
    fn only_what_vary_names_counts() {
        let first = [("foo", "1"), ("other", "2")];
        assert!(matches("Foo", &first, &[("foo", "1"), ("other", "3")]));
        assert!(!matches("Foo", &first, &[("foo", "2")]));
        assert!(!matches("Foo", &first, &[]));
        assert!(!matches("Foo, Bar", &[("foo", "1")], &[("foo", "1"), ("bar", "")]));
        assert!(matches("Foo, Bar", &[("foo", "1")], &[("foo", "1")]));
    }

    #[test]
    fn a_star_is_for_nobody_else() {
        for star in ["*", "*, *", ", *", "Foo, *", "*, Foo"] {
            assert_eq!(Selection::of(&HeaderMap::new(), &headers(&[("vary", star)])), None, "{star}");
        }
    }

    #[test]
    fn values_with_the_same_meaning_are_equal() {
        assert!(matches("Foo", &[("foo", "1, 2")], &[("foo", "1"), ("foo", "2")]));
        assert!(matches("Foo", &[("foo", "1,2")], &[("foo", " 1, 2 ")]));
        let language = |value| [("accept-language", value)];
        assert!(matches("Accept-Language", &language("en, de"), &language("De , eN")));
        assert!(!matches("Accept-Language", &language("en, de;q=0.5"), &language("en;q=0.5, de")));
        let encoding = |value| [("accept-encoding", value)];
        assert!(matches("Accept-Encoding", &encoding("gzip, br;q=0.9"), &encoding("br, gzip")));
        assert!(!matches("Accept-Encoding", &encoding("gzip, br;q=0"), &encoding("br, gzip")));
    }

    #[test]
    fn the_language_that_is_wanted_most_is_the_right_one() {
        let (first, response) = (
            headers(&[("accept-language", "en, de")]),
            [("vary", "Accept-Language"), ("content-language", "de")],
        );
        let selection = Selection::of(&first, &headers(&response)).unwrap();
        assert!(selection.matches(&headers(&[("accept-language", "fr;q=0.5, de;q=1.0")])));
        assert!(!selection.matches(&headers(&[("accept-language", "fr, de")])));
        assert!(!selection.matches(&headers(&[("accept-language", "fr, de;q=0.9")])));
    }
}
