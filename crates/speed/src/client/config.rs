//! What a test is to do. The only home of its defaults.

use std::time::Duration;

use http::{
    Family, Origin,
    client::{Protocol, Trust},
};

use crate::{Error, plan::Plan};

/// What a test is to do.
#[derive(Debug, Clone)]
pub struct Config {
    /// The server.
    pub origin: Origin,
    /// Which requests.
    pub plan: Plan,
    /// Requests at once in each transfer, each with its share of the bytes; at least 1.
    pub streams: u32,
    /// Which version of HTTP.
    pub protocol: Protocol,
    /// Whose certificates count.
    pub trust: Trust,
    /// Which of a name's addresses are used.
    pub family: Family,
    /// How long nothing may move before the test is given up.
    pub patience: Duration,
    /// Leave the result at the server, which has to keep such.
    pub keep: bool,
}

impl Config {
    /// A quick test of a server, from its URL.
    ///
    /// # Errors
    /// When the URL is not one of a server.
    pub fn of(url: &str) -> Result<Self, Error> {
        let refused = |why: http::OriginError| Error::Url { text: url.to_owned(), why: why.to_string() };
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
