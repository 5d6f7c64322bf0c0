//! What can keep us from looking, and what to do about it.

use std::io;

/// Why the kernel could not be asked, or told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller: something that was written makes no sense.
    #[error("{what}")]
    Input {
        /// What was written, and what is wrong with it.
        what: String,
        /// What to write instead.
        remedy: String,
    },
    /// The caller: a file with a mistake in it.
    #[error(transparent)]
    Mistake(#[from] world::Mistake),
    /// The caller or the peer: an address that cannot be reached, or not be listened on.
    #[error("cannot {operation}: {source}")]
    Address {
        /// What was being done, with the address.
        operation: String,
        /// What the system said.
        source: io::Error,
        /// What can be done about it.
        remedy: &'static str,
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
            Self::Address { remedy, .. } => Some((*remedy).to_owned()),
            Self::Process { source, .. } | Self::System { source, .. } => (source.kind()
                == io::ErrorKind::PermissionDenied)
                .then(|| "run it as root, or as whoever owns the network namespace".to_owned()),
            Self::Mistake(_) | Self::NoMptcp => None,
        }
    }
}

/// Adds what was being done to an error of the system.
pub(crate) trait Doing<T> {
    /// `operation` completes the sentence "cannot ...".
    fn doing(self, operation: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, operation: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error::System { operation: operation(), source })
    }
}
