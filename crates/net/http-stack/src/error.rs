//! Errors in setting up a client or a server. A failed request is a [`Failure`](crate::Failure) instead.

use std::{io, net::SocketAddr, path::PathBuf};

/// Setup errors, grouped by cause. If a remedy is known, the message ends with it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file of trusted certificates cannot be read or contains none.
    #[error("cannot trust {}: {why}", path.display())]
    Trust {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// A certificate or key file of the server cannot be used.
    #[error("cannot use {}: {why}", path.display())]
    Identity {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },

    /// Another program listens on the address.
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
    /// The address is not local, or the kernel rejected it for another reason.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
    /// A required system call failed.
    #[error("cannot {what}")]
    System {
        /// The operation, for example "get the local address of a socket".
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },

    /// No certificate could be created for the given names.
    #[error("cannot make a certificate for {}", names.join(", "))]
    Certificate {
        /// The names.
        names: Vec<String>,
        /// The certificate library's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
