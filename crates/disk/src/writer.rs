//! An object on its way in: one block is kept in memory until it is full.

use std::{collections::BTreeSet, mem, sync::Arc};

use crate::{
    Error,
    format::{BLOCK, Header, Id, Object},
    shared::Shared,
};

/// Takes an object's body, piece by piece. Dropped before [`Writer::finish`], nothing has been stored.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    id: Id,
    object: Object,
    /// Room for a header, and the block that is not full yet. Empty before its first byte.
    block: Vec<u8>,
    /// Where blocks of it are, which are kept for that.
    pinned: BTreeSet<u32>,
    /// Whether a piece could not be stored.
    is_broken: bool,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>, id: Id, key: &[u8], head: &[u8]) -> Self {
        let object = Object { key: key.to_vec(), head: head.to_vec(), length: 0, blocks: Vec::new() };
        Self { shared, id, object, block: Vec::new(), pinned: BTreeSet::new(), is_broken: false }
    }

    /// Adds to the body. After an error the object cannot be finished any more.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), Error> {
        if self.is_broken {
            return Err(Error::Incomplete);
        }
        self.add(piece).inspect_err(|_| self.is_broken = true)
    }

    /// Stores the object: it is found from now on, beside those that have the same key.
    pub fn finish(mut self) -> Result<Id, Error> {
        if self.is_broken {
            return Err(Error::Incomplete);
        }
        let last = mem::take(&mut self.block);
        let blocks = self.object.blocks.len() + usize::from(!last.is_empty());
        let object = Header::BYTES + Object::bytes(&self.object.key, &self.object.head, blocks);
        let mut log = self.shared.log();
        log.reserve((last.len() + object) as u64)?;
        let blocks = self.object.blocks.iter().map(|block| block.segment);
        if log.index.segments(blocks).is_none() {
            return Err(Error::Overtaken);
        }
        let (id, object) = (self.id, &mut self.object);
        log.attempt(|log| log.put(id, object, last))?;
        Ok(self.id)
    }

    /// Bytes of the body so far.
    pub fn length(&self) -> u64 {
        self.object.length
    }

    fn add(&mut self, mut piece: &[u8]) -> Result<(), Error> {
        let (bytes, limit) =
            (self.object.length.saturating_add(piece.len() as u64), self.shared.config.largest());
        if bytes > limit {
            return Err(Error::TooLarge { what: "a body", bytes, limit });
        }
        while !piece.is_empty() {
            if self.block.len() == FULL {
                self.flush()?;
            }
            if self.block.is_empty() {
                self.block.resize(Header::BYTES, 0);
            }
            let (now, later) = piece.split_at(piece.len().min(FULL - self.block.len()));
            self.block.extend_from_slice(now);
            self.object.length += now.len() as u64;
            piece = later;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let index = self.object.blocks.len() as u64;
        let mut log = self.shared.log();
        log.reserve(self.block.len() as u64)?;
        let (id, block) = (self.id, &mut self.block);
        let place = log.attempt(|log| log.put_block(id, index, block))?;
        if self.pinned.insert(place.segment) {
            log.index.pin(place.segment);
        }
        self.object.blocks.push(place);
        self.block.clear();
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.index.unpin(&self.pinned);
    }
}

/// A block with its header.
const FULL: usize = Header::BYTES + BLOCK;
