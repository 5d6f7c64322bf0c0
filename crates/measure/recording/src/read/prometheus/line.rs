//! One line of Prometheus' text format, or of OpenMetrics.

#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// The histogram's name and its labels without the bound.
    pub series: String,
    pub name: usize,
    pub kind: Kind,
    pub value: f64,
}

#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    Bucket(f64),
    Sum,
}

pub(super) fn is_bucket(line: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
    line.first().is_some_and(|byte| byte.is_ascii_alphabetic()) && has(b"_bucket{") && has(b"le=\"")
}

impl Line {
    /// `None` for unrelated lines; an error for lines that are not samples.
    pub(super) fn of(text: &str) -> Result<Option<Self>, ()> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let end = text.find(['{', ' ', '\t']).ok_or(())?;
        let (name, rest) = text.split_at(end);
        let (labels, rest) = if rest.starts_with('{') { labels(rest)? } else { (Vec::new(), rest) };
        let value = rest.split_whitespace().next().ok_or(())?;
        let value: f64 = value.parse().map_err(|_| ())?;
        let bound = labels.iter().find(|(key, _)| *key == "le").map(|(_, value)| *value);
        let (name, kind) = match (name.strip_suffix("_bucket"), name.strip_suffix("_sum"), bound) {
            (Some(name), _, Some(bound)) => (name, Kind::Bucket(positive(bound).ok_or(())?)),
            (_, Some(name), None) => (name, Kind::Sum),
            _ => return Ok(None),
        };
        let others: Vec<String> = labels
            .iter()
            .filter(|(key, _)| *key != "le")
            .map(|(key, value)| format!("{key}=\"{value}\""))
            .collect();
        let braces = if others.is_empty() { String::new() } else { format!("{{{}}}", others.join(",")) };
        let value = Some(value).filter(|value| value.is_finite() || kind == Kind::Sum).ok_or(())?;
        Ok(Some(Self { series: format!("{name}{braces}"), name: name.len(), kind, value }))
    }
}

/// Not negative, or infinite.
fn positive(text: &str) -> Option<f64> {
    text.parse().ok().filter(|bound: &f64| *bound >= 0.0).map(|bound| bound + 0.0)
}

type Labels<'l> = Vec<(&'l str, &'l str)>;

/// Unparsed, and the text after them.
fn labels(text: &str) -> Result<(Labels<'_>, &str), ()> {
    let mut rest = text.strip_prefix('{').ok_or(())?.trim_start();
    let mut found = Vec::new();
    loop {
        if let Some(rest) = rest.strip_prefix('}') {
            return Ok((found, rest));
        }
        let (key, value) = rest.split_once('=').ok_or(())?;
        let value = value.trim_start().strip_prefix('"').ok_or(())?;
        let end = closing_quote(value).ok_or(())?;
        found.push((key.trim(), &value[..end]));
        rest = value[end + 1..].trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
}

/// The first quote that is not escaped.
fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}
