//! Parser for the directives of Cache-Control (RFC 9111 section 5.2) and fields with the same
//! grammar, and for lists of names.

use std::borrow::Cow;

use http_types::{HeaderMap, HeaderName, HeaderValue};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Directive<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: Option<Cow<'a, str>>,
}

pub(crate) fn directives<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = Directive<'a>> + use<'a> {
    elements(headers, name).filter_map(directive)
}

/// Elements of all lines of a field are separated by commas outside of quotes, and never empty.
pub(crate) fn elements<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = &'a str> + use<'a> {
    headers.get_all(name).iter().flat_map(texts_of).flat_map(elements_of)
}

/// Splits at bytes that are not UTF-8, so that the rest of the line is parsed.
fn texts_of(line: &HeaderValue) -> impl Iterator<Item = &str> {
    line.as_bytes().utf8_chunks().map(|chunk| chunk.valid())
}

pub(crate) fn elements_of(line: &str) -> impl Iterator<Item = &str> {
    Elements { rest: line }
}

struct Elements<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        while !self.rest.is_empty() {
            let end = end_of_element(self.rest);
            let element = self.rest[..end].trim_matches([' ', '\t']);
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if !element.is_empty() {
                return Some(element);
            }
        }
        None
    }
}

fn end_of_element(text: &str) -> usize {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, letter) in text.bytes().enumerate() {
        match letter {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// The words after a separator other than a comma, or in an unterminated quoted string.
pub(crate) fn misplaced<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let rest = |element: &'a str| match directive(element) {
        None => Some(element),
        Some(Directive { value: Some(value), .. }) if value.is_empty() => {
            element.split_once('=').map(|(_, rest)| rest)
        }
        Some(_) => None,
    };
    let words =
        |text: &'a str| text.split(|letter| u8::try_from(letter).map_or(true, |byte| !is_token(byte)));
    elements(headers, name).filter_map(rest).flat_map(words).filter(|word| !word.is_empty())
}

fn directive(element: &str) -> Option<Directive<'_>> {
    let (name, value) = match element.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (element, None),
    };
    let value = match value {
        Some(value) if value.starts_with('"') => Some(unquoted(value)?),
        Some(value) if value.bytes().all(is_token) && !value.is_empty() => Some(Cow::Borrowed(value)),
        // An invalid value: the directive is present without a value.
        Some(_) => Some(Cow::Borrowed("")),
        None => None,
    };
    (!name.is_empty() && name.bytes().all(is_token)).then_some(Directive { name, value })
}

/// RFC 9110 section 5.6.4; `None` if the string does not end at the end of the text.
fn unquoted(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains(['\\', '"']) {
        return Some(Cow::Borrowed(inner));
    }
    let mut plain = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return None,
            '\\' => plain.push(letters.next()?),
            _ => plain.push(letter),
        }
    }
    Some(Cow::Owned(plain))
}

fn is_token(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&letter)
}

#[cfg(test)]
mod tests {
    use http_types::header::CACHE_CONTROL;
    use proptest::prelude::*;

    use super::*;

    fn read(lines: &[&str]) -> Vec<(String, Option<String>)> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(CACHE_CONTROL, line.parse().unwrap());
        }
        let read = directives(&headers, &CACHE_CONTROL);
        read.map(|found| (found.name.to_owned(), found.value.map(Cow::into_owned))).collect()
    }

    fn expected(pairs: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect()
    }

    #[test]
    fn lists_are_read_over_lines_and_commas_in_quotes_belong_to_the_value() {
        let lines = ["max-age=60, private=\"a, b\"", " , no-cache,", "x=\"say \\\"hi\\\"\""];
        let pairs = [
            ("max-age", Some("60")),
            ("private", Some("a, b")),
            ("no-cache", None),
            ("x", Some("say \"hi\"")),
        ];
        assert_eq!(read(&lines), expected(&pairs));
    }

    #[test]
    fn what_is_not_a_directive_is_left_out() {
        assert_eq!(read(&["max-age =60, =5, a b, ok"]), expected(&[("ok", None)]));
        assert_eq!(read(&["max-age= 60"]), expected(&[("max-age", Some(""))]));
        assert_eq!(read(&["a=\"open"]), []);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[ -~]{0,60}") {
            read(&[&text]);
        }
    }
}
