//! Why something could not be stored, found or read.

use std::{io, path::PathBuf, time::Duration};

/// Why an operation failed. The first five concern the environment, the next four the directory's content, the rest the caller.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process has the directory.
    #[error(
        "{} is in use by another process; end that one, or give this one a directory of its own",
        path.display()
    )]
    Locked {
        /// The lock's file.
        path: PathBuf,
    },
    /// A file that is written to is not in its directory any more.
    #[error("{} was deleted while the store was open; what is written to it would be lost", path.display())]
    Deleted {
        /// The file.
        path: PathBuf,
    },
    /// Writing failed not long ago and is not tried again yet.
    #[error("not written: after {failures} failures the next attempt is in {wait:?}; the last one: {last}")]
    Paused {
        /// How many there were since the last success.
        failures: u32,
        /// Until when nothing is tried.
        wait: Duration,
        /// The last of them.
        last: String,
    },
    /// The directory was left to another process.
    #[error("not written: the directory was left to another process, and this one only reads from it")]
    Released,
    /// Something else has the name of one of the store's files.
    #[error("{} is no file of this store; move it away", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A newer or older program wrote this.
    #[error(
        "{} has version {found} of the format, and this program knows only {}; use the program that wrote it, or another directory",
        path.display(),
        crate::format::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The bytes are not those that were written.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// What shows it.
        what: &'static str,
    },
    /// So much else was stored meanwhile that the first blocks of this object were given up.
    #[error(
        "the object's first blocks were given up before its last one came: the store is too small for all that comes at once"
    )]
    Overtaken,
    /// A piece of this object could not be stored, so the whole cannot be.
    #[error("an earlier piece of the object could not be stored; begin it anew")]
    Incomplete,
    /// There is a limit.
    #[error("{what} of {bytes} bytes is more than the {limit} that there may be")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is, as far as that is known.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The capacity is no use.
    #[error("a capacity of {bytes} bytes is too small; give it {} or more", crate::Config::SMALLEST)]
    TooSmall {
        /// The capacity.
        bytes: u64,
    },
}

impl Error {
    /// From what the operating system says.
    pub(crate) fn io(operation: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { operation, path: path.into(), source }
    }

    /// Whether nothing is wrong but that the disk would have had to be waited for.
    pub fn would_wait(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::WouldBlock)
    }

    /// Whether room would help.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    /// With its causes, in a line.
    pub(crate) fn in_full(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("{self}: {source}"),
            other => other.to_string(),
        }
    }
}
