//! Changes of header fields: set, add and remove.

use http_cache::{hop_by_hop::is_hop_by_hop, internal_headers::is_internal, overrides_request};
use http_stack::{HeaderMap, HeaderName, HeaderValue, header};

use super::template::{Part, Template, Values};

/// The changes of one rule, in the order of their application.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HeaderChanges {
    pub(crate) remove: Vec<HeaderName>,
    pub(crate) set: Vec<(HeaderName, FieldValue)>,
    pub(crate) add: Vec<(HeaderName, FieldValue)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FieldValue {
    Fixed(HeaderValue),
    Template(Template),
}

/// A change with the values of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeaderChange {
    Remove(HeaderName),
    Set(HeaderName, HeaderValue),
    Add(HeaderName, HeaderValue),
}

impl FieldValue {
    pub(crate) fn new(template: Template) -> Result<Self, &'static str> {
        if template.has_placeholder() {
            return Ok(Self::Template(template));
        }
        let value = HeaderValue::try_from(template.to_string());
        value.map(Self::Fixed).map_err(|_| "a value cannot contain control characters")
    }

    fn render(&self, values: &Values<'_>) -> Option<HeaderValue> {
        match self {
            Self::Fixed(value) => Some(value.clone()),
            Self::Template(template) => HeaderValue::try_from(template.render(values)).ok(),
        }
    }

    fn reads_client(&self) -> bool {
        matches!(self, Self::Template(template) if template.contains(&Part::ClientAddress))
    }
}

impl HeaderChanges {
    pub(super) fn render(&self, values: &Values<'_>) -> Vec<HeaderChange> {
        let remove = self.remove.iter().cloned().map(HeaderChange::Remove);
        let set = self
            .set
            .iter()
            .filter_map(|(name, value)| Some(HeaderChange::Set(name.clone(), value.render(values)?)));
        let add = self
            .add
            .iter()
            .filter_map(|(name, value)| Some(HeaderChange::Add(name.clone(), value.render(values)?)));
        remove.chain(set).chain(add).collect()
    }

    pub(super) fn reads_client(&self) -> bool {
        self.set.iter().chain(&self.add).any(|(_, value)| value.reads_client())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.set.is_empty() && self.add.is_empty()
    }

    pub(super) fn describe(&self) -> String {
        let names = |verb: &str, names: Vec<&HeaderName>| {
            let names: Vec<_> = names.into_iter().map(HeaderName::as_str).collect();
            (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
        };
        let parts = [
            names("remove", self.remove.iter().collect()),
            names("set", self.set.iter().map(|(name, _)| name).collect()),
            names("add", self.add.iter().map(|(name, _)| name).collect()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl HeaderChange {
    pub(crate) fn apply(&self, headers: &mut HeaderMap) {
        match self {
            Self::Remove(name) => {
                headers.remove(name);
            }
            Self::Set(name, value) => {
                headers.insert(name, value.clone());
            }
            Self::Add(name, value) => {
                headers.append(name, value.clone());
            }
        }
    }

    pub(crate) fn name(&self) -> &HeaderName {
        match self {
            Self::Remove(name) | Self::Set(name, _) | Self::Add(name, _) => name,
        }
    }
}

/// Parses the name of a request field that rules may change.
pub(crate) fn request_field(name: &str) -> Result<HeaderName, String> {
    let parsed = field(name)?;
    if KEPT_IN_REQUESTS.contains(&parsed) || is_kept(&parsed) || parsed.as_str().starts_with("if-") {
        return Err(format!("\"{name}\" cannot be changed: the edge sets it, or the cache depends on it"));
    }
    Ok(parsed)
}

/// Parses the name of a response field that rules may change.
pub(crate) fn response_field(name: &str) -> Result<HeaderName, String> {
    let parsed = field(name)?;
    if KEPT_IN_RESPONSES.contains(&parsed) || is_kept(&parsed) {
        return Err(format!("\"{name}\" cannot be changed: the edge sets it, or it describes the body"));
    }
    Ok(parsed)
}

fn field(name: &str) -> Result<HeaderName, String> {
    name.parse().map_err(|_| format!("\"{name}\" is not a field's name"))
}

/// Fields of a connection, of the framing, and of this network. An origin may read `_` as `-`.
fn is_kept(name: &HeaderName) -> bool {
    let hyphenated = name.as_str().replace('_', "-");
    let is_reserved =
        |name: &str| is_hop_by_hop(name) || is_internal(name.as_bytes()) || name.starts_with("lh-");
    is_reserved(name.as_str())
        || is_reserved(&hyphenated)
        || [header::CONTENT_LENGTH, header::VIA].iter().any(|own| *own == *hyphenated)
        || name.as_str().contains('_') && overrides_request(&hyphenated, b"host=a")
}

static KEPT_IN_REQUESTS: [HeaderName; 12] = [
    header::ACCEPT_ENCODING,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    HeaderName::from_static("cdn-loop"),
    header::EXPECT,
    header::FORWARDED,
    header::HOST,
    header::MAX_FORWARDS,
    header::ORIGIN,
    header::RANGE,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-proto"),
];

static KEPT_IN_RESPONSES: [HeaderName; 6] = [
    header::AGE,
    http_cache::CacheStatus::FIELD,
    header::CONTENT_ENCODING,
    header::CONTENT_RANGE,
    header::ACCEPT_RANGES,
    header::DATE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_edge_cannot_be_changed() {
        for name in [
            "connection",
            "TE",
            "transfer-encoding",
            "Content-Length",
            "via",
            "lh-tier-path",
            "lh-anything",
            "content_length",
            "transfer_encoding",
        ] {
            assert!(request_field(name).is_err() && response_field(name).is_err(), "{name}");
        }
        for name in ["host", "range", "if-none-match", "x-forwarded-for", "cdn-loop", "x_forwarded_host"] {
            assert!(request_field(name).is_err(), "{name}");
        }
        for name in ["age", "Cache-Status", "content-range"] {
            assert!(response_field(name).is_err(), "{name}");
        }
        for name in ["cookie", "authorization", "x-a", "x-forwarded-host", "user-agent", "accept-language"] {
            assert!(request_field(name).is_ok(), "{name}");
        }
        for name in ["set-cookie", "cache-control", "x-frame-options", "server", "vary"] {
            assert!(response_field(name).is_ok(), "{name}");
        }
        assert_eq!(response_field("a b").unwrap_err(), "\"a b\" is not a field's name");
    }
}
