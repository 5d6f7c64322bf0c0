//! Why a client or a server could not be set up. A request that fails is a [`Failure`](crate::Failure) instead.

use std::{io, net::SocketAddr, path::PathBuf};

/// What went wrong, grouped by who can mend it. Where a remedy is known the message ends in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The caller's.
    /// The file of trusted certificates cannot be read or holds none.
    #[error("cannot trust {}: {why}", path.display())]
    Trust {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file of a server's own certificate or key cannot be used.
    #[error("cannot use {}: {why}", path.display())]
    Identity {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
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
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused something that this crate cannot do without.
    #[error("cannot {what}")]
    System {
        /// What was tried: "tell a socket's own address", ...
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },

    // Ours, or a name that no certificate can be for.
    /// No certificate could be made for the names given.
    #[error("cannot make a certificate for {}", names.join(", "))]
    Certificate {
        /// The names.
        names: Vec<String>,
        /// What the certificate library said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
