//! Requests as they came, each with what is known of those that are the same; found by scheme, host and target.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
};

use cache::Spread;
use http::{Scheme, server::Glance};

use crate::likeness::{Likeness, MOST_ALIKE};

/// What is known of requests.
#[derive(Debug)]
pub(crate) struct Alike<T> {
    hasher: RandomState,
    table: HashMap<u64, Vec<(Likeness, T)>, Spread>,
    count: usize,
}

impl<T> Alike<T> {
    /// What is known of a request, if it is something that counts.
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

    /// Whether something that counts is known of requests like this.
    pub(crate) fn has(&self, likeness: &Likeness, counts: impl Fn(&T) -> bool) -> bool {
        let alike = self.table.get(&self.hash_of(likeness));
        alike.is_some_and(|alike| alike.iter().any(|(other, known)| counts(known) && other == likeness))
    }

    /// Adds what is known of requests like this, in place of what was. For the same URL no more than what counts is kept.
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

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.count = 0;
    }

    /// Where a request is found.
    pub(crate) fn hash(&self, request: &Glance<'_>) -> u64 {
        self.hash_one(request.peer.scheme, request.host, request.target)
    }

    /// Where requests like this are.
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

/// Requests of a core; of more, all are forgotten, and those that come again are added again.
const MOST: usize = 32_768;
