//! Errors of a store.

use std::{io, path::PathBuf, time::Duration};

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system reported an error.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// The operation, as a verb.
        operation: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another process has locked the directory.
    #[error(
        "{} is in use by another process; stop that process, or configure another directory",
        path.display()
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A file was deleted while it is written.
    #[error("{} was deleted while the store was open; further writes would be lost", path.display())]
    Deleted {
        /// The file.
        path: PathBuf,
    },
    /// Writing has failed, and the pause before the next attempt has not ended.
    #[error("not written: after {failures} failures the next attempt is in {wait:?}; the last one: {last}")]
    Paused {
        /// The number of failures since the last success.
        failures: u32,
        /// The time until the next attempt.
        wait: Duration,
        /// The last failure.
        last: String,
    },
    /// The directory was released to another process.
    #[error("not written: the directory was released to another process, and this process can only read")]
    Released,
    /// A file with the name of one of the store's files has other contents.
    #[error("{} is not a file of this store; move it away", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file has another version of the format.
    #[error(
        "{} has version {found} of the format, and this program supports only {}; use the program that wrote it, or another directory",
        path.display(),
        crate::format::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
    },
    /// A checksum is wrong.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The beginning of the record.
        offset: u64,
        /// The evidence.
        what: &'static str,
    },
    /// The first blocks of the object were evicted before it was complete.
    #[error(
        "the first blocks of the object were evicted before it was complete: the store is too small for the concurrent writes"
    )]
    Overtaken,
    /// A piece of the object could not be stored, so the object cannot be finished.
    #[error("an earlier piece of the object could not be stored; start again")]
    Incomplete,
    /// A limit is exceeded.
    #[error("{what} of {bytes} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// The object or part that is too large.
        what: &'static str,
        /// Its known size in bytes, which may be a lower bound.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The capacity is too small.
    #[error("a capacity of {bytes} bytes is too small; the minimum is {}", crate::Config::SMALLEST)]
    TooSmall {
        /// The capacity.
        bytes: u64,
    },
}

impl Error {
    pub(crate) fn io(operation: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { operation, path: path.into(), source }
    }

    /// Whether the operation failed only because it would have had to wait for the disk.
    pub fn would_wait(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::WouldBlock)
    }

    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    pub(crate) fn in_full(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("{self}: {source}"),
            other => other.to_string(),
        }
    }
}
