//! The interface of the store. All functions block, and can be called by several threads
//! concurrently.

use std::{
    ops::{Bound, RangeBounds},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    Body, Config, Error, Found, State, StoredBody, Usage, Wait, Writer,
    dir_lock::Directory,
    format::{Header, Id, Object, hash},
    index::Index,
    journal::Journal,
    log::{Active, Log},
    scan::Contents,
    segment::{self, Segment},
    shared::Shared,
};

/// A store of objects in a directory. Clones refer to the same store.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

/// The result of opening a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The notes, in the order of their addition.
    pub notes: Vec<Vec<u8>>,
    /// Whether notes were lost because of damage. All objects are removed then, because lost notes
    /// may have invalidated any of them.
    pub has_lost_notes: bool,
    /// Number of segments that were read record by record: the newest one, and segments without a
    /// valid footer.
    pub scanned: usize,
}

impl Store {
    /// Opens or creates the store of a directory. Bodies are not read.
    pub fn open(config: Config) -> Result<(Self, Opened), Error> {
        if config.capacity < Config::SMALLEST {
            return Err(Error::TooSmall { bytes: config.capacity });
        }
        let directory = Directory::take(&config.directory)?;
        let (index, numbers) = (Arc::new(Index::default()), Arc::new(AtomicU64::new(0)));
        let (mut log, scanned) = read_log(&config, &index, &numbers)?;
        let (journal, found) = Journal::open(&config.directory, || log.clear())?;
        // A failure is kept and reported by the next write; reads still work.
        drop(log.reserve(0));
        let (log, journal) = (Mutex::new(log), Mutex::new(journal));
        let shared = Arc::new(Shared { config, index, log, journal, numbers, directory });
        Ok((Self { shared }, Opened { notes: found.notes, has_lost_notes: found.is_damaged, scanned }))
    }

    /// Returns the error that [`Self::open`] would return for this directory, without changing
    /// anything. A lock of another process is ignored.
    ///
    /// # Errors
    /// Fails if the directory cannot be created or written, or contains something else.
    pub fn examine(directory: &Path) -> Result<(), Error> {
        Directory::examine(directory)
    }

    /// Starts to store an object. Several objects may have the same key.
    pub fn begin(&self, key: &[u8], head: &[u8]) -> Result<Writer, Error> {
        self.shared.check(key, head)?;
        self.shared.log().may_try()?;
        let number = self.shared.numbers.fetch_add(1, Ordering::Relaxed);
        let id = Id { hash: self.hash(key), number };
        Ok(Writer::new(Arc::clone(&self.shared), id, key, head))
    }

    /// Limit for an object in bytes.
    pub fn largest(&self) -> u64 {
        self.shared.config.largest()
    }

    /// Whether there is probably an object with this key. Does not access the disk.
    pub fn contains(&self, key: &[u8]) -> bool {
        !self.shared.index.find(self.hash(key)).is_empty()
    }

    /// The objects with this key, newest first, at most 64. Takes one disk read per object. Damaged
    /// objects are removed.
    pub fn find(&self, key: &[u8]) -> Result<Vec<Found>, Error> {
        self.look(key, Wait::ForDisk)
    }

    /// Like [`Self::find`]. `wait` determines whether it may wait for the disk.
    pub fn look(&self, key: &[u8], wait: Wait) -> Result<Vec<Found>, Error> {
        let (index, hash) = (&self.shared.index, self.hash(key));
        // Before the search, so that a concurrent change invalidates the result.
        let changes = index.changes.count(hash);
        let mut all = Vec::new();
        for (id, spot, segment) in index.find(hash) {
            let object = match segment.object(id, spot.offset, spot.length, wait) {
                Ok(object) => object,
                Err(Error::Damaged { .. }) => {
                    index.damaged(id);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Object { key: found, head, length, blocks } = object;
            // Skips objects that were evicted meanwhile.
            let segments = index.segments(blocks.iter().map(|block| block.segment));
            let Some(segments) = segments.filter(|_| found == key) else { continue };
            let body = StoredBody::new(id, (blocks, length), segments, Arc::clone(index));
            all.push(Found { id, head, length, body, changes });
        }
        Ok(all)
    }

    /// Reads a range of an object's body. Objects that are read are less likely to be evicted.
    pub fn read(&self, found: &Found, range: impl RangeBounds<u64>) -> Body {
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => u64::MAX,
        };
        found.body.read(start..end, Wait::ForDisk)
    }

    /// Invalidates each [`Short`] with this key, because something newer is stored elsewhere.
    pub fn outdate(&self, key: &[u8]) {
        self.shared.index.changes.note(self.hash(key));
    }

    /// Replaces the head of an object without moving its body. Returns whether the object exists.
    pub fn replace(&self, id: Id, head: &[u8]) -> Result<bool, Error> {
        self.shared.check(&[], head)?;
        let mut log = self.shared.log();
        // Making room may move or evict the object, so a second attempt may be necessary.
        while let Some((spot, segment)) = self.shared.index.get(id) {
            let object = segment.object(id, spot.offset, spot.length, Wait::ForDisk);
            let mut object = object.inspect_err(|error| {
                if matches!(error, Error::Damaged { .. }) {
                    self.shared.index.damaged(id);
                }
            })?;
            object.head = head.to_vec();
            log.reserve((Header::BYTES + Object::bytes(&object.key, head, object.blocks.len())) as u64)?;
            if self.shared.index.get(id).is_some_and(|(now, _)| now.is_same_record(&spot)) {
                log.attempt(|log| log.put(id, &mut object, Vec::new()))?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes an object. Returns whether it existed. After an error the object is not found, but
    /// may reappear if the process ends before the disk works again.
    pub fn remove(&self, id: Id) -> Result<bool, Error> {
        self.shared.log().remove(id)
    }

    /// Removes all objects, including unfinished ones that have blocks on disk. After an error some
    /// may reappear at the next start.
    pub fn clear(&self) -> Result<(), Error> {
        self.shared.log().clear()
    }

    /// Appends a note and syncs it to disk. The notes are returned in order at the next start.
    pub fn note(&self, note: &[u8]) -> Result<(), Error> {
        self.shared.journal().add(note)
    }

    /// Replaces all notes. The caller ensures that no note is added concurrently.
    pub fn rewrite_notes<N: AsRef<[u8]>>(&self, notes: impl IntoIterator<Item = N>) -> Result<(), Error> {
        self.shared.journal().rewrite(notes)
    }

    /// Syncs all stored objects to disk.
    pub fn sync(&self) -> Result<(), Error> {
        self.shared.log().sync()
    }

    /// Releases the directory for another process. This store can still be read; writes fail with
    /// [`Error::Released`].
    pub fn release(&self) {
        self.shared.journal().release();
        self.shared.log().release();
        self.shared.directory.release();
    }

    /// Whether writes succeed.
    pub fn state(&self) -> State {
        self.shared.log().state()
    }

    /// The contents of the store.
    pub fn usage(&self) -> Usage {
        self.shared.index.usage()
    }

    fn hash(&self, key: &[u8]) -> u64 {
        hash(key, self.shared.directory.seed)
    }
}

/// Also removes incomplete records, and continues with the newest segment if that is not full.
fn read_log(config: &Config, index: &Arc<Index>, numbers: &Arc<AtomicU64>) -> Result<(Log, usize), Error> {
    let (mut scanned, mut active) = (0, None);
    let listed = segment::numbers(&config.directory)?;
    let newest = listed.last().copied().unwrap_or(0);
    for number in listed {
        let Some((segment, contents)) = Segment::open(&config.directory, number)? else { continue };
        let Contents { entries, end, is_sealed, next_number } = contents;
        numbers.fetch_max(next_number, Ordering::Relaxed);
        let open = Active { segment: Arc::new(segment), end, entries };
        index.add(Arc::clone(&open.segment), if is_sealed { end } else { open.bytes() });
        open.entries.iter().for_each(|entry| index.apply(number, entry));
        if is_sealed {
            continue;
        }
        scanned += 1;
        if number == newest && end < config.segment() && open.segment.cut(end).is_ok() {
            active = Some(open);
        } else if open.segment.seal(&open.entries, end).is_err() {
            index.keep(number, open.entries);
        }
    }
    let (index, numbers) = (Arc::clone(index), Arc::clone(numbers));
    Ok((Log::new(config, index, numbers, active, newest.saturating_add(1)), scanned))
}
