//! Counters of requests by cache status.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::admin::api::{ByCacheStatus, Requests};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheResult {
    Hit,
    Miss,
    Stale,
    Revalidated,
    Bypass,
    Collapsed,
    Refused,
}

#[derive(Debug, Default)]
pub(crate) struct RequestCounters([AtomicU64; CacheResult::ALL.len()]);

impl CacheResult {
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

    pub(crate) const ALL: [Self; 7] =
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
