//! Blocks of 4 KiB below the database, each with a checksum that is verified by every read.
//!
//! A group consists of one block of checksums and the 511 data blocks they belong to. The header is
//! overwritten in place; its checksum is in the same sector, because a crash does not tear a
//! sector.

use std::{
    fmt, io, mem,
    ops::{Bound, Range},
    panic::resume_unwind,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use redb::{BackendError, StorageBackend};
use twox_hash::XxHash3_64;

use crate::damage::{Damage, DamagedPage};

/// The bytes of a database.
pub type Storage = Box<dyn StorageBackend>;

#[derive(Clone)]
pub(crate) struct Blocks {
    storage: Arc<Storage>,
    writing: Arc<Mutex<()>>,
    damage: Arc<Damage>,
    recovery: Arc<Recovery>,
}

/// During recovery, the database verifies pages by its own checksums, because a block may lack its
/// checksum here.
#[derive(Default)]
struct Recovery {
    /// Set when the database reads the header, after it has locked the file.
    began: OnceLock<bool>,
    is_over: AtomicBool,
    unmatched: Mutex<Vec<u64>>,
}

#[derive(Debug)]
pub(crate) enum NotBlocks {
    Io(io::Error),
    Empty,
    CutOff,
    /// A database without block checksums, from an earlier version.
    Plain,
    /// Written by this newer version.
    Newer(u8),
    Foreign,
}

impl From<io::Error> for NotBlocks {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Blocks {
    pub(crate) fn open(storage: Storage, damage: Arc<Damage>) -> Result<Self, NotBlocks> {
        let length = storage.len()?;
        if length == 0 {
            return Err(NotBlocks::Empty);
        }
        let mut first = [0; 9];
        if length < first.len() as u64 {
            return Err(NotBlocks::Foreign);
        }
        storage.read(0, &mut first)?;
        let [magic @ .., version, _] = first;
        if first == *PLAIN {
            return Err(NotBlocks::Plain);
        }
        if magic != *MAGIC {
            return Err(NotBlocks::Foreign);
        }
        if version != VERSION {
            return Err(NotBlocks::Newer(version));
        }
        let blocks = Self::new(storage, damage);
        let is_whole = length.is_multiple_of(BLOCK) && blocks.len()? > 0;
        // With another header, the database would initialise the file as a new one.
        if !is_whole || blocks.header()?.is_some_and(|header| !header.starts_with(PLAIN)) {
            return Err(NotBlocks::CutOff);
        }
        Ok(blocks)
    }

    pub(crate) fn format(storage: Storage, damage: Arc<Damage>) -> io::Result<Self> {
        storage.set_len(0)?;
        storage.set_len(BLOCK)?;
        storage.write(0, &[&MAGIC[..], &[VERSION]].concat())?;
        Ok(Self::new(storage, damage))
    }

    fn new(storage: Storage, damage: Arc<Damage>) -> Self {
        Self { storage: Arc::new(storage), writing: Arc::default(), damage, recovery: Arc::default() }
    }

    /// `None` if its checksum does not match. A header that was never written is zero.
    fn header(&self) -> io::Result<Option<[u8; SECTOR]>> {
        let mut sector = [0; SECTOR];
        if self.len()? == 0 {
            return Ok(None);
        }
        self.storage.read(BLOCK, &mut sector)?;
        let (bytes, sum) = sector.split_at(SECTOR - SUM);
        Ok((checksum(0, bytes) == sum || sector == [0; SECTOR]).then_some(sector))
    }

    /// The database has verified all pages in use, and all others are free.
    pub(crate) fn end_recovery(&self) -> io::Result<()> {
        self.recovery.is_over.store(true, Relaxed);
        let unmatched = mem::take(&mut *self.recovery.unmatched());
        let mut block = [0; BLOCK_BYTES];
        for number in unmatched {
            self.storage.read(at(number), &mut block)?;
            self.storage.write(sum_at(number), &checksum(number, &block))?;
        }
        Ok(())
    }

    /// Returns the number of the first block that does not match its checksum.
    fn read_blocks(&self, blocks: Range<u64>, out: &mut [u8]) -> io::Result<Option<u64>> {
        let mut wrong = None;
        let mut rest = out;
        for part in by_group(blocks) {
            let (here, later) = rest.split_at_mut(count(&part) * BLOCK_BYTES);
            rest = later;
            self.storage.read(at(part.start), here)?;
            let mut sums = vec![0; count(&part) * SUM];
            self.storage.read(sum_at(part.start), &mut sums)?;
            for ((number, block), sum) in part.zip(here.chunks_exact(BLOCK_BYTES)).zip(sums.chunks_exact(SUM))
            {
                if number == HEADER || *sum == checksum(number, block) || is_unwritten(block, sum) {
                    continue;
                }
                if self.recovery.is_running() {
                    self.recovery.unmatched().push(number);
                } else {
                    wrong = wrong.or(Some(number));
                }
            }
        }
        Ok(wrong)
    }

    /// A mismatch unwinds with [`DamagedPage`].
    fn read_matching(&self, blocks: Range<u64>, out: &mut [u8]) -> io::Result<()> {
        let offset = blocks.start * BLOCK;
        let mut wrong = self.read_blocks(blocks.clone(), out)?;
        if wrong.is_some() {
            // A concurrent write may be the cause: read again under the lock.
            let _turn = self.turn();
            wrong = self.read_blocks(blocks.clone(), out)?;
        }
        if blocks.start == HEADER {
            match self.header()? {
                Some(sector) => {
                    self.recovery.began.get_or_init(|| sector[FLAGS] & UNCLEAN_FLAGS == UNCLEAN);
                    out[..SECTOR].copy_from_slice(&sector);
                }
                None => wrong = Some(HEADER),
            }
            out[SECTOR - SUM..SECTOR].fill(0);
        }
        if let Some(wrong) = wrong {
            self.damage.found(wrong * BLOCK);
            // Not an error, because the database would refuse all further work after it.
            resume_unwind(Box::new(DamagedPage { offset, bytes: out.to_vec() }));
        }
        Ok(())
    }

    fn write_blocks(&self, blocks: Range<u64>, data: &[u8]) -> io::Result<()> {
        let mut rest = data;
        for part in by_group(blocks) {
            let (here, later) = rest.split_at(count(&part) * BLOCK_BYTES);
            rest = later;
            let mut sums = Vec::with_capacity(count(&part) * SUM);
            for (number, block) in part.clone().zip(here.chunks_exact(BLOCK_BYTES)) {
                sums.extend(checksum(number, block));
                self.damage.overwritten(number * BLOCK);
            }
            self.storage.write(at(part.start), here)?;
            self.storage.write(sum_at(part.start), &sums)?;
        }
        Ok(())
    }

    fn write_header(&self, offset: usize, data: &[u8]) -> io::Result<()> {
        let mut sector = [0; SECTOR];
        self.storage.read(BLOCK, &mut sector)?;
        sector[offset..offset + data.len()].copy_from_slice(data);
        let sum = checksum(HEADER, &sector[..SECTOR - SUM]);
        sector[SECTOR - SUM..].copy_from_slice(&sum);
        self.storage.write(BLOCK, &sector)
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StorageBackend for Blocks {
    fn len(&self) -> io::Result<u64> {
        let blocks = self.storage.len()? / BLOCK;
        Ok((blocks / GROUP * (GROUP - 1) + (blocks % GROUP).saturating_sub(1)) * BLOCK)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let blocks = offset / BLOCK..(offset + out.len() as u64).div_ceil(BLOCK);
        if blocks.end * BLOCK > self.len()? {
            // Either the pointer in a page is damaged, or the file was truncated.
            self.damage.found(offset);
            resume_unwind(Box::new(DamagedPage { offset, bytes: Vec::new() }));
        }
        if offset.is_multiple_of(BLOCK) && (out.len() as u64).is_multiple_of(BLOCK) {
            return self.read_matching(blocks, out);
        }
        let mut whole = vec![0; count(&blocks) * BLOCK_BYTES];
        let start = within_block(offset);
        self.read_matching(blocks, &mut whole)?;
        out.copy_from_slice(&whole[start..start + out.len()]);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let _turn = self.turn();
        let (before, blocks) = (self.len()? / BLOCK, length.div_ceil(BLOCK));
        self.storage.set_len(match blocks {
            0 => BLOCK,
            blocks => at(blocks - 1) + BLOCK,
        })?;
        // A block that was truncated earlier has left its checksum.
        for part in by_group(before..blocks) {
            self.storage.write(sum_at(part.start), &vec![0; count(&part) * SUM])?;
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.storage.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let _turn = self.turn();
        let (mut offset, mut data) = (offset, data);
        if offset < BLOCK {
            let start = within_block(offset);
            let used = data.len().min((SECTOR - SUM).saturating_sub(start));
            self.write_header(start, &data[..used])?;
            data = &data[data.len().min(BLOCK_BYTES - start)..];
            offset = BLOCK;
        }
        if data.is_empty() {
            return Ok(());
        }
        let blocks = offset / BLOCK..(offset + data.len() as u64).div_ceil(BLOCK);
        if !offset.is_multiple_of(BLOCK) || !(data.len() as u64).is_multiple_of(BLOCK) {
            return Err(io::Error::other("the database writes a part of a page"));
        }
        self.write_blocks(blocks, data)
    }

    fn close(&self) -> io::Result<()> {
        self.storage.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.storage.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.storage.unlock_range(start, end)
    }
}

impl Recovery {
    fn is_running(&self) -> bool {
        self.began.get() == Some(&true) && !self.is_over.load(Relaxed)
    }

    fn unmatched(&self) -> MutexGuard<'_, Vec<u64>> {
        self.unmatched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blocks")
    }
}

/// The offset of a block of the database.
fn at(number: u64) -> u64 {
    (number / (GROUP - 1) * GROUP + 1 + number % (GROUP - 1)) * BLOCK
}

fn sum_at(number: u64) -> u64 {
    number / (GROUP - 1) * GROUP * BLOCK + (1 + number % (GROUP - 1)) * SUM as u64
}

fn by_group(blocks: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut start = blocks.start;
    std::iter::from_fn(move || {
        let end = blocks.end.min((start / (GROUP - 1) + 1) * (GROUP - 1));
        let part = start..end;
        start = end;
        (part.start < part.end).then_some(part)
    })
}

fn count(blocks: &Range<u64>) -> usize {
    usize::try_from(blocks.end - blocks.start).unwrap_or(usize::MAX)
}

fn within_block(offset: u64) -> usize {
    usize::try_from(offset % BLOCK).unwrap_or_default()
}

/// Includes the block's number, so that a block at the wrong place does not match.
fn checksum(number: u64, block: &[u8]) -> [u8; SUM] {
    XxHash3_64::oneshot_with_seed(number, block).to_le_bytes()
}

fn is_unwritten(block: &[u8], sum: &[u8]) -> bool {
    sum.iter().chain(block).all(|byte| *byte == 0)
}

pub(crate) const BLOCK_BYTES: usize = 4096;
pub(crate) const BLOCK: u64 = BLOCK_BYTES as u64;
const SUM: usize = 8;
/// The block of checksums begins with the magic number and the version.
const GROUP: u64 = BLOCK / SUM as u64;
const SECTOR: usize = 512;
const MAGIC: &[u8; 7] = b"LHblock";
pub(crate) const VERSION: u8 = 1;

/// After a two-phase commit, the database does not verify its pages.
const HEADER: u64 = 0;
const PLAIN: &[u8; 9] = b"redb\x1a\n\xa9\r\n";
pub(crate) const FLAGS: usize = 9;
pub(crate) const UNCLEAN: u8 = 2;
pub(crate) const UNFLUSHED: u8 = 8;
const UNCLEAN_FLAGS: u8 = UNCLEAN | 4;
