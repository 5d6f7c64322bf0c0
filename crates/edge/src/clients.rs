//! Connections to origins.

use http::{
    Client,
    client::{Config, Limits, Lookups, Protocol, Trust},
};

use crate::Error;

/// A core's connections to origins.
#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) usual: Client,
    /// For requests that ask for another protocol, which only those over HTTP/1.1 can.
    pub(crate) switching: Client,
}

impl Clients {
    /// To origins with certificates that are trusted.
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

    /// The same with connections of their own.
    pub(crate) fn fresh(&self) -> Self {
        Self { usual: self.usual.fresh(), switching: self.switching.fresh() }
    }
}

/// Of one core to one origin; each is a file of this process.
const CONNECTIONS: usize = 1024;
/// Requests that may wait for one of those: as many as visitors may have connections.
const WAITING: usize = 20_000;
