//! The file: opened, checked, closed, and opened again after writing to it failed.

use std::{
    fmt::Display,
    fs::OpenOptions,
    io::{self, ErrorKind},
    mem,
    os::unix::fs::OpenOptionsExt as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock},
};

use redb::{
    Builder, Database, DatabaseError, ReadTransaction, ReadableDatabase as _, ReadableTable as _,
    StorageError, TableDefinition, WriteTransaction,
};

use crate::Error;

/// How a database is opened.
pub type Opening = Box<dyn Fn() -> Result<Database, DatabaseError> + Send + Sync>;

/// A file of tables: the store's, or somebody else's whose tables are others.
pub struct File {
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

impl File {
    /// Opens or makes it; `prepare` makes the tables of a new file and checks those of an old one, in one transaction.
    ///
    /// # Errors
    /// When the file is locked, damaged, something else, from a newer program, or cannot be read and written.
    pub fn open<T>(
        path: &Path,
        opening: Opening,
        prepare: impl FnOnce(&Self, &WriteTransaction) -> Result<T, Error>,
    ) -> Result<(Self, T), Error> {
        let file = Self { path: path.to_owned(), opening, state: RwLock::new(State::Closed) };
        // redb may panic over a file that something else has written to.
        let opened = catch_unwind(AssertUnwindSafe(|| {
            file.reopen()?;
            file.transaction(|work| prepare(&file, work))
        }));
        let prepared = opened.unwrap_or_else(|_| Err(file.damaged(CONTRADICTORY)))?;
        Ok((file, prepared))
    }

    /// Does something to the tables and makes it durable. After a failure nothing of it has happened, unless it was the last of all that
    /// failed, to hear from the disk that it is durable: then it may have. The file is opened again, since redb wants to be closed then.
    ///
    /// # Errors
    /// When the file cannot be written, or `work` fails.
    pub fn durably<T>(&self, work: impl FnOnce(&WriteTransaction) -> Result<T, Error>) -> Result<T, Error> {
        if !self.is_open() {
            self.reopen()?;
        }
        self.transaction(work).inspect_err(|_| {
            // If this fails as well, the next write tries again, and says why it cannot be.
            let _ = self.reopen();
        })
    }

    fn transaction<T>(&self, work: impl FnOnce(&WriteTransaction) -> Result<T, Error>) -> Result<T, Error> {
        // redb may panic over a file that something else has written to.
        let done = catch_unwind(AssertUnwindSafe(|| {
            let transaction = self.begin_write()?;
            let made = work(&transaction)?;
            transaction.commit().map_err(|error| self.failed("write to", error))?;
            Ok(made)
        }));
        done.unwrap_or_else(|_| Err(self.damaged(CONTRADICTORY)))
    }

    /// Notes the version of the format in a new file, and checks that of an old one. It is in this table, which every file of a kind has.
    ///
    /// # Errors
    /// When the file is of another kind, or from a newer program.
    pub fn check_format(
        &self,
        work: &WriteTransaction,
        numbers: TableDefinition<'_, &'static str, u64>,
        known: u64,
    ) -> Result<(), Error> {
        let storage = |error: StorageError| self.failed("write to", error);
        let mut numbers = work.open_table(numbers).map_err(|error| self.failed("write to", error))?;
        let found = numbers.get(FORMAT).map_err(storage)?.map(|format| format.value());
        // The one table is that which was just opened.
        let is_new = work.list_tables().map_err(storage)?.count() <= 1;
        match found {
            Some(found) if found > known => Err(Error::Newer { path: self.path.clone(), found, known }),
            Some(_) => Ok(()),
            None if is_new => numbers.insert(FORMAT, known).map_err(storage).map(drop),
            None => Err(Error::Foreign { path: self.path.clone() }),
        }
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
    pub fn close(&self) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).close();
    }

    /// A view of it as it is now.
    ///
    /// # Errors
    /// When the file is closed, or cannot be read.
    pub fn begin_read(&self) -> Result<ReadTransaction, Error> {
        self.open_database(|database| database.begin_read().map_err(|error| self.failed("read", error)))
    }

    fn begin_write(&self) -> Result<WriteTransaction, Error> {
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
    pub fn failed(&self, operation: &'static str, error: impl Into<redb::Error>) -> Error {
        let path = self.path.clone();
        match error.into() {
            redb::Error::Io(source) if is_full(&source) => Error::Full { path },
            redb::Error::Io(source) => Error::Io { operation, path, source },
            redb::Error::DatabaseClosed => Error::Released,
            redb::Error::Corrupted(why) => self.damaged(why),
            error => Error::Io { operation, path, source: io::Error::other(error.to_string()) },
        }
    }

    /// That something in it cannot be.
    pub fn damaged(&self, why: impl Display) -> Error {
        Error::Damaged { path: self.path.clone(), why: why.to_string() }
    }
}

/// Opens a database, or makes one, with so many bytes of memory for what was read from it. A new one is for its owner alone: what is in it may
/// be secret.
pub fn opening(path: &Path, memory: usize) -> Opening {
    let path = path.to_owned();
    Box::new(move || {
        // Why it cannot be made is said by what opens it.
        let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        Builder::new().set_cache_size(memory).create(&path)
    })
}

/// In the table of numbers of each kind of file: the version of its format.
pub(crate) const FORMAT: &str = "format";

const CONTRADICTORY: &str = "its pages contradict each other";

/// Whether there is no room, on the disk or in what its user may have.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}
