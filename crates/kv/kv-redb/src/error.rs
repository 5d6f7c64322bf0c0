//! Errors of reads and writes.

use std::{io, path::PathBuf};

use kv::Version;

/// Why an operation failed. All except the last two concern the file or its environment.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An operation of the operating system failed.
    #[error("cannot {operation} the store {}: {source}", path.display())]
    Io {
        /// The failed operation, as a verb.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The disk is full.
    #[error("the store {} cannot grow: its disk is full; make room there", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process uses the file.
    #[error(
        "the store {} is in use by another process; stop that process, or configure another file",
        path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a store.
    #[error("{} is not a store; move it away, or name another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is empty.
    #[error("the store {} is empty, which is never valid: restore the file, or remove it to create a new store", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A file that should be created already exists.
    #[error("{} already exists: choose another name", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by an earlier version and was not upgraded.
    #[error("the store {} is from an earlier version: `longhaul edge run` upgrades it when it starts", path.display())]
    Plain {
        /// The file.
        path: PathBuf,
    },
    /// The file was modified by another program, or the disk lost a part of it.
    #[error(
        "the store {} is damaged: {why}; {remedy}",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The kind of damage.
        why: String,
        /// What the operator can do.
        remedy: &'static str,
    },
    /// The file was written by a newer program.
    #[error(
        "the store {} has version {found} of the format, and this program supports only {known}; use the program that wrote it",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u64,
        /// The newest supported version.
        known: u64,
    },
    /// A write has an older version than the stored record of its key. Nothing was written.
    #[error("a newer version of the key is known: {known}")]
    Older {
        /// The newest stored version of the keys in the request.
        known: Version,
    },
    /// The file was released to another process.
    #[error("the store was closed: a new process has taken over")]
    Released,
}

impl Error {
    pub(crate) fn of_key(mut self, full_key: &[u8]) -> Self {
        if let Self::Damaged { why, .. } = &mut self {
            let text = String::from_utf8_lossy(full_key);
            let (namespace, key) = text.split_once('\0').unwrap_or(("", &text));
            *why = format!("key {key:?} of namespace {namespace}: {why}");
        }
        self
    }
}
