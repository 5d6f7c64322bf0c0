//! Reading of objects and bodies: only requested blocks are read, and each checksum is verified.

use std::ops::{Deref, Range};

use crate::{
    Error, StoredBody, Wait,
    format::{BLOCK, Header, Id, Kind},
    record::Record,
};

/// An object that was found. It can be read until this is dropped, even if it is evicted meanwhile.
#[derive(Debug)]
pub struct Found {
    /// Identifies the object in calls that replace or remove it. It does not change.
    pub id: Id,
    /// The caller's metadata.
    pub head: Vec<u8>,
    /// The length of the body in bytes.
    pub length: u64,
    /// The body.
    pub body: StoredBody,
    /// Before the lookup.
    pub(crate) changes: u64,
}

/// An iterator over the pieces of a body, or of a part of it. It ends after an error. If the bytes
/// are [damaged](Error::Damaged), the caller should remove the object.
#[derive(Debug)]
pub struct Body {
    written: StoredBody,
    rest: Range<u64>,
    wait: Wait,
}

/// Verified bytes of one block.
#[derive(Debug)]
pub struct Piece {
    record: Record,
    part: Range<usize>,
}

impl StoredBody {
    /// Reads the available bytes of a range. Objects that are read are less likely to be evicted.
    pub fn read(&self, range: Range<u64>, wait: Wait) -> Body {
        self.index.mark(self.id, true);
        let end = range.end.min(self.bytes());
        Body { written: self.clone(), rest: range.start.min(end)..end, wait }
    }
}

impl Body {
    /// Number of bytes that are not read yet.
    pub fn rest(&self) -> u64 {
        self.rest.end - self.rest.start
    }

    fn read(&self) -> Result<Piece, Error> {
        let index = self.rest.start / BLOCK as u64;
        let begin = index * BLOCK as u64;
        let (place, segment, bytes) = self.written.block(index).ok_or(Error::Overtaken)?;
        let at = (place.offset, Header::BYTES as u64 + bytes);
        let record = segment.record((Kind::Block, self.written.id, index), at, self.wait, Record::new)?;
        let within = |offset: u64| {
            let within = usize::try_from(offset - begin).unwrap_or(usize::MAX);
            (Header::BYTES.saturating_add(within)).min(record.len())
        };
        let part = within(self.rest.start)..within(self.rest.end);
        Ok(Piece { part, record })
    }
}

impl Iterator for Body {
    type Item = Result<Piece, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let piece = self.read();
        self.rest.start = piece.as_ref().map_or(self.rest.end, |piece| self.rest.start + piece.len() as u64);
        Some(piece)
    }
}

impl Piece {
    pub(crate) fn of(record: Record) -> Self {
        Self { part: Header::BYTES..record.len(), record }
    }
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.record[self.part.clone()]
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        self
    }
}
