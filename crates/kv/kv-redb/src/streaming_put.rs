//! A value that is written in pieces: stored as they arrive, visible to readers when it is
//! complete.

// circle: what is uploaded is written by the store that hands it out.

use bytes::{Bytes, BytesMut};
use kv::{ApplyOutcome, Expiration, Metadata, Record, ValueMeta, Version};

use crate::{
    Error, RedbStore,
    layout::{PIECE, full_key},
    mutation::{Applied, Mutation},
};

/// An incomplete value. At most two pieces of it are in memory.
#[derive(Debug)]
pub struct Upload<'v> {
    vault: &'v RedbStore,
    value: u64,
    stored: u32,
    bytes: u64,
    rest: BytesMut,
    is_finished: bool,
}

impl<'v> Upload<'v> {
    pub(crate) fn new(vault: &'v RedbStore, value: u64) -> Self {
        Self { vault, value, stored: 0, bytes: 0, rest: BytesMut::new(), is_finished: false }
    }

    /// The number of bytes so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds bytes. Whole pieces are durable when this returns.
    ///
    /// # Errors
    /// When they cannot be stored.
    pub async fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        let mut bytes = bytes;
        while !bytes.is_empty() {
            // The last piece is written together with the head, so that a value of one piece needs
            // one write.
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

    /// Sets the value of a key durably; with this version if it was made elsewhere.
    ///
    /// # Errors
    /// When the write cannot be stored, or a newer version is stored. Then the key is not changed.
    pub async fn finish(
        mut self,
        (namespace, key): (&str, &str),
        (expiration, metadata): (Option<Expiration>, Option<Metadata>),
        version: Option<Version>,
    ) -> Result<Version, Error> {
        let about = ValueMeta { bytes: self.bytes, expiration, metadata };
        let rest = self.rest.split().freeze();
        let key = full_key(namespace, key);
        let put = Mutation::Put { key, value: self.value, rest, about, version };
        match self.end(put).await? {
            Applied::Version(version) => Ok(version),
            Applied::Given(_) => Err(Error::Released),
        }
    }

    /// Stores the value as part of a record of the other store, durably.
    ///
    /// # Errors
    /// When the write cannot be stored. Then the key is not changed.
    pub async fn take(mut self, full_key: &str, record: Record) -> Result<ApplyOutcome, Error> {
        let rest = self.rest.split().freeze();
        let key = full_key.as_bytes().to_vec();
        match self.end(Mutation::Take { key, value: self.value, rest, record }).await? {
            Applied::Given(given) => Ok(given),
            Applied::Version(_) => Err(Error::Released),
        }
    }

    async fn end(&mut self, change: Mutation) -> Result<Applied, Error> {
        let made = self.vault.write(vec![change]).await?;
        self.is_finished = true;
        made.into_iter().next().ok_or(Error::Released)
    }

    async fn store(&mut self, bytes: Bytes) -> Result<(), Error> {
        let piece = Mutation::Piece { value: self.value, number: self.stored, bytes };
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
