//! HTTP clients for origins.

use http::{
    Client,
    client::{Config, Limits, Lookups, Protocol, Trust},
};

use crate::Error;

#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) usual: Client,
    /// For protocol upgrades, which require HTTP/1.1.
    pub(crate) switching: Client,
}

impl Clients {
    pub(crate) fn new(trust: Trust) -> Result<Self, Error> {
        let usual = Config {
            limits: Limits { connections: CONNECTIONS, waiting: WAITING, ..Limits::default() },
            lookups: Lookups::EachConnection,
            trust,
            ..Config::default()
        };
        let switching = Config { protocol: Protocol::Http1, ..usual.clone() };
        Ok(Self { usual: Client::new(&usual)?, switching: Client::new(&switching)? })
    }

    /// Clients with the same configuration and separate connections.
    pub(crate) fn fresh(&self) -> Self {
        Self { usual: self.usual.fresh(), switching: self.switching.fresh() }
    }
}

/// Per worker and origin. Each connection is an open file.
const CONNECTIONS: usize = 1024;
/// Requests that may wait for a connection: the limit of user connections.
const WAITING: usize = 20_000;
