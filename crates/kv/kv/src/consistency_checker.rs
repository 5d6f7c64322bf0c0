//! Checks a history of reads and writes against the guarantees of the store: finds acknowledged
//! writes that are lost, reads that are older than guaranteed, deleted values that reappear, and
//! values that were never written.
//!
//! docs/kv-guarantees.md states the guarantees. All clients share one clock, in nanoseconds since
//! an arbitrary start.
//!
//! With two stores, each may lack what the other one acknowledged until they are connected again.
//! So versions may go back after the first fault.
//!
//! A write without a response may have been applied at any time, or never.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::{FreshnessPolicy, Version};

/// An operation of a client and its result. Reads without a response are not in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The number of the key.
    pub key: u32,
    /// The number of the data centre that received the request.
    pub centre: usize,
    /// Which process of the data centre responded; `None` if it was killed or started during the
    /// request.
    pub life: Option<u32>,
    /// When the request was sent.
    pub sent: u64,
    /// When the result was known.
    pub answered: u64,
    /// The operation.
    pub did: Did,
}

/// An operation and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// A write of a value, whose number is unique in the history.
    Put(u64, Outcome),
    /// A deletion.
    Delete(Outcome),
    /// A read.
    Read(Seen),
}

/// The result of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The write was applied, with this version.
    Acknowledged(Version),
    /// The write was rejected and not applied.
    Refused,
    /// The result is unknown: the write may have been applied, or may be applied later.
    Unknown,
}

/// The response to a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The number of the value, if there was one.
    pub value: Option<u64>,
    /// `KV-Version`; always present with a value.
    pub version: Option<Version>,
    /// `KV-Age`, in whole seconds, rounded down.
    pub age: Duration,
    /// The `cacheTtl` of the request.
    pub cache_ttl: Option<Duration>,
}

/// A violation of a guarantee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The kind of violation.
    pub kind: Kind,
    /// The operation that shows it, by its index in the history.
    pub at: usize,
    /// The operation that it contradicts.
    pub against: Option<usize>,
}

/// The kinds of violations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The last read at a store does not return an acknowledged write or a newer one.
    Lost,
    /// A read returns a value whose deletion was acknowledged.
    Resurrected,
    /// A newer version was acknowledged for longer than the reported age of the response.
    Stale,
    /// The reported age of a response exceeds the limit.
    TooOld,
    /// A read returns an older version than an earlier read or write in the same data centre.
    WentBack,
    /// A read returns a value that was not written to this key before.
    Unwritten,
    /// A read returns a value whose write was rejected.
    Refused,
    /// A read returns a version with another value than was written with it.
    Mixed,
    /// A write was sent after another one was acknowledged, but its version is not newer.
    Disordered,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "an acknowledged write is lost",
            Self::Resurrected => "a deleted value is back",
            Self::Stale => "a read is older than its reported age",
            Self::TooOld => "a read is older than promised",
            Self::WentBack => "versions go back in one data centre",
            Self::Unwritten => "a value was read that was never written",
            Self::Refused => "a value was read whose write was refused",
            Self::Mixed => "a version has two contents",
            Self::Disordered => "a later write has no newer version",
        })
    }
}

/// The data centres with a store.
#[derive(Debug, Clone, Copy)]
pub enum Stores {
    /// One store.
    One(usize),
    /// Two stores.
    Two {
        /// Their data centres.
        at: [usize; 2],
        /// The start of the first fault that cut a store off from any client or data centre.
        well_until: u64,
    },
}

impl Stores {
    fn at(&self) -> &[usize] {
        match self {
            Self::One(store) => std::slice::from_ref(store),
            Self::Two { at, .. } => at,
        }
    }
}

/// All violations, at most one per read, in the order of the history.
pub fn audit(history: &[Operation], stores: &Stores) -> Vec<Violation> {
    let mut keys: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, operation) in history.iter().enumerate() {
        keys.entry(operation.key).or_default().push(place);
    }
    let mut found: Vec<_> =
        keys.values().flat_map(|places| OfKey::new(history, places, stores).audit()).collect();
    found.sort_unstable_by_key(|violation| violation.at);
    found
}

struct OfKey<'h> {
    history: &'h [Operation],
    stores: &'h Stores,
    /// In the order of their versions.
    acknowledged: Vec<(&'h Version, usize)>,
    writes: Vec<usize>,
    reads: Vec<(usize, &'h Seen)>,
    /// The last read at each store.
    last: Vec<usize>,
}

impl<'h> OfKey<'h> {
    fn new(history: &'h [Operation], places: &[usize], stores: &'h Stores) -> Self {
        let (mut acknowledged, mut writes, mut reads) = (Vec::new(), Vec::new(), Vec::new());
        for &place in places {
            match &history[place].did {
                Did::Read(seen) => reads.push((place, seen)),
                Did::Put(_, outcome) | Did::Delete(outcome) => {
                    writes.push(place);
                    if let Outcome::Acknowledged(version) = outcome {
                        acknowledged.push((version, place));
                    }
                }
            }
        }
        acknowledged.sort_unstable();
        let last_at = |store: &usize| {
            let at_store =
                reads.iter().map(|(place, _)| *place).filter(|place| history[*place].centre == *store);
            at_store.max_by_key(|place| history[*place].sent)
        };
        let last = stores.at().iter().filter_map(last_at).collect();
        Self { history, stores, acknowledged, writes, reads, last }
    }

    fn is_at_store(&self, operation: &Operation) -> bool {
        self.stores.at().contains(&operation.centre)
    }

    fn has_one_store(&self) -> bool {
        matches!(self.stores, Stores::One(_))
    }

    fn may_lack(&self, at: usize) -> bool {
        match self.stores {
            Stores::One(_) => false,
            Stores::Two { well_until, .. } => {
                self.history[at].answered >= *well_until && !self.last.contains(&at)
            }
        }
    }

    fn audit(&self) -> Vec<Violation> {
        let of_read = |&(at, seen): &(usize, &Seen)| {
            let found = self.unwritten(at, seen).or_else(|| self.stale(at, seen));
            let found = found.or_else(|| self.went_back(at, seen));
            let (kind, against) = found.or_else(|| self.too_old(at, seen))?;
            Some(Violation { kind, at, against })
        };
        self.reads.iter().filter_map(of_read).chain(self.disordered()).collect()
    }

    fn unwritten(&self, at: usize, seen: &Seen) -> Option<(Kind, Option<usize>)> {
        let read = &self.history[at];
        let is_same = |write: &&usize| match &self.history[**write].did {
            Did::Put(value, _) => seen.value == Some(*value),
            Did::Delete(_) | Did::Read(_) => false,
        };
        if seen.value.is_some() {
            let Some(&write) = self.writes.iter().find(is_same) else { return Some((Kind::Unwritten, None)) };
            if self.history[write].sent > read.answered {
                return Some((Kind::Unwritten, Some(write)));
            }
            match outcome(&self.history[write].did) {
                Some(Outcome::Refused) => return Some((Kind::Refused, Some(write))),
                Some(Outcome::Acknowledged(version)) if !self.may_have(seen, version) => {
                    return Some((Kind::Mixed, Some(write)));
                }
                _ => {}
            }
        }
        // A version that was acknowledged must be read with the value that was written with it.
        let version = seen.version.as_ref()?;
        let known = self.acknowledged.binary_search_by(|(known, _)| (*known).cmp(version)).ok()?;
        let write = self.acknowledged[known].1;
        let is_other = match &self.history[write].did {
            Did::Put(value, _) => seen.value != Some(*value),
            Did::Delete(_) | Did::Read(_) => seen.value.is_some(),
        };
        is_other.then_some((Kind::Mixed, Some(write)))
    }

    /// Whether a value may be read with `seen.version` although its write was acknowledged with
    /// `version`. With two stores, one may have accepted the write with an older version before it
    /// was repeated with a newer one, because the other store had a newer record.
    fn may_have(&self, seen: &Seen, version: &Version) -> bool {
        match &seen.version {
            Some(older) if !self.has_one_store() => older <= version,
            seen => seen.as_ref() == Some(version),
        }
    }

    fn stale(&self, at: usize, seen: &Seen) -> Option<(Kind, Option<usize>)> {
        let read = &self.history[at];
        let is_last = self.last.contains(&at);
        if !is_last && !self.has_one_store() {
            return None;
        }
        let age = if self.is_at_store(read) { Duration::ZERO } else { seen.age + WHOLE };
        let age = u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
        let newer = self.acknowledged.partition_point(|(known, _)| Some(*known) <= seen.version.as_ref());
        let was_known = |place: usize| self.history[place].answered.saturating_add(age) < read.sent;
        let newer = self.acknowledged[newer..]
            .iter()
            .rev()
            .map(|(_, place)| *place)
            .find(|place| was_known(*place))?;
        let is_deletion = matches!(self.history[newer].did, Did::Delete(_));
        let kind = match (is_deletion, seen.value) {
            // Tombstones are dropped after a day, so the version may be missing.
            (true, None) if seen.version.is_none() => return None,
            (true, Some(_)) => Kind::Resurrected,
            _ if seen.version.is_none() && self.may_be_deleted(newer, read.answered) => return None,
            _ if is_last => Kind::Lost,
            _ => Kind::Stale,
        };
        Some((kind, Some(newer)))
    }

    fn may_be_deleted(&self, write: usize, by: u64) -> bool {
        let version = version(&self.history[write].did);
        self.writes.iter().map(|place| &self.history[*place]).any(|other| match &other.did {
            Did::Delete(Outcome::Acknowledged(later)) => other.sent < by && Some(later) > version,
            Did::Delete(Outcome::Unknown) => other.sent < by,
            _ => false,
        })
    }

    fn went_back(&self, at: usize, seen: &Seen) -> Option<(Kind, Option<usize>)> {
        let read = &self.history[at];
        let is_store = self.is_at_store(read);
        if (!is_store && read.life.is_none()) || self.may_lack(at) {
            return None;
        }
        let reads = self.reads.iter().map(|(place, seen)| (*place, seen.version.as_ref()));
        let writes = self.acknowledged.iter().map(|(version, place)| (*place, Some(*version)));
        let before = reads.chain(writes).filter(|(place, version)| {
            let before = &self.history[*place];
            let is_here = before.centre == read.centre && (is_store || before.life == read.life);
            is_here && before.answered < read.sent && *version > seen.version.as_ref()
        });
        let (newest, version) = before.max_by_key(|(_, version)| *version)?;
        // After a deletion, the tombstone with its version may have been dropped.
        let is_gone = seen.version.is_none() && self.may_follow_deletion(version, read.answered);
        (!is_gone).then_some((Kind::WentBack, Some(newest)))
    }

    fn may_follow_deletion(&self, than: Option<&Version>, by: u64) -> bool {
        let is_deletion = |(_, seen): &(usize, &Seen)| seen.value.is_none() && seen.version.as_ref() >= than;
        self.reads.iter().any(is_deletion)
            || self.writes.iter().map(|place| &self.history[*place]).any(|write| match &write.did {
                Did::Delete(Outcome::Acknowledged(version)) => write.sent < by && Some(version) >= than,
                Did::Delete(Outcome::Unknown) => write.sent < by,
                _ => false,
            })
    }

    fn too_old(&self, at: usize, seen: &Seen) -> Option<(Kind, Option<usize>)> {
        let limit =
            seen.cache_ttl.unwrap_or_else(|| FreshnessPolicy::default().period(seen.value.is_none(), None));
        let is_far = !self.is_at_store(&self.history[at]);
        (is_far && seen.age > limit).then_some((Kind::TooOld, None))
    }

    /// Only one store guarantees this.
    fn disordered(&self) -> Vec<Violation> {
        if !self.has_one_store() {
            return Vec::new();
        }
        let mut by_answer: Vec<_> = self.acknowledged.clone();
        by_answer.sort_unstable_by_key(|(_, place)| self.history[*place].answered);
        // The newest version among the writes acknowledged up to each one.
        let mut newest: Vec<(&Version, usize)> = Vec::with_capacity(by_answer.len());
        for write in &by_answer {
            newest.push(newest.last().map_or(*write, |last| *last.max(write)));
        }
        let of_write = |&(version, at): &(&Version, usize)| {
            let sent = self.history[at].sent;
            let before = by_answer.partition_point(|(_, place)| self.history[*place].answered < sent);
            let (known, against) = *newest.get(before.checked_sub(1)?)?;
            (known >= version).then_some(Violation { kind: Kind::Disordered, at, against: Some(against) })
        };
        self.acknowledged.iter().filter_map(of_write).collect()
    }
}

fn outcome(did: &Did) -> Option<&Outcome> {
    match did {
        Did::Put(_, outcome) | Did::Delete(outcome) => Some(outcome),
        Did::Read(_) => None,
    }
}

fn version(did: &Did) -> Option<&Version> {
    match outcome(did)? {
        Outcome::Acknowledged(version) => Some(version),
        Outcome::Refused | Outcome::Unknown => None,
    }
}

/// The reported age is rounded down to seconds: the true age is less than this much larger.
const WHOLE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
