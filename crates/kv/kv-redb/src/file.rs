//! A database file: opening, checking, closing, and reopening after a failed write.

use std::{
    fmt::Display,
    fs::{self, OpenOptions},
    io::{self, ErrorKind},
    mem,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use redb::{
    Builder, ConcurrencyMode, Database, DatabaseError, ReadOnlyDatabase, ReadTransaction,
    ReadableDatabase as _, ReadableTable as _, StorageError, TableDefinition, TransactionError,
    WriteTransaction, backends::FileBackend,
};

use crate::{
    Error,
    blocks::{Blocks, NotBlocks, Storage},
    create::{make, upgrade},
    damage::{Damage, DamagedPage, Unwound, catch},
    overlay::Overlay,
    unrecovered::Unrecovered,
};

/// Opens the storage of a database.
pub type Opening = Box<dyn Fn() -> io::Result<Storage> + Send + Sync>;

/// How a file is opened.
pub struct Setup {
    /// Opens its storage.
    pub opening: Opening,
    /// The size of the page cache in bytes.
    pub memory: usize,
    /// What the operator can do if the file is damaged; completes a sentence.
    pub remedy: &'static str,
}

/// A file of tables.
pub struct File {
    path: PathBuf,
    setup: Setup,
    origin: Origin,
    damage: Arc<Damage>,
    state: RwLock<State>,
}

/// The origin of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The file was created.
    New,
    /// The file was written by an earlier version and has been rewritten with checksums.
    Upgraded,
    /// The file existed.
    Known,
}

enum State {
    Open(Database, Blocks),
    ReadOnly(Reader, Blocks),
    Failed(String),
    Closed,
}

enum Reader {
    /// The database has recovered the file in memory.
    Recovered(Database),
    /// The database would refuse the file. The lock keeps other processes from opening it.
    Unrecovered { database: ReadOnlyDatabase, _lock: fs::File },
}

impl State {
    fn close(&mut self) {
        if let Self::Open(database, _) = mem::replace(self, Self::Closed) {
            let _ = catch(|| database.close());
        }
    }
}

impl File {
    /// Opens or creates a file. `prepare` creates the tables of a new file and checks those of an
    /// existing one, in one transaction.
    ///
    /// # Errors
    /// When the file is in use, invalid, from a newer program, or cannot be read and written.
    pub fn open<T>(
        path: &Path,
        setup: Setup,
        prepare: impl FnOnce(&Self, &WriteTransaction) -> Result<T, Error>,
    ) -> Result<(Self, T), Error> {
        let mut file = Self {
            path: path.to_owned(),
            setup,
            origin: Origin::Known,
            damage: Arc::default(),
            state: RwLock::new(State::Closed),
        };
        if !path.try_exists().map_err(|error| file.io("look for", error))? {
            make(path).map_err(|error| file.not_opened(error))?;
            file.origin = Origin::New;
        }
        match file.reopen() {
            Err(Error::Plain { .. }) => {
                upgrade(path, file.setup.memory).map_err(|error| file.not_opened(error))?;
                file.origin = Origin::Upgraded;
                file.reopen()?;
            }
            opened => opened?,
        }
        let prepared = file.transaction(|work| prepare(&file, work))?;
        Ok((file, prepared))
    }

    /// Opens a file, damaged or not, to read as much as possible. The file is not modified, and
    /// other processes cannot open it.
    pub(crate) fn read_only(path: &Path, remedy: &'static str) -> Result<Self, Error> {
        let opening = opening(path);
        let overlaid = move || -> io::Result<Storage> { Ok(Box::new(Overlay::new(opening()?))) };
        let file = Self {
            path: path.to_owned(),
            setup: Setup { opening: Box::new(overlaid), memory: READER_MEMORY, remedy },
            origin: Origin::Known,
            damage: Arc::default(),
            state: RwLock::new(State::Closed),
        };
        let reader = match file.load(false) {
            Ok((database, blocks)) => State::ReadOnly(Reader::Recovered(database), blocks),
            Err(Error::Damaged { .. }) => {
                let blocks = file.open_blocks()?;
                blocks.end_recovery().map_err(|error| file.io("open", error))?;
                let mut builder = Builder::new();
                builder.set_cache_size(READER_MEMORY).set_concurrency_mode(ConcurrencyMode::SingleWriter);
                let lock = fs::File::open(path).map_err(|error| file.io("open", error))?;
                lock.try_lock().map_err(|_| Error::Locked { path: path.to_owned() })?;
                let database = file.catch(|| {
                    let opened = builder.open_read_only_with_backend(Unrecovered(blocks.clone()));
                    opened.map_err(|error| file.not_opened(error))
                })?;
                State::ReadOnly(Reader::Unrecovered { database, _lock: lock }, blocks)
            }
            Err(error) => return Err(error),
        };
        *file.state.write().unwrap_or_else(PoisonError::into_inner) = reader;
        Ok(file)
    }

    pub(crate) fn blocks(&self) -> Result<Blocks, Error> {
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Open(_, blocks) | State::ReadOnly(_, blocks) => Ok(blocks.clone()),
            State::Failed(_) | State::Closed => Err(Error::Released),
        }
    }

    pub(crate) fn is_recoverable(&self) -> bool {
        !matches!(
            *self.state.read().unwrap_or_else(PoisonError::into_inner),
            State::ReadOnly(Reader::Unrecovered { .. }, _)
        )
    }

    /// The origin of the file.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The number of 4 KiB blocks that were found damaged since the file was opened, and not
    /// overwritten since.
    pub fn damaged_blocks(&self) -> u64 {
        self.damage.count()
    }

    /// Executes a transaction and makes it durable. If the final sync fails, it may be durable.
    ///
    /// # Errors
    /// When the file cannot be written, or `work` fails.
    pub fn durably<T>(&self, work: impl FnOnce(&WriteTransaction) -> Result<T, Error>) -> Result<T, Error> {
        if !self.is_open() {
            self.reopen()?;
        }
        self.transaction(work).inspect_err(|error| {
            // A write that found a damaged page has no effect.
            let is_usable = matches!(error, Error::Damaged { .. }) && self.transaction(|_| Ok(())).is_ok();
            if !is_usable {
                let _ = self.reopen();
            }
        })
    }

    fn transaction<T>(&self, work: impl FnOnce(&WriteTransaction) -> Result<T, Error>) -> Result<T, Error> {
        self.catch(|| {
            let transaction = self.begin_write()?;
            let made = work(&transaction)?;
            transaction.commit().map_err(|error| self.failed("write to", error))?;
            Ok(made)
        })
    }

    /// Reads from the current state of the tables.
    ///
    /// # Errors
    /// When the file is closed, damaged, or cannot be read, or `work` fails.
    pub fn read<T>(&self, work: impl FnOnce(&ReadTransaction) -> Result<T, Error>) -> Result<T, Error> {
        self.catch(|| work(&self.begin_read()?))
    }

    /// Converts a damaged page that `work` finds to an error.
    pub(crate) fn catch<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        catch(work).unwrap_or_else(|unwound| Err(self.unwound(&unwound)))
    }

    pub(crate) fn unwound(&self, unwound: &Unwound) -> Error {
        match unwound {
            Unwound::Page(page) => self.damaged_page(page),
            Unwound::Contradiction => self.damaged("its pages contradict each other"),
        }
    }

    fn damaged_page(&self, page: &DamagedPage) -> Error {
        self.damaged(format_args!("the page at byte {} does not match its checksum", page.offset))
    }

    /// Records the version of the format in a new file, and checks it in an existing one. It is
    /// stored in `numbers`, a table of every file of this kind.
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
        let is_new = work.list_tables().map_err(storage)?.count() <= 1;
        match found {
            Some(found) if found > known => Err(Error::Newer { path: self.path.clone(), found, known }),
            Some(_) => Ok(()),
            None if is_new => numbers.insert(FORMAT, known).map_err(storage).map(drop),
            None => Err(Error::Foreign { path: self.path.clone() }),
        }
    }

    /// redb must be closed first.
    pub(crate) fn reopen(&self) -> Result<(), Error> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.close();
        let opened = self.load(false);
        let opened = match opened {
            // If only the allocator state is damaged, a full verification rebuilds it from the
            // other pages.
            Err(Error::Damaged { .. }) => self.load(true),
            opened => opened,
        };
        let (opened, blocks) = opened.inspect_err(|error| *state = State::Failed(error.to_string()))?;
        *state = State::Open(opened, blocks);
        Ok(())
    }

    fn open_blocks(&self) -> Result<Blocks, Error> {
        let storage = (self.setup.opening)().map_err(|error| self.io("open", error))?;
        Blocks::open(storage, Arc::clone(&self.damage)).map_err(|error| self.not_blocks(error))
    }

    fn load(&self, verify_all: bool) -> Result<(Database, Blocks), Error> {
        let blocks = self.open_blocks()?;
        let mut builder = Builder::new();
        builder.set_cache_size(self.setup.memory).set_check_integrity_on_open(verify_all);
        let opened = self
            .catch(|| builder.create_with_backend(blocks.clone()).map_err(|error| self.not_opened(error)))?;
        blocks.end_recovery().map_err(|error| self.io("open", error))?;
        Ok((opened, blocks))
    }

    /// Closes the file. Reads in progress fail.
    pub fn close(&self) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).close();
    }

    pub(crate) fn begin_read(&self) -> Result<ReadTransaction, Error> {
        let failed = |error: TransactionError| self.failed("read", error);
        if let State::ReadOnly(reader, _) = &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            return match reader {
                Reader::Recovered(database) => database.begin_read().map_err(failed),
                Reader::Unrecovered { database, .. } => database.begin_read().map_err(failed),
            };
        }
        self.open_database(|database| database.begin_read().map_err(failed))
    }

    fn begin_write(&self) -> Result<WriteTransaction, Error> {
        self.open_database(|database| database.begin_write().map_err(|error| self.failed("write to", error)))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open_database(|_| Ok(())).is_ok()
    }

    fn open_database<T>(&self, use_it: impl FnOnce(&Database) -> Result<T, Error>) -> Result<T, Error> {
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Open(database, _) => use_it(database),
            State::Failed(why) => Err(Error::Io {
                operation: "use",
                path: self.path.clone(),
                source: io::Error::other(why.clone()),
            }),
            State::ReadOnly(..) | State::Closed => Err(Error::Released),
        }
    }

    fn io(&self, operation: &'static str, error: io::Error) -> Error {
        self.failed(operation, redb::Error::Io(error))
    }

    fn not_blocks(&self, why: NotBlocks) -> Error {
        let path = self.path.clone();
        match why {
            NotBlocks::Io(error) => self.io("open", error),
            NotBlocks::Empty => Error::Empty { path },
            NotBlocks::CutOff => self.damaged("a part of it is cut off"),
            NotBlocks::Plain => Error::Plain { path },
            NotBlocks::Newer(found) => {
                Error::Newer { path, found: found.into(), known: crate::blocks::VERSION.into() }
            }
            NotBlocks::Foreign => Error::Foreign { path },
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

    /// Converts an error of redb.
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

    pub(crate) fn full(&self) -> Error {
        Error::Full { path: self.path.clone() }
    }

    /// The error of damaged contents.
    pub fn damaged(&self, why: impl Display) -> Error {
        Error::Damaged { path: self.path.clone(), why: why.to_string(), remedy: self.setup.remedy }
    }
}

/// Opens the storage of an existing file.
pub fn opening(path: &Path) -> Opening {
    let path = path.to_owned();
    Box::new(move || {
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
    })
}

const READER_MEMORY: usize = 16 << 20;

pub(crate) const FORMAT: &str = "format";

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}
