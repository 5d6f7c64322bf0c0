//! A body of one block, to be read again without looking for its object again.

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

/// A body of one block, as it was found. It keeps nothing on the disk: it is of use for as long as it [stands](Self::stands).
#[derive(Debug, Clone)]
pub struct Short {
    id: Id,
    place: Place,
    bytes: u64,
    segment: Weak<Segment>,
    index: Arc<Index>,
    /// Changes under its key before it was looked for.
    changes: u64,
}

impl Found {
    /// Its body, to be read later and more than once; `None` if it has more than one block, or no byte.
    pub fn short(&self) -> Option<Short> {
        let (place, segment, bytes) = self.body.block(0).filter(|_| self.length <= BLOCK as u64)?;
        let (segment, index) = (Arc::downgrade(&segment), Arc::clone(&self.body.index));
        Some(Short { id: self.id, place, bytes, segment, index, changes: self.changes })
    }
}

impl Short {
    /// Whether it would be found now as it was then: nothing was stored, replaced, moved or removed under its key since. Once it does not
    /// stand it never will. Takes no lock; now and then, a change under another key is taken for one.
    pub fn stands(&self) -> bool {
        self.index.changes.count(self.id.hash) == self.changes
    }

    /// Reads it, for somebody who does not keep it for long.
    pub fn read(&self, wait: Wait) -> Result<Piece, Error> {
        let segment = self.segment.upgrade().ok_or(Error::Overtaken)?;
        let at = (self.place.offset, Header::BYTES as u64 + self.bytes);
        Ok(Piece::of(segment.record((Kind::Block, self.id, 0), at, wait, Record::brief)?))
    }

    /// The file that it is in, which stays as it is while somebody has it, and where in that it begins. What is read there is compared
    /// with no checksum. `None` if the segment was given up.
    pub fn place(&self) -> Option<(Arc<dyn AsFd + Send + Sync>, u64)> {
        let segment = self.segment.upgrade()?;
        Some((segment, u64::from(self.place.offset) + Header::BYTES as u64))
    }

    /// Bytes of it.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes that it is in use, which gives its object a better chance to stay.
    pub fn mark(&self) {
        self.index.mark(self.id, true);
    }
}
