//! The journal of notes. Each note is synced to disk before it is acknowledged.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
};

use crate::{
    Error,
    dir_lock::replace,
    format::{FileHeader, FileKind, Header, Id, Kind, LONGEST_NOTE, Place, Unfit},
    scan::{End, Records},
};

#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    end: u64,
    is_released: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Notes {
    pub(crate) notes: Vec<Vec<u8>>,
    pub(crate) is_damaged: bool,
}

impl Journal {
    /// A truncated note at the end was never acknowledged and is removed. Damaged notes are removed
    /// too, after `before_cut` has run.
    pub(crate) fn open(
        directory: &Path,
        before_cut: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(Self, Notes), Error> {
        let path = directory.join("journal");
        let (file, notes, end) = match fs::OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => {
                let (notes, end) = read(&file, &path)?;
                (file, notes, end)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let file = replace(&path, &header())?;
                (file, Notes { notes: Vec::new(), is_damaged: false }, FileHeader::BYTES as u64)
            }
            Err(error) => return Err(Error::io("open", path)(error)),
        };
        if notes.is_damaged {
            before_cut()?;
        }
        let journal = Self { path, file, end, is_released: false };
        journal.cut()?;
        Ok((journal, notes))
    }

    pub(crate) fn add(&mut self, note: &[u8]) -> Result<(), Error> {
        self.may_write()?;
        let record = record(note, self.end)?;
        let io = |operation| Error::io(operation, &self.path);
        let written = self.file.write_all_at(&record, self.end).map_err(io("write to"));
        let synced = written.and_then(|()| self.file.sync_data().map_err(io("sync")));
        let links = synced.and_then(|()| Ok(self.file.metadata().map_err(io("examine"))?.nlink()));
        match links {
            Ok(0) => Err(Error::Deleted { path: self.path.clone() }),
            Ok(_) => {
                self.end += record.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A partial record must not be found at the next start.
                drop(self.cut());
                Err(error)
            }
        }
    }

    pub(crate) fn rewrite<N: AsRef<[u8]>>(
        &mut self,
        notes: impl IntoIterator<Item = N>,
    ) -> Result<(), Error> {
        self.may_write()?;
        let mut bytes = header().to_vec();
        for note in notes {
            bytes.append(&mut record(note.as_ref(), bytes.len() as u64)?);
        }
        self.file = replace(&self.path, &bytes)?;
        self.end = bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn release(&mut self) {
        self.is_released = true;
    }

    fn may_write(&self) -> Result<(), Error> {
        if self.is_released { Err(Error::Released) } else { Ok(()) }
    }

    fn cut(&self) -> Result<(), Error> {
        self.file.set_len(self.end).map_err(Error::io("shorten", &self.path))
    }
}

fn read(file: &File, path: &Path) -> Result<(Notes, u64), Error> {
    let io = || Error::io("read", path);
    let mut beginning = [0; FileHeader::BYTES];
    let unfit = match file.read_exact_at(&mut beginning, 0) {
        Ok(()) => FileHeader::decode(&beginning, FileKind::Journal).err(),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Some(Unfit::Short),
        Err(error) => return Err(io()(error)),
    };
    match unfit {
        None => {}
        Some(Unfit::Version(found)) => return Err(Error::Version { path: path.to_owned(), found }),
        Some(Unfit::Foreign) => return Err(Error::Foreign { path: path.to_owned() }),
        Some(Unfit::Short | Unfit::Damaged) => {
            let what = "its header; delete it together with all segments";
            return Err(Error::Damaged { path: path.to_owned(), offset: 0, what });
        }
    }
    let mut records = Records::of(file, JOURNAL).map_err(io())?;
    let mut notes = Vec::new();
    loop {
        let end = records.offset();
        let is_damaged = match records.advance().map_err(io())? {
            Ok((header, place)) => {
                let is_note = header.kind == Kind::Note;
                match records.payload(&header, place).map_err(io())?.filter(|_| is_note) {
                    Some(note) => {
                        notes.push(note);
                        continue;
                    }
                    None => true,
                }
            }
            Err(how) => how == End::Damaged,
        };
        return Ok((Notes { notes, is_damaged }, end));
    }
}

fn record(note: &[u8], end: u64) -> Result<Vec<u8>, Error> {
    let too_large = |what, bytes, limit| Error::TooLarge { what, bytes, limit };
    if note.len() > LONGEST_NOTE {
        return Err(too_large("a note", note.len() as u64, LONGEST_NOTE as u64));
    }
    let offset = u32::try_from(end).ok().filter(|offset| *offset < LARGEST);
    let offset = offset.ok_or_else(|| too_large("a journal that was not rewritten", end, LARGEST.into()))?;
    let header = Header::of(Kind::Note, Id { hash: 0, number: 0 }, 0, note);
    Ok([&header.encode(Place { segment: JOURNAL, offset })[..], note].concat())
}

fn header() -> [u8; FileHeader::BYTES] {
    FileHeader { kind: FileKind::Journal, values: [0; 2] }.encode()
}

const JOURNAL: u32 = 0;
/// Callers rewrite the journal long before it has this size.
const LARGEST: u32 = 1 << 30;
