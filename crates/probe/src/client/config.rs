//! How requests are made. The only home of the client's defaults.

use std::{net::SocketAddr, time::Duration};

pub use http::client::{Connections, Lookups, Protocol, Trust};

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
            protocol: Protocol::default(),
            connections: Connections::New,
            lookups: Lookups::Once,
            redirects: Redirects::Stay,
            timeout: Duration::from_secs(30),
            trust: Trust::System,
            family: Family::default(),
            connect_to: None,
        }
    }
}

impl Config {
    /// What of it concerns connections. Their number is limited by that of the requests.
    pub(crate) fn http(&self) -> http::client::Config {
        http::client::Config {
            protocol: self.protocol,
            connections: self.connections,
            limits: http::client::Limits::NONE,
            lookups: self.lookups,
            trust: self.trust.clone(),
            family: self.family,
            connect_to: self.connect_to,
            ..http::client::Config::default()
        }
    }
}

/// What becomes of a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// It is the response.
    Stay,
    /// It is followed: each hop is a sample of its own, linked by `chain`.
    Follow,
}
