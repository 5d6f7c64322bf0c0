//! Counters of requests by cache status.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::admin::api::{ByCacheStatus, Requests};

/// Cache status of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheResult {
    /// A fresh object was served from the store.
    Hit,
    /// The request was forwarded to the origin, because no stored object was usable.
    Miss,
    /// A stale object was served.
    Stale,
    /// The origin confirmed a stored object.
    Revalidated,
    /// The request was forwarded without a cache lookup.
    Bypass,
    /// The response was fetched for another request.
    Collapsed,
    /// The request was rejected: it is for another network, or cannot be served.
    Refused,
}

#[derive(Debug, Default)]
pub(crate) struct RequestCounters([AtomicU64; CacheResult::ALL.len()]);

impl CacheResult {
    /// Name in logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Stale => "stale",
            Self::Revalidated => "revalidated",
            Self::Bypass => "bypass",
            Self::Collapsed => "collapsed",
            Self::Refused => "refused",
        }
    }

    const ALL: [Self; 7] =
        [Self::Hit, Self::Miss, Self::Stale, Self::Revalidated, Self::Bypass, Self::Collapsed, Self::Refused];
}

impl RequestCounters {
    pub(crate) fn add(&self, result: CacheResult) {
        self.0[result as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn report(&self) -> Requests {
        let of = |result: CacheResult| self.0[result as usize].load(Relaxed);
        let by_cache_status = ByCacheStatus {
            hit: of(CacheResult::Hit),
            miss: of(CacheResult::Miss),
            stale: of(CacheResult::Stale),
            revalidated: of(CacheResult::Revalidated),
            bypass: of(CacheResult::Bypass),
            collapsed: of(CacheResult::Collapsed),
            refused: of(CacheResult::Refused),
        };
        Requests { total: CacheResult::ALL.into_iter().map(of).sum(), by_cache_status }
    }
}
