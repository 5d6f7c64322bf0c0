//! A body that is whole already: in memory, or in a file from which the kernel sends it without a copy of ours.
//!
//! To read 8 KB from a file and to write them to a socket costs two copies, `sendfile` none: it puts the file's pages into the socket.
//! A connection that needs the bytes themselves, as it encrypts them, reads them.

use std::{
    fmt, io,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

use bytes::{Buf, Bytes};

use crate::{pages, sys::read_at};

/// A whole body.
#[derive(Debug, Clone)]
pub enum Whole {
    /// In memory.
    Bytes(Bytes),
    /// In a file.
    File(FilePart),
}

/// Bytes of a file that stay as they are until this is dropped. They should be in the kernel's memory, as whoever sends them waits for
/// what is not.
#[derive(Clone)]
pub struct FilePart {
    file: Arc<dyn AsFd + Send + Sync>,
    at: u64,
    length: usize,
}

impl Whole {
    /// Bytes of it.
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::File(part) => part.length,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The file that it is in, and where in that; `None` if it is in no file, or in one that cannot be sent.
    pub(crate) fn in_file(&self) -> Option<(BorrowedFd<'_>, u64)> {
        match self {
            Self::Bytes(bytes) => pages::place_of(bytes),
            Self::File(part) => Some((part.file.as_fd(), part.at)),
        }
    }

    /// Its bytes, which are read if they are in a file: for a connection that cannot send them from there.
    ///
    /// # Errors
    /// When the file cannot be read, or is shorter.
    pub(crate) fn in_memory(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::File(part) => {
                *self = Self::Bytes(part.read()?);
                self.in_memory()
            }
        }
    }

    /// So many of its first bytes are not needed any more.
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

impl From<Bytes> for Whole {
    fn from(bytes: Bytes) -> Self {
        Self::Bytes(bytes)
    }
}

impl FilePart {
    /// Shorter ones are rather read: to send them from where they are costs a call to the kernel more, and copies little less.
    pub const LEAST: usize = 4096;

    /// So many bytes of a file, from this place on.
    pub fn new(file: Arc<dyn AsFd + Send + Sync>, at: u64, length: usize) -> Self {
        Self { file, at, length }
    }

    fn read(&self) -> io::Result<Bytes> {
        let mut bytes = vec![0; self.length];
        read_at(self.file.as_fd(), &mut bytes, self.at)?;
        Ok(bytes.into())
    }
}

impl fmt::Debug for FilePart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FilePart")
            .field("at", &self.at)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}
