//! Errors of a transfer. A transfer that ends early is a result, not an error.

use std::{io, net::SocketAddr};

use units::Bytes;

/// Errors of a transfer, grouped by where the remedy is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a host with a port, or the host is unknown.
    #[error(
        "cannot send to \"{server}\": expected HOST:PORT with a known host, such as \"example.com:5201\""
    )]
    Server {
        /// The given text.
        server: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// The kernel does not have this congestion control algorithm, or does not permit this user to
    /// select it.
    #[error("congestion control \"{name}\" cannot be chosen; this kernel has {available}")]
    Congestion {
        /// The given name.
        name: String,
        /// The available names, separated by blanks.
        available: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The interval is outside its limits.
    #[error("an interval must be from 1ms to 1h")]
    Interval,
    /// The omitted time covers the whole transfer.
    #[error("of {duration} the first {omit} do not count, so that nothing would; send for longer")]
    Omit {
        /// The duration of sending, formatted.
        duration: String,
        /// The omitted time, formatted.
        omit: String,
    },
    /// A buffer or window size is out of range.
    #[error("{what} cannot be {asked}; {remedy}")]
    Size {
        /// The option: "window", ...
        what: &'static str,
        /// The given size.
        asked: Bytes,
        /// The limits, and how to change them.
        remedy: String,
    },
    /// The caller stopped before there was a connection.
    #[error("stopped before there was a connection")]
    Stopped,

    /// The kernel does not support Multipath TCP.
    #[error(
        "this kernel refuses Multipath TCP; it takes Linux 5.6 or newer, built with MPTCP, and \
         `sysctl net.mptcp.enabled=1`"
    )]
    NoMptcp {
        /// The kernel's error.
        source: io::Error,
    },
    /// The listener could not be opened.
    #[error("cannot listen on {address}; `ss -ltnp` shows what does, --listen chooses another")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
    /// A required system call failed.
    #[error("cannot {what}")]
    System {
        /// The operation: "start a runtime", ...
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },

    /// No address of the server accepts a connection.
    #[error(
        "cannot connect to {address}; start `longhaul transfer serve` there, or open its port in the firewall"
    )]
    Connect {
        /// The last address tried.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
    /// The peer is not a transfer server, or it refused the transfer.
    #[error("{address} takes no transfer: {why}")]
    Refused {
        /// The server.
        address: SocketAddr,
        /// The reason.
        why: String,
    },
}
