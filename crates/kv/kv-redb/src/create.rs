//! Creates a file, empty or from one of an earlier version. It receives its name when it is
//! complete.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    process,
    sync::Arc,
};

use redb::{Builder, DatabaseError, StorageBackend as _, backends::FileBackend};

use crate::{
    blocks::{BLOCK_BYTES, Blocks},
    damage::catch,
};

/// A file that another process has created meanwhile is kept.
pub(crate) fn make(path: &Path) -> Result<(), DatabaseError> {
    let draft = Draft::new(path)?;
    let blocks = draft.blocks()?;
    Builder::new().set_cache_size(MEMORY).create_with_backend(blocks)?.close()?;
    match fs::hard_link(&draft.path, path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        // Some file systems do not support hard links.
        Err(_) => fs::rename(&draft.path, path)?,
    }
    Ok(sync_directory(path)?)
}

/// The database verifies its own checksums first.
pub(crate) fn upgrade(path: &Path, memory: usize) -> Result<(), DatabaseError> {
    let verified = catch(|| {
        Builder::new().set_cache_size(memory).set_check_integrity_on_open(true).open(path)?.close()?;
        Ok(())
    });
    verified.unwrap_or_else(|_| Err(corrupted()))?;
    let plain = File::open(path)?;
    plain.try_lock().map_err(|_| DatabaseError::DatabaseAlreadyOpen)?;
    let draft = Draft::new(path)?;
    let blocks = draft.blocks()?;
    let length = plain.metadata()?.len();
    blocks.set_len(length)?;
    let mut piece = vec![0; PIECE];
    for offset in (0..length).step_by(PIECE) {
        let piece = &mut piece[..usize::try_from(length - offset).unwrap_or(PIECE).min(PIECE)];
        plain.read_exact_at(piece, offset)?;
        blocks.write(offset, piece)?;
    }
    blocks.sync_data()?;
    fs::rename(&draft.path, path)?;
    Ok(sync_directory(path)?)
}

fn corrupted() -> DatabaseError {
    DatabaseError::Storage(redb::StorageError::Corrupted("its pages contradict each other".into()))
}

/// A temporary name in the same directory, removed on drop. Only its owner may read it, because
/// values may be secret.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn new(path: &Path) -> io::Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", process::id()));
        Ok(Self { path: path.with_file_name(name) })
    }

    fn blocks(&self) -> Result<Blocks, DatabaseError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(&self.path)?;
        Ok(Blocks::format(Box::new(FileBackend::new(file)?), Arc::default())?)
    }
}

pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

const MEMORY: usize = 1 << 20;
const PIECE: usize = 256 * BLOCK_BYTES;
