//! The file: opened, checked, closed, and opened again after writing to it failed.

use std::{
    fmt::Display,
    io::{self, ErrorKind},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock},
};

use kv::StoreName;
use redb::{
    Database, DatabaseError, ReadTransaction, ReadableDatabase as _, ReadableTable as _, StorageError,
    WriteTransaction,
};

use crate::{
    Error,
    layout::{
        BYTES, CLOCK, DUE, FORMAT, HEADS, KEYS, NAME, NEXT_VALUE, NUMBERS, TEXTS, UPLOADS, VALUES, VERSION,
    },
};

/// How a database is opened.
pub(crate) type Opening = Box<dyn Fn() -> Result<Database, DatabaseError> + Send + Sync>;

/// The file.
pub(crate) struct File {
    path: PathBuf,
    opening: Opening,
    state: RwLock<State>,
}

enum State {
    Open(Database),
    /// It could not be opened again after a failure: why.
    Failed(String),
    /// It was left to another process.
    Closed,
}

impl State {
    fn close(&mut self) {
        if let Self::Open(database) = mem::replace(self, Self::Closed) {
            let _ = database.close();
        }
    }
}

/// What a file says of itself.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) name: StoreName,
    pub(crate) clock: u64,
    pub(crate) next_value: u64,
    /// Keys with a value, and the bytes of those.
    pub(crate) held: (u64, u64),
}

impl File {
    /// Opens or makes it. A new one gets this name.
    pub(crate) fn open(path: &Path, opening: Opening, name: &StoreName) -> Result<(Self, Said), Error> {
        let file = Self { path: path.to_owned(), opening, state: RwLock::new(State::Closed) };
        // redb may panic over a file that something else has written to.
        let opened = catch_unwind(AssertUnwindSafe(|| {
            file.reopen()?;
            file.prepare(name)
        }));
        let said = opened.unwrap_or_else(|_| Err(file.damaged("its pages contradict each other")))?;
        Ok((file, said))
    }

    /// Opens it after it was closed, or after a failure, which redb wants to see closed.
    pub(crate) fn reopen(&self) -> Result<(), Error> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.close();
        let opened = (self.opening)().map_err(|error| self.not_opened(error));
        let opened = opened.inspect_err(|error| *state = State::Failed(error.to_string()))?;
        *state = State::Open(opened);
        Ok(())
    }

    /// Closes it. What is being read from it breaks off.
    pub(crate) fn close(&self) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).close();
    }

    /// A view of it as it is now.
    pub(crate) fn begin_read(&self) -> Result<ReadTransaction, Error> {
        self.open_database(|database| database.begin_read().map_err(|error| self.failed("read", error)))
    }

    pub(crate) fn begin_write(&self) -> Result<WriteTransaction, Error> {
        self.open_database(|database| database.begin_write().map_err(|error| self.failed("write to", error)))
    }

    /// Whether it is open.
    pub(crate) fn is_open(&self) -> bool {
        self.open_database(|_| Ok(())).is_ok()
    }

    fn open_database<T>(&self, use_it: impl FnOnce(&Database) -> Result<T, Error>) -> Result<T, Error> {
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Open(database) => use_it(database),
            State::Failed(why) => Err(Error::Io {
                operation: "use",
                path: self.path.clone(),
                source: io::Error::other(why.clone()),
            }),
            State::Closed => Err(Error::Released),
        }
    }

    /// Makes the tables of a new file, checks an old one, and removes what was broken off.
    fn prepare(&self, name: &StoreName) -> Result<Said, Error> {
        let failed = |error: redb::Error| self.failed("write to", error);
        let work = self.begin_write()?;
        let said = self.tables(&work, name)?;
        work.commit().map_err(|error| failed(error.into()))?;
        Ok(said)
    }

    fn tables(&self, work: &WriteTransaction, name: &StoreName) -> Result<Said, Error> {
        let failed = |error: redb::Error| self.failed("write to", error);
        let storage = |error: StorageError| self.failed("write to", error);
        let mut numbers = work.open_table(NUMBERS).map_err(|error| failed(error.into()))?;
        let format = numbers.get(FORMAT).map_err(storage)?.map(|format| format.value());
        match format {
            Some(found) if found > VERSION => {
                return Err(Error::Newer { path: self.path.clone(), found, known: VERSION });
            }
            Some(_) => {}
            None if work.list_tables().map_err(storage)?.next().is_some_and(|_| !self.is_new(work)) => {
                return Err(Error::Foreign { path: self.path.clone() });
            }
            None => drop(numbers.insert(FORMAT, VERSION).map_err(storage)?),
        }
        let number = |name| Ok(numbers.get(name).map_err(storage)?.map_or(0, |number| number.value()));
        let (clock, next_value) = (number(CLOCK)?, number(NEXT_VALUE)?);
        let held = (number(KEYS)?, number(BYTES)?);
        let mut texts = work.open_table(TEXTS).map_err(|error| failed(error.into()))?;
        let known = texts.get(NAME).map_err(storage)?.map(|known| known.value().to_owned());
        let name = match known {
            Some(known) => StoreName::new(&known).ok_or_else(|| self.damaged("its name"))?,
            None => {
                texts.insert(NAME, name.as_str()).map_err(storage)?;
                name.clone()
            }
        };
        work.open_table(HEADS).map_err(|error| failed(error.into()))?;
        work.open_table(DUE).map_err(|error| failed(error.into()))?;
        let mut values = work.open_table(VALUES).map_err(|error| failed(error.into()))?;
        let mut uploads = work.open_table(UPLOADS).map_err(|error| failed(error.into()))?;
        while let Some((broken_off, _)) = uploads.pop_first().map_err(storage)? {
            let value = broken_off.value();
            values.retain_in((value, 0)..=(value, u32::MAX), |_, _| false).map_err(storage)?;
        }
        Ok(Said { name, clock, next_value, held })
    }

    /// Whether there is no table but the one that was just opened.
    #[expect(clippy::unused_self, reason = "it is about this file")]
    fn is_new(&self, work: &WriteTransaction) -> bool {
        work.list_tables().is_ok_and(|tables| tables.count() <= 1)
    }

    fn not_opened(&self, error: DatabaseError) -> Error {
        match error {
            DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
                Error::Locked { path: self.path.clone() }
            }
            DatabaseError::UpgradeRequired(_) => Error::Foreign { path: self.path.clone() },
            DatabaseError::Storage(StorageError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                Error::Foreign { path: self.path.clone() }
            }
            error => self.failed("open", error),
        }
    }

    /// What an error of redb's comes to.
    pub(crate) fn failed(&self, operation: &'static str, error: impl Into<redb::Error>) -> Error {
        let path = self.path.clone();
        match error.into() {
            redb::Error::Io(source) if is_full(&source) => Error::Full { path },
            redb::Error::Io(source) => Error::Io { operation, path, source },
            redb::Error::DatabaseClosed => Error::Released,
            redb::Error::Corrupted(why) => self.damaged(why),
            error => Error::Io { operation, path, source: io::Error::other(error.to_string()) },
        }
    }

    pub(crate) fn damaged(&self, why: impl Display) -> Error {
        Error::Damaged { path: self.path.clone(), why: why.to_string() }
    }
}

/// Whether there is no room, on the disk or in what its user may have.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}
