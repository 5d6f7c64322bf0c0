//! A body on disk: where its blocks are, as far as they are written, and what keeps them readable.
//!
//! [`Written`] holds on to the segments that it needs: it is for who reads. [`Kept`] does not, and so is for who only wants to know
//! later whether the body is still there; it takes 8 bytes for a block.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use crate::{
    format::{Id, Place, block},
    index::Index,
    segment::Segment,
};

/// A body, or as much as is written of one that is on its way in. It can be read until its last copy is dropped, even when the store
/// has given it up.
#[derive(Debug, Clone)]
pub struct Written {
    pub(crate) id: Id,
    blocks: Arc<Mutex<Blocks>>,
    segments: Arc<Mutex<BTreeMap<u32, Arc<Segment>>>>,
    pub(crate) index: Arc<Index>,
}

/// A body that a store has, for as long as it does not give it up.
#[derive(Debug, Clone)]
pub struct Kept {
    id: Id,
    blocks: Arc<Mutex<Blocks>>,
    segments: Vec<Weak<Segment>>,
    index: Arc<Index>,
}

/// Where they are.
#[derive(Debug)]
struct Blocks {
    /// All but the last are full.
    places: Vec<Place>,
    /// Of the body.
    bytes: u64,
}

impl Written {
    /// A body of so many bytes.
    pub(crate) fn new(
        id: Id,
        (places, bytes): (Vec<Place>, u64),
        segments: BTreeMap<u32, Arc<Segment>>,
        index: Arc<Index>,
    ) -> Self {
        let (blocks, segments) = (Mutex::new(Blocks { places, bytes }), Mutex::new(segments));
        Self { id, blocks: Arc::new(blocks), segments: Arc::new(segments), index }
    }

    /// How many bytes there are from its beginning.
    pub fn bytes(&self) -> u64 {
        lock(&self.blocks).bytes
    }

    /// To find out later whether it is still there.
    pub fn kept(&self) -> Kept {
        let segments = lock(&self.segments).values().map(Arc::downgrade).collect();
        Kept { id: self.id, blocks: Arc::clone(&self.blocks), segments, index: Arc::clone(&self.index) }
    }

    /// Where all blocks are.
    pub(crate) fn places(&self) -> Vec<Place> {
        lock(&self.blocks).places.clone()
    }

    /// Where a block is, and how many bytes it has.
    pub(crate) fn block(&self, index: u64) -> Option<(Place, Arc<Segment>, u64)> {
        let (place, bytes) = {
            let blocks = lock(&self.blocks);
            (*blocks.places.get(usize::try_from(index).ok()?)?, block(blocks.bytes, index))
        };
        let segment = Arc::clone(lock(&self.segments).get(&place.segment)?);
        Some((place, segment, bytes))
    }

    /// Adds a block of so many bytes, in a segment of the index.
    pub(crate) fn add(&self, place: Place, bytes: u64) {
        let mut segments = lock(&self.segments);
        if !segments.contains_key(&place.segment) {
            segments.extend(self.index.segments([place.segment].into_iter()).unwrap_or_default());
        }
        drop(segments);
        let mut blocks = lock(&self.blocks);
        blocks.places.push(place);
        blocks.bytes += bytes;
    }
}

impl Kept {
    /// To read it; `None` if the store has given it up, or moved it.
    pub fn written(&self) -> Option<Written> {
        let segments = self.segments.iter().map(|segment| segment.upgrade().map(|held| (held.number, held)));
        let segments = Arc::new(Mutex::new(segments.collect::<Option<_>>()?));
        Some(Written {
            id: self.id,
            blocks: Arc::clone(&self.blocks),
            segments,
            index: Arc::clone(&self.index),
        })
    }

    /// Whether it is still there.
    pub fn is_there(&self) -> bool {
        self.segments.iter().all(|segment| segment.strong_count() > 0)
    }

    /// Its object is not found any more: it cannot be read. At the next start it is tried again.
    pub fn give_up(&self) {
        self.index.damaged(self.id);
    }

    /// Bytes of the body.
    pub fn bytes(&self) -> u64 {
        lock(&self.blocks).bytes
    }

    /// Bytes that this takes in memory.
    pub fn cost(&self) -> u64 {
        (lock(&self.blocks).places.len() * size_of::<Place>()) as u64
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
