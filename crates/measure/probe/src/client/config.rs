//! Configuration of requests. The only place of the defaults in which a probe differs from other
//! clients.

use std::time::Duration;

use super::Field;
pub use http_stack::client::{Connections, Known, Lookups, Protocol, Trust};

/// How requests are made: connections, redirects, timeout.
#[derive(Debug, Clone)]
pub struct Config {
    /// How connections are made.
    pub http: http_stack::client::Config,
    /// What to do with a redirect.
    pub redirects: Redirects,
    /// Timeout of one request, from start to last byte.
    pub timeout: Duration,
    /// Fields of responses that become labels of samples.
    pub record: Vec<Field>,
}

impl Default for Config {
    /// One connection per request, and no limit of connections: the load generator limits requests.
    fn default() -> Self {
        Self {
            http: http_stack::client::Config {
                connections: Connections::New,
                limits: http_stack::client::Limits::NONE,
                ..http_stack::client::Config::default()
            },
            redirects: Redirects::Stay,
            timeout: Duration::from_secs(30),
            record: Vec::new(),
        }
    }
}

/// What to do with a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// It is the response.
    Stay,
    /// Follow it: each hop is a separate sample, and `chain` links them.
    Follow,
}
