//! What one data centre has stored, and until when it is fresh.

use std::collections::HashMap;

use crate::{
    number::ByNumber,
    policy::{Order, Policy},
};

/// A store that is never too full.
#[derive(Debug)]
pub(crate) struct Store {
    entries: HashMap<u64, Entry, ByNumber>,
    order: Order,
    largest: u64,
    gone: Vec<u64>,
}

/// A stored response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// When its first byte is here: until then others wait with the one who asked for it.
    pub(crate) ready_ns: u64,
    /// When it is no longer fresh.
    pub(crate) until_ns: u64,
}

impl Store {
    /// An empty one for so many bytes, which stores no longer bodies than `largest`.
    pub(crate) fn new(policy: Policy, capacity: u64, largest: u64) -> Self {
        let largest = largest.min(capacity);
        Self { entries: HashMap::default(), order: policy.order(capacity), largest, gone: Vec::new() }
    }

    /// What is there and fresh; counts as a hit.
    pub(crate) fn find(&mut self, key: u64, now_ns: u64) -> Option<Entry> {
        let entry = *self.entries.get(&key).filter(|entry| now_ns < entry.until_ns)?;
        self.order.hit(key);
        Some(entry)
    }

    /// Stores a response, unless it is too long.
    pub(crate) fn insert(&mut self, key: u64, bytes: u64, entry: Entry) {
        if bytes > self.largest {
            return;
        }
        self.entries.insert(key, entry);
        self.order.insert(key, bytes, &mut self.gone);
        for gone in self.gone.drain(..) {
            self.entries.remove(&gone);
        }
    }
}
