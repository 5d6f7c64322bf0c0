//! An object that was found, and its body: only the blocks that are asked for are read, and each is checked before it is given out.

use std::ops::{Deref, Range};

use crate::{
    Error, Wait, Written,
    format::{BLOCK, Header, Id, Kind},
    record::Record,
};

/// An object that is in a store. It can be read until this is dropped, even when the store has given it up.
#[derive(Debug)]
pub struct Found {
    /// What it is replaced and removed by. It stays the same for as long as the object is there.
    pub id: Id,
    /// What its caller keeps with it.
    pub head: Vec<u8>,
    /// Bytes of its body.
    pub length: u64,
    /// Its body.
    pub body: Written,
    /// Changes under its key before it was looked for.
    pub(crate) changes: u64,
}

/// A body, or a part of one: an iterator over its pieces. After an error there is nothing more; the object should be removed if
/// its bytes are [damaged](Error::Damaged).
#[derive(Debug)]
pub struct Body {
    written: Written,
    rest: Range<u64>,
    wait: Wait,
}

/// Bytes that were checked: of one block.
#[derive(Debug)]
pub struct Piece {
    record: Record,
    part: Range<usize>,
}

impl Written {
    /// What there is of a part of it. An object that is read has a better chance to stay.
    pub fn read(&self, range: Range<u64>, wait: Wait) -> Body {
        self.index.mark(self.id, true);
        let end = range.end.min(self.bytes());
        Body { written: self.clone(), rest: range.start.min(end)..end, wait }
    }
}

impl Body {
    /// Bytes that are still to come.
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
    /// All of a block's record but its header.
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
