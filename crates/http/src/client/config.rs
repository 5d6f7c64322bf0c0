//! How a client makes connections, and how many. The only home of its defaults.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{Family, Membership, limits};

/// How a client makes connections: protocol, trust, addresses, and what it keeps.
#[derive(Debug, Clone)]
pub struct Config {
    /// Which version of HTTP to speak.
    pub protocol: Protocol,
    /// Whether requests share connections.
    pub connections: Connections,
    /// How many connections are kept, and for how long.
    pub limits: Limits,
    /// How much of an HTTP/2 or HTTP/3 response may arrive before it is read.
    pub windows: Windows,
    /// How often a name is resolved.
    pub lookups: Lookups,
    /// Whose certificates count.
    pub trust: Trust,
    /// As a member of which circle it makes connections over TLS; then that says whose certificates count, and HTTP/2 is spoken.
    pub member: Option<Membership>,
    /// Which of a name's addresses are used.
    pub family: Family,
    /// Addresses of names at a port, which are then not looked up.
    pub known: Vec<Known>,
    /// Servers of DNS that are asked instead of those of the system's resolv.conf.
    pub dns: Vec<SocketAddr>,
    /// Where to connect, whatever the URL's host resolves to; no name is resolved then.
    pub connect_to: Option<SocketAddr>,
    /// A Unix socket to connect to, whatever the URL's host; no name is resolved then, and HTTP/3 is not spoken.
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

/// How many connections a client has, and for how long. They bind where connections are reused; with
/// [`Connections::New`] their number is the caller's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections to one origin at once, idle ones included; at least 1. A request beyond it waits.
    pub connections: usize,
    /// Requests to one origin that wait for a connection, or for the server to allow one more HTTP/2 stream. One more
    /// fails with [`Failure::Busy`](crate::Failure::Busy).
    pub waiting: usize,
    /// How long a connection without requests is kept; [`Duration::MAX`] is until the server closes it. Below the
    /// server's own patience few requests meet a connection that is just being closed.
    pub idle: Duration,
    /// Origins whose connections are kept. Beyond it the one that was idle longest gives way; while all are in use, a
    /// request to another origin gets its own connection.
    pub origins: usize,
}

impl Limits {
    /// Nothing is limited but the number of origins: for a caller that limits its requests itself.
    pub const NONE: Self =
        Self { connections: usize::MAX, waiting: usize::MAX, idle: Duration::MAX, origins: limits::ORIGINS };
}

impl Default for Limits {
    /// 256 connections, 1024 requests that wait, 60 seconds: nginx closes idle connections after 75.
    fn default() -> Self {
        Self { connections: 256, waiting: 1024, idle: Duration::from_secs(60), origins: limits::ORIGINS }
    }
}

/// Bytes that a server may send on HTTP/2 or HTTP/3 before they are read, and so what a slow reader may cost in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// On one stream, up to 2^31 - 1.
    pub stream: u32,
    /// On all streams of a connection together, up to 2^31 - 1.
    pub connection: u32,
}

impl Default for Windows {
    fn default() -> Self {
        Self { stream: limits::STREAM_WINDOW, connection: limits::CONNECTION_WINDOW }
    }
}

/// Which version of HTTP to speak; in a file "auto", "http1", "http2" or "http3".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Over TLS what the server picks by ALPN, HTTP/2 preferred, and HTTP/3 for connections that are opened after it has said
    /// where it speaks that (Alt-Svc); in clear text HTTP/1.1.
    #[default]
    #[serde(rename = "auto")]
    Negotiated,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 only; in clear text with prior knowledge (RFC 9113 section 3.3).
    Http2,
    /// HTTP/3 only, over QUIC (RFC 9114); there is none in clear text.
    Http3,
}

impl Protocol {
    /// All, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Negotiated, Self::Http1, Self::Http2, Self::Http3];

    /// The word for it in files and on the command line.
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
    /// A connection per request, without TLS resumption: what a first visit sees.
    New,
    /// A connection per request that resumes the TLS session of one before, if the server allows it: what somebody who comes back
    /// sees. No data is sent ahead of the handshake (0-RTT).
    Resume,
    /// The same; and a request with a safe method and no body goes ahead of the handshake, if the session before allows it.
    Early,
    /// HTTP/1.1: the idle connection used last, or a new one if all are busy. HTTP/2 and HTTP/3: one connection for all
    /// requests; those that start before it stands wait for it, and that time is in their total but in none
    /// of their phases.
    Reuse,
}

/// An address that a name is taken to have, as in curl's `--resolve`: HOST:PORT:ADDRESS.
///
/// ```
/// let known: http::client::Known = "Shop.example:443:[2001:db8::1]".parse()?;
/// assert_eq!(known.to_string(), "shop.example:443:[2001:db8::1]");
/// # Ok::<(), http::client::KnownError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The name, in lower case.
    pub host: String,
    /// The port for which it has the address.
    pub port: u16,
    /// Its address there.
    pub address: IpAddr,
}

/// Text that is not a [`Known`] address.
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

/// How often a name is resolved. An answer that was kept costs no time: `dns` is absent then, not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookups {
    /// Once for the life of the client.
    Once,
    /// For each connection. The server that is asked may still keep results.
    EachConnection,
}

/// Whose certificates count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Certificates signed by one of the system's store, or of the file and folders that `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR` name. A system without a store: by Mozilla's list, which is compiled in.
    System,
    /// Certificates in this PEM file, and those signed by one of them. No others.
    File(PathBuf),
    /// Any certificate for any name. For experiments: it does not prove the identity of the server.
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
