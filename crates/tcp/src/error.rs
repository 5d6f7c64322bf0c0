//! What can keep us from looking, and what to do about it.

// circle: an error names the version that it takes, and a version that cannot be read is an error.

use std::io;

use crate::kernel::Version;

/// Why the kernel could not be asked, or told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The peer, or the caller that named it: an address that cannot be used.
    #[error("cannot {operation} {address}: {source}")]
    Address {
        /// What was being done, such as "connect to".
        operation: &'static str,
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The caller: something that was written makes no sense.
    #[error("{what}")]
    Input {
        /// What was written, and what is wrong with it.
        what: String,
        /// What to write instead.
        remedy: String,
    },
    /// The environment: this kernel has no MPTCP.
    #[error("this kernel has no MPTCP; it takes Linux 5.6 or newer with CONFIG_MPTCP")]
    NoMptcp,
    /// The caller: no such process, or it is somebody else's.
    #[error("cannot look at process {pid}: {source}")]
    Process {
        /// Its number.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The environment: this kernel cannot do it.
    #[error("this kernel has no {feature}; it takes Linux {since} or newer")]
    Unsupported {
        /// What it lacks.
        feature: &'static str,
        /// The first version that has it.
        since: Version,
    },
    /// The environment: an operation of the system failed.
    #[error("cannot {operation}: {source}")]
    System {
        /// What was being done, and to what.
        operation: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// The remedy, where one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Input { remedy, .. } => Some(remedy.clone()),
            Self::Process { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("it has ended, or never was: `ps -e` lists those that there are".to_owned())
            }
            Self::Process { source, .. } | Self::System { source, .. } => (source.kind()
                == io::ErrorKind::PermissionDenied)
                .then(|| "run it as root, or as whoever owns the network namespace".to_owned()),
            Self::NoMptcp | Self::Unsupported { .. } => None,
            Self::Address { operation, source, .. } => of_address(operation, source.kind()),
        }
    }
}

/// What helps when an address cannot be used.
fn of_address(operation: &str, kind: io::ErrorKind) -> Option<String> {
    let remedy = match kind {
        _ if operation == "find" => {
            "name a host, or an address, and a port after it: example.com:5203, [2001:db8::1]:5203"
        }
        io::ErrorKind::ConnectionReset => {
            "see why the program that listens there closes the connection at once"
        }
        io::ErrorKind::AddrNotAvailable if operation == "connect to" => {
            "all ports towards it are in use: `ss -tan` shows them, also those in TIME-WAIT"
        }
        io::ErrorKind::ConnectionRefused => "nobody listens there: start the server, or name another port",
        io::ErrorKind::AddrNotAvailable => "use an address of this host: `ip address` lists them",
        io::ErrorKind::AddrInUse => "end the program that uses it, which `ss -ltnp` shows, or name another",
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            "nothing answered: is the host up, and does a firewall let it through?"
        }
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            "this host knows no way there: `ip route get ADDRESS` shows which it takes"
        }
        _ => return None,
    };
    Some(remedy.to_owned())
}

/// Adds what was being done to an error of the system: for callers that use the network namespace themselves, too.
pub trait Doing<T> {
    /// An error of the system as [`Error::System`]. `operation` completes the sentence "cannot ...".
    fn doing(self, operation: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, operation: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error::System { operation: operation(), source })
    }
}
