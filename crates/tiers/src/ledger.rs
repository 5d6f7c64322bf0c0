//! What was purged in a network, as its data centres tell one another, without a place that all of them have to reach.
//!
//! Each data centre that runs has a log of its own, which nobody else writes to, and numbers what it adds. How far somebody has got in each
//! log is its position; one covers another if it is at least as far in all of them. Purges can be done in any order and twice, so whoever
//! hears of them late, by way of others or again has the same in the end. A request to another data centre carries the position of who asks:
//! who does not cover it catches up before it answers.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    str::FromStr,
};

/// One run of one data centre: a number that no other run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId(pub u64);

/// How far somebody has got in each log, or where logs have ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position(BTreeMap<LogId, u64>);

/// A part of a log on its way from one data centre to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<E> {
    /// Of which log.
    pub log: LogId,
    /// The number of its first entry, from 1 on.
    pub first: u64,
    /// Whether entries before that are forgotten of which the receiver may lack some.
    pub forgets: bool,
    /// The entries.
    pub entries: Vec<E>,
}

/// What was new to somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News<E> {
    /// To be done in this order.
    pub entries: Vec<New<E>>,
    /// Whether there was more, which nobody remembers: everything has to be purged.
    pub everything: bool,
}

/// An entry that was new to somebody, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct New<E> {
    /// In which log it is.
    pub log: LogId,
    /// Its number there.
    pub number: u64,
    /// The entry.
    pub entry: E,
}

/// All logs as far as one data centre has heard of them.
#[derive(Debug, Clone)]
pub struct Ledger<E> {
    own: LogId,
    logs: BTreeMap<LogId, Log<E>>,
    /// Logs that have ended and that all data centres have to their ends, as far as is known here: the number of the last entry. The one that
    /// was settled first gives way.
    settled: (BTreeMap<LogId, u64>, VecDeque<LogId>),
}

#[derive(Debug, Clone)]
struct Log<E> {
    /// How many entries are forgotten.
    base: u64,
    entries: VecDeque<E>,
}

impl<E> Log<E> {
    fn last(&self) -> u64 {
        self.base + self.entries.len() as u64
    }
}

impl Position {
    /// How far it is in a log; 0 before its first entry.
    pub fn reached(&self, log: LogId) -> u64 {
        self.0.get(&log).copied().unwrap_or(0)
    }

    /// Whether it is as far as another one in all logs.
    pub fn covers(&self, other: &Self) -> bool {
        other.0.iter().all(|(&log, &number)| self.reached(log) >= number)
    }

    /// Is at least so far in a log from now on.
    pub fn reach(&mut self, log: LogId, number: u64) {
        let reached = self.0.entry(log).or_insert(0);
        *reached = number.max(*reached);
    }

    /// Is at least as far as another one from now on.
    pub fn join(&mut self, other: &Self) {
        other.logs().for_each(|(log, number)| self.reach(log, number));
    }

    /// Knows nothing of a log any more.
    pub fn leave(&mut self, log: LogId) {
        self.0.remove(&log);
    }

    /// How many entries somebody at this position has that another one lacks.
    pub fn ahead_of(&self, other: &Self) -> u64 {
        let ahead = self.logs().map(|(log, number)| number.saturating_sub(other.reached(log)));
        ahead.fold(0, u64::saturating_add)
    }

    /// The logs that it knows, and how far it is in each.
    pub fn logs(&self) -> impl Iterator<Item = (LogId, u64)> + '_ {
        self.0.iter().map(|(&log, &number)| (log, number))
    }
}

impl<E: Clone> Ledger<E> {
    /// One that has heard of nothing. `own` is to be a random number.
    pub fn new(own: LogId) -> Self {
        Self { own, logs: BTreeMap::new(), settled: Default::default() }
    }

    /// Its own log.
    pub fn own(&self) -> LogId {
        self.own
    }

    /// Adds entries to its own log; returns the number of the last one there.
    pub fn append(&mut self, entries: impl IntoIterator<Item = E>) -> u64 {
        let log = self.log(self.own);
        log.entries.extend(entries);
        trim(log);
        log.last()
    }

    /// Has an entry that a run before had done. To be called in the order of their numbers.
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

    /// Is as far as a run before was, whose entries need not be remembered. To be called after [`Self::resume`].
    pub fn resume_at(&mut self, position: &Position) {
        for (log, number) in position.logs() {
            let log = self.log(log);
            if log.last() < number {
                (log.base, log.entries) = (number, VecDeque::new());
            }
        }
    }

    /// How far it is.
    pub fn position(&self) -> Position {
        Position(self.logs.iter().map(|(&log, entries)| (log, entries.last())).collect())
    }

    /// Whether it lacks nothing that somebody at this position has.
    pub fn covers(&self, other: &Position) -> bool {
        other.logs().all(|(log, number)| self.reached(log) >= number)
    }

    /// Whether a log is settled: it has ended, and all have it to its end.
    pub fn is_settled(&self, log: LogId) -> bool {
        self.settled.0.contains_key(&log)
    }

    /// How far it is in a log, also in one that is settled.
    pub fn reached(&self, log: LogId) -> u64 {
        let end = || self.settled.0.get(&log).copied();
        self.logs.get(&log).map(Log::last).or_else(end).unwrap_or(0)
    }

    /// What somebody at this position lacks, up to so many entries. If there are more, the rest is after the position that follows.
    pub fn after(&self, position: &Position, most: usize) -> Vec<Piece<E>> {
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

    /// What somebody lacks of one log who is so far in it, up to so many entries; `None` if that is nothing.
    pub fn rest(&self, log: LogId, reached: u64, most: usize) -> Option<Piece<E>> {
        let known = self.logs.get(&log).filter(|known| reached < known.last())?;
        let from = reached.max(known.base);
        let skipped = usize::try_from(from - known.base).unwrap_or(usize::MAX);
        let entries = known.entries.iter().skip(skipped).take(most).cloned().collect();
        Some(Piece { log, first: from + 1, forgets: reached < known.base, entries })
    }

    /// That there was more of logs which are settled, of which somebody who says that it is so far has some and not all. None of it is remembered.
    pub fn short_of(&self, said: &Position) -> impl Iterator<Item = Piece<E>> {
        said.logs().filter_map(|(log, reached)| {
            let end = self.settled.0.get(&log).copied().filter(|&end| reached < end)?;
            Some(Piece { log, first: end + 1, forgets: true, entries: Vec::new() })
        })
    }

    /// Takes what others tell; what it knows already is left out. A piece that does not follow on what is here is left for later.
    pub fn take(&mut self, pieces: Vec<Piece<E>>) -> News<E> {
        let mut news = News { entries: Vec::new(), everything: false };
        for Piece { log, first, forgets, entries } in pieces {
            let before = first.saturating_sub(1);
            let reached = self.reached(log);
            let is_known = before.saturating_add(entries.len() as u64) <= reached;
            let has_gap = before > reached && !forgets;
            let is_too_much =
                first > LARGEST || (self.logs.len() >= MOST_LOGS && !self.logs.contains_key(&log));
            // Nobody else adds to its own.
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

    /// Forgets logs that have ended and that everybody has: those but `alive`, if all of the `others`, who are all other data centres, are
    /// exactly as far in it. Returns which.
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

    /// Those of somebody's logs that are settled, and where they ended: whoever hears that from here may forget them as well.
    pub fn over(&self, position: &Position) -> Position {
        let is_over = |(log, number): &(LogId, u64)| self.settled.0.get(log) == Some(number);
        Position(position.logs().filter(is_over).collect())
    }

    /// Which of the logs that somebody tells all others to be settled are so for this one too: those that it has to their ends. Of one that it has
    /// a part of, nobody remembers the rest, which is a piece to be taken; one that it has nothing of is not its affair.
    pub fn ends_here(&self, over: &Position) -> (Position, Vec<Piece<E>>) {
        let (mut ended, mut short) = (Position::default(), Vec::new());
        for (log, end) in over.logs().filter(|&(log, end)| log != self.own && end <= LARGEST) {
            match self.reached(log) {
                0 => {}
                reached if reached < end => {
                    short.push(Piece { log, first: end + 1, forgets: true, entries: Vec::new() });
                }
                reached if reached == end => ended.reach(log, end),
                _ => {}
            }
        }
        (ended, short)
    }

    /// Forgets a log that another one has settled: it has ended with this number, and all have had it to its end. Whoever began anew since then,
    /// and has not heard of all of it yet, has nothing from before it, and need not hear of the rest. Returns whether it is forgotten: one
    /// that is known to go further has not ended there.
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

    /// Hears how far somebody is who writes to `log`. Goes on with logs that were settled too early, as whoever writes to them was not known to be
    /// there: from their ends, which its position has from now on, so that it is told no more of them than it lacks. Returns whether there
    /// are any.
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

    /// Goes on with a log from its end.
    fn reopen(&mut self, log: LogId) {
        if let Some(end) = self.settled.0.remove(&log) {
            self.settled.1.retain(|settled| *settled != log);
            self.log(log).base = end;
        }
    }

    /// Forgets entries that nobody will ask for: those that all of the `others`, who are all other data centres, have. How far it is does
    /// not change.
    pub fn forget(&mut self, others: &[Position]) {
        for (&log, known) in &mut self.logs {
            let all = others.iter().map(|other| other.reached(log)).min().unwrap_or(0);
            while known.base < all && known.entries.pop_front().is_some() {
                known.base += 1;
            }
        }
    }

    /// How many entries it remembers.
    pub fn remembered(&self) -> usize {
        self.logs.values().map(|log| log.entries.len()).sum()
    }

    fn log(&mut self, log: LogId) -> &mut Log<E> {
        self.logs.entry(log).or_insert_with(|| Log { base: 0, entries: VecDeque::new() })
    }
}

/// Forgets what is too long ago.
fn trim<E>(log: &mut Log<E>) {
    while log.entries.len() > REMEMBERED {
        log.entries.pop_front();
        log.base += 1;
    }
}

/// As it stands in a request: "1f3a:5 b2:17".
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
#[error("expected logs and how far each is, such as \"1f3a:5 b2:17\"")]
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

/// Entries of one log: as many purges as a cache remembers. Who is behind by more has to purge everything.
pub const REMEMBERED: usize = 10_000;

/// Logs at once: a network of 300 data centres, each of which was started a dozen times while one could not be reached. Of more, nothing is
/// taken, and whoever has one is not covered.
pub const MOST_LOGS: usize = 4096;

/// A number that no log reaches: with a million entries a second, it would take 36 000 years.
const LARGEST: u64 = 1 << 60;

/// Logs that are known to be over: 160 KB.
const MOST_SETTLED: usize = 10_000;

#[cfg(test)]
mod tests;
