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
    /// The file has no bytes.
    #[error("the store {} is empty, and a store never is: put the right file there, or remove it to begin a new store", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A file that was to be made is there.
    #[error("{} is there already: name a file that is not", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// An earlier version wrote the file, and it was not upgraded.
    #[error("the store {} is from an earlier version: `longhaul edge run` upgrades it when it starts", path.display())]
    Plain {
        /// The file.
        path: PathBuf,
    },
    /// The file was changed by something else than this program, or the disk lost a part of it.
    #[error(
        "the store {} is damaged: {why}; {remedy}",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
        /// What its operator does.
        remedy: &'static str,
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

impl Error {
    /// The same, with the key that it is about if that is all that is known to be damaged.
    pub(crate) fn of_key(mut self, full_key: &[u8]) -> Self {
        if let Self::Damaged { why, .. } = &mut self {
            let text = String::from_utf8_lossy(full_key);
            let (namespace, key) = text.split_once('\0').unwrap_or(("", &text));
            *why = format!("key {key:?} of namespace {namespace}: {why}");
        }
        self
    }
}
