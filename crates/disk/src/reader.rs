//! An object that was found, and its body: only the blocks that are asked for are read, and each is checked before it is given out.

use std::{
    collections::BTreeMap,
    ops::{Deref, Range},
    sync::Arc,
};

use crate::{
    Error,
    format::{BLOCK, Header, Id, Kind, Place, block},
    segment::Segment,
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
    pub(crate) parts: Arc<Parts>,
}

/// Where a body is.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) blocks: Vec<Place>,
    pub(crate) segments: BTreeMap<u32, Arc<Segment>>,
}

/// A body, or a part of one: an iterator over its pieces. After an error there is nothing more; the object should be removed if
/// its bytes are [damaged](Error::Damaged).
#[derive(Debug)]
pub struct Body {
    id: Id,
    length: u64,
    parts: Arc<Parts>,
    rest: Range<u64>,
}

/// Bytes that were checked: of one block.
#[derive(Debug)]
pub struct Piece {
    record: Vec<u8>,
    part: Range<usize>,
}

impl Body {
    /// What of the range there is.
    pub(crate) fn new(found: &Found, range: Range<u64>) -> Self {
        let end = range.end.min(found.length);
        let rest = range.start.min(end)..end;
        Self { id: found.id, length: found.length, parts: Arc::clone(&found.parts), rest }
    }

    /// Bytes that are still to come.
    pub fn rest(&self) -> u64 {
        self.rest.end - self.rest.start
    }

    fn read(&self) -> Result<Piece, Error> {
        let index = self.rest.start / BLOCK as u64;
        let begin = index * BLOCK as u64;
        let place = usize::try_from(index).ok().and_then(|index| self.parts.blocks.get(index));
        let segment = place.and_then(|place| Some((place, self.parts.segments.get(&place.segment)?)));
        let (place, segment) = segment.ok_or(Error::Overtaken)?;
        let length = Header::BYTES as u64 + block(self.length, index);
        let record = segment.record(Kind::Block, self.id, index, (place.offset, length))?;
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
