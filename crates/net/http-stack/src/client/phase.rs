//! The current step of a request, for timeouts and cancelled requests.

use std::fmt;

/// What a request is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// A pooled connection, or one that another request opens.
    #[default]
    Connection,
    /// The addresses of the host name.
    Dns,
    /// The TCP handshake.
    Connect,
    /// The TLS handshake.
    Tls,
    /// The QUIC handshake, including TLS.
    Quic,
    /// The peer or the kernel, to accept more of the request.
    Send,
    /// The head of the final response.
    Wait,
    /// More of the response's body.
    Load,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connection => "connection",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Quic => "quic",
            Self::Send => "send",
            Self::Wait => "wait",
            Self::Load => "load",
        })
    }
}
