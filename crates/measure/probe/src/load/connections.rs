//! How the requests of a run share connections.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::config::Config;
use crate::client;

/// How requests share connections; in a file "new", "resume", "early", "reuse" or "pages".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Connections {
    /// A connection for each request, like a first visit.
    New,
    /// A connection for each request, with resumption of an earlier TLS session if the server
    /// allows it.
    Resume,
    /// Like `Resume`, with the request in 0-RTT data if the session allows it and the request is
    /// safe to replay.
    Early,
    /// Shared connections for the whole run.
    Reuse,
    /// Several concurrent requests per start, on separate connections, as a browser opens them for
    /// a page: up to [`OF_A_PAGE`] for HTTP/1.1, or one for HTTP/2 or HTTP/3.
    Pages,
}

impl Connections {
    /// All variants, in the order of the help text.
    pub const ALL: [Self; 5] = [Self::New, Self::Resume, Self::Early, Self::Reuse, Self::Pages];

    /// Its name in files, on the command line and in a recording's conditions.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Resume => "resume",
            Self::Early => "early",
            Self::Reuse => "reuse",
            Self::Pages => "pages",
        }
    }
}

impl Config {
    /// How its requests share connections.
    pub fn connections(&self) -> Connections {
        match (self.page, self.client.http.connections) {
            (Some(_), _) => Connections::Pages,
            (None, client::Connections::New) => Connections::New,
            (None, client::Connections::Resume) => Connections::Resume,
            (None, client::Connections::Early) => Connections::Early,
            (None, client::Connections::Reuse) => Connections::Reuse,
        }
    }

    /// Sets how requests share connections. `requests` is the number per page, and ignored for
    /// other variants.
    pub fn set_connections(&mut self, connections: Connections, requests: NonZeroU32) {
        let http = &mut self.client.http;
        self.page = (connections == Connections::Pages).then_some(requests);
        http.limits.connections = http_stack::client::Limits::NONE.connections;
        http.connections = match connections {
            Connections::New => client::Connections::New,
            Connections::Resume => client::Connections::Resume,
            Connections::Early => client::Connections::Early,
            Connections::Reuse => client::Connections::Reuse,
            Connections::Pages => {
                http.limits.connections = OF_A_PAGE;
                client::Connections::Reuse
            }
        };
    }
}

/// Concurrent HTTP/1.1 connections to one origin, as in Chrome, Firefox and Safari.
pub const OF_A_PAGE: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_says_what_it_was_told() {
        let mut config = Config::default();
        assert_eq!(config.connections(), Connections::New);
        let requests = NonZeroU32::new(20).unwrap();
        for connections in Connections::ALL.into_iter().rev() {
            config.set_connections(connections, requests);
            assert_eq!(config.connections(), connections);
            let quoted = format!("\"{}\"", connections.name());
            assert_eq!(serde_json::to_string(&connections).unwrap(), quoted);
        }
        assert_eq!(config.client.http.limits.connections, usize::MAX);
    }
}
