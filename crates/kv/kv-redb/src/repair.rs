//! Copies everything that is readable in a damaged file to a new one.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use kv::{Content, HybridClock, Millis, Pairing, StoreName};
use redb::ReadableTable as _;

use crate::{
    Error, Found, Inspection,
    create::sync_directory,
    file::{File, Setup, opening},
    init::prepare,
    inspect::Survey,
    layout::{CLOCK, FILLING, NAME, NOTES, NUMBERS, PIECE, TEXTS},
    mutation::{Mutation, MutationError, Tables},
    store::REMEDY,
};

/// Copies everything that is readable to a new file, which must not exist.
///
/// # Errors
/// When the file is in use or unreadable, or the new file exists or cannot be written.
pub fn salvage(from: &Path, to: &Path) -> Result<Inspection, Error> {
    let old = Arc::new(File::read_only(from, REMEDY)?);
    if to.try_exists().unwrap_or(true) {
        return Err(Error::Exists { path: to.to_owned() });
    }
    let view = old.catch(|| old.begin_read())?;
    let failed = |error: redb::Error| old.failed("read", error);
    let name = old.catch(|| {
        let texts = view.open_table(TEXTS).map_err(|error| failed(error.into()))?;
        let name = texts.get(NAME).map_err(|error| failed(error.into()))?;
        Ok(name.and_then(|name| StoreName::new(name.value())))
    });
    let clock = old.catch(|| {
        let numbers = view.open_table(NUMBERS).map_err(|error| failed(error.into()))?;
        let clock = numbers.get(CLOCK).map_err(|error| failed(error.into()))?;
        Ok(clock.map(|clock| clock.value()))
    });
    let mut copy = Copy {
        new: None,
        to,
        name: name.ok().flatten(),
        clock: clock.ok().flatten(),
        bytes: 0,
        changes: Vec::new(),
        next_value: 1,
    };
    let mut survey = Survey::new(Arc::clone(&old));
    survey.walk(&view, &mut |key, found| copy.add(key, found))?;
    copy.finish(&old, &view)?;
    Ok(survey.inspection)
}

/// Replaces a damaged file with the result of [`salvage`]. Returns the new name of the damaged
/// file; `None` if the file is intact and was not changed.
///
/// # Errors
/// As [`salvage`].
pub fn repair(path: &Path) -> Result<(Inspection, Option<PathBuf>), Error> {
    let inspection = crate::inspect(path, |_, _| {})?;
    if inspection.is_intact() && File::read_only(path, REMEDY)?.is_recoverable() {
        return Ok((inspection, None));
    }
    let (draft, kept) = (free_name(path, "repaired"), free_name(path, "damaged"));
    let inspection = salvage(path, &draft).inspect_err(|_| drop(fs::remove_file(&draft)))?;
    let io = |operation| move |source| Error::Io { operation, path: path.to_owned(), source };
    fs::rename(path, &kept).map_err(io("rename"))?;
    fs::rename(&draft, path).map_err(io("replace"))?;
    sync_directory(path).map_err(io("replace"))?;
    Ok((inspection, Some(kept)))
}

fn free_name(path: &Path, suffix: &str) -> PathBuf {
    let name = |number: usize| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(if number == 0 { format!(".{suffix}") } else { format!(".{suffix}.{number}") });
        path.with_file_name(name)
    };
    let is_free = |path: &PathBuf| !path.try_exists().unwrap_or(true);
    (0..1000).map(name).find(is_free).unwrap_or_else(|| name(0))
}

struct Copy<'p> {
    new: Option<(File, HybridClock)>,
    to: &'p Path,
    name: Option<StoreName>,
    clock: Option<u64>,
    changes: Vec<Mutation>,
    bytes: usize,
    next_value: u64,
}

impl Copy<'_> {
    fn add(&mut self, key: &str, found: Found) -> Result<(), Error> {
        let Found { record, mut value } = found;
        self.name.get_or_insert_with(|| record.version.store().clone());
        let (number, mut rest, mut pieces) = (self.next_value, Bytes::new(), 0);
        if matches!(record.content, Content::Value(_)) {
            self.next_value += 1;
            while let Some(piece) = value.piece()? {
                if rest.len() == PIECE {
                    self.change(Mutation::Piece { value: number, number: pieces, bytes: rest })?;
                    pieces += 1;
                }
                rest = piece;
            }
        }
        self.change(Mutation::Take { key: key.as_bytes().to_vec(), value: number, rest, record })
    }

    fn change(&mut self, change: Mutation) -> Result<(), Error> {
        self.bytes += change.bytes();
        self.changes.push(change);
        if self.bytes >= AT_ONCE || self.changes.len() >= 10_000 { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Error> {
        let (file, mut clock) = match self.new.take() {
            Some(new) => new,
            None => self.make()?,
        };
        let wrong = |wrong| match wrong {
            MutationError::File(error) => file.failed("write to", error),
            MutationError::Content(damaged) => file.damaged(damaged),
        };
        file.durably(|work| {
            let mut tables = Tables::open(work, Pairing::Alone).map_err(wrong)?;
            for change in &self.changes {
                tables.apply(change, &mut clock, Millis(0)).map_err(wrong)?;
            }
            tables.note(&clock, self.next_value).map(drop).map_err(wrong)
        })?;
        self.changes.clear();
        self.bytes = 0;
        self.new = Some((file, clock));
        Ok(())
    }

    fn make(&self) -> Result<(File, HybridClock), Error> {
        let name = self.name.clone().or_else(|| StoreName::new("salvaged"));
        let name = name.ok_or(Error::Released)?;
        let setup = Setup { opening: opening(self.to), memory: AT_ONCE, remedy: REMEDY };
        let prepare =
            |file: &File, work: &redb::WriteTransaction| prepare(file, work, &name, Pairing::Paired);
        let (file, said) = File::open(self.to, setup, prepare)?;
        Ok((file, HybridClock::resume(said.name, self.clock.unwrap_or_default())))
    }

    /// Also requests a comparison of all keys with the other store.
    fn finish(mut self, old: &File, view: &redb::ReadTransaction) -> Result<(), Error> {
        let failed = |error: redb::Error| old.failed("read", error);
        let notes = old.catch(|| {
            let notes = view.open_table(NOTES).map_err(|error| failed(error.into()))?;
            let all = notes.iter().map_err(|error| failed(error.into()))?;
            all.map(|note| Ok(note.map_err(|error| failed(error.into()))?.0.value().to_vec()))
                .collect::<Result<Vec<_>, Error>>()
        });
        self.changes.extend(notes.unwrap_or_default().into_iter().map(|key| Mutation::Note { key }));
        self.write()?;
        let Some((file, _)) = self.new else { return Ok(()) };
        file.durably(|work| {
            let mut numbers = work.open_table(NUMBERS).map_err(|error| file.failed("write to", error))?;
            numbers.insert(FILLING, 1).map_err(|error| file.failed("write to", error))?;
            Ok(())
        })?;
        file.close();
        Ok(())
    }
}

/// Of values per transaction, and of the page cache.
const AT_ONCE: usize = 8 << 20;
