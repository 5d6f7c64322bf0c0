//! Errors of ping runs. A lost ping is not an error but a result.

use std::io;

/// The errors, grouped by who can fix them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The resolver does not know the name.
    #[error("unknown host \"{host}\"")]
    UnknownHost {
        /// The given name.
        host: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// The name has addresses, but none of the requested family.
    #[error("\"{host}\" has no {family} address")]
    NoAddress {
        /// The given name.
        host: String,
        /// "IPv4" or "IPv6".
        family: &'static str,
    },
    /// Rounds with no time between them.
    #[error("an interval of 0 leaves no time for a round; give at least 1us")]
    Interval,
    /// More pings in flight than replies can distinguish.
    #[error(
        "{under_way} pings would be in flight concurrently, but replies can distinguish only {most}; choose a longer interval, \
         a shorter timeout or fewer targets"
    )]
    TooMany {
        /// Pings within one timeout.
        under_way: u128,
        /// The maximum.
        most: usize,
    },

    /// The kernel allows neither kind of socket.
    #[error(
        "this user may not send pings over {family}: raw sockets need CAP_NET_RAW (run as root), and datagram ones \
         a group within net.ipv4.ping_group_range; allow them with \
         `sysctl net.ipv4.ping_group_range='0 2147483647'`"
    )]
    Forbidden {
        /// "IPv4" or "IPv6".
        family: &'static str,
    },
    /// The recording could not be written; the run was ended.
    #[error("cannot write the recording")]
    Record {
        /// The writer's error.
        #[from]
        source: recording::Error,
    },
    /// A required system call failed.
    #[error("cannot {what}")]
    System {
        /// The operation: "start a runtime", ...
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
}
