//! Scheme, host and port: the key of a connection.

use std::{fmt, net::IpAddr, str::FromStr};

use hyper::Uri;

/// Scheme, host and port of a server, from a URL.
///
/// ```
/// let origin: http_stack::Origin = "https://Shop.example:8443".parse()?;
/// assert_eq!((origin.host.as_str(), origin.port), ("shop.example", 8443));
/// assert_eq!(origin.to_string(), "https://shop.example:8443");
/// # Ok::<(), http_stack::OriginError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Cleartext or TLS.
    pub scheme: Scheme,
    /// A name in lower case, or an address without brackets.
    pub host: String,
    /// The port, explicit or the default.
    pub port: u16,
    /// The name for SNI and the certificate check, if it is not `host`. Connections with different names
    /// are not shared.
    pub server_name: Option<String>,
}

/// Whether a connection is in cleartext or over TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Cleartext.
    Http,
    /// TLS.
    Https,
}

/// Why a URL has no valid origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// The text is not a URL.
    #[error("it is not a URL")]
    NotUrl,
    /// The text is not a URL, and contains characters that are not allowed in URLs.
    #[error("it has other letters than ASCII; a name needs punycode for them, a path percent signs")]
    NotAscii,
    /// The scheme is missing or unsupported.
    #[error("it has to begin with http:// or https://")]
    Scheme,
    /// The host is missing.
    #[error("it names no host")]
    Host,
    /// The URL contains a user name.
    #[error("it carries a user name")]
    Credentials,
    /// The port is not a number up to 65535.
    #[error("its port is not a number up to 65535")]
    Port,
    /// The URL has a path or a query, where only an origin is allowed.
    #[error("it has a path; an origin ends after host and port")]
    Path,
}

impl OriginError {
    /// Why a text is not a URL.
    pub fn of_text(text: &str) -> Self {
        match text {
            "http://" | "https://" => Self::Host,
            _ if !text.is_ascii() => Self::NotAscii,
            _ => Self::NotUrl,
        }
    }
}

impl Origin {
    /// Returns the origin of an absolute URL.
    ///
    /// # Errors
    /// The URL is relative, has another scheme, contains credentials, or has no valid host or port.
    pub fn of(uri: &Uri) -> Result<Self, OriginError> {
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") => Scheme::Https,
            _ => return Err(OriginError::Scheme),
        };
        let authority = uri.authority().ok_or(OriginError::Host)?;
        if authority.as_str().contains('@') {
            return Err(OriginError::Credentials);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if host.is_empty() {
            return Err(OriginError::Host);
        }
        let port = match authority.port() {
            Some(port) => port.as_u16(),
            None if authority.as_str().ends_with(':') || !authority.as_str().ends_with(authority.host()) => {
                return Err(OriginError::Port);
            }
            None => scheme.port(),
        };
        Ok(Self { scheme, host, port, server_name: None })
    }

    /// Host and port as in a URL and in a Host field, without the default port.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == self.scheme.port() { host } else { format!("{host}:{}", self.port) }
    }

    /// The name for SNI and the certificate check.
    pub fn tls_name(&self) -> &str {
        self.server_name.as_deref().unwrap_or(&self.host)
    }

    /// The text form with the server name: `https://10.0.0.1 as shop.example`. Unique among connections.
    pub fn label(&self) -> String {
        match &self.server_name {
            Some(name) => format!("{self} as {name}"),
            None => self.to_string(),
        }
    }

    /// The address, if the URL contains one instead of a name.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let uri: Uri = text.parse().map_err(|_| OriginError::of_text(text))?;
        let origin = Self::of(&uri)?;
        match uri.path_and_query().map_or("", |path| path.as_str()) {
            "" | "/" => Ok(origin),
            _ => Err(OriginError::Path),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.authority())
    }
}

impl Scheme {
    /// "http" or "https".
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The default port.
    pub fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_was_parsed_from() {
        for text in
            ["http://localhost", "https://example.com:8443", "http://[::1]:8080", "https://[2001:db8::1]"]
        {
            assert_eq!(text.parse::<Origin>().unwrap().to_string(), text);
        }
        assert_eq!("HTTP://Example.COM:80/".parse::<Origin>().unwrap().to_string(), "http://example.com");
    }

    #[test]
    fn what_is_not_an_origin_says_why() {
        for (text, why) in [
            ("example.com", OriginError::Scheme),
            ("ftp://example.com", OriginError::Scheme),
            ("http://me:secret@example.com", OriginError::Credentials),
            ("http://example.com:99999", OriginError::Port),
            ("http://example.com/a", OriginError::Path),
            ("http://example.com/?a", OriginError::Path),
            ("", OriginError::NotUrl),
            ("http://a b", OriginError::NotUrl),
            ("http://", OriginError::Host),
            ("http://b\u{fc}cher.example", OriginError::NotAscii),
        ] {
            assert_eq!(text.parse::<Origin>().unwrap_err(), why, "{text}");
        }
    }
}
