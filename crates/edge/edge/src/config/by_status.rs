//! Tables with a key per status (`404`) or class of statuses (`"5xx"`).

use std::{collections::BTreeMap, fs, path::PathBuf, time::Duration};

use config_file::{Diagnostic, Document};
use http_stack::{Bytes, HeaderValue, StatusCode};
use toml::Spanned;

use super::Purpose;

/// A value per status. A status takes precedence over its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByStatus<T> {
    exact: Vec<(StatusCode, T)>,
    /// By the first digit.
    classes: Vec<(u16, T)>,
}

/// The body of a response that the edge generates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorPage {
    /// From the extension of the file.
    pub content_type: HeaderValue,
    /// Content of the file.
    pub body: Bytes,
}

impl<T> Default for ByStatus<T> {
    fn default() -> Self {
        Self { exact: Vec::new(), classes: Vec::new() }
    }
}

impl<T> ByStatus<T> {
    /// The value for a status.
    pub fn get(&self, status: StatusCode) -> Option<&T> {
        let exact = self.exact.iter().find(|(code, _)| *code == status).map(|(_, value)| value);
        let class = || self.classes.iter().find(|(class, _)| *class == status.as_u16() / 100);
        exact.or_else(|| class().map(|(_, value)| value))
    }

    fn read<'w, W>(
        document: &Document,
        written: &'w BTreeMap<String, Spanned<W>>,
        first_class: u16,
        value: impl Fn(&'w Spanned<W>) -> Result<T, String>,
    ) -> Result<Self, Diagnostic> {
        let mut table = Self::default();
        for (key, spanned) in written {
            let mistake = |message| document.mistake(spanned.span(), message);
            let status = key.parse().ok().and_then(|code| StatusCode::from_u16(code).ok());
            let status = status.filter(|status| (first_class..=5).contains(&(status.as_u16() / 100)));
            let class = key.strip_suffix("xx").and_then(|class| class.parse().ok());
            let class = class.filter(|class| (first_class..=5).contains(class));
            match (status, class) {
                (Some(status), _) => table.exact.push((status, value(spanned).map_err(mistake)?)),
                (None, Some(class)) => table.classes.push((class, value(spanned).map_err(mistake)?)),
                (None, None) => {
                    let message = format!(
                        "\"{key}\" is not a status: expected {first_class}00 to 599, or a class such as \"5xx\""
                    );
                    return Err(mistake(message));
                }
            }
        }
        Ok(table)
    }
}

pub(super) fn cache_statuses(
    document: &Document,
    written: &BTreeMap<String, Spanned<String>>,
) -> Result<ByStatus<Duration>, Diagnostic> {
    if let Some((key, spanned)) = written.iter().find(|(key, _)| ["206", "304"].contains(&key.as_str())) {
        let message = format!("responses with {key} are never stored: remove it from cache_statuses");
        return Err(document.mistake(spanned.span(), message));
    }
    ByStatus::read(document, written, 2, |text| {
        units::duration::parse(text.get_ref()).map_err(|error| error.to_string())
    })
}

pub(super) fn error_pages(
    document: &Document,
    purpose: Purpose,
    written: &BTreeMap<String, Spanned<PathBuf>>,
) -> Result<ByStatus<ErrorPage>, Diagnostic> {
    if purpose == Purpose::Simulation {
        return Ok(ByStatus::default());
    }
    ByStatus::read(document, written, 4, |path| {
        let path = path.get_ref();
        let body = match fs::metadata(path) {
            Ok(file) if file.len() > MAX_PAGE_BYTES => {
                return Err(format!("the page {} is larger than 1 MB", path.display()));
            }
            Ok(_) => fs::read(path),
            Err(error) => Err(error),
        };
        let body = body.map_err(|error| format!("the page {} cannot be read: {error}", path.display()))?;
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let content_type = HeaderValue::from_static(match extension {
            "html" | "htm" => "text/html; charset=utf-8",
            "json" => "application/json",
            _ => "text/plain; charset=utf-8",
        });
        Ok(ErrorPage { content_type, body: body.into() })
    })
}

const MAX_PAGE_BYTES: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_takes_precedence_over_its_class() {
        let text = "404 = \"1m\"\n4xx = \"5s\"\n301 = \"1h\"\n";
        let document = Document::new("n.toml", text);
        let table = cache_statuses(&document, &document.parse().unwrap()).unwrap();
        for (status, seconds) in
            [(404, Some(60)), (410, Some(5)), (301, Some(3600)), (302, None), (500, None)]
        {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(table.get(status).map(Duration::as_secs), seconds, "{status}");
        }
    }

    #[test]
    fn invalid_statuses_and_durations_have_a_position() {
        for (text, expected) in [
            ("x = \"1m\"", "n.toml:1:5: \"x\" is not a status: expected 200 to 599"),
            ("100 = \"1m\"", "is not a status"),
            ("600 = \"1m\"", "is not a status"),
            ("6xx = \"1m\"", "is not a status"),
            ("206 = \"1m\"", "responses with 206 are never stored"),
            ("404 = \"1 fortnight\"", "n.toml:1:7: "),
        ] {
            let document = Document::new("n.toml", text);
            let error = cache_statuses(&document, &document.parse().unwrap()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let document = Document::new("n.toml", "502 = \"/nonexistent/page.html\"");
        let error = error_pages(&document, Purpose::Run, &document.parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains("n.toml:1:7: the page /nonexistent/page.html cannot be read"), "{error}");
    }
}
