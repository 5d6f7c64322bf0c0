//! What the clients of a server may cost. The only home of its defaults.

use std::time::Duration;

use crate::limits;

/// What the clients of a server may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Connections at once, if the limit of open files allows. Further ones wait in the kernel's queue.
    pub connections: usize,
    /// Streams at once on one HTTP/2 connection.
    pub streams: u32,
    /// What may arrive on one HTTP/2 stream before somebody reads it, and on all of one connection together.
    pub upload_window: u32,
    /// How long what was written over HTTP/2 may wait in the kernel for being sent, so that a short answer soon follows a long one;
    /// `None` for as much as there is room for.
    pub unsent: Option<Duration>,
    /// Whether each request over TCP has among its extensions how long it was in the kernel before it was read ([`crate::Waited`]), which is
    /// a system call more for each.
    pub tells_waits: bool,
    /// How long to wait for a connection's handshake, for a request's header (so a connection without requests is closed
    /// after that too), and for the next piece of a request's body.
    pub read_timeout: Duration,
    /// Whether each connection over TCP begins with a header of the PROXY protocol, version 2, which says who the client is. Then
    /// only those who may say that should be able to connect.
    pub proxy_protocol: bool,
    /// How long requests in flight may take to finish when the server is asked to stop.
    pub stop_grace: Duration,
    /// How long connections without a request are kept open then. The request that comes in this time is answered, and its client told
    /// that the connection ends; without it, one that is on its way when the connection is closed gets no answer.
    pub idle_grace: Duration,
}

impl Config {
    /// Whether a connection over HTTP/2 asks its socket for more than bytes, for which it has a descriptor of its own.
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
