//! Why something could not be stored or read.

use std::{io, path::PathBuf};

use kv::Version;

/// Why an operation failed. All but the last two concern the file or its environment.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {operation} the store {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no room for what was to be written.
    #[error("the store {} cannot grow: its disk is full; make room there", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process has the file.
    #[error(
        "the store {} is in use by another process; end that one, or give this one a file of its own",
        path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not a store; move it away, or name another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was changed by something else than this program, or the disk lost a part of it.
    #[error(
        "the store {} is damaged ({why}): move it away, and take what was in it from a copy or an export",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// A newer program wrote the file.
    #[error(
        "the store {} has version {found} of the format, and this program knows only {known}; use the program that wrote it",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// What it has.
        found: u64,
        /// The newest one that is known.
        known: u64,
    },
    /// A write has an older version than what is known of its key. Nothing was written.
    #[error("a newer version of the key is known: {known}")]
    Older {
        /// The newest one that is known of the keys that were to be written.
        known: Version,
    },
    /// The file was left to another process.
    #[error("the store was closed: another process takes this one's place")]
    Released,
}
