//! The store of a data centre, with expiration.

use std::collections::HashMap;

use crate::{
    number::ByNumber,
    policy::{Order, Policy},
};

#[derive(Debug)]
pub(crate) struct Store {
    entries: HashMap<u64, Entry, ByNumber>,
    order: Order,
    largest: u64,
    gone: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// When the first byte arrives. Until then, other requests join this one.
    pub(crate) ready_ns: u64,
    pub(crate) until_ns: u64,
}

impl Store {
    /// Bodies longer than `largest` are not stored.
    pub(crate) fn new(policy: Policy, capacity: u64, largest: u64) -> Self {
        let largest = largest.min(capacity);
        Self { entries: HashMap::default(), order: policy.order(capacity), largest, gone: Vec::new() }
    }

    /// Records a hit.
    pub(crate) fn find(&mut self, key: u64, now_ns: u64) -> Option<Entry> {
        let entry = *self.entries.get(&key).filter(|entry| now_ns < entry.until_ns)?;
        self.order.hit(key);
        Some(entry)
    }

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
