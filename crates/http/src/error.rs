//! Why a client or a server could not be set up. A request that fails is a [`Failure`](crate::Failure) instead.

use std::{io, net::SocketAddr, path::PathBuf};

/// Errors, grouped by who can fix them. If a remedy is known, the message ends with it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The caller's.
    /// The file of trusted certificates cannot be read or contains none.
    #[error("cannot trust {}: {why}", path.display())]
    Trust {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// A file of a server's own certificate or key cannot be used.
    #[error("cannot use {}: {why}", path.display())]
    Identity {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },

    // The environment's.
    /// Another program listens there.
    #[error(
        "{address} is already in use; stop the program that listens there (`ss -ltnp`) or choose another port"
    )]
    AddressInUse {
        /// The address.
        address: SocketAddr,
    },
    /// The port is reserved for privileged programs.
    #[error(
        "port {} needs privileges; choose one from 1024 up, or allow it with \
         `sysctl net.ipv4.ip_unprivileged_port_start={}`",
        address.port(), address.port()
    )]
    PortForbidden {
        /// The address.
        address: SocketAddr,
    },
    /// The address is not one of this machine's, or the kernel refused it otherwise.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel refused something that this crate cannot do without.
    #[error("cannot {what}")]
    System {
        /// The operation: "tell a socket's own address", ...
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },

    // Ours, or a name that no certificate can be for.
    /// No certificate could be made for the names given.
    #[error("cannot make a certificate for {}", names.join(", "))]
    Certificate {
        /// The names.
        names: Vec<String>,
        /// The certificate library's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
