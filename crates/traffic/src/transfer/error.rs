//! Why no transfer could be made. One that ends too early is not an error but a result.

use std::{io, net::SocketAddr};

use units::Bytes;

/// What went wrong, grouped by whose hand can mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The caller's.
    /// The text is not a host with a port, or the host is unknown.
    #[error(
        "cannot send to \"{server}\": expected HOST:PORT with a known host, such as \"example.com:5201\""
    )]
    Server {
        /// What was given.
        server: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The kernel does not have this congestion control, or does not let this user choose it.
    #[error("congestion control \"{name}\" cannot be chosen; this kernel has {available}")]
    Congestion {
        /// What was given.
        name: String,
        /// The names that it has, separated by blanks.
        available: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The server notes arrivals no finer and no coarser than it can.
    #[error("an interval lies between 1ms and 1h")]
    Interval,
    /// All of a transfer would be left out of account.
    #[error("of {duration} the first {omit} do not count, so that nothing would; send for longer")]
    Omit {
        /// How long it sends, as a person writes it.
        duration: String,
        /// What does not count.
        omit: String,
    },
    /// A buffer or window is larger or smaller than one can be.
    #[error("there is no {what} of {asked}; {remedy}")]
    Size {
        /// What was to be set: "window", ...
        what: &'static str,
        /// What was given.
        asked: Bytes,
        /// What can be had, and how to have more.
        remedy: String,
    },
    /// Somebody asked for the end before there was a connection.
    #[error("stopped before there was a connection")]
    Stopped,

    // The environment's.
    /// The kernel speaks no Multipath TCP.
    #[error(
        "this kernel refuses Multipath TCP; it takes Linux 5.6 or newer, built with MPTCP, and \
         `sysctl net.mptcp.enabled=1`"
    )]
    NoMptcp {
        /// What the kernel said.
        source: io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}; `ss -ltnp` shows what does, --listen chooses another")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused something that cannot be done without.
    #[error("cannot {what}")]
    System {
        /// What was tried: "start a runtime", ...
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },

    // The peer's.
    /// None of the server's addresses takes a connection.
    #[error(
        "cannot connect to {address}; start `longhaul transfer serve` there, or open its port in the firewall"
    )]
    Connect {
        /// The last address that was tried.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// What listens there is not a server of transfers, or it refuses this one.
    #[error("{address} takes no transfer: {why}")]
    Refused {
        /// The server.
        address: SocketAddr,
        /// What it said, or what it did not.
        why: String,
    },
}
