//! The file of results. Results are removed after the retention time, or when newer results need
//! their space.
//!
//! The age of a result does not depend on the wall clock, which may be changed. The age of the file
//! advances with the monotonic clock while a server runs, and with the wall clock, forward only,
//! between two servers ([`seen`]).

mod seen;

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kv_redb::{Error, File, Setup, opening};
use redb::{
    ReadTransaction, ReadableTable as _, ReadableTableMetadata as _, TableDefinition, WriteTransaction,
};

use self::seen::Seen;
use super::Row;
use crate::wire::Token;

/// Path and retention time of the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The file; created if missing.
    pub path: PathBuf,
    /// Retention time.
    pub keep_for: Duration,
}

impl Config {
    /// The default retention time: a month, long enough for comparisons.
    pub const KEEP_FOR: Duration = Duration::from_secs(30 * 86_400);
}

/// The current time on both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// On the monotonic clock.
    pub steady: Duration,
    /// Unix time in seconds, on the wall clock.
    pub wall_s: u64,
}

/// A file of results. Its methods block during I/O.
pub struct Store {
    file: File,
    keep_for_s: u64,
    most: Most,
    age: Age,
    writing: Mutex<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Closed,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    pub(crate) results: u64,
    pub(crate) bytes: u64,
    pub(crate) at_once: usize,
}

#[derive(Debug, Clone, Copy)]
struct Age {
    then_s: u64,
    opened: Duration,
}

impl Age {
    fn now(self, moment: Moment) -> u64 {
        self.then_s.saturating_add(moment.steady.saturating_sub(self.opened).as_secs())
    }
}

impl Store {
    /// Opens or creates a file.
    ///
    /// # Errors
    ///
    /// It is locked, damaged, of another format or a newer version, or an I/O error occurs.
    pub fn open(config: &Config, now: Moment) -> Result<Self, Error> {
        Self::with_most(config, now, MOST)
    }

    pub(crate) fn with_most(config: &Config, now: Moment, most: Most) -> Result<Self, Error> {
        let setup = Setup { opening: opening(&config.path), memory: MEMORY, remedy: REMEDY };
        let (file, then_s) = File::open(&config.path, setup, |file, work| {
            file.check_format(work, NUMBERS, VERSION)?;
            tables(work).map_err(|error| file.failed("write to", error))?;
            let numbers = work.open_table(NUMBERS).map_err(|error| file.failed("write to", error))?;
            let seen = Seen::read(&numbers).map_err(|error| file.failed("read", error))?;
            Ok(seen.age(now.wall_s))
        })?;
        let age = Age { then_s, opened: now.steady };
        Ok(Self { file, keep_for_s: config.keep_for.as_secs(), most, age, writing: Mutex::new(State::Open) })
    }

    /// Stores a result durably. The oldest results make room for it.
    ///
    /// # Errors
    ///
    /// It cannot be stored; the file is then unchanged.
    pub fn keep(&self, now: Moment, row: &Row, outcome: &[u8]) -> Result<(), Error> {
        let age = self.age.now(now);
        self.durably(|work| {
            let mut numbers = work.open_table(NUMBERS)?;
            let number = numbers.get(NEXT)?.map_or(0, |next| next.value());
            let bytes = numbers.get(BYTES)?.map_or(0, |bytes| bytes.value());
            let encoded = row.encode();
            let more = (encoded.len() + outcome.len()) as u64;
            work.open_table(ROWS)?.insert(number, (age, &encoded[..]))?;
            work.open_table(OUTCOMES)?.insert(number, outcome)?;
            work.open_table(IDS)?.insert(u128::from_be_bytes(row.id.0), number)?;
            numbers.insert(NEXT, number + 1)?;
            numbers.insert(BYTES, bytes + more)?;
            drop(numbers);
            self.make_room(work, age)?;
            note(work, age, now)
        })?;
        Ok(())
    }

    /// Removes all expired results; call it periodically. Other writers may run between its
    /// transactions.
    ///
    /// # Errors
    ///
    /// The removal cannot be stored.
    pub fn sweep(&self, now: Moment) -> Result<(), Error> {
        let age = self.age.now(now);
        loop {
            let removed = self.durably(|work| {
                let removed = self.make_room(work, age)?;
                note(work, age, now)?;
                Ok(removed)
            })?;
            if removed < self.most.at_once {
                return Ok(());
            }
        }
    }

    /// Stores the file's age and releases the file for the next process. Later calls fail.
    pub fn close(&self, now: Moment) {
        // If this fails, the file is slightly younger at the next start.
        let _ = self.sweep(now);
        *self.turn() = State::Closed;
        self.file.close();
    }

    /// A stored result. `None` if the identifier is unknown or the result has expired.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn outcome(&self, now: Moment, id: Token) -> Result<Option<Vec<u8>>, Error> {
        let read = |work: &ReadTransaction| -> Result<Option<Vec<u8>>, redb::Error> {
            let Some(number) = work.open_table(IDS)?.get(u128::from_be_bytes(id.0))? else { return Ok(None) };
            let rows = work.open_table(ROWS)?;
            let Some(row) = rows.get(number.value())? else { return Ok(None) };
            if self.is_over(row.value().0, self.age.now(now)) {
                return Ok(None);
            }
            let outcome = work.open_table(OUTCOMES)?.get(number.value())?.map(|found| found.value().to_vec());
            Ok(outcome)
        };
        self.file.read(|work| read(work).map_err(|error| self.file.failed("read", error)))
    }

    /// Calls `each` with the summary of all results that have not expired, the oldest first.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub fn rows(&self, now: Moment, mut each: impl FnMut(Row)) -> Result<(), Error> {
        let failed = |error: redb::Error| self.file.failed("read", error);
        let age = self.age.now(now);
        self.file.read(|work| {
            let rows = work.open_table(ROWS).map_err(|error| failed(error.into()))?;
            for row in rows.iter().map_err(|error| failed(error.into()))? {
                let (_, row) = row.map_err(|error| failed(error.into()))?;
                let (kept_at, encoded) = row.value();
                if !self.is_over(kept_at, age) {
                    each(Row::decode(encoded).ok_or_else(|| self.file.damaged("a row of a result"))?);
                }
            }
            Ok(())
        })
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> u64 {
        self.file.read(|work| Ok(work.open_table(OUTCOMES).unwrap().len().unwrap())).unwrap()
    }

    /// Removes expired results, and the oldest ones beyond the limits. Returns the number removed.
    fn make_room(&self, work: &WriteTransaction, age: u64) -> Result<usize, redb::Error> {
        let (mut rows, mut outcomes) = (work.open_table(ROWS)?, work.open_table(OUTCOMES)?);
        let (mut ids, mut numbers) = (work.open_table(IDS)?, work.open_table(NUMBERS)?);
        let mut bytes = numbers.get(BYTES)?.map_or(0, |bytes| bytes.value());
        let mut removed = 0;
        while removed < self.most.at_once {
            let is_too_much = rows.len()? > self.most.results || bytes > self.most.bytes;
            let Some((number, row)) = rows.first()?.map(|(number, row)| {
                let (kept_at, encoded) = row.value();
                let goes = is_too_much || self.is_over(kept_at, age);
                (number.value(), goes.then(|| (encoded.len() as u64, Row::decode(encoded))))
            }) else {
                break;
            };
            let Some((length, row)) = row else { break };
            rows.remove(number)?;
            let outcome = outcomes.remove(number)?.map_or(0, |outcome| outcome.value().len() as u64);
            if let Some(row) = row {
                ids.remove(u128::from_be_bytes(row.id.0))?;
            }
            bytes = bytes.saturating_sub(length + outcome);
            removed += 1;
        }
        numbers.insert(BYTES, bytes)?;
        Ok(removed)
    }

    fn is_over(&self, kept_at: u64, age: u64) -> bool {
        age.saturating_sub(kept_at) >= self.keep_for_s
    }

    fn turn(&self) -> MutexGuard<'_, State> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn durably<T>(&self, work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>) -> Result<T, Error> {
        let state = self.turn();
        if *state == State::Closed {
            return Err(Error::Released);
        }
        self.file
            .durably(|transaction| work(transaction).map_err(|error| self.file.failed("write to", error)))
    }
}

fn tables(work: &WriteTransaction) -> Result<(), redb::Error> {
    work.open_table(ROWS)?;
    work.open_table(OUTCOMES)?;
    work.open_table(IDS)?;
    Ok(())
}

fn note(work: &WriteTransaction, age: u64, now: Moment) -> Result<(), redb::Error> {
    let mut numbers = work.open_table(NUMBERS)?;
    let mut seen = Seen::read(&numbers)?;
    seen.note(age, now.wall_s);
    seen.write(&mut numbers)
}

/// The file's age at arrival, and a [`Row`], by order of arrival.
const ROWS: TableDefinition<u64, (u64, &[u8])> = TableDefinition::new("rows");
const OUTCOMES: TableDefinition<u64, &[u8]> = TableDefinition::new("outcomes");
const IDS: TableDefinition<u128, u64> = TableDefinition::new("ids");
const NUMBERS: TableDefinition<&str, u64> = TableDefinition::new("numbers of results");

/// Keys of [`NUMBERS`]: the next sequence number, and the total number of bytes.
const NEXT: &str = "next";
const BYTES: &str = "bytes";

const VERSION: u64 = 1;

/// A result has about 10 to 50 KB.
const MOST: Most = Most { results: 100_000, bytes: 1_000_000_000, at_once: 1000 };
const MEMORY: usize = 4 << 20;

const REMEDY: &str = "move it away to begin a new one, or put a copy in its place";
