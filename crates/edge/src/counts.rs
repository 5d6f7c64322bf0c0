//! What is counted of requests: one word for what the cache did with each.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::operator::{ByCacheStatus, Requests};

/// What the cache did with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// A fresh object was the answer.
    Hit,
    /// The origin was asked, as nothing stored could be the answer.
    Miss,
    /// A stale object was the answer.
    Stale,
    /// The origin confirmed what was stored.
    Revalidated,
    /// The origin was asked without looking at what is stored.
    Bypass,
    /// The answer was fetched for another request.
    Collapsed,
    /// Nobody was asked: not a request for this network, or none that can be answered.
    Refused,
}

/// How many requests there were of each.
#[derive(Debug, Default)]
pub(crate) struct Counts([AtomicU64; Word::ALL.len()]);

impl Word {
    /// As it is written in logs.
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

impl Counts {
    pub(crate) fn add(&self, word: Word) {
        self.0[word as usize].fetch_add(1, Relaxed);
    }

    /// As the operator is told.
    pub(crate) fn report(&self) -> Requests {
        let of = |word: Word| self.0[word as usize].load(Relaxed);
        let by_cache_status = ByCacheStatus {
            hit: of(Word::Hit),
            miss: of(Word::Miss),
            stale: of(Word::Stale),
            revalidated: of(Word::Revalidated),
            bypass: of(Word::Bypass),
            collapsed: of(Word::Collapsed),
            refused: of(Word::Refused),
        };
        Requests { total: Word::ALL.into_iter().map(of).sum(), by_cache_status }
    }
}
