//! Writing of objects. A writer keeps one block in memory until it is full.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};

use crate::{
    Error, StoredBody,
    format::{BLOCK, Header, Id, Object},
    shared::Shared,
};

/// Stores an object's body in pieces. If it is dropped before [`Writer::finish`], nothing is
/// stored.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    key: Vec<u8>,
    head: Vec<u8>,
    length: u64,
    written: StoredBody,
    /// Room for a header, and the incomplete block. Empty before its first byte.
    block: Vec<u8>,
    pinned: BTreeSet<u32>,
    is_broken: bool,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>, id: Id, key: &[u8], head: &[u8]) -> Self {
        let written = StoredBody::new(id, (Vec::new(), 0), BTreeMap::new(), Arc::clone(&shared.index));
        let (key, head) = (key.to_vec(), head.to_vec());
        Self {
            shared,
            key,
            head,
            length: 0,
            written,
            block: Vec::new(),
            pinned: BTreeSet::new(),
            is_broken: false,
        }
    }

    /// Appends to the body. After an error the object cannot be finished.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), Error> {
        if self.is_broken {
            return Err(Error::Incomplete);
        }
        self.add(piece).inspect_err(|_| self.is_broken = true)
    }

    /// Replaces the head before the object is stored.
    pub fn replace_head(&mut self, head: &[u8]) -> Result<(), Error> {
        self.shared.check(&self.key, head)?;
        self.head = head.to_vec();
        Ok(())
    }

    /// Stores the object. Other objects with the same key are kept.
    pub fn finish(mut self) -> Result<Id, Error> {
        if self.is_broken {
            return Err(Error::Incomplete);
        }
        let (last, id) = (mem::take(&mut self.block), self.written.id);
        let (key, head) = (mem::take(&mut self.key), mem::take(&mut self.head));
        let mut object = Object { key, head, length: self.length, blocks: self.written.places() };
        let whole = object.blocks.len();
        let blocks = whole + usize::from(!last.is_empty());
        let record = Header::BYTES + Object::bytes(&object.key, &object.head, blocks);
        let mut log = self.shared.log();
        log.reserve((last.len() + record) as u64)?;
        if log.index.segments(object.blocks.iter().map(|block| block.segment)).is_none() {
            return Err(Error::Overtaken);
        }
        let bytes = last.len().saturating_sub(Header::BYTES) as u64;
        log.attempt(|log| log.put(id, &mut object, last))?;
        if let Some(place) = object.blocks.get(whole) {
            self.written.add(*place, bytes);
        }
        Ok(id)
    }

    /// The length of the body so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The body that is readable so far, in whole blocks. It grows during writing, and is complete
    /// after [`Writer::finish`].
    pub fn written(&self) -> StoredBody {
        self.written.clone()
    }

    fn add(&mut self, mut piece: &[u8]) -> Result<(), Error> {
        let (bytes, limit) = (self.length.saturating_add(piece.len() as u64), self.shared.config.largest());
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
            self.length += now.len() as u64;
            piece = later;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let (id, block) = (self.written.id, &mut self.block);
        let mut log = self.shared.log();
        log.reserve(block.len() as u64)?;
        let place = log.attempt(|log| log.put_block(id, self.written.bytes() / BLOCK as u64, block))?;
        if self.pinned.insert(place.segment) {
            log.index.pin(place.segment);
        }
        self.written.add(place, BLOCK as u64);
        self.block.clear();
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.index.unpin(&self.pinned);
    }
}

const FULL: usize = Header::BYTES + BLOCK;
