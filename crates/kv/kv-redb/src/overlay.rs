//! Copy-on-write in memory over a read-only storage.

use std::{
    collections::HashMap,
    io,
    ops::Bound,
    sync::{Mutex, MutexGuard, PoisonError},
};

use redb::{BackendError, StorageBackend};

use crate::blocks::Storage;

#[derive(Debug)]
pub(crate) struct Overlay {
    below: Storage,
    written: Mutex<Written>,
}

#[derive(Debug, Default)]
struct Written {
    sectors: HashMap<u64, [u8; SECTOR]>,
    length: Option<u64>,
}

impl Overlay {
    pub(crate) fn new(below: Storage) -> Self {
        Self { below, written: Mutex::default() }
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Zeros beyond the end of the storage.
    fn read_below(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.fill(0);
        let there = self.below.len()?.saturating_sub(offset).min(out.len() as u64);
        let there = usize::try_from(there).unwrap_or(out.len());
        if there > 0 { self.below.read(offset, &mut out[..there]) } else { Ok(()) }
    }
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        let length = self.written().length;
        length.map_or_else(|| self.below.len(), Ok)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_below(offset, out)?;
        let written = self.written();
        for (number, inside, range) in sectors(offset, out.len()) {
            if let Some(sector) = written.sectors.get(&number) {
                out[range.clone()].copy_from_slice(&sector[inside..inside + range.len()]);
            }
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.written().length = Some(length);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        for (number, inside, range) in sectors(offset, data.len()) {
            let known = self.written().sectors.get(&number).copied();
            let mut sector = known.unwrap_or([0; SECTOR]);
            if known.is_none() {
                self.read_below(number * SECTOR as u64, &mut sector)?;
            }
            sector[inside..inside + range.len()].copy_from_slice(&data[range]);
            self.written().sectors.insert(number, sector);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.below.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.below.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.below.unlock_range(start, end)
    }
}

/// Their number, the offset within the sector, and the covered bytes.
fn sectors(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let at = offset + done as u64;
        let inside = usize::try_from(at % SECTOR as u64).unwrap_or_default();
        let start = done;
        done = length.min(start + SECTOR - inside);
        Some((at / SECTOR as u64, inside, start..done))
    })
}

const SECTOR: usize = 512;
