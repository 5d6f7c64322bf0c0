//! How far a request has come: where it was when it was given up.

use std::fmt;

/// What a request is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Step {
    /// A connection that others use or open.
    #[default]
    Connection,
    /// Addresses of the name.
    Dns,
    /// TCP's handshake.
    Connect,
    /// TLS's handshake.
    Tls,
    /// QUIC's handshake, TLS included.
    Quic,
    /// The other end or the kernel to take more of the request.
    Send,
    /// The final response's head.
    Wait,
    /// More of the response's body.
    Load,
}

impl fmt::Display for Step {
    /// The word for it: that of the phase, where there is one.
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
