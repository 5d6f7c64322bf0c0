//! The limits of a server, with their defaults.

use std::time::Duration;

use crate::limits;

/// The limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Concurrent connections, if the limit of open files allows. Further ones wait in the accept queue.
    pub connections: usize,
    /// Concurrent streams per HTTP/2 connection.
    pub streams: u32,
    /// The HTTP/2 flow-control window, per stream and per connection.
    pub upload_window: u32,
    /// How long HTTP/2 data may wait unsent in the kernel, which limits how long a large response delays
    /// a small one; `None` for no limit but the socket buffer.
    pub unsent: Option<Duration>,
    /// Whether each request over TCP has a [`crate::TimeInKernel`] extension: the time it was in the
    /// kernel before it was read.
    pub tells_waits: bool,
    /// The timeout for a connection's handshake, for a request's header (and so for idle connections),
    /// and for the next piece of a request's body.
    pub read_timeout: Duration,
    /// Whether each TCP connection begins with a PROXY protocol header, version 2, which contains the
    /// client's address. Then only trusted proxies should be able to connect.
    pub proxy_protocol: bool,
    /// How long requests in flight may take after the stop signal.
    pub stop_grace: Duration,
    /// How long idle connections stay open after the stop signal. A request that arrives in this
    /// time is served, and its response announces the close.
    pub idle_grace: Duration,
}

impl Config {
    pub(super) fn needs_socket(&self) -> bool {
        self.tells_waits || self.unsent.is_some()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            connections: limits::CONNECTIONS,
            streams: limits::STREAMS,
            upload_window: limits::UPLOAD_WINDOW,
            unsent: None,
            tells_waits: false,
            read_timeout: limits::READ_TIMEOUT,
            proxy_protocol: false,
            stop_grace: limits::STOP_GRACE,
            idle_grace: Duration::ZERO,
        }
    }
}
