//! What a history of reads and writes says against a store: acknowledged writes that are gone, reads that are older than promised, deleted
//! values that are back, and values that nobody wrote.
//!
//! Promised is what docs/kv.md says. In the data centre with the store a read sees what was acknowledged before it was sent. In another one
//! it may be as old as it says, and says no more than a minute. In one data centre versions do not go back while its process lives; where the
//! store is they never do, as it is a file. Times are on one clock that all clients share, in nanoseconds since any beginning.
//!
//! Of two stores each may lack what the other one has acknowledged until they reach each other again, and whoever asks it then sees something
//! older. So versions do not go back until something goes wrong, and which write is the newest is up to its version: the last read in each
//! data centre with a store, which is to be made when the two have compared, has to know of it.
//!
//! What is not known for sure is taken in favour of the store: a write without an answer may have been done, at any time and never.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::{Terms, Version};

/// Something that a client did, and what came of it. A read without an answer says nothing, and is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The number of the key.
    pub key: u32,
    /// The number of the data centre that was asked.
    pub centre: usize,
    /// Which process of the data centre answered; `None` if it was killed or started meanwhile.
    pub life: Option<u32>,
    /// When it was sent.
    pub sent: u64,
    /// When its outcome was known.
    pub answered: u64,
    /// What it was.
    pub did: Did,
}

/// What a client did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// It wrote a value, whose number no other write has.
    Put(u64, Outcome),
    /// It deleted the value.
    Delete(Outcome),
    /// It read.
    Read(Seen),
}

/// What came of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was done, with this version.
    Acknowledged(Version),
    /// It was not done, as the answer says.
    Refused,
    /// It may have been done, or be done later.
    Unknown,
}

/// What a reader was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The number of the value, if there was one.
    pub value: Option<u64>,
    /// `KV-Version`; always there with a value.
    pub version: Option<Version>,
    /// `KV-Age`, in whole seconds, rounded down.
    pub age: Duration,
    /// The `cacheTtl` of the request.
    pub cache_ttl: Option<Duration>,
}

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong.
    pub kind: Kind,
    /// The operation that shows it, by its place in the history.
    pub at: usize,
    /// The one that it contradicts.
    pub against: Option<usize>,
}

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The last read where the store is does not know of an acknowledged write.
    Lost,
    /// A deletion was acknowledged, and the value that was there before is read.
    Resurrected,
    /// Something newer had been acknowledged for longer than the answer says that it is old.
    Stale,
    /// An answer says that it is older than it may be.
    TooOld,
    /// In one data centre a read is older than what was read or written there before.
    WentBack,
    /// A value was read that nobody had written to this key yet.
    Unwritten,
    /// A value was read whose write was refused.
    Refused,
    /// A version was read with something else than what was written with it.
    Mixed,
    /// A write was sent after another one was acknowledged, and its version is not newer.
    Disordered,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "an acknowledged write is lost",
            Self::Resurrected => "a deleted value is back",
            Self::Stale => "a read is older than it says",
            Self::TooOld => "a read is older than promised",
            Self::WentBack => "versions go back in one data centre",
            Self::Unwritten => "a value was read that nobody had written",
            Self::Refused => "a value was read whose write was refused",
            Self::Mixed => "a version has two contents",
            Self::Disordered => "a later write has no newer version",
        })
    }
}

/// Where the store is.
#[derive(Debug, Clone, Copy)]
pub enum Stores {
    /// In one data centre.
    One(usize),
    /// In two.
    Two {
        /// Which ones.
        at: [usize; 2],
        /// When something that keeps anybody from either of them went wrong for the first time.
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

/// All that contradicts what is promised, each read once, in the order of the history.
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

/// What was done with one key.
struct OfKey<'h> {
    history: &'h [Operation],
    stores: &'h Stores,
    /// Acknowledged writes by version.
    acknowledged: Vec<(&'h Version, usize)>,
    writes: Vec<usize>,
    reads: Vec<(usize, &'h Seen)>,
    /// The last read where each store is.
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

    /// Whether a read may lack what only the other one of two stores knows.
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

    /// Whether the value is one that may have been written, with the version that it has.
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
        // And whatever was acknowledged with this version is what was read.
        let version = seen.version.as_ref()?;
        let known = self.acknowledged.binary_search_by(|(known, _)| (*known).cmp(version)).ok()?;
        let write = self.acknowledged[known].1;
        let is_other = match &self.history[write].did {
            Did::Put(value, _) => seen.value != Some(*value),
            Did::Delete(_) | Did::Read(_) => seen.value.is_some(),
        };
        is_other.then_some((Kind::Mixed, Some(write)))
    }

    /// Whether a value that was acknowledged with this version may be seen as it was. Of two stores one may have taken it with an older version, when
    /// the other one knew something newer and it was made anew.
    fn may_have(&self, seen: &Seen, version: &Version) -> bool {
        match &seen.version {
            Some(older) if !self.has_one_store() => older <= version,
            seen => seen.as_ref() == Some(version),
        }
    }

    /// Whether something newer had been acknowledged for longer than the answer says that it is old.
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
            // What was deleted long ago is not known any more.
            (true, None) if seen.version.is_none() => return None,
            (true, Some(_)) => Kind::Resurrected,
            _ if seen.version.is_none() && self.may_be_deleted(newer, read.answered) => return None,
            _ if is_last => Kind::Lost,
            _ => Kind::Stale,
        };
        Some((kind, Some(newer)))
    }

    /// Whether a value may have been deleted before this time.
    fn may_be_deleted(&self, write: usize, by: u64) -> bool {
        let version = version(&self.history[write].did);
        self.writes.iter().map(|place| &self.history[*place]).any(|other| match &other.did {
            Did::Delete(Outcome::Acknowledged(later)) => other.sent < by && Some(later) > version,
            Did::Delete(Outcome::Unknown) => other.sent < by,
            _ => false,
        })
    }

    /// Whether something newer was read or written before in the same data centre.
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
        // Of a deletion nothing may be known any more, not even its version.
        let is_gone = seen.version.is_none() && self.may_follow_deletion(version, read.answered);
        (!is_gone).then_some((Kind::WentBack, Some(newest)))
    }

    /// Whether a deletion that is not older than this version may have been done before this time.
    fn may_follow_deletion(&self, than: Option<&Version>, by: u64) -> bool {
        let is_deletion = |(_, seen): &(usize, &Seen)| seen.value.is_none() && seen.version.as_ref() >= than;
        self.reads.iter().any(is_deletion)
            || self.writes.iter().map(|place| &self.history[*place]).any(|write| match &write.did {
                Did::Delete(Outcome::Acknowledged(version)) => write.sent < by && Some(version) >= than,
                Did::Delete(Outcome::Unknown) => write.sent < by,
                _ => false,
            })
    }

    /// Whether an answer says of itself that it is older than it may be.
    fn too_old(&self, at: usize, seen: &Seen) -> Option<(Kind, Option<usize>)> {
        let limit = seen.cache_ttl.unwrap_or_else(|| Terms::default().period(seen.value.is_none(), None));
        let is_far = !self.is_at_store(&self.history[at]);
        (is_far && seen.age > limit).then_some((Kind::TooOld, None))
    }

    /// Writes whose versions are not newer than those that were acknowledged before they were sent; one store knows those.
    fn disordered(&self) -> Vec<Violation> {
        if !self.has_one_store() {
            return Vec::new();
        }
        let mut by_answer: Vec<_> = self.acknowledged.clone();
        by_answer.sort_unstable_by_key(|(_, place)| self.history[*place].answered);
        // The newest version of those that were answered up to each.
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

/// By how much more an answer may be old than it says in whole seconds.
const WHOLE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
