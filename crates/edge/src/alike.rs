//! A table of request fingerprints with associated values, indexed by scheme, host and target.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
};

use cache::Spread;
use http::{Scheme, server::Glance};

use crate::likeness::{Likeness, MOST_ALIKE};

#[derive(Debug)]
pub(crate) struct Alike<T> {
    hasher: RandomState,
    table: HashMap<u64, Vec<(Likeness, T)>, Spread>,
    count: usize,
}

impl<T> Alike<T> {
    /// The value for a request, among those for which `counts` is true.
    pub(crate) fn find(
        &mut self,
        hash: u64,
        request: &Glance<'_>,
        counts: impl Fn(&T) -> bool,
    ) -> Option<&mut T> {
        let alike = self.table.get_mut(&hash)?;
        let known = alike.iter_mut().find(|(likeness, known)| counts(known) && likeness.is(request))?;
        Some(&mut known.1)
    }

    /// Whether a value for which `counts` is true exists for this fingerprint.
    pub(crate) fn has(&self, likeness: &Likeness, counts: impl Fn(&T) -> bool) -> bool {
        let alike = self.table.get(&self.hash_of(likeness));
        alike.is_some_and(|alike| alike.iter().any(|(other, known)| counts(known) && other == likeness))
    }

    /// Adds or replaces the value of a fingerprint. Drops other values of the same URL for which `counts` is
    /// false.
    pub(crate) fn add(&mut self, likeness: Likeness, known: T, counts: impl Fn(&T) -> bool) {
        if self.count >= MOST {
            self.clear();
        }
        let alike = self.table.entry(self.hash_of(&likeness)).or_default();
        let before = alike.len();
        alike.retain(|(other, known)| counts(known) && *other != likeness);
        if alike.len() >= MOST_ALIKE {
            alike.remove(0);
        }
        alike.push((likeness, known));
        self.count = self.count + alike.len() - before;
    }

    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.count = 0;
    }

    pub(crate) fn hash(&self, request: &Glance<'_>) -> u64 {
        self.hash_one(request.peer.scheme, request.host, request.target)
    }

    pub(crate) fn hash_of(&self, likeness: &Likeness) -> u64 {
        self.hash_one(likeness.scheme(), likeness.host(), likeness.target())
    }

    fn hash_one(&self, scheme: Scheme, host: &[u8], target: &str) -> u64 {
        self.hasher.hash_one((scheme == Scheme::Https, host, target))
    }
}

impl<T> Default for Alike<T> {
    fn default() -> Self {
        Self { hasher: RandomState::new(), table: HashMap::default(), count: 0 }
    }
}

/// Fingerprints per core. At the limit, the table is cleared, and active ones are added again.
const MOST: usize = 32_768;
