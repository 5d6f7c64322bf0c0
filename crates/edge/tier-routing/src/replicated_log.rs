//! Replication of purges among data centres, without a central server.
//!
//! Each run of a data centre has its own log with a single writer and numbered entries. A position
//! is a version vector: the last received entry of each log. Purges are commutative and idempotent,
//! so late, repeated or indirect delivery leads to the same state. A request to another data centre
//! carries the sender's position; a receiver that does not cover it catches up before it responds.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    str::FromStr,
};

/// One run of one data centre: a unique random number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId(pub u64);

/// The number of the last received entry of each log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position(BTreeMap<LogId, u64>);

/// A part of a log that is sent to another data centre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSlice<E> {
    /// The log.
    pub log: LogId,
    /// The number of the first entry, from 1.
    pub first: u64,
    /// Whether earlier entries were dropped that the receiver may lack.
    pub forgets: bool,
    /// The entries.
    pub entries: Vec<E>,
}

/// Entries that were new to the receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDelta<E> {
    /// In the order in which they must be applied.
    pub entries: Vec<New<E>>,
    /// Whether entries are lost because they were dropped everywhere: everything must be purged.
    pub everything: bool,
}

/// A new entry with its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct New<E> {
    /// The log.
    pub log: LogId,
    /// Its number in the log.
    pub number: u64,
    /// The entry.
    pub entry: E,
}

/// All logs, as far as one data centre has received them.
#[derive(Debug, Clone)]
pub struct ReplicatedLog<E> {
    own: LogId,
    logs: BTreeMap<LogId, Log<E>>,
    /// Logs that have ended and that all data centres have received, as far as is known here, with
    /// the number of their last entry. The oldest one is evicted first.
    settled: (BTreeMap<LogId, u64>, VecDeque<LogId>),
}

#[derive(Debug, Clone)]
struct Log<E> {
    base: u64,
    entries: VecDeque<E>,
}

impl<E> Log<E> {
    fn last(&self) -> u64 {
        self.base + self.entries.len() as u64
    }
}

impl Position {
    /// The number of the last received entry of a log; 0 before its first one.
    pub fn reached(&self, log: LogId) -> u64 {
        self.0.get(&log).copied().unwrap_or(0)
    }

    /// Whether it is at least as far as another position in all logs.
    pub fn covers(&self, other: &Self) -> bool {
        other.0.iter().all(|(&log, &number)| self.reached(log) >= number)
    }

    /// Advances to at least this entry of a log.
    pub fn reach(&mut self, log: LogId, number: u64) {
        let reached = self.0.entry(log).or_insert(0);
        *reached = number.max(*reached);
    }

    /// Advances to at least the other position in all logs.
    pub fn join(&mut self, other: &Self) {
        other.logs().for_each(|(log, number)| self.reach(log, number));
    }

    /// Removes a log.
    pub fn leave(&mut self, log: LogId) {
        self.0.remove(&log);
    }

    /// The number of entries that the other position lacks.
    pub fn ahead_of(&self, other: &Self) -> u64 {
        let ahead = self.logs().map(|(log, number)| number.saturating_sub(other.reached(log)));
        ahead.fold(0, u64::saturating_add)
    }

    /// The logs, with the last received entry of each.
    pub fn logs(&self) -> impl Iterator<Item = (LogId, u64)> + '_ {
        self.0.iter().map(|(&log, &number)| (log, number))
    }
}

impl<E: Clone> ReplicatedLog<E> {
    /// An empty ledger. `own` is a random number.
    pub fn new(own: LogId) -> Self {
        Self { own, logs: BTreeMap::new(), settled: Default::default() }
    }

    /// The log of this run.
    pub fn own(&self) -> LogId {
        self.own
    }

    /// Appends entries to the own log and returns the number of the last one.
    pub fn append(&mut self, entries: impl IntoIterator<Item = E>) -> u64 {
        let log = self.log(self.own);
        log.entries.extend(entries);
        trim(log);
        log.last()
    }

    /// Restores an entry of a previous run. Call it in the order of numbers.
    pub fn resume(&mut self, New { log, number, entry }: New<E>) {
        let log = self.log(log);
        if number > log.last() {
            if number > log.last() + 1 {
                (log.base, log.entries) = (number - 1, VecDeque::new());
            }
            log.entries.push_back(entry);
            trim(log);
        }
    }

    /// Restores the position of a previous run, without its entries. Call it after
    /// [`Self::resume`].
    pub fn resume_at(&mut self, position: &Position) {
        for (log, number) in position.logs() {
            let log = self.log(log);
            if log.last() < number {
                (log.base, log.entries) = (number, VecDeque::new());
            }
        }
    }

    /// The current position.
    pub fn position(&self) -> Position {
        Position(self.logs.iter().map(|(&log, entries)| (log, entries.last())).collect())
    }

    /// Whether all entries up to this position were received.
    pub fn covers(&self, other: &Position) -> bool {
        other.logs().all(|(log, number)| self.reached(log) >= number)
    }

    /// Whether a log has ended, and all data centres have received it completely.
    pub fn is_settled(&self, log: LogId) -> bool {
        self.settled.0.contains_key(&log)
    }

    /// The number of the last received entry of a log, including settled ones.
    pub fn reached(&self, log: LogId) -> u64 {
        let end = || self.settled.0.get(&log).copied();
        self.logs.get(&log).map(Log::last).or_else(end).unwrap_or(0)
    }

    /// At most `most` entries after this position.
    pub fn after(&self, position: &Position, most: usize) -> Vec<LogSlice<E>> {
        let mut left = most;
        let mut pieces = Vec::new();
        for &log in self.logs.keys() {
            let rest = Some(left).filter(|&left| left > 0);
            let rest = rest.and_then(|left| self.rest(log, position.reached(log), left));
            left -= rest.as_ref().map_or(0, |piece| piece.entries.len());
            pieces.extend(rest);
        }
        pieces
    }

    /// At most `most` entries of one log after number `reached`; `None` if there are none.
    pub fn rest(&self, log: LogId, reached: u64, most: usize) -> Option<LogSlice<E>> {
        let known = self.logs.get(&log).filter(|known| reached < known.last())?;
        let from = reached.max(known.base);
        let skipped = usize::try_from(from - known.base).unwrap_or(usize::MAX);
        let entries = known.entries.iter().skip(skipped).take(most).cloned().collect();
        Some(LogSlice { log, first: from + 1, forgets: reached < known.base, entries })
    }

    /// Pieces without entries for settled logs that the peer at `said` has received only in part.
    /// The rest was dropped, so the peer must purge everything.
    pub fn short_of(&self, said: &Position) -> impl Iterator<Item = LogSlice<E>> {
        said.logs().filter_map(|(log, reached)| {
            let end = self.settled.0.get(&log).copied().filter(|&end| reached < end)?;
            Some(LogSlice { log, first: end + 1, forgets: true, entries: Vec::new() })
        })
    }

    /// Receives pieces, and ignores known entries and pieces that leave a gap.
    pub fn take(&mut self, pieces: Vec<LogSlice<E>>) -> LogDelta<E> {
        let mut news = LogDelta { entries: Vec::new(), everything: false };
        for LogSlice { log, first, forgets, entries } in pieces {
            let before = first.saturating_sub(1);
            let reached = self.reached(log);
            let is_known = before.saturating_add(entries.len() as u64) <= reached;
            let has_gap = before > reached && !forgets;
            let is_too_much =
                first > LARGEST || (self.logs.len() >= MOST_LOGS && !self.logs.contains_key(&log));
            // Only this run appends to its own log.
            if first == 0 || is_known || has_gap || is_too_much || log == self.own {
                continue;
            }
            self.reopen(log);
            let own = self.log(log);
            if before > reached {
                news.everything = true;
                (own.base, own.entries) = (before, VecDeque::new());
            }
            let known = usize::try_from(own.last() - before).unwrap_or(usize::MAX);
            let new = entries.into_iter().skip(known);
            for entry in new {
                own.entries.push_back(entry.clone());
                news.entries.push(New { log, number: own.last(), entry });
            }
            trim(own);
        }
        news
    }

    /// Settles ended logs (all except the own and `alive`) of which all `others`, the other data
    /// centres, have received the same number of entries. Returns these logs.
    pub fn settle(&mut self, alive: &BTreeSet<LogId>, others: &[Position]) -> Vec<LogId> {
        let own = self.own;
        let is_over = |log: &LogId, known: &Log<E>| {
            *log != own
                && !alive.contains(log)
                && others.iter().all(|other| other.reached(*log) == known.last())
        };
        let over: Vec<_> = self.logs.iter().filter(|(log, known)| is_over(log, known)).collect();
        let mut over: Vec<_> = over.into_iter().map(|(&log, known)| (log, known.last())).collect();
        over.retain(|&(log, last)| self.end(log, last));
        over.into_iter().map(|(log, _)| log).collect()
    }

    /// The settled logs among those of a peer at this position, with their ends.
    pub fn over(&self, position: &Position) -> Position {
        let is_over = |(log, number): &(LogId, u64)| self.settled.0.get(log) == Some(number);
        Position(position.logs().filter(is_over).collect())
    }

    /// Handles logs that a peer reports as settled. Returns those to settle here, and pieces for
    /// logs that were received only in part, whose rest was dropped. Ignores unknown logs.
    pub fn ends_here(&self, over: &Position) -> (Position, Vec<LogSlice<E>>) {
        let (mut ended, mut short) = (Position::default(), Vec::new());
        for (log, end) in over.logs().filter(|&(log, end)| log != self.own && end <= LARGEST) {
            match self.reached(log) {
                0 => {}
                reached if reached < end => {
                    short.push(LogSlice { log, first: end + 1, forgets: true, entries: Vec::new() });
                }
                reached if reached == end => ended.reach(log, end),
                _ => {}
            }
        }
        (ended, short)
    }

    /// Settles a log that another data centre has settled. Returns false if a later entry is known.
    pub fn end(&mut self, log: LogId, number: u64) -> bool {
        if log == self.own || number > LARGEST || self.reached(log) > number {
            return false;
        }
        self.logs.remove(&log);
        if self.settled.0.insert(log, number).is_none() {
            self.settled.1.push_back(log);
        }
        if self.settled.1.len() > MOST_SETTLED
            && let Some(first) = self.settled.1.pop_front()
        {
            self.settled.0.remove(&first);
        }
        true
    }

    /// Receives the position of the writer of `log`, and reopens logs that were settled too early.
    /// Returns whether any was reopened.
    pub fn hear(&mut self, log: LogId, position: &Position) -> bool {
        let goes_further = |(log, number): (LogId, u64)| {
            Some(log).filter(|log| self.settled.0.get(log).is_some_and(|&end| end < number))
        };
        let going_on = position.logs().filter_map(goes_further);
        let own = Some(log).filter(|log| self.settled.0.contains_key(log));
        let going_on: BTreeSet<_> = going_on.chain(own).collect();
        going_on.iter().for_each(|&log| self.reopen(log));
        !going_on.is_empty()
    }

    fn reopen(&mut self, log: LogId) {
        if let Some(end) = self.settled.0.remove(&log) {
            self.settled.1.retain(|settled| *settled != log);
            self.log(log).base = end;
        }
    }

    /// Drops entries that all `others`, the other data centres, have received. The position stays.
    pub fn forget(&mut self, others: &[Position]) {
        for (&log, known) in &mut self.logs {
            let all = others.iter().map(|other| other.reached(log)).min().unwrap_or(0);
            while known.base < all && known.entries.pop_front().is_some() {
                known.base += 1;
            }
        }
    }

    /// The number of stored entries.
    pub fn remembered(&self) -> usize {
        self.logs.values().map(|log| log.entries.len()).sum()
    }

    fn log(&mut self, log: LogId) -> &mut Log<E> {
        self.logs.entry(log).or_insert_with(|| Log { base: 0, entries: VecDeque::new() })
    }
}

fn trim<E>(log: &mut Log<E>) {
    while log.entries.len() > REMEMBERED {
        log.entries.pop_front();
        log.base += 1;
    }
}

/// The format in requests: "1f3a:5 b2:17".
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (log, number)) in self.logs().enumerate() {
            let before = if place == 0 { "" } else { " " };
            write!(f, "{before}{:x}:{number}", log.0)?;
        }
        Ok(())
    }
}

/// Text that is not a [`Position`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected logs with their positions, such as \"1f3a:5 b2:17\"")]
pub struct NoPosition;

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let log = |part: &str| {
            let (log, number) = part.split_once(':')?;
            Some((LogId(u64::from_str_radix(log, 16).ok()?), number.parse().ok()?))
        };
        let logs = text.split(' ').filter(|part| !part.is_empty());
        logs.map(|part| log(part).ok_or(NoPosition)).collect::<Result<_, _>>().map(Self)
    }
}

/// Entries per log. A data centre that is further behind must purge everything.
pub const REMEMBERED: usize = 10_000;

/// The most logs: 300 data centres, each restarted a dozen times. Entries of further logs are
/// ignored.
pub const MOST_LOGS: usize = 4096;

/// No log reaches this number: at a million entries per second, that takes 36 000 years.
const LARGEST: u64 = 1 << 60;

/// 160 KB.
const MOST_SETTLED: usize = 10_000;

#[cfg(test)]
mod tests;
