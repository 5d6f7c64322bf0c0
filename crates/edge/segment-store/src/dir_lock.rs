//! Ownership of the directory: a lock file, and a header file that identifies it as a store.

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg},
    unistd::{AccessFlags, access},
};

use crate::{
    Error,
    format::{FileHeader, FileKind, Unfit},
};

#[derive(Debug)]
pub(crate) struct Directory {
    /// For key hashes, so that clients cannot cause collisions.
    pub(crate) seed: u64,
    lock: Mutex<Option<Flock<File>>>,
}

impl Directory {
    /// Initialises an empty directory.
    pub(crate) fn take(path: &Path) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(Error::io("make", path))?;
        let lock = path.join("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
        let file = file.map_err(Error::io("open", &lock))?;
        let locked = Flock::lock(file, FlockArg::LockExclusiveNonblock);
        let lock = locked.map_err(|(_, errno)| match errno {
            Errno::EWOULDBLOCK => Error::Locked { path: lock },
            errno => Error::io("lock", lock)(errno.into()),
        })?;
        Ok(Self { seed: seed(path)?, lock: Mutex::new(Some(lock)) })
    }

    /// Returns the error of [`Self::take`] without changing anything. Ignores a lock of another
    /// process.
    pub(crate) fn examine(path: &Path) -> Result<(), Error> {
        let usable = AccessFlags::W_OK | AccessFlags::X_OK;
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                let lock = path.join("lock");
                access(path, usable).map_err(|errno| Error::io("open", lock)(errno.into()))?;
                found_seed(path).map(drop)
            }
            Ok(_) => Err(Error::io("make", path)(Errno::EEXIST.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parent = path.ancestors().skip(1).find(|parent| parent.exists());
                let parent = parent.unwrap_or(Path::new(if path.is_absolute() { "/" } else { "." }));
                access(parent, usable).map_err(|errno| Error::io("make", path)(errno.into()))
            }
            Err(error) => Err(Error::io("make", path)(error)),
        }
    }

    pub(crate) fn release(&self) {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn seed(directory: &Path) -> Result<u64, Error> {
    if let Some(seed) = found_seed(directory)? {
        return Ok(seed);
    }
    let seed = RandomState::new().hash_one(0);
    let header = FileHeader { kind: FileKind::Store, values: [seed, 0] };
    replace(&directory.join("store"), &header.encode())?;
    Ok(seed)
}

fn found_seed(directory: &Path) -> Result<Option<u64>, Error> {
    let path = directory.join("store");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    match FileHeader::decode(&bytes, FileKind::Store) {
        Ok(header) => Ok(Some(header.values[0])),
        Err(Unfit::Version(found)) => Err(Error::Version { path, found }),
        Err(Unfit::Foreign) => Err(Error::Foreign { path }),
        Err(Unfit::Short | Unfit::Damaged) => {
            let what =
                "its checksum; its objects cannot be found without the hash seed, so empty the directory";
            Err(Error::Damaged { path, offset: 0, what })
        }
    }
}

/// Atomic and durable. Returns the file open for reading and writing.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<File, Error> {
    let new = path.with_extension("new");
    let written = || {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        path.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())?;
        Ok(file)
    };
    written().map_err(Error::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_store_from_opening_is_found_without_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "x").unwrap();
        for name in ["foreign", "new"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("foreign/store"), "something else, which is longer than a header of a store would be")
            .unwrap();
        for name in ["file", "file/below", "foreign"] {
            let found = Directory::examine(&at(name)).unwrap_err().to_string();
            assert_eq!(Directory::take(&at(name)).unwrap_err().to_string(), found, "{name}");
        }
        for name in ["new", "a/b/c"] {
            Directory::examine(&at(name)).unwrap();
        }
        assert!(!at("a").exists() && fs::read_dir(at("new")).unwrap().next().is_none());
        let taken = Directory::take(&at("a/b/c")).unwrap();
        Directory::examine(&at("a/b/c")).unwrap();
        drop(taken);
    }
}
