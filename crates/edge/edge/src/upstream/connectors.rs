//! HTTP clients for origins.

use http_stack::{
    Client,
    client::{Config, Limits, Lookups, Protocol, Trust},
};

use crate::Error;

#[derive(Clone)]
pub(crate) struct Connectors {
    pub(crate) requests: Client,
    /// Upgrades require HTTP/1.1.
    pub(crate) upgrades: Client,
}

impl Connectors {
    pub(crate) fn new(trust: Trust) -> Result<Self, Error> {
        let usual = Config {
            limits: Limits { connections: MAX_CONNECTIONS, waiting: MAX_WAITING, ..Limits::default() },
            lookups: Lookups::EachConnection,
            trust,
            ..Config::default()
        };
        let switching = Config { protocol: Protocol::Http1, ..usual.clone() };
        Ok(Self { requests: Client::new(&usual)?, upgrades: Client::new(&switching)? })
    }

    pub(crate) fn with_own_connections(&self) -> Self {
        Self { requests: self.requests.fresh(), upgrades: self.upgrades.fresh() }
    }
}

/// The limit per worker and origin. Each connection is an open file.
const MAX_CONNECTIONS: usize = 1024;
/// The limit of user connections.
pub(crate) const MAX_WAITING: usize = 20_000;
