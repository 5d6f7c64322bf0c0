//! The URL of an origin: server, path prefix and fixed query parameters.

use std::{fmt, ops::Deref, str::FromStr};

use http_cache::path;
use http_stack::{
    Origin, OriginError, Uri,
    uri::{InvalidUri, PathAndQuery},
};

/// An origin with a path prefix and query parameters. Only requests to the origin contain them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginUrl {
    origin: Origin,
    /// Without a slash at the end; empty without a prefix.
    prefix: String,
    query: Option<String>,
}

/// Why a text is not the URL of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OriginUrlError {
    /// Scheme, host or port are invalid.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// The URL has a fragment.
    #[error("it has a fragment, which is never sent: remove \"#\" and the text after it")]
    Fragment,
    /// Servers may read the path in several ways.
    #[error("its path is ambiguous: remove dot segments, repeated slashes, \";\" and unnecessary encodings")]
    Path,
}

impl OriginUrl {
    /// Returns scheme, host and port.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Sets the name for SNI and the certificate check, if the origin has TLS and another name.
    #[must_use]
    pub fn with_server_name(mut self, name: Option<&str>) -> Self {
        let is_tls = self.origin.scheme == http_stack::Scheme::Https;
        let name = name.filter(|name| is_tls && *name != self.origin.host);
        self.origin.server_name = name.map(ToOwned::to_owned);
        self
    }

    /// Whether requests to the origin have the target of the visitor's request.
    pub(crate) fn keeps_target(&self) -> bool {
        self.prefix.is_empty() && self.query.is_none()
    }

    /// Whether some servers would read the path as one outside of the prefix: `/..%2Fother`.
    pub(crate) fn escapes_prefix(&self, path: &str) -> bool {
        if self.prefix.is_empty() {
            return false;
        }
        let is_inside = |reading: &String| {
            reading.strip_prefix(&self.prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !path::readings(&format!("{}{path}", self.prefix)).iter().all(is_inside)
    }

    /// Returns the target of a request to the origin. The origin's query parameters replace parameters of
    /// the visitor with the same names.
    pub(crate) fn target(&self, visitor: &PathAndQuery) -> Result<PathAndQuery, InvalidUri> {
        let path = format!("{}{}", self.prefix, visitor.path());
        let query = match (&self.query, visitor.query()) {
            (None, None) => return PathAndQuery::from_maybe_shared(path),
            (None, Some(visitor)) => visitor.to_owned(),
            (Some(own), visitor) => {
                let is_own = |piece: &str| own.split('&').any(|own| name(own) == name(piece));
                let pieces = visitor.into_iter().flat_map(|visitor| visitor.split('&'));
                let pieces = pieces.filter(|piece| !is_own(piece)).chain([&own[..]]);
                pieces.collect::<Vec<_>>().join("&")
            }
        };
        PathAndQuery::from_maybe_shared(format!("{path}?{query}"))
    }
}

fn name(piece: &str) -> Vec<u8> {
    path::decoded_field(piece.split('=').next().unwrap_or_default()).into_owned()
}

impl From<Origin> for OriginUrl {
    fn from(origin: Origin) -> Self {
        Self { origin, prefix: String::new(), query: None }
    }
}

impl Deref for OriginUrl {
    type Target = Origin;

    fn deref(&self) -> &Origin {
        &self.origin
    }
}

impl FromStr for OriginUrl {
    type Err = OriginUrlError;

    fn from_str(text: &str) -> Result<Self, OriginUrlError> {
        let uri: Uri = text.parse().map_err(|_| OriginError::of_text(text))?;
        let origin = Origin::of(&uri)?;
        if text.contains('#') {
            return Err(OriginUrlError::Fragment);
        }
        let prefix = uri.path().strip_suffix('/').unwrap_or(uri.path());
        let is_normal = path::normal(prefix) == prefix && path::merged(prefix) == prefix;
        if !is_normal || !path::readings(prefix).is_empty() {
            return Err(OriginUrlError::Path);
        }
        let query = uri.query().filter(|query| !query.is_empty()).map(ToOwned::to_owned);
        Ok(Self { origin, prefix: prefix.to_owned(), query })
    }
}

/// Without the query, which may contain a secret.
impl fmt::Display for OriginUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> OriginUrl {
        text.parse().unwrap()
    }

    #[test]
    fn prefix_and_query_are_added_to_the_target() {
        for (origin, visitor, expected) in [
            ("http://a.example", "/x?y", "/x?y"),
            ("http://a.example/", "/", "/"),
            ("http://a.example/bucket", "/", "/bucket/"),
            ("http://a.example/bucket/", "/x?y=1", "/bucket/x?y=1"),
            ("http://a.example/b%20c", "/x%2Fy", "/b%20c/x%2Fy"),
            ("http://a.example?sig=s", "/x", "/x?sig=s"),
            ("http://a.example/c?sv=1&sig=s", "/x?a=b&sig=forged&s%69g=f&c", "/c/x?a=b&c&sv=1&sig=s"),
            ("http://a.example/c?sig=s", "/x?sig", "/c/x?sig=s"),
        ] {
            let target = url(origin).target(&visitor.parse().unwrap()).unwrap();
            assert_eq!(target.as_str(), expected, "{origin} {visitor}");
        }
    }

    #[test]
    fn secret_query_is_not_displayed() {
        assert_eq!(url("https://a.example/c?sig=s").to_string(), "https://a.example/c");
        assert_eq!(url("https://A.example:443/").to_string(), "https://a.example");
    }

    #[test]
    fn server_name_is_kept_only_for_tls_and_if_it_differs() {
        for (origin, name) in [
            ("https://10.0.0.1/x", Some("shop.example")),
            ("http://10.0.0.1", None),
            ("https://shop.example", None),
        ] {
            assert_eq!(url(origin).with_server_name(Some("shop.example")).server_name.as_deref(), name);
        }
    }

    #[test]
    fn ambiguous_paths_and_fragments_are_refused() {
        for text in [
            "http://a/b/../c",
            "http://a/b//c",
            "http://a/b;c",
            "http://a/%61",
            "http://a/b%2Fc",
            "http://a/%2e/b",
        ] {
            assert_eq!(text.parse::<OriginUrl>(), Err(OriginUrlError::Path), "{text}");
        }
        assert_eq!("http://a/b#c".parse::<OriginUrl>(), Err(OriginUrlError::Fragment));
        assert_eq!("a/b".parse::<OriginUrl>(), Err(OriginError::NotUrl.into()));
        assert_eq!("ftp://a/b".parse::<OriginUrl>(), Err(OriginError::Scheme.into()));
    }

    #[test]
    fn paths_that_may_leave_the_prefix_are_found() {
        let origin = url("http://a.example/bucket");
        for path in ["/..%2Fother", "/a/..%2F..%2Fother", "/..\\other", "/..;/other"] {
            assert!(origin.escapes_prefix(path), "{path}");
            assert!(!url("http://a.example").escapes_prefix(path), "{path}");
        }
        for path in ["/", "/a//b", "/a;b", "/a%2Fb", "/a%3Fb", "/a/..%2Fb", "/a%20b"] {
            assert!(!origin.escapes_prefix(path), "{path}");
        }
    }

    proptest! {
        #[test]
        fn targets_begin_with_the_prefix(path in "/[a-z%2F./;?&=]{0,20}", query in "[a-z=&%]{0,9}") {
            let origin = url(&format!("http://a.example/p?{query}"));
            let Ok(visitor) = path.parse::<PathAndQuery>() else { return Ok(()) };
            let target = origin.target(&visitor).unwrap();
            prop_assert!(target.path().starts_with("/p/"));
            prop_assert!(target.path().ends_with(visitor.path()));
            prop_assert!(query.is_empty() || target.query().unwrap().ends_with(&query));
        }
    }
}
