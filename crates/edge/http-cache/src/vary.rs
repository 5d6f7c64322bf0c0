//! Selection of variants by Vary (RFC 9111 section 4.1).

use std::borrow::Cow;

use http_types::{
    HeaderMap, HeaderName, HeaderValue,
    header::{
        ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_LANGUAGE, COOKIE, FORWARDED, TE, VARY,
    },
};

use crate::directives::{elements, elements_of};

/// The request fields that selected a response, normalised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct VaryKey {
    fields: Vec<(HeaderName, Option<String>)>,
    language: Option<String>,
}

impl VaryKey {
    /// The selecting fields; `None` if the response matches no other request.
    pub fn of(request: &HeaderMap, response: &HeaderMap) -> Option<Self> {
        if response.get_all(VARY).iter().any(|line| line.to_str().is_err()) {
            return None;
        }
        let mut fields: Vec<(HeaderName, Option<String>)> = Vec::new();
        for name in elements(response, &VARY) {
            // The name is "*" or invalid.
            let name: HeaderName = name.parse().ok().filter(|_| name != "*")?;
            // The origin did not select by the client's value.
            if SET_BY_CACHES.contains(&name) {
                return None;
            }
            if fields.iter().all(|(known, _)| *known != name) {
                let value = normal(request, &name);
                fields.push((name, value));
            }
        }
        let languages = lines(response, &CONTENT_LANGUAGE);
        let mut languages = languages.iter().flat_map(|line| elements_of(line));
        let language = languages.next().filter(|_| languages.next().is_none()).map(str::to_ascii_lowercase);
        Some(Self { fields, language })
    }

    /// Whether the response matches this request.
    pub fn matches(&self, request: &HeaderMap) -> bool {
        self.fields.iter().all(|(name, value)| {
            normal(request, name) == *value || (*name == ACCEPT_LANGUAGE && self.is_first_choice(request))
        })
    }

    /// The names of the selecting fields.
    pub fn names(&self) -> impl Iterator<Item = &HeaderName> {
        self.fields.iter().map(|(name, _)| name)
    }

    /// The selecting fields with their normalised values, for storage.
    pub fn fields(&self) -> impl Iterator<Item = (&HeaderName, Option<&str>)> {
        self.fields.iter().map(|(name, value)| (name, value.as_deref()))
    }

    /// Bytes of the values, which clients control.
    pub fn bytes(&self) -> usize {
        self.fields.iter().map(|(_, value)| value.as_ref().map_or(0, String::len)).sum()
    }

    /// The language of the response, if it has exactly one.
    pub fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }

    /// Restores a selection from stored fields.
    pub fn again(fields: Vec<(HeaderName, Option<String>)>, language: Option<String>) -> Self {
        Self { fields, language }
    }

    fn is_first_choice(&self, request: &HeaderMap) -> bool {
        let Some(language) = &self.language else { return false };
        let lines = lines(request, &ACCEPT_LANGUAGE);
        match &weigh(lines.iter().flat_map(|line| elements_of(line)))[..] {
            [(first, weight)] => first == language && *weight > 0,
            [(first, best), (_, next), ..] => first == language && best > next,
            [] => false,
        }
    }
}

/// In a comparable form; `None` if the request lacks the field.
fn normal(request: &HeaderMap, name: &HeaderName) -> Option<String> {
    let lines = lines(request, name);
    if lines.is_empty() {
        return None;
    }
    let elements = lines.iter().flat_map(|line| elements_of(line));
    let mut weighed = match *name {
        // HTTP/2 may split a Cookie (RFC 9113 section 8.2.3).
        COOKIE => return Some(lines.join("; ")),
        // Credentials are not a list: they may contain commas and spaces.
        AUTHORIZATION => return Some(lines.join(", ")),
        ACCEPT_LANGUAGE | ACCEPT_ENCODING => weigh(elements),
        _ => return Some(elements.collect::<Vec<_>>().join(",")),
    };
    // Many origins select the first of equal weights.
    if *name == ACCEPT_ENCODING {
        // Servers select by acceptability, not by weight. `*` and the identity make unlisted
        // codings acceptable (RFC 9110 section 12.5.3).
        let has_any = weighed.iter().any(|(coding, weight)| coding == "*" && *weight > 0);
        weighed.retain(|(coding, weight)| *weight > 0 || has_any || matches!(&coding[..], "*" | "identity"));
        weighed.iter_mut().for_each(|(_, weight)| *weight = WHOLE * u16::from(*weight > 0));
        weighed.sort();
    }
    weighed.dedup();
    Some(weighed.iter().map(|(name, weight)| format!("{name};q={weight}")).collect::<Vec<_>>().join(","))
}

/// Non-ASCII bytes are read as Latin-1, so that different values stay different.
fn lines<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Vec<Cow<'h, str>> {
    headers.get_all(name).iter().map(text).collect()
}

fn text(value: &HeaderValue) -> Cow<'_, str> {
    match value.to_str() {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(value.as_bytes().iter().copied().map(char::from).collect()),
    }
}

/// Weights (RFC 9110 section 12.4.2) in thousandths, descending. Equal weights keep their order.
pub(crate) fn weighed(request: &HeaderMap, name: &HeaderName) -> Vec<(String, u16)> {
    weigh(elements(request, name))
}

fn weigh<'e>(elements: impl Iterator<Item = &'e str>) -> Vec<(String, u16)> {
    let mut weighed: Vec<_> = elements
        .map(|element| {
            let (value, parameters) = element.split_once(';').unwrap_or((element, ""));
            let weight = parameters.split(';').find_map(|parameter| {
                let (name, weight) = parameter.split_once('=')?;
                trimmed(name).eq_ignore_ascii_case("q").then(|| thousandths(trimmed(weight)))
            });
            (trimmed(value).to_ascii_lowercase(), weight.unwrap_or(WHOLE))
        })
        .collect();
    weighed.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    weighed
}

/// Unicode defines more whitespace than HTTP, also in Latin-1.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// "0.5" is 500. An invalid weight counts as 1.
fn thousandths(text: &str) -> u16 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{part:0<3}");
    match (whole, digits.get(..3).and_then(|digits| digits.parse::<u16>().ok())) {
        ("0", Some(part)) => part,
        _ => WHOLE,
    }
}

const WHOLE: u16 = 1000;

const SET_BY_CACHES: [HeaderName; 3] = [TE, FORWARDED, HeaderName::from_static("x-forwarded-for")];

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
        let selection = VaryKey::of(&headers(first), &headers(&[("vary", vary)])).unwrap();
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
        for star in ["*", "*, *", ", *", "Foo, *", "*, Foo", "TE", "Foo, Forwarded", "X-Forwarded-For"] {
            assert_eq!(VaryKey::of(&HeaderMap::new(), &headers(&[("vary", star)])), None, "{star}");
        }
    }

    #[test]
    fn values_with_the_same_meaning_are_equal() {
        assert!(matches("Foo", &[("foo", "1, 2")], &[("foo", "1"), ("foo", "2")]));
        assert!(matches("Foo", &[("foo", "1,2")], &[("foo", " 1, 2 ")]));
        let language = |value| [("accept-language", value)];
        assert!(matches("Accept-Language", &language("en, de"), &language("En , dE;q=1.0")));
        assert!(!matches("Accept-Language", &language("en, de;q=0.5"), &language("en;q=0.5, de")));
        let encoding = |value| [("accept-encoding", value)];
        assert!(matches("Accept-Encoding", &encoding("gzip, br;q=0.9"), &encoding("br, gzip")));
        assert!(!matches("Accept-Encoding", &encoding("gzip, br;q=0"), &encoding("br, gzip")));
    }

    #[test]
    fn variants_are_the_same_only_if_no_origin_could_tell_the_requests_apart() {
        type Lines = &'static [&'static [u8]];
        let request = |name: &'static str, lines: Lines| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(name, HeaderValue::from_bytes(line).unwrap());
            }
            headers
        };
        let cases: &[(&'static str, Lines, Lines, bool)] = &[
            ("accept-language", &[b"de, en"], &[b"en, de"], false),
            ("accept-language", &[b"de, en"], &[b"de", b"en"], true),
            ("accept-language", &[b"de;q=0.5, en;q=0.5"], &[b"en;q=0.5, de;q=0.5"], false),
            ("accept-language", &[b"en;q=0.5, de"], &[b"de, en;q=0.5"], true),
            ("accept-language", &[b"d\xe9"], &[b"d\xe8"], false),
            ("accept-language", &[b"de\xa0"], &[b"de"], false),
            ("accept-encoding", &[b"gzip, br"], &[b"br, gzip"], true),
            ("accept-encoding", &[b"gzip, br;q=0"], &[b"gzip"], true),
            ("accept-encoding", &[b"*"], &[b"br;q=0, *"], false),
            ("accept-encoding", &[b"zstd"], &[b"zstd, identity;q=0"], false),
            ("accept-encoding", &[b"gzip"], &[b"gzip, *;q=0"], false),
            ("accept-encoding", &[b"br;q=0, *;q=0.5"], &[b"*, br;q=0"], true),
            ("accept-encoding", &[b"gzip", b"\xe9"], &[b"gzip"], false),
            ("cookie", &[b"u=\xe9"], &[b"u=\xe8"], false),
            ("cookie", &[b"u=\xe9"], &[b"u=\xe9"], true),
            ("cookie", &[b"u=\xc3\xa9"], &[b"u=\xe9"], false),
            ("cookie", &[b"a=1", b"u=\xe9"], &[b"a=1"], false),
            ("cookie", &[b"u=\xe9"], &[], false),
            ("cookie", &[b"u=\xe9"], &[b""], false),
            ("cookie", &[b""], &[], false),
            ("cookie", &[b"a=1; b=2"], &[b"a=1", b"b=2"], true),
            ("cookie", &[b"a=1; b=2"], &[b"b=2; a=1"], false),
            ("cookie", &[b"a=1, b"], &[b"a=1,b"], false),
            ("authorization", &[b"Basic a,b"], &[b"Basic a, b"], false),
            ("x", &[b"\xe9, \xe8"], &[b"\xe9", b"\xe8"], true),
            ("x", &[b"\xe9"], &[b"\xe8"], false),
        ];
        for &(name, first, second, is_same) in cases {
            let selection =
                VaryKey::of(&request(name, first), &headers(&[("vary", name)])).expect("a list of names");
            assert_eq!(selection.matches(&request(name, second)), is_same, "{name} {first:?} {second:?}");
        }
    }

    #[test]
    fn a_vary_that_is_no_list_of_names_counts_as_a_star() {
        let cases: [&[&[u8]]; 6] = [
            &[b"caf\xe9"],
            &[b"accept", b"caf\xe9"],
            &[b"a b"],
            &[b"a;b"],
            &[b"\"accept\""],
            &[b"accept, (x)"],
        ];
        for lines in cases {
            let mut response = HeaderMap::new();
            for line in lines {
                response.append(VARY, HeaderValue::from_bytes(line).unwrap());
            }
            assert_eq!(VaryKey::of(&HeaderMap::new(), &response), None, "{lines:?}");
        }
    }

    #[test]
    fn the_language_that_is_wanted_most_is_the_right_one() {
        let (first, response) = (
            headers(&[("accept-language", "en, de")]),
            [("vary", "Accept-Language"), ("content-language", "de")],
        );
        let selection = VaryKey::of(&first, &headers(&response)).unwrap();
        assert!(selection.matches(&headers(&[("accept-language", "fr;q=0.5, de;q=1.0")])));
        assert!(!selection.matches(&headers(&[("accept-language", "fr, de")])));
        assert!(!selection.matches(&headers(&[("accept-language", "fr, de;q=0.9")])));
        assert!(!selection.matches(&headers(&[("accept-language", "de;q=0")])));
    }
}
