//! A table of request fingerprints with associated values, indexed by scheme, host and target.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
};

use http_cache::U64Hasher;
use http_stack::{Scheme, server::RequestView};

use crate::fast_path::fingerprint::{MAX_ENTRIES_PER_URL, RequestFingerprint};

#[derive(Debug)]
pub(crate) struct RequestTable<T> {
    hasher: RandomState,
    table: HashMap<u64, Vec<(RequestFingerprint, T)>, U64Hasher>,
    count: usize,
}

impl<T> RequestTable<T> {
    pub(crate) fn find(
        &mut self,
        hash: u64,
        request: &RequestView<'_>,
        counts: impl Fn(&T) -> bool,
    ) -> Option<&mut T> {
        let alike = self.table.get_mut(&hash)?;
        let known =
            alike.iter_mut().find(|(fingerprint, known)| counts(known) && fingerprint.matches(request))?;
        Some(&mut known.1)
    }

    pub(crate) fn contains(&self, fingerprint: &RequestFingerprint, counts: impl Fn(&T) -> bool) -> bool {
        let alike = self.table.get(&self.hash_of(fingerprint));
        alike.is_some_and(|alike| alike.iter().any(|(other, known)| counts(known) && other == fingerprint))
    }

    pub(crate) fn insert(&mut self, fingerprint: RequestFingerprint, known: T, counts: impl Fn(&T) -> bool) {
        if self.count >= MAX_REQUESTS {
            self.clear();
        }
        let alike = self.table.entry(self.hash_of(&fingerprint)).or_default();
        let previous = alike.len();
        alike.retain(|(other, known)| counts(known) && *other != fingerprint);
        if alike.len() >= MAX_ENTRIES_PER_URL {
            alike.remove(0);
        }
        alike.push((fingerprint, known));
        self.count = self.count + alike.len() - previous;
    }

    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.count = 0;
    }

    pub(crate) fn hash(&self, request: &RequestView<'_>) -> u64 {
        self.hash_one(request.peer.scheme, request.host, request.target)
    }

    pub(crate) fn hash_of(&self, fingerprint: &RequestFingerprint) -> u64 {
        self.hash_one(fingerprint.scheme(), fingerprint.host(), fingerprint.target())
    }

    fn hash_one(&self, scheme: Scheme, host: &[u8], target: &str) -> u64 {
        self.hasher.hash_one((scheme == Scheme::Https, host, target))
    }
}

impl<T> Default for RequestTable<T> {
    fn default() -> Self {
        Self { hasher: RandomState::new(), table: HashMap::default(), count: 0 }
    }
}

/// At the limit, the table is cleared, and active requests are added again.
const MAX_REQUESTS: usize = 32_768;
