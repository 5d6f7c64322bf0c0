//! The configuration of a client, with its defaults.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{Family, MeshIdentity, limits};

/// How a client makes connections: protocol, trust, addresses and limits.
#[derive(Debug, Clone)]
pub struct Config {
    /// The HTTP version.
    pub protocol: Protocol,
    /// Whether requests share connections.
    pub connections: Connections,
    /// How many connections are kept, and for how long.
    pub limits: Limits,
    /// Flow-control windows of HTTP/2 and HTTP/3.
    pub windows: Windows,
    /// How often a name is resolved.
    pub lookups: Lookups,
    /// The trusted certificates.
    pub trust: Trust,
    /// The membership used for TLS connections. It replaces `trust` and selects HTTP/2.
    pub member: Option<MeshIdentity>,
    /// The address family.
    pub family: Family,
    /// Fixed addresses, by name and port; these names are not resolved.
    pub known: Vec<Known>,
    /// DNS servers, instead of those of the system's resolv.conf.
    pub dns: Vec<SocketAddr>,
    /// The address of all connections, whatever the URL's host; no name is resolved.
    pub connect_to: Option<SocketAddr>,
    /// The Unix socket of all connections, whatever the URL's host; no name is resolved, and HTTP/3 is
    /// unavailable.
    pub unix_socket: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            protocol: Protocol::default(),
            connections: Connections::Reuse,
            limits: Limits::default(),
            windows: Windows::default(),
            lookups: Lookups::Once,
            trust: Trust::System,
            member: None,
            family: Family::default(),
            known: Vec::new(),
            dns: Vec::new(),
            connect_to: None,
            unix_socket: None,
        }
    }
}

/// Limits on the connections of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Concurrent connections to one origin, including idle ones; at least 1. Further requests wait.
    pub connections: usize,
    /// Requests to one origin that wait for a connection or for an HTTP/2 stream. Further requests fail
    /// with [`Failure::Busy`](crate::Failure::Busy).
    pub waiting: usize,
    /// How long an idle connection is kept; [`Duration::MAX`] means until the server closes it.
    pub idle: Duration,
    /// Origins whose connections are kept.
    pub origins: usize,
}

impl Limits {
    /// No limits except the number of origins, for a caller that limits its requests itself.
    pub const NONE: Self =
        Self { connections: usize::MAX, waiting: usize::MAX, idle: Duration::MAX, origins: limits::ORIGINS };
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 256, waiting: 1024, idle: Duration::from_secs(60), origins: limits::ORIGINS }
    }
}

/// Bytes that a server may send on HTTP/2 or HTTP/3 before they are read: an upper bound for the memory
/// per slow reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// Per stream, up to 2^31 - 1.
    pub stream: u32,
    /// Per connection, up to 2^31 - 1.
    pub connection: u32,
}

impl Default for Windows {
    fn default() -> Self {
        Self { stream: limits::STREAM_WINDOW, connection: limits::CONNECTION_WINDOW }
    }
}

/// The HTTP version; in a file "auto", "http1", "http2" or "http3".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Over TLS, the version that the server selects by ALPN, with HTTP/2 preferred, and HTTP/3 on
    /// connections opened after the origin has announced it (Alt-Svc). In cleartext, HTTP/1.1.
    #[default]
    #[serde(rename = "auto")]
    Negotiated,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 only; in cleartext with prior knowledge (RFC 9113 section 3.3).
    Http2,
    /// HTTP/3 only, over QUIC (RFC 9114); not available in cleartext.
    Http3,
}

impl Protocol {
    /// All values, in the order of the command line's list.
    pub const ALL: [Self; 4] = [Self::Negotiated, Self::Http1, Self::Http2, Self::Http3];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Negotiated => "auto",
            Self::Http1 => "http1",
            Self::Http2 => "http2",
            Self::Http3 => "http3",
        }
    }
}

/// Whether requests share connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connections {
    /// A connection per request, without TLS resumption, as for a first visit.
    New,
    /// A connection per request that resumes an earlier TLS session if the server allows it, as for a
    /// returning visitor. No early data (0-RTT).
    Resume,
    /// Like [`Self::Resume`]; in addition a request with a safe method and no body is sent as early data
    /// if the session allows it.
    Early,
    /// HTTP/1.1: the most recently used idle connection, or a new one if all are busy. HTTP/2 and
    /// HTTP/3: one connection for all requests.
    Reuse,
}

/// A fixed address for a name and port, as in curl's `--resolve`: HOST:PORT:ADDRESS.
///
/// ```
/// let known: http_stack::client::Known = "Shop.example:443:[2001:db8::1]".parse()?;
/// assert_eq!(known.to_string(), "shop.example:443:[2001:db8::1]");
/// # Ok::<(), http_stack::client::KnownError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The name, in lower case.
    pub host: String,
    /// The port to which it applies.
    pub port: u16,
    /// The address.
    pub address: IpAddr,
}

/// The text is not a [`Known`] address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a name, a port and an address, such as \"shop.example:443:192.0.2.1\" or \"shop.example:443:[2001:db8::1]\""
)]
pub struct KnownError;

impl FromStr for Known {
    type Err = KnownError;

    fn from_str(text: &str) -> Result<Self, KnownError> {
        let (host, rest) = text.split_once(':').ok_or(KnownError)?;
        let (port, address) = rest.split_once(':').ok_or(KnownError)?;
        let address = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
        Ok(Self {
            host: Some(host.to_ascii_lowercase()).filter(|host| !host.is_empty()).ok_or(KnownError)?,
            port: port.parse().map_err(|_| KnownError)?,
            address: address.parse().map_err(|_| KnownError)?,
        })
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, address } = self;
        match address {
            IpAddr::V4(address) => write!(f, "{host}:{port}:{address}"),
            IpAddr::V6(address) => write!(f, "{host}:{port}:[{address}]"),
        }
    }
}

/// How often a name is resolved. A cached result costs no time: `dns` is absent then, not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookups {
    /// Once per client.
    Once,
    /// For each connection. The DNS server may still cache results.
    EachConnection,
}

/// The trusted certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Certificates signed by the system's store, or by the file and directories in `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR`. Without a system store, the compiled-in Mozilla list is used.
    System,
    /// Only the certificates in this PEM file and certificates signed by them.
    File(PathBuf),
    /// Any certificate for any name. For experiments: the server's identity is not verified.
    Anyone,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_name_is_written_as_curl_does() {
        for text in ["a.example:443:192.0.2.1", "a.example:8443:[::1]"] {
            assert_eq!(text.parse::<Known>().unwrap().to_string(), text);
        }
        assert_eq!("a:1:::1".parse::<Known>().unwrap().address, "::1".parse::<IpAddr>().unwrap());
        for text in ["", "a", "a:1", "a:x:::1", ":1:::1", "a:1:b", "a:99999:::1", "a:1:[::1"] {
            assert_eq!(text.parse::<Known>(), Err(KnownError), "{text}");
        }
    }

    #[test]
    fn a_file_has_the_words_of_the_command_line() {
        let quoted = |word: &str| format!("\"{word}\"");
        for protocol in Protocol::ALL {
            assert_eq!(serde_json::to_string(&protocol).unwrap(), quoted(protocol.name()));
        }
        for family in [Family::Any, Family::V4, Family::V6] {
            assert_eq!(serde_json::to_string(&family).unwrap(), quoted(family.name()));
        }
    }
}
