//! Short bodies: repeated reads of a one-block body without a lookup.

use std::{
    os::fd::AsFd,
    sync::{Arc, Weak},
};

use crate::{
    Error, Wait,
    format::{BLOCK, Header, Id, Kind, Place},
    index::Index,
    reader::{Found, Piece},
    record::Record,
    segment::Segment,
};

/// A body of one block. It does not keep the segment, and is valid while [`Self::stands`] returns
/// true.
#[derive(Debug, Clone)]
pub struct BlockRef {
    id: Id,
    place: Place,
    bytes: u64,
    segment: Weak<Segment>,
    index: Arc<Index>,
    /// Before the lookup.
    changes: u64,
}

impl Found {
    /// The body for repeated reads; `None` if it is empty or has more than one block.
    pub fn short(&self) -> Option<BlockRef> {
        let (place, segment, bytes) = self.body.block(0).filter(|_| self.length <= BLOCK as u64)?;
        let (segment, index) = (Arc::downgrade(&segment), Arc::clone(&self.body.index));
        Some(BlockRef { id: self.id, place, bytes, segment, index, changes: self.changes })
    }
}

impl BlockRef {
    /// Whether a lookup would still return this body; once false, it stays false. Takes no lock.
    /// Changes of other keys occasionally cause a false result.
    pub fn stands(&self) -> bool {
        self.index.changes.count(self.id.hash) == self.changes
    }

    /// Reads the body. The caller should drop the result soon.
    pub fn read(&self, wait: Wait) -> Result<Piece, Error> {
        let segment = self.segment.upgrade().ok_or(Error::Overtaken)?;
        let at = (self.place.offset, Header::BYTES as u64 + self.bytes);
        Ok(Piece::of(segment.record((Kind::Block, self.id, 0), at, wait, Record::brief)?))
    }

    /// The file with the body, unchanged while it is referenced, and the offset in it; `None` if
    /// the segment was evicted. The checksum of bytes that are read there is not verified.
    pub fn place(&self) -> Option<(Arc<dyn AsFd + Send + Sync>, u64)> {
        let segment = self.segment.upgrade()?;
        Some((segment, u64::from(self.place.offset) + Header::BYTES as u64))
    }

    /// The length of the body in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Records a use, so that the object is less likely to be evicted.
    pub fn mark(&self) {
        self.index.mark(self.id, true);
    }
}
