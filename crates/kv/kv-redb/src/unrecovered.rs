//! Read-only access without recovery, for files that the database refuses.

use std::{io, ops::Bound};

use redb::{BackendError, StorageBackend};

use crate::blocks::{Blocks, FLAGS, UNCLEAN, UNFLUSHED};

/// Presented to the database as a file that was closed.
#[derive(Debug)]
pub(crate) struct Unrecovered(pub(crate) Blocks);

impl StorageBackend for Unrecovered {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)?;
        if offset == 0
            && let Some(flags) = out.get_mut(FLAGS)
        {
            *flags &= !(UNCLEAN | UNFLUSHED);
        }
        Ok(())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }

    // The database skips recovery only if another process may be the writer.
    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(false)
    }
}
