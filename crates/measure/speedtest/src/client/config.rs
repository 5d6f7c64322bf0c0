//! Configuration of a test, with all defaults.

use std::time::Duration;

use http_stack::{
    Family, Origin,
    client::{Protocol, Trust},
};

use crate::{Error, plan::Plan};

/// Configuration of a test.
#[derive(Debug, Clone)]
pub struct Config {
    /// The server.
    pub origin: Origin,
    /// The plan.
    pub plan: Plan,
    /// Concurrent requests in each transfer, each with a share of the bytes; at least 1.
    pub streams: u32,
    /// The version of HTTP.
    pub protocol: Protocol,
    /// The trusted certificates.
    pub trust: Trust,
    /// The IP version to use.
    pub family: Family,
    /// The test fails after this time without progress.
    pub patience: Duration,
    /// Whether to store the result at the server. Fails if the server stores no results.
    pub keep: bool,
}

impl Config {
    /// A quick test of the server at this URL.
    ///
    /// # Errors
    ///
    /// The URL is invalid.
    pub fn of(url: &str) -> Result<Self, Error> {
        let refused =
            |why: http_stack::OriginError| Error::Url { text: url.to_owned(), why: why.to_string() };
        let origin: Origin = url.parse().map_err(refused)?;
        Ok(Self {
            origin,
            plan: Plan::quick(),
            streams: 1,
            protocol: Protocol::default(),
            trust: Trust::System,
            family: Family::default(),
            patience: Duration::from_secs(15),
            keep: false,
        })
    }
}
