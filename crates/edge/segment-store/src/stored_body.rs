//! The positions of a body on disk.
//!
//! [`StoredBody`] keeps the segments for a reader. [`Kept`] does not; it detects later whether the
//! body still exists, and takes 8 bytes per block.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use crate::{
    format::{Id, Place, block},
    index::Index,
    segment::Segment,
};

/// A body, which may be incomplete while it is written. It can be read until its last clone is
/// dropped, even if it is evicted meanwhile.
#[derive(Debug, Clone)]
pub struct StoredBody {
    pub(crate) id: Id,
    blocks: Arc<Mutex<Blocks>>,
    segments: Arc<Mutex<BTreeMap<u32, Arc<Segment>>>>,
    pub(crate) index: Arc<Index>,
}

/// A body that may be evicted.
#[derive(Debug, Clone)]
pub struct Kept {
    id: Id,
    blocks: Arc<Mutex<Blocks>>,
    segments: Vec<Weak<Segment>>,
    index: Arc<Index>,
}

#[derive(Debug)]
struct Blocks {
    /// All but the last one are full blocks.
    places: Vec<Place>,
    bytes: u64,
}

impl StoredBody {
    pub(crate) fn new(
        id: Id,
        (places, bytes): (Vec<Place>, u64),
        segments: BTreeMap<u32, Arc<Segment>>,
        index: Arc<Index>,
    ) -> Self {
        let (blocks, segments) = (Mutex::new(Blocks { places, bytes }), Mutex::new(segments));
        Self { id, blocks: Arc::new(blocks), segments: Arc::new(segments), index }
    }

    /// The number of bytes that are available from the beginning.
    pub fn bytes(&self) -> u64 {
        lock(&self.blocks).bytes
    }

    /// A reference that does not keep the segments.
    pub fn kept(&self) -> Kept {
        let segments = lock(&self.segments).values().map(Arc::downgrade).collect();
        Kept { id: self.id, blocks: Arc::clone(&self.blocks), segments, index: Arc::clone(&self.index) }
    }

    pub(crate) fn places(&self) -> Vec<Place> {
        lock(&self.blocks).places.clone()
    }

    pub(crate) fn block(&self, index: u64) -> Option<(Place, Arc<Segment>, u64)> {
        let (place, bytes) = {
            let blocks = lock(&self.blocks);
            (*blocks.places.get(usize::try_from(index).ok()?)?, block(blocks.bytes, index))
        };
        let segment = Arc::clone(lock(&self.segments).get(&place.segment)?);
        Some((place, segment, bytes))
    }

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
    /// The body for a reader; `None` if it was evicted or moved.
    pub fn written(&self) -> Option<StoredBody> {
        let segments = self.segments.iter().map(|segment| segment.upgrade().map(|held| (held.number, held)));
        let segments = Arc::new(Mutex::new(segments.collect::<Option<_>>()?));
        Some(StoredBody {
            id: self.id,
            blocks: Arc::clone(&self.blocks),
            segments,
            index: Arc::clone(&self.index),
        })
    }

    /// Whether the body still exists.
    pub fn is_there(&self) -> bool {
        self.segments.iter().all(|segment| segment.strong_count() > 0)
    }

    /// Removes the object from the index until the next start, because it cannot be read.
    pub fn give_up(&self) {
        self.index.damaged(self.id);
    }

    /// The length of the body in bytes.
    pub fn bytes(&self) -> u64 {
        lock(&self.blocks).bytes
    }

    /// Memory for the positions in bytes.
    pub fn cost(&self) -> u64 {
        (lock(&self.blocks).places.len() * size_of::<Place>()) as u64
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
