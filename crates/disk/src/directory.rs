//! Whose directory it is: one process at a time has it, and the first file in it says that it is a store's.

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
};

use crate::{
    Error,
    format::{FileHeader, FileKind, Unfit},
};

/// A directory that nobody else has, until this is dropped or released.
#[derive(Debug)]
pub(crate) struct Directory {
    /// The seed of the keys' hashes, so that nobody outside can make keys that collide.
    pub(crate) seed: u64,
    lock: Mutex<Option<Flock<File>>>,
}

impl Directory {
    /// Takes it, and makes it a store's if nothing is in it.
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

    /// Lets another process have it.
    pub(crate) fn release(&self) {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn seed(directory: &Path) -> Result<u64, Error> {
    let path = directory.join("store");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let seed = RandomState::new().hash_one(0);
            let header = FileHeader { kind: FileKind::Store, values: [seed, 0] };
            replace(&path, &header.encode())?;
            return Ok(seed);
        }
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    match FileHeader::decode(&bytes, FileKind::Store) {
        Ok(header) => Ok(header.values[0]),
        Err(Unfit::Version(found)) => Err(Error::Version { path, found }),
        Err(Unfit::Foreign) => Err(Error::Foreign { path }),
        Err(Unfit::Short | Unfit::Damaged) => {
            let what = "its checksum; with another one in its place no object would be found, so empty the directory";
            Err(Error::Damaged { path, offset: 0, what })
        }
    }
}

/// A file that is there as a whole or as it was before, whatever happens. It is returned open for reading and writing.
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
