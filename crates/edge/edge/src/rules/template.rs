//! Texts with placeholders such as `${1}` and `${host}`, which a request fills in.

use std::{fmt, net::IpAddr};

use http_stack::Uri;

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Literal(String),
    /// The text of a wildcard in the path condition, counted from 1.
    Capture(usize),
    Host,
    Path,
    Query,
    /// Path and query.
    Target,
    Scheme,
    ClientAddress,
}

/// A mistake in a template, with its byte offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateError {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

/// The request that fills in a template.
#[derive(Debug, Clone)]
pub(crate) struct Values<'v> {
    pub(crate) url: &'v Uri,
    pub(crate) captures: Vec<&'v str>,
    pub(crate) client: Option<IpAddr>,
}

impl Template {
    /// `captures` is the number of wildcards in the rule's path.
    pub(crate) fn parse(text: &str, captures: usize) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((literal, placeholder)) = rest.split_once("${") {
            let offset = text.len() - placeholder.len() - "${".len();
            let fail = |message: String| TemplateError { offset, message };
            let (name, after) = placeholder.split_once('}').ok_or_else(|| {
                fail("the placeholder has no closing brace: expected \"${host}\"".to_owned())
            })?;
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            parts.push(Part::named(name, captures).map_err(fail)?);
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Ok(Self(parts))
    }

    pub(super) fn of(part: Part) -> Self {
        Self(vec![part])
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.0
    }

    pub(crate) fn contains(&self, part: &Part) -> bool {
        self.0.contains(part)
    }

    pub(crate) fn has_placeholder(&self) -> bool {
        self.0.iter().any(|part| !matches!(part, Part::Literal(_)))
    }

    pub(crate) fn render(&self, values: &Values<'_>) -> String {
        let mut text = String::new();
        for part in &self.0 {
            part.push(&mut text, values);
        }
        text
    }
}

impl Part {
    fn named(name: &str, captures: usize) -> Result<Self, String> {
        if !name.is_empty() && name.bytes().all(|digit| digit.is_ascii_digit()) {
            let number = name.parse().unwrap_or(usize::MAX);
            return match (number, captures) {
                (_, 0) => Err(format!("${{{name}}} is the text of a * in path, but path has no *")),
                (1.., _) if number <= captures => Ok(Self::Capture(number)),
                (_, 1) => Err(format!("${{{name}}} does not exist: path has one *, which is ${{1}}")),
                _ => Err(format!(
                    "${{{name}}} does not exist: path has {captures} *, ${{1}} to ${{{captures}}}"
                )),
            };
        }
        let known = PLACEHOLDERS.iter().find(|(known, _)| *known == name);
        known.map(|(_, part)| part.clone()).ok_or_else(|| {
            let names: Vec<_> = PLACEHOLDERS.iter().map(|(name, _)| format!("${{{name}}}")).collect();
            let similar = config_file::suggestion(name, PLACEHOLDERS.iter().map(|(name, _)| *name));
            let names = names.join(", ");
            format!("${{{name}}} is not a placeholder: expected ${{1}}, {names}{similar}")
        })
    }

    fn push(&self, text: &mut String, values: &Values<'_>) {
        let url = values.url;
        match self {
            Self::Literal(literal) => text.push_str(literal),
            Self::Capture(number) => {
                text.push_str(values.captures.get(number - 1).copied().unwrap_or_default());
            }
            Self::Host => text.push_str(url.host().unwrap_or_default()),
            Self::Path => text.push_str(url.path()),
            Self::Query => text.push_str(url.query().unwrap_or_default()),
            Self::Target => text.push_str(url.path_and_query().map_or("/", |target| target.as_str())),
            Self::Scheme => text.push_str(url.scheme_str().unwrap_or("http")),
            Self::ClientAddress => {
                text.extend(values.client.map(|client| client.to_string()));
            }
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Literal(literal) => f.write_str(literal),
            Part::Capture(number) => write!(f, "${{{number}}}"),
            named => {
                let known = PLACEHOLDERS.iter().find(|(_, part)| part == named);
                write!(f, "${{{}}}", known.map_or("", |(name, _)| *name))
            }
        })
    }
}

static PLACEHOLDERS: [(&str, Part); 6] = [
    ("host", Part::Host),
    ("path", Part::Path),
    ("query", Part::Query),
    ("uri", Part::Target),
    ("scheme", Part::Scheme),
    ("client_ip", Part::ClientAddress),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn placeholders_are_filled_in() {
        let url: Uri = "https://www.shop.example:8443/a/b?c=d".parse().unwrap();
        let values = Values { url: &url, captures: vec!["b", "x"], client: Some([192, 0, 2, 1].into()) };
        for (text, expected) in [
            ("/new/${1}", "/new/b"),
            ("${2}${1}$", "xb$"),
            ("${scheme}://${host}${uri}", "https://www.shop.example/a/b?c=d"),
            ("${path}|${query}", "/a/b|c=d"),
            ("${client_ip}", "192.0.2.1"),
            ("$5 {1} $ {", "$5 {1} $ {"),
            ("", ""),
        ] {
            let template = Template::parse(text, 2).unwrap();
            assert_eq!((template.render(&values), template.to_string()), (expected.into(), text.into()));
        }
    }

    #[test]
    fn unknown_placeholders_have_their_offset() {
        for (text, captures, offset, message) in [
            ("/a/${1}", 0, 3, "path has no *"),
            ("/a/${2}", 1, 3, "path has one *, which is ${1}"),
            ("/${1}/${3}", 2, 6, "path has 2 *, ${1} to ${2}"),
            ("/${0}", 2, 1, "does not exist"),
            ("/${99999999999999999999999}", 2, 1, "does not exist"),
            ("${hots}", 0, 0, "did you mean \"host\"?"),
            ("${}", 0, 0, "is not a placeholder"),
            ("x${host", 0, 1, "no closing brace"),
        ] {
            let error = Template::parse(text, captures).unwrap_err();
            assert_eq!(error.offset, offset, "{text}");
            assert!(error.message.contains(message), "{text}: {}", error.message);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_template_or_has_an_offset(text in "[${}a1h/o\u{e9}]{0,12}", captures in 0_usize..3) {
            match Template::parse(&text, captures) {
                Ok(template) => prop_assert_eq!(template.to_string(), text),
                Err(error) => prop_assert_eq!(text.get(error.offset..error.offset + 2), Some("${")),
            }
        }
    }
}
