//! URLs of redirects and rewrites, made from a template and a request.

use std::borrow::Cow;

use http_cache::path;
use http_stack::{HeaderValue, StatusCode, Uri, header};

use super::template::{Part, Template, TemplateError, Values};

/// A redirect to a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub(crate) to: Target,
    pub(crate) status: StatusCode,
}

/// A template of a URL, or of a path with or without a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) template: Template,
    /// Whether the request's query is added.
    keeps_query: bool,
}

impl Redirect {
    pub(crate) const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

    /// RFC 9110 section 15.4.3. Browsers store a 301 or 308 permanently, so a mistake in one stays.
    pub(crate) const DEFAULT_STATUS: StatusCode = StatusCode::FOUND;

    pub(crate) fn location(&self, values: &Values<'_>) -> Option<HeaderValue> {
        let location = encoded(&self.to.render(values)).into_owned();
        HeaderValue::try_from(without_authority(&location).into_owned()).ok()
    }
}

impl Target {
    /// `keep_query` is `None` for the default: a target without a query gets the request's query.
    pub(crate) fn redirect(
        text: &str,
        captures: usize,
        keep_query: Option<bool>,
    ) -> Result<Self, TemplateError> {
        let target = Self::parse(text, captures, keep_query)?;
        target.check_authority(text)?;
        Ok(target)
    }

    pub(crate) fn rewrite(text: &str, captures: usize) -> Result<Self, TemplateError> {
        let target = Self::parse(text, captures, None)?;
        let fail = |message: &str| Err(TemplateError { offset: 0, message: message.to_owned() });
        match target.template.parts().first() {
            Some(Part::Literal(literal)) if literal.starts_with('/') => {}
            Some(Part::Path | Part::Target) => {}
            _ => return fail("a rewrite is a path that begins with /, for example \"/v2/${1}\""),
        }
        if let Some(at) = text.find('#') {
            return Err(TemplateError {
                offset: at,
                message: "a fragment is not sent to an origin".to_owned(),
            });
        }
        Ok(target)
    }

    fn parse(text: &str, captures: usize, keep_query: Option<bool>) -> Result<Self, TemplateError> {
        let template = Template::parse(text, captures)?;
        let is_plain = |letter: char| letter.is_ascii_graphic() && !"\\\"<>^`".contains(letter);
        if let Some((offset, letter)) = text.char_indices().find(|(_, letter)| !is_plain(*letter)) {
            let message = format!("a URL cannot contain {letter:?}: write it percent-encoded");
            return Err(TemplateError { offset, message });
        }
        if template.contains(&Part::ClientAddress) {
            let offset = text.find("${client_ip}").unwrap_or_default();
            let message = "${client_ip} is for values of header fields, not for URLs".to_owned();
            return Err(TemplateError { offset, message });
        }
        let names_target = template.contains(&Part::Target);
        if names_target && keep_query == Some(true) {
            let message = "${uri} contains the query already: leave keep_query out".to_owned();
            return Err(TemplateError { offset: text.find("${uri}").unwrap_or_default(), message });
        }
        let names_query = names_target || template.contains(&Part::Query) || text.contains('?');
        Ok(Self { template, keeps_query: keep_query.unwrap_or(!names_query) })
    }

    /// A placeholder in front of the path must not let a request choose the host.
    fn check_authority(&self, text: &str) -> Result<(), TemplateError> {
        let fail = |offset: usize, message: &str| Err(TemplateError { offset, message: message.to_owned() });
        let parts = self.template.parts();
        let begin = match parts {
            [Part::Literal(literal), ..] if literal.starts_with("//") => None,
            [Part::Literal(literal), ..] if literal.starts_with('/') => return Ok(()),
            [Part::Path | Part::Target, ..] => return Ok(()),
            [Part::Literal(literal), rest @ ..] => {
                let lower = literal.to_ascii_lowercase();
                let scheme = ["https://", "http://"].into_iter().find(|scheme| lower.starts_with(scheme));
                scheme.map(|scheme| (&literal[scheme.len()..], rest))
            }
            [Part::Scheme, Part::Literal(literal), rest @ ..] => {
                literal.strip_prefix("://").map(|authority| (authority, rest))
            }
            _ => None,
        };
        let Some((mut authority, mut rest)) = begin else {
            return fail(0, "expected a URL that begins with https://, http:// or ${scheme}://, or a path");
        };
        let mut is_empty = true;
        loop {
            if authority.contains('@') && !authority[..authority.find('@').unwrap_or(0)].contains(ENDS) {
                return fail(text.find('@').unwrap_or(0), "the URL of a redirect has no user");
            }
            is_empty &= authority.is_empty() || authority.starts_with(ENDS);
            if authority.contains(ENDS) {
                break;
            }
            match rest {
                [] | [Part::Path | Part::Target, ..] => break,
                [Part::Host, after @ ..] => (authority, rest, is_empty) = ("", after, false),
                [Part::Literal(literal), after @ ..] => (authority, rest) = (literal.as_str(), after),
                [other, ..] => {
                    let name = Template::of(other.clone()).to_string();
                    let message = format!("{name} could change the host: write / between the host and it");
                    return fail(text.find(&name).unwrap_or(0), &message);
                }
            }
        }
        if is_empty { fail(0, "the URL has no host") } else { Ok(()) }
    }

    fn render(&self, values: &Values<'_>) -> String {
        let mut text = self.template.render(values);
        if self.template.contains(&Part::Query) && values.url.query().is_none() && text.ends_with('?') {
            text.pop();
        }
        let Some(query) = values.url.query().filter(|query| self.keeps_query && !query.is_empty()) else {
            return text;
        };
        let end = text.find('#').unwrap_or(text.len());
        let fragment = text.split_off(end);
        text.push(if text.contains('?') { '&' } else { '?' });
        text + query + &fragment
    }

    /// Returns the URL with another path and query, in normal form. `None` if it becomes too long.
    pub(crate) fn rewritten(&self, values: &Values<'_>) -> Option<Uri> {
        let target = self.render(values);
        let target = encoded(&target);
        let (path, query) =
            target.split_once('?').map_or((&*target, None), |(path, query)| (path, Some(query)));
        let path = path::normal(path);
        let target = query.map_or_else(|| path.to_string(), |query| format!("{path}?{query}"));
        let mut parts = values.url.clone().into_parts();
        parts.path_and_query = Some(target.try_into().ok()?);
        Uri::from_parts(parts).ok()
    }
}

/// The response fields of a redirect.
pub(crate) fn location_fields(location: HeaderValue) -> http_stack::HeaderMap {
    [(header::LOCATION, location), (header::CONTENT_LENGTH, 0.into())].into_iter().collect()
}

/// Browsers read `\` as `/`, and other characters may end a field or an attribute.
pub(crate) fn encoded(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend([byte >> 4, byte & 15].map(|digit| char::from(HEX[usize::from(digit)])));
        }
    }
    Cow::Owned(out)
}

/// A path that begins with `//` would name another host (RFC 3986 section 4.2).
fn without_authority(location: &str) -> Cow<'_, str> {
    if location.starts_with("//") {
        Cow::Owned(format!("/{}", location.trim_start_matches('/')))
    } else {
        Cow::Borrowed(location)
    }
}

const ENDS: [char; 3] = ['/', '?', '#'];

const HEX: [u8; 16] = *b"0123456789ABCDEF";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn location(to: &str, keep_query: Option<bool>, url: &str, captures: &[&str]) -> String {
        let url: Uri = url.parse().unwrap();
        let to = Target::redirect(to, captures.len(), keep_query).unwrap();
        let values = Values { url: &url, captures: captures.to_vec(), client: None };
        Redirect { to, status: StatusCode::FOUND }.location(&values).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn location_has_the_query_unless_the_target_names_one() {
        let url = "http://shop.example/a/b?c=d";
        for (to, keep_query, expected) in [
            ("https://www.example.com/new/${1}", None, "https://www.example.com/new/b?c=d"),
            ("/new", None, "/new?c=d"),
            ("/new", Some(false), "/new"),
            ("/new#top", None, "/new?c=d#top"),
            ("/new?x=y", None, "/new?x=y"),
            ("/new?x=y", Some(true), "/new?x=y&c=d"),
            ("/new?${query}", None, "/new?c=d"),
            ("https://${host}${uri}", None, "https://shop.example/a/b?c=d"),
            ("${scheme}://www.${host}${path}", None, "http://www.shop.example/a/b?c=d"),
            ("https://a.example", None, "https://a.example?c=d"),
        ] {
            assert_eq!(location(to, keep_query, url, &["b"]), expected, "{to}");
        }
        assert_eq!(location("/new?${query}", None, "http://shop.example/a", &[]), "/new");
        assert_eq!(location("/new", None, "http://shop.example/a?", &[]), "/new");
    }

    #[test]
    fn location_stays_on_the_host_of_the_target() {
        for (to, path, capture, expected) in [
            ("${path}", "//evil.example/", "", "/evil.example/"),
            ("${uri}", "///evil.example/", "", "/evil.example/"),
            ("/${1}", "/a", "/evil.example", "/evil.example"),
            ("/${1}", "/a", "\\evil.example", "/%5Cevil.example"),
            ("${path}", "/\\evil.example", "", "/%5Cevil.example"),
            ("https://a.example${path}", "//evil.example", "", "https://a.example//evil.example"),
            ("https://a.example/${1}", "/a", "@evil.example", "https://a.example/@evil.example"),
            ("/${1}", "/a", "<script>\"", "/%3Cscript%3E%22"),
        ] {
            let url = format!("http://shop.example{path}");
            assert_eq!(location(to, None, &url, &[capture]), expected, "{to} {path}");
        }
    }

    #[test]
    fn targets_with_a_variable_host_are_mistakes() {
        for (to, offset, message) in [
            ("https://a.example${1}", 17, "${1} could change the host"),
            ("https://${1}/", 8, "${1} could change the host"),
            ("https://a.example${query}", 17, "could change the host"),
            ("https://${host}@evil.example/", 15, "has no user"),
            ("${1}", 0, "expected a URL that begins"),
            ("//evil.example", 0, "expected a URL that begins"),
            ("ftp://a.example", 0, "expected a URL that begins"),
            ("javascript:x", 0, "expected a URL that begins"),
            ("new", 0, "expected a URL that begins"),
            ("", 0, "expected a URL that begins"),
            ("https:///a", 0, "has no host"),
            ("https://", 0, "has no host"),
            ("/a b", 2, "cannot contain ' '"),
            ("/\\a", 1, "cannot contain '\\\\'"),
            ("/\u{e9}", 1, "percent-encoded"),
            ("/${client_ip}", 1, "not for URLs"),
        ] {
            let error = Target::redirect(to, 1, None).unwrap_err();
            assert!(error.message.contains(message), "{to}: {}", error.message);
            assert_eq!(error.offset, offset, "{to}");
        }
        assert!(Target::redirect("/a${uri}", 0, Some(true)).unwrap_err().message.contains("keep_query"));
        for (to, message) in [("v2", "begins with /"), ("${1}", "begins with /"), ("/a#b", "fragment")] {
            let error = Target::rewrite(to, 1).unwrap_err();
            assert!(error.message.contains(message), "{to}: {}", error.message);
        }
    }

    #[test]
    fn rewritten_url_is_in_normal_form() {
        for (to, url, expected) in [
            ("/v2/${1}", "http://shop.example/a/b?c=d", "http://shop.example/v2/b?c=d"),
            ("/v2?x=${1}", "http://shop.example/a/b?c=d", "http://shop.example/v2?x=b"),
            ("/v2/../${1}", "http://shop.example/a/b", "http://shop.example/b"),
            ("/v2${uri}", "http://shop.example/a/b?c=d", "http://shop.example/v2/a/b?c=d"),
            ("${path}/index.html", "http://shop.example/a", "http://shop.example/a/index.html"),
            ("/%7Ea", "http://shop.example/a", "http://shop.example/~a"),
        ] {
            let target = Target::rewrite(to, 1).unwrap();
            let url: Uri = url.parse().unwrap();
            let values = Values { url: &url, captures: vec!["b"], client: None };
            assert_eq!(target.rewritten(&values).unwrap().to_string(), expected, "{to}");
        }
        let url: Uri = "http://shop.example/a".parse().unwrap();
        let long = "x".repeat(1 << 16);
        let values = Values { url: &url, captures: vec![&long], client: None };
        assert_eq!(Target::rewrite("/${1}", 1).unwrap().rewritten(&values), None);
    }

    proptest! {
        #[test]
        fn location_is_one_printable_field_on_its_host(
            path in "[/a\\\\.@:%?\u{e9}]{0,10}",
            capture in "[/a\\\\.@:\r\n\u{e9}\"]{0,10}",
        ) {
            if let Ok(url) = format!("http://shop.example/{path}").parse::<Uri>() {
                for to in ["${path}", "${uri}", "/${1}", "/a/${1}"] {
                    let to = Target::redirect(to, 1, None).unwrap();
                    let values = Values { url: &url, captures: vec![&capture], client: None };
                    let found = Redirect { to, status: StatusCode::FOUND }.location(&values).unwrap();
                    let found = found.to_str().unwrap();
                    prop_assert!(found.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\'), "{found}");
                    prop_assert!(found.starts_with('/') && !found.starts_with("//"), "{found}");
                }
            }
        }
    }
}
