//! Errors of this crate, with remedies.

// circle: an error names the version that it takes, and a version that cannot be read is an error.

use std::io;

use crate::kernel::Version;

/// The reason why a query or an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The peer, or the caller that named it: an address that cannot be used.
    #[error("cannot {operation} {address}: {source}")]
    Address {
        /// The operation, such as "connect to".
        operation: &'static str,
        /// The address.
        address: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The caller: invalid input.
    #[error("{what}")]
    Input {
        /// The input and the problem.
        what: String,
        /// The expected input.
        remedy: String,
    },
    /// The environment: this kernel has no MPTCP.
    #[error("this kernel has no MPTCP; it takes Linux 5.6 or newer with CONFIG_MPTCP")]
    NoMptcp,
    /// The caller: the process does not exist or belongs to another user.
    #[error("cannot look at process {pid}: {source}")]
    Process {
        /// Its number.
        pid: u32,
        /// The error of the system.
        source: io::Error,
    },
    /// The environment: this kernel lacks a feature.
    #[error("this kernel has no {feature}; it takes Linux {since} or newer")]
    Unsupported {
        /// The feature.
        feature: &'static str,
        /// The first version that has it.
        since: Version,
    },
    /// The environment: an operation of the system failed.
    #[error("cannot {operation}: {source}")]
    System {
        /// The operation and its object.
        operation: String,
        /// The error of the system.
        source: io::Error,
    },
}

impl Error {
    /// The remedy, if known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Input { remedy, .. } => Some(remedy.clone()),
            Self::Process { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("it has ended, or never existed: `ps -e` lists all processes".to_owned())
            }
            Self::Process { source, .. } | Self::System { source, .. } => (source.kind()
                == io::ErrorKind::PermissionDenied)
                .then(|| "run it as root, or as the owner of the network namespace".to_owned()),
            Self::NoMptcp | Self::Unsupported { .. } => None,
            Self::Address { operation, source, .. } => of_address(operation, source.kind()),
        }
    }
}

fn of_address(operation: &str, kind: io::ErrorKind) -> Option<String> {
    let remedy = match kind {
        _ if operation == "find" => {
            "name a host, or an address, and a port after it: example.com:5203, [2001:db8::1]:5203"
        }
        io::ErrorKind::ConnectionReset => {
            "see why the program that listens there closes the connection immediately"
        }
        io::ErrorKind::AddrNotAvailable if operation == "connect to" => {
            "all ports towards it are in use: `ss -tan` shows them, also those in TIME-WAIT"
        }
        io::ErrorKind::ConnectionRefused => "no server listens there: start it, or name another port",
        io::ErrorKind::AddrNotAvailable => "use an address of this host: `ip address` lists them",
        io::ErrorKind::AddrInUse => "end the program that uses it, which `ss -ltnp` shows, or name another",
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            "no response: is the host up, and does a firewall let it through?"
        }
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            "this host has no route there: `ip route get ADDRESS` shows which it takes"
        }
        _ => return None,
    };
    Some(remedy.to_owned())
}

/// Adds the operation to an error of the system. Also for callers that use the network namespace themselves.
pub trait Doing<T> {
    /// Converts to [`Error::System`]. `operation` completes the sentence "cannot ...".
    fn doing(self, operation: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, operation: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error::System { operation: operation(), source })
    }
}
