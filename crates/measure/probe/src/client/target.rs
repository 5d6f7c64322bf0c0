//! The target of a request: a URL and the rest of the request.

use std::{fmt, str::FromStr};

use http_stack::{
    Body, Bytes, HeaderMap, HeaderName, HeaderValue, Method, Origin, OriginError, Request, Uri, header, uri,
};

use crate::{Error, catalogue::Catalogue};

/// One request: URL, method, header fields and body. Cheap to clone.
///
/// ```
/// let target: probe::client::Target = "https://example.com/a?b=c".parse()?;
/// let target = target.method("POST")?.header("accept", "text/html")?.body("x=1");
/// assert_eq!(target.to_string(), "https://example.com/a?b=c");
/// # Ok::<(), probe::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Target {
    pub(crate) origin: Origin,
    /// Begins with a slash, or is "*".
    pub(crate) path: uri::PathAndQuery,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Target {
    /// Sets the method instead of GET.
    ///
    /// # Errors
    ///
    /// `method` is not a token (RFC 9110 section 9.1), or is CONNECT, which requests no resource.
    pub fn method(mut self, method: &str) -> Result<Self, Error> {
        let refused =
            || Error::Request { text: method.to_owned(), what: "an HTTP method that can be measured" };
        self.method = method.parse().map_err(|_| refused())?;
        if self.method == Method::CONNECT { Err(refused()) } else { Ok(self) }
    }

    /// Adds a header field; replaces a default field of the same name.
    ///
    /// # Errors
    ///
    /// The name is not a token or the value has control characters.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let refused = |text: &str, what| Error::Request { text: text.to_owned(), what };
        // The value may be a secret, so the error does not contain it.
        let field: HeaderName = name.parse().map_err(|_| refused(name, "the name of a header field"))?;
        let content = HeaderValue::from_str(value)
            .map_err(|_| refused(name, "followed by the value of a header field"))?;
        if DEFAULTS.iter().any(|(default, _)| field == *default) {
            self.headers.insert(field, content);
        } else {
            self.headers.append(field, content);
        }
        Ok(self)
    }

    /// Adds a header field in the form "Name: value".
    ///
    /// # Errors
    ///
    /// It is not a header field, or sets the length of the request, which follows from the request.
    pub fn header_line(self, line: &str) -> Result<Self, Error> {
        let refused = |what| Error::Request { text: line.to_owned(), what };
        let Some((name, value)) = line.split_once(':') else {
            return Err(refused(
                "a header field; expected a name, a colon and a value, such as \"Accept: text/html\"",
            ));
        };
        let name = name.trim();
        if [header::CONTENT_LENGTH, header::TRANSFER_ENCODING]
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own.as_str()))
        {
            return Err(refused("a header field that can be set; it follows from the request"));
        }
        self.header(name, value.trim())
    }

    pub(crate) fn added_headers(&self) -> impl Iterator<Item = &str> {
        let is_default = |name: &HeaderName| {
            DEFAULTS.iter().any(|(default, value)| {
                name == default && self.headers.get(name).is_some_and(|now| now == *value)
            })
        };
        self.headers.keys().filter(move |name| !is_default(name)).map(HeaderName::as_str)
    }

    /// The IP address in the URL, if its host is one.
    pub fn address(&self) -> Option<std::net::IpAddr> {
        self.origin.address()
    }

    pub(crate) fn object(&self, number: usize) -> Self {
        let path = self.path.as_str().replace(Catalogue::PLACE, &number.to_string());
        // Digits replace two braces, so the path stays valid.
        Self { path: path.parse().unwrap_or_else(|_| self.path.clone()), ..self.clone() }
    }

    /// Whether its URL has a placeholder for the number of an object.
    pub fn has_place(&self) -> bool {
        self.path.as_str().contains(Catalogue::PLACE)
    }

    pub(crate) fn request(&self) -> Request<Body> {
        let mut request = Request::new(Body::whole(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.path.clone().into();
        *request.headers_mut() = self.headers.clone();
        request
    }

    /// Sets the body; Content-Length is sent with it.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Bytes::from(body.into());
        self
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let uri: Uri = text.parse().map_err(|_| refused(text, OriginError::of_text(text)))?;
        let origin = Origin::of(&uri).map_err(|error| match error {
            // A password must not appear on a terminal or in a log.
            OriginError::Credentials => refused(&without_credentials(&uri), error),
            other => refused(text, other),
        })?;
        let path = uri.path_and_query().cloned().unwrap_or_else(|| uri::PathAndQuery::from_static("/"));
        let headers =
            DEFAULTS.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value))).collect();
        Ok(Self { origin, path, method: Method::GET, headers, body: Bytes::new() })
    }
}

fn refused(text: &str, error: OriginError) -> Error {
    let remedy = if error == OriginError::Credentials { CREDENTIALS } else { "" };
    Error::Url { text: text.to_owned(), why: format!("{error}{remedy}") }
}

fn without_credentials(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let host = uri
        .authority()
        .and_then(|authority| authority.as_str().rsplit_once('@'))
        .map_or("", |(_, host)| host);
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    format!("{scheme}://...@{host}{path}")
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.origin.scheme.name(), self.origin.authority(), self.path)
    }
}

const CREDENTIALS: &str = "; leave that out and send it as a header: \
     -H \"Authorization: Basic $(printf %s USER:PASSWORD | base64 -w 0)\"";

/// No accept-encoding: bodies are discarded, not decoded.
const DEFAULTS: [(HeaderName, &str); 2] =
    [(header::ACCEPT, "*/*"), (header::USER_AGENT, concat!("longhaul/", env!("CARGO_PKG_VERSION")))];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_was_parsed_from() {
        for url in [
            "http://localhost/",
            "https://example.com:8443/a/b?c=d",
            "http://127.0.0.1:8080/",
            "http://[::1]:8080/x",
            "https://[2001:db8::1]/",
        ] {
            assert_eq!(url.parse::<Target>().unwrap().to_string(), url);
        }
        assert_eq!("HTTP://Example.COM:80?q".parse::<Target>().unwrap().to_string(), "http://example.com/?q");
    }

    #[test]
    fn what_cannot_be_probed_says_why() {
        let said = |url: &str| url.parse::<Target>().unwrap_err().to_string();
        assert!(said("example.com").contains("begin with http://"));
        assert!(said("ftp://example.com/").contains("begin with http://"));
        let credentials = said("http://me:secret@example.com/a");
        assert!(credentials.contains("-H \"Authorization: Basic"), "{credentials}");
        assert!(credentials.contains("\"http://...@example.com/a\""), "{credentials}");
        assert!(!credentials.contains("secret"), "{credentials}");
        assert!(said("http://example.com:99999/").contains("65535"), "{}", said("http://example.com:99999/"));
        assert!(said("http://").contains("cannot be probed"));
        assert!(said("").contains("cannot be probed"));
    }

    #[test]
    fn header_fields_are_written_as_people_write_them() {
        let target: Target = "http://localhost/".parse().unwrap();
        let with = |line: &str| target.clone().header_line(line);
        let added = |line: &str| with(line).unwrap().added_headers().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(with("X-Test:  a: b ").unwrap().headers["x-test"], "a: b");
        assert_eq!(added("X-Test: 1"), ["x-test"]);
        assert_eq!(added("Accept: text/html"), ["accept"]);
        assert_eq!(target.added_headers().count(), 0);
        for (line, expected) in [
            ("no colon", "a colon and a value"),
            ("a b: c", "name of a header field"),
            (": c", "name of a header field"),
            ("Content-Length: 5", "follows from the request"),
            ("transfer-encoding: chunked", "follows from the request"),
        ] {
            let said = with(line).unwrap_err().to_string();
            assert!(said.contains(expected), "{line}: {said}");
        }
        let said = with("Authorization: s\u{7f}ecret").unwrap_err().to_string();
        assert!(said.contains("Authorization") && !said.contains("ecret"), "{said}");
    }

    #[test]
    fn a_default_header_is_replaced_and_others_add_up() {
        let target: Target = "http://localhost/".parse().unwrap();
        let target =
            target.header("accept", "a/b").unwrap().header("x", "1").unwrap().header("x", "2").unwrap();
        assert_eq!(target.headers.get_all("accept").iter().collect::<Vec<_>>(), ["a/b"]);
        assert_eq!(target.headers.get_all("x").iter().collect::<Vec<_>>(), ["1", "2"]);
        assert!(target.clone().header("a b", "1").is_err());
        assert!(target.clone().header("a", "1\r\n").is_err());
        assert!(target.method("CONNECT").is_err());
    }
}
