//! A value that comes in pieces: stored as they come, and there for readers when it is whole.

// circle: what is uploaded is written by the store that hands it out.

use bytes::{Bytes, BytesMut};
use kv::{About, Expiration, Given, Metadata, Record, Version};

use crate::{
    Error, Vault,
    change::{Change, Made},
    layout::{PIECE, full_key},
};

/// A value that is not whole yet. No more than two pieces of it are in memory. Dropped before [`Self::finish`], it never was.
#[derive(Debug)]
pub struct Upload<'v> {
    vault: &'v Vault,
    value: u64,
    /// Pieces that are stored.
    stored: u32,
    bytes: u64,
    rest: BytesMut,
    is_finished: bool,
}

impl<'v> Upload<'v> {
    pub(crate) fn new(vault: &'v Vault, value: u64) -> Self {
        Self { vault, value, stored: 0, bytes: 0, rest: BytesMut::new(), is_finished: false }
    }

    /// How many bytes it has so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds bytes. Whole pieces are durable when it returns.
    ///
    /// # Errors
    /// When they cannot be stored.
    pub async fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        let mut bytes = bytes;
        while !bytes.is_empty() {
            // The last piece goes with the head, so that a value of one piece is one write.
            if self.rest.len() == PIECE {
                let piece = self.rest.split().freeze();
                self.store(piece).await?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(PIECE - self.rest.len()));
            self.rest.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Makes it the value of a key, durably; with this version if it was made elsewhere.
    ///
    /// # Errors
    /// When that cannot be stored, or something newer is known; then the key is as it was.
    pub async fn finish(
        mut self,
        (namespace, key): (&str, &str),
        (expiration, metadata): (Option<Expiration>, Option<Metadata>),
        version: Option<Version>,
    ) -> Result<Version, Error> {
        let about = About { bytes: self.bytes, expiration, metadata };
        let rest = self.rest.split().freeze();
        let key = full_key(namespace, key);
        let put = Change::Put { key, value: self.value, rest, about, version };
        match self.end(put).await? {
            Made::Version(version) => Ok(version),
            Made::Given(_) => Err(Error::Released),
        }
    }

    /// Takes it as the value of a key that another store gives, durably.
    ///
    /// # Errors
    /// When that cannot be stored; then the key is as it was.
    pub async fn take(mut self, full_key: &str, record: Record) -> Result<Given, Error> {
        let rest = self.rest.split().freeze();
        let key = full_key.as_bytes().to_vec();
        match self.end(Change::Take { key, value: self.value, rest, record }).await? {
            Made::Given(given) => Ok(given),
            Made::Version(_) => Err(Error::Released),
        }
    }

    async fn end(&mut self, change: Change) -> Result<Made, Error> {
        let made = self.vault.write(vec![change]).await?;
        self.is_finished = true;
        made.into_iter().next().ok_or(Error::Released)
    }

    async fn store(&mut self, bytes: Bytes) -> Result<(), Error> {
        let piece = Change::Piece { value: self.value, number: self.stored, bytes };
        self.stored += 1;
        self.vault.write(vec![piece]).await?;
        Ok(())
    }
}

impl Drop for Upload<'_> {
    fn drop(&mut self) {
        if !self.is_finished && self.stored > 0 {
            self.vault.discard(self.value);
        }
    }
}
