//! The file of a segment. It is written sequentially and deleted as a whole. Readers keep it open,
//! so they can still read it afterwards.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, IoSliceMut},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::{FileExt, MetadataExt},
    },
    path::{Path, PathBuf},
};

use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};
use rustix::io::{ReadWriteFlags, preadv2};

use crate::{
    Error,
    format::{Entry, FileHeader, FileKind, Header, Id, Kind, Object, Place, TRAILER, Unfit, encode_trailer},
    record::Record,
    scan::Contents,
};

/// Whether a read may wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The read may wait.
    ForDisk,
    /// The read fails unless the data is in the page cache. See [`Error::would_wait`].
    Never,
}

#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) number: u32,
    path: PathBuf,
    file: File,
    /// A tmpfs does not support `RWF_NOWAIT` and does not wait for a disk.
    is_in_memory: bool,
}

impl Segment {
    /// Without entries.
    pub(crate) const FOOTER: u64 = (Header::BYTES + TRAILER) as u64;

    pub(crate) fn create(directory: &Path, number: u32, next_object: u64) -> Result<Self, Error> {
        let path = path(directory, number);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(Error::io("create", &path))?;
        let header = FileHeader { kind: FileKind::Segment, values: [u64::from(number), next_object] };
        let segment = Self { number, path, is_in_memory: is_in_memory(&file), file };
        segment.write(&header.encode(), 0).inspect_err(|_| drop(fs::remove_file(&segment.path)))?;
        Ok(segment)
    }

    /// Deletes the file and returns `None` if its header is invalid.
    pub(crate) fn open(directory: &Path, number: u32) -> Result<Option<(Self, Contents)>, Error> {
        let path = path(directory, number);
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(Error::io("open", &path))?;
        match Contents::read(&file, number).map_err(Error::io("read", &path))? {
            Ok(contents) => {
                Ok(Some((Self { number, path, is_in_memory: is_in_memory(&file), file }, contents)))
            }
            Err(Unfit::Foreign) => Err(Error::Foreign { path }),
            Err(Unfit::Version(found)) => Err(Error::Version { path, found }),
            Err(Unfit::Short | Unfit::Damaged) => {
                fs::remove_file(&path).map_err(Error::io("delete", &path))?;
                Ok(None)
            }
        }
    }

    /// The caller ensures that the range is unused.
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.file.write_all_at(bytes, offset).map_err(Error::io("write to", &self.path))
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let metadata = self.file.metadata().map_err(Error::io("examine", &self.path))?;
        if metadata.nlink() == 0 {
            return Err(Error::Deleted { path: self.path.clone() });
        }
        Ok(())
    }

    pub(crate) fn seal(&self, entries: &[Entry], end: u64) -> Result<(), Error> {
        let offset = u32::try_from(end).map_err(|_| self.damaged(end, "it is longer than 4 GiB"))?;
        let mut payload = Vec::with_capacity(entries.len() * Entry::BYTES);
        entries.iter().for_each(|entry| entry.encode(&mut payload));
        let place = Place { segment: self.number, offset };
        let header = Header::of(Kind::Footer, Id { hash: 0, number: 0 }, 0, &payload);
        let mut footer = header.encode(place).to_vec();
        footer.append(&mut payload);
        footer.extend_from_slice(&encode_trailer(place));
        self.cut(end)?;
        self.write(&footer, end)
    }

    pub(crate) fn cut(&self, end: u64) -> Result<(), Error> {
        self.file.set_len(end).map_err(Error::io("shorten", &self.path))
    }

    pub(crate) fn entries(&self) -> Result<Vec<Entry>, Error> {
        let contents = Contents::read(&self.file, self.number).map_err(Error::io("read", &self.path))?;
        contents.map(|contents| contents.entries).map_err(|_| self.damaged(0, "its header"))
    }

    /// `memory` returns a buffer of the given length.
    pub(crate) fn record(
        &self,
        (kind, id, index): (Kind, Id, u64),
        (offset, length): (u32, u64),
        wait: Wait,
        memory: impl FnOnce(usize) -> Record,
    ) -> Result<Record, Error> {
        let damaged = |what| self.damaged(u64::from(offset), what);
        let mut record = memory(usize::try_from(length).map_err(|_| damaged("its length"))?);
        self.read(&mut record, offset.into(), wait).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("the file ends before the record"),
            _ => Error::io("read", &self.path)(error),
        })?;
        let place = Place { segment: self.number, offset };
        let header = Header::decode(&record, place).ok_or_else(|| damaged("a header's checksum"))?;
        if (header.kind, header.id, header.index) != (kind, id, index) {
            return Err(damaged("it contains another record"));
        }
        if !header.is_of(&record[Header::BYTES..]) {
            return Err(damaged("a checksum"));
        }
        Ok(record)
    }

    pub(crate) fn object(&self, id: Id, offset: u32, length: u32, wait: Wait) -> Result<Object, Error> {
        let what = (Kind::Object, id, 0);
        let record = self.record(what, (offset, length.into()), wait, Record::new)?;
        let object = Object::decode(&record[Header::BYTES..]);
        object.ok_or_else(|| self.damaged(offset.into(), "it contains no object"))
    }

    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(Error::io("sync", &self.path))
    }

    /// Processes that have it open can still read it.
    pub(crate) fn delete(&self) -> Result<(), Error> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("delete", &self.path)(error))
            }
            _ => Ok(()),
        }
    }

    fn read(&self, bytes: &mut [u8], offset: u64, wait: Wait) -> io::Result<()> {
        if wait == Wait::ForDisk {
            return self.file.read_exact_at(bytes, offset);
        }
        let is_read = if self.is_in_memory {
            self.file.read_exact_at(bytes, offset).is_ok()
        } else {
            let whole = bytes.len();
            let read = preadv2(&self.file, &mut [IoSliceMut::new(bytes)], offset, ReadWriteFlags::NOWAIT);
            read.is_ok_and(|count| count == whole)
        };
        // Other errors are reported by a read that may wait.
        if is_read { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    fn damaged(&self, offset: u64, what: &'static str) -> Error {
        Error::Damaged { path: self.path.clone(), offset, what }
    }
}

impl AsFd for Segment {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Ascending.
pub(crate) fn numbers(directory: &Path) -> Result<Vec<u32>, Error> {
    let listed = || {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(directory)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
            numbers.extend(number.and_then(|number| number.parse::<u32>().ok()).filter(|number| *number > 0));
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    };
    listed().map_err(Error::io("list", directory))
}

fn is_in_memory(file: &File) -> bool {
    fstatfs(file).is_ok_and(|statfs| statfs.filesystem_type() == TMPFS_MAGIC)
}

fn path(directory: &Path, number: u32) -> PathBuf {
    directory.join(format!("{PREFIX}{number:08}{SUFFIX}"))
}

const PREFIX: &str = "segment-";
const SUFFIX: &str = ".log";

#[cfg(test)]
mod tests {
    use nix::sys::memfd::{MFdFlags, memfd_create};

    use super::*;

    #[test]
    fn what_has_no_disk_is_read_without_waiting() {
        let file: File = memfd_create("segment", MFdFlags::empty()).unwrap().into();
        // The kernel does not support `RWF_NOWAIT` here.
        let mut byte = [0];
        let read = preadv2(&file, &mut [IoSliceMut::new(&mut byte)], 0, ReadWriteFlags::NOWAIT);
        assert_eq!(read, Err(rustix::io::Errno::OPNOTSUPP));
        let segment = Segment { number: 1, path: PathBuf::new(), is_in_memory: is_in_memory(&file), file };
        segment.write(b"bytes", 3).unwrap();
        let mut bytes = [0; 5];
        segment.read(&mut bytes, 3, Wait::Never).unwrap();
        assert_eq!(&bytes, b"bytes");
        assert!(segment.read(&mut bytes, 4, Wait::Never).is_err());
    }
}
