//! A complete body, in memory or in a file from which the kernel sends it without copying.
//!
//! A connection that encrypts reads the bytes instead.

use std::{
    fmt, io,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

use bytes::{Buf, Bytes};

use crate::{memfd_buffer, sys::read_at};

/// A complete body.
#[derive(Debug, Clone)]
pub enum CompleteBody {
    /// In memory.
    Bytes(Bytes),
    /// In a file.
    File(FileRange),
}

/// Bytes of a file that do not change until this is dropped. They should be in the page cache, because
/// sending blocks on disk reads.
#[derive(Clone)]
pub struct FileRange {
    file: Arc<dyn AsFd + Send + Sync>,
    at: u64,
    length: usize,
}

impl CompleteBody {
    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::File(part) => part.length,
        }
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn in_file(&self) -> Option<(BorrowedFd<'_>, u64)> {
        match self {
            Self::Bytes(bytes) => memfd_buffer::place_of(bytes),
            Self::File(part) => Some((part.file.as_fd(), part.at)),
        }
    }

    /// The bytes of the body, read from the file if necessary, for connections that cannot send from a
    /// file.
    ///
    /// # Errors
    /// The file cannot be read, or is too short.
    pub(crate) fn in_memory(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::File(part) => {
                *self = Self::Bytes(part.read()?);
                self.in_memory()
            }
        }
    }

    pub(crate) fn advance(&mut self, sent: usize) {
        match self {
            Self::Bytes(bytes) => bytes.advance(sent),
            Self::File(part) => {
                part.at += sent as u64;
                part.length -= sent;
            }
        }
    }
}

impl From<Bytes> for CompleteBody {
    fn from(bytes: Bytes) -> Self {
        Self::Bytes(bytes)
    }
}

impl FileRange {
    /// Shorter bodies should be read instead: sending from a file takes one more system call and saves
    /// little copying.
    pub const LEAST: usize = 4096;

    /// Creates a body from a range of a file.
    pub fn new(file: Arc<dyn AsFd + Send + Sync>, at: u64, length: usize) -> Self {
        Self { file, at, length }
    }

    fn read(&self) -> io::Result<Bytes> {
        let mut bytes = vec![0; self.length];
        read_at(self.file.as_fd(), &mut bytes, self.at)?;
        Ok(bytes.into())
    }
}

impl fmt::Debug for FileRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FilePart")
            .field("at", &self.at)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}
