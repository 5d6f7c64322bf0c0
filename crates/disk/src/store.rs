//! A store: what its caller can ask for. All of it blocks, and can be asked for by many threads at once.

use std::{
    ops::{Bound, RangeBounds},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    Body, Config, Error, Found, State, Usage, Wait, Writer, Written,
    directory::Directory,
    format::{Header, Id, Object, hash},
    index::Index,
    journal::Journal,
    log::{Active, Log},
    scan::Contents,
    segment::{self, Segment},
    shared::Shared,
};

/// A store of objects in a directory. Copies are the same store.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

/// What was there when a store was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The notes, in their order.
    pub notes: Vec<Vec<u8>>,
    /// Whether notes were lost, the disk having damaged them. As nobody knows what they said of which objects, all objects are gone.
    pub has_lost_notes: bool,
    /// Segments that had to be read record by record: the newest one, and those whose footer could not be written or is damaged.
    pub scanned: usize,
}

impl Store {
    /// Opens the store of a directory, or makes one. Bodies are not read.
    pub fn open(config: Config) -> Result<(Self, Opened), Error> {
        if config.capacity < Config::SMALLEST {
            return Err(Error::TooSmall { bytes: config.capacity });
        }
        let directory = Directory::take(&config.directory)?;
        let (index, numbers) = (Arc::new(Index::default()), Arc::new(AtomicU64::new(0)));
        let (mut log, scanned) = read_log(&config, &index, &numbers)?;
        let (journal, found) = Journal::open(&config.directory, || log.clear())?;
        // What keeps it from being written to is said when it is written to: all can be read.
        drop(log.reserve(0));
        let (log, journal) = (Mutex::new(log), Mutex::new(journal));
        let shared = Arc::new(Shared { config, index, log, journal, numbers, directory });
        Ok((Self { shared }, Opened { notes: found.notes, has_lost_notes: found.is_damaged, scanned }))
    }

    /// Reports the error that [`Self::open`] would return for this directory, without changing anything. A lock of another process is
    /// ignored.
    ///
    /// # Errors
    /// When the directory cannot be created or written, or belongs to something else.
    pub fn examine(directory: &Path) -> Result<(), Error> {
        Directory::examine(directory)
    }

    /// Begins to store an object. There can be others with the same key.
    pub fn begin(&self, key: &[u8], head: &[u8]) -> Result<Writer, Error> {
        self.shared.check(key, head)?;
        self.shared.log().may_try()?;
        let number = self.shared.numbers.fetch_add(1, Ordering::Relaxed);
        let id = Id { hash: self.hash(key), number };
        Ok(Writer::new(Arc::clone(&self.shared), id, key, head))
    }

    /// Bytes of the largest object that there can be.
    pub fn largest(&self) -> u64 {
        self.shared.config.largest()
    }

    /// Whether there is probably an object with this key: without asking the disk.
    pub fn contains(&self, key: &[u8]) -> bool {
        !self.shared.index.find(self.hash(key)).is_empty()
    }

    /// The objects with this key, the newest first: 64 at most. One read for each, none if there is none. Objects that turn out to be
    /// damaged are given up.
    pub fn find(&self, key: &[u8]) -> Result<Vec<Found>, Error> {
        self.look(key, Wait::ForDisk)
    }

    /// The same, if the disk has to be waited for only as this says.
    pub fn look(&self, key: &[u8], wait: Wait) -> Result<Vec<Found>, Error> {
        let (index, hash) = (&self.shared.index, self.hash(key));
        // Before the search: what changes during it is not found, or found and a change since.
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
            // Given up meanwhile, it is as if it had not been there.
            let segments = index.segments(blocks.iter().map(|block| block.segment));
            let Some(segments) = segments.filter(|_| found == key) else { continue };
            let body = Written::new(id, (blocks, length), segments, Arc::clone(index));
            all.push(Found { id, head, length, body, changes });
        }
        Ok(all)
    }

    /// The body of an object, or the part of it that is in a range. An object that is read has a better chance to stay.
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

    /// Ends what was found with this key, as something is in its place that is not stored here: no [`Short`] of it stands any longer.
    pub fn outdate(&self, key: &[u8]) {
        self.shared.index.changes.note(self.hash(key));
    }

    /// Gives an object another head; its body stays where it is. Returns whether it is there.
    pub fn replace(&self, id: Id, head: &[u8]) -> Result<bool, Error> {
        self.shared.check(&[], head)?;
        let mut log = self.shared.log();
        // To make room can move the object, or give it up. Then there is room, and the second time it stays.
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

    /// Removes an object; returns whether it was there. After an error it is not found any more, but may be again if the process
    /// ends before the disk works again.
    pub fn remove(&self, id: Id) -> Result<bool, Error> {
        self.shared.log().remove(id)
    }

    /// Removes all objects; of those that are on their way, any that the disk has a block of. After an error some may be there
    /// again at the next start.
    pub fn clear(&self) -> Result<(), Error> {
        self.shared.log().clear()
    }

    /// Notes something that must not be lost: when this returns it is on the disk, and is handed back at the next start, after the
    /// notes before it.
    pub fn note(&self, note: &[u8]) -> Result<(), Error> {
        self.shared.journal().add(note)
    }

    /// Keeps these notes in place of all those that there are. Who calls it sees to it that nobody adds one meanwhile.
    pub fn rewrite_notes<N: AsRef<[u8]>>(&self, notes: impl IntoIterator<Item = N>) -> Result<(), Error> {
        self.shared.journal().rewrite(notes)
    }

    /// Waits until what was stored is on the disk, as for a loss of power.
    pub fn sync(&self) -> Result<(), Error> {
        self.shared.log().sync()
    }

    /// Leaves the directory to another process, which can open it from now on. This one still finds and reads what is there now;
    /// whatever would write fails with [`Error::Released`].
    pub fn release(&self) {
        self.shared.journal().release();
        self.shared.log().release();
        self.shared.directory.release();
    }

    /// How writing goes.
    pub fn state(&self) -> State {
        self.shared.log().state()
    }

    /// What is in it.
    pub fn usage(&self) -> Usage {
        self.shared.index.usage()
    }

    fn hash(&self, key: &[u8]) -> u64 {
        hash(key, self.shared.directory.seed)
    }
}

/// Fills the index from the segments, cuts off what broke off while it was written, and goes on with the newest segment if that is
/// not full.
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
