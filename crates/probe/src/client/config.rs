//! How requests are made. The only home of the client's defaults.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use crate::Family;

/// How requests are made: protocol, connections, trust, patience.
#[derive(Debug, Clone)]
pub struct Config {
    /// Which version of HTTP to speak.
    pub protocol: Protocol,
    /// Whether requests share connections.
    pub connections: Connections,
    /// How often a name is resolved.
    pub lookups: Lookups,
    /// What becomes of a redirect.
    pub redirects: Redirects,
    /// How long one request may take, from start to last byte.
    pub timeout: Duration,
    /// Whose certificates count.
    pub trust: Trust,
    /// Which of a name's addresses are used.
    pub family: Family,
    /// Where to connect, whatever the URL's host resolves to; no name is resolved then.
    pub connect_to: Option<SocketAddr>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            protocol: Protocol::Negotiated,
            connections: Connections::New,
            lookups: Lookups::Once,
            redirects: Redirects::Stay,
            timeout: Duration::from_secs(30),
            trust: Trust::System,
            family: Family::Any,
            connect_to: None,
        }
    }
}

/// Which version of HTTP to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Over TLS what the server picks by ALPN, HTTP/2 preferred; in clear text HTTP/1.1.
    Negotiated,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 only; in clear text with prior knowledge (RFC 9113 section 3.3).
    Http2,
}

/// Whether requests share connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connections {
    /// A connection per request, without TLS resumption: what a first visit sees.
    New,
    /// HTTP/1.1: the idle connection used last, or a new one if all are busy. HTTP/2: one connection for all
    /// requests; those that start before it stands wait for it, and that time is in their total but in none
    /// of their phases.
    Reuse,
}

/// How often a name is resolved. A result that was kept costs no time: `dns` is absent then, not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookups {
    /// Once for the life of the client.
    Once,
    /// For each connection. The operating system may still keep results.
    EachConnection,
}

/// What becomes of a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// It is the response.
    Stay,
    /// It is followed: each hop is a sample of its own, linked by `chain`.
    Follow,
}

/// Whose certificates count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Certificates signed by one of the system's store, or of the file and folders that `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR` name. A system without a store: by Mozilla's list, which is compiled in.
    System,
    /// Certificates in this PEM file, and those signed by one of them. No others.
    File(PathBuf),
    /// Any certificate for any name. For experiments: it proves nothing of who answers.
    Anyone,
}
