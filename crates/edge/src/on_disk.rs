//! Objects on disk, below those in memory: what was stored is found again after a restart, and after memory had no room for it.
//!
//! One thread writes, in the order in which it was told; what there is too much of for it is not written. Visitors wait for reads alone.

mod head;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use ::disk::{Body, Found, Id, State, Store};
use cache::{Key, purge::REMEMBERED};
use http::{HeaderMap, HeaderName};
use tracing::{info, warn};

use crate::{
    Error,
    network::Disk,
    note::{self, Noted},
    store::Object,
};

/// The disk of a data centre.
pub(crate) struct OnDisk {
    store: Store,
    jobs: Mutex<Option<Sender<Job>>>,
    /// Bytes of objects that wait to be written, or are being.
    waiting: Arc<AtomicU64>,
    notes: Arc<Mutex<Notes>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

enum Job {
    /// An object whose body is whole.
    Keep(Arc<Object>),
    /// The head of one that was confirmed by its origin.
    Refresh(Arc<Object>),
    /// Purges that nobody waits for.
    Note(Vec<Noted>),
}

/// An object that was found, without the bytes of its body.
pub(crate) struct OfDisk {
    pub(crate) object: Object,
    pub(crate) body: Body,
    id: Id,
    store: Store,
}

impl OfDisk {
    /// Takes it off the disk: it cannot be read, or was purged.
    pub(crate) fn remove(&self) {
        if let Err(error) = self.store.remove(self.id) {
            info!(%error, "an object was not removed from the disk");
        }
    }
}

impl OnDisk {
    /// Opens it; returns the purges that objects on it may not know of, in their order.
    pub(crate) fn open(disk: &Disk) -> Result<(Self, Vec<Noted>), Error> {
        let (store, opened) = Store::open(::disk::Config::new(&disk.path, disk.bytes))?;
        if opened.has_lost_notes {
            warn!(path = %disk.path.display(), "the disk lost purges: all that was stored on it was removed");
        }
        let noted: Option<Vec<_>> = opened.notes.iter().map(|note| note::read(note)).collect();
        let mut noted: Vec<_> = match noted {
            Some(noted) => noted.into_iter().flatten().collect(),
            None => {
                warn!(path = %disk.path.display(), "purges on the disk cannot be read: all that was stored on it is removed");
                store.clear()?;
                Vec::new()
            }
        };
        // Those that somebody waited for were noted before those that nobody did.
        noted.sort_by_key(|noted| noted.epoch);
        noted.drain(..noted.len().saturating_sub(REMEMBERED));
        let mut notes = Notes { store: store.clone(), kept: noted.iter().cloned().collect(), added: 0 };
        notes.cut()?;
        let (jobs, told) = mpsc::channel();
        let (waiting, notes) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(notes)));
        let writer =
            Writer { store: store.clone(), notes: Arc::clone(&notes), waiting: Arc::clone(&waiting) };
        let writer = thread::Builder::new().name("disk".into()).spawn(move || writer.write(&told));
        let writer = Mutex::new(Some(writer.map_err(Error::Runtime)?));
        Ok((Self { store, jobs: Mutex::new(Some(jobs)), waiting, notes, writer }, noted))
    }

    /// Whether there is probably something for a key.
    pub(crate) fn may_have(&self, key: &Key) -> bool {
        self.store.contains(key.as_str().as_bytes())
    }

    /// How to look for what would answer a request with this header, in a zone with these fields for caches. What it returns blocks.
    pub(crate) fn search(
        &self,
        key: &Key,
        request: &HeaderMap,
        targets: &[HeaderName],
    ) -> impl FnOnce() -> Option<OfDisk> + Send + 'static {
        let (store, key, request, targets) =
            (self.store.clone(), key.clone(), request.clone(), targets.to_vec());
        move || {
            let found = store
                .find(key.as_str().as_bytes())
                .inspect_err(|error| info!(%error, "the disk was not read"));
            let of_disk = |found: Found| {
                let object = head::read(&found.head, &key, &targets, Arc::default())?;
                let _ = object.body.on_disk.set(found.id);
                object.stored.selection.matches(&request).then(|| {
                    let body = store.read(&found, ..);
                    OfDisk { object, body, id: found.id, store: store.clone() }
                })
            };
            found.ok()?.into_iter().find_map(of_disk)
        }
    }

    /// Has an object written whose body is whole, unless too many wait for that.
    pub(crate) fn keep(&self, object: &Arc<Object>) {
        let (bytes, waiting) = (bytes(object), self.waiting.load(Relaxed));
        if waiting == 0 || waiting + bytes <= MOST_WAITING {
            self.waiting.fetch_add(bytes, Relaxed);
            self.tell(Job::Keep(Arc::clone(object)));
        }
    }

    /// Has the head of an object written.
    pub(crate) fn refresh(&self, object: &Arc<Object>) {
        self.tell(Job::Refresh(Arc::clone(object)));
    }

    /// Has purges noted when there is time.
    pub(crate) fn note(&self, noted: Vec<Noted>) {
        self.tell(Job::Note(noted));
    }

    /// Notes purges: they are on the disk when this returns, or cannot be written there. Blocks.
    pub(crate) fn note_now(&self, noted: Vec<Noted>) {
        tell_failure(lock(&self.notes).add(noted));
    }

    /// Bytes on it, and why it is not written to, if so.
    pub(crate) fn report(&self) -> (u64, Option<String>) {
        let failing = match self.store.state() {
            State::Working => None,
            State::Failing { last, .. } => Some(last),
            State::Released => Some(::disk::Error::Released.to_string()),
        };
        (self.store.usage().bytes, failing)
    }

    /// Writes what waits, and ends. Blocks.
    pub(crate) fn close(&self) {
        drop(lock(&self.jobs).take());
        if let Some(writer) = lock(&self.writer).take() {
            let _ = writer.join();
        }
    }

    /// Writes what waits, and leaves the directory to another process; reads go on. Blocks.
    pub(crate) fn release(&self) {
        self.close();
        self.store.release();
    }

    fn tell(&self, job: Job) {
        if let Some(jobs) = &*lock(&self.jobs) {
            let _ = jobs.send(job);
        }
    }
}

/// The thread that writes.
struct Writer {
    store: Store,
    notes: Arc<Mutex<Notes>>,
    waiting: Arc<AtomicU64>,
}

impl Writer {
    fn write(&self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            tell_failure(match job {
                Job::Keep(object) => {
                    let kept = self.keep(&object);
                    self.waiting.fetch_sub(bytes(&object), Relaxed);
                    kept
                }
                Job::Refresh(object) => match object.body.on_disk.get() {
                    Some(&id) => self.store.replace(id, &head::write(&object)).map(|_| ()),
                    None => Ok(()),
                },
                Job::Note(noted) => lock(&self.notes).add(noted),
            });
        }
    }

    fn keep(&self, object: &Arc<Object>) -> Result<(), ::disk::Error> {
        let key = object.key.as_str().as_bytes();
        let mut writer = self.store.begin(key, &head::write(object))?;
        for piece in object.body.pieces() {
            writer.write(&piece)?;
        }
        let id = writer.finish()?;
        let _ = object.body.on_disk.set(id);
        for older in self.store.find(key)?.into_iter().filter(|other| other.id != id) {
            let other = head::read(&older.head, &object.key, &[], Arc::default());
            if other.is_none_or(|other| other.stored.selection == object.stored.selection) {
                self.store.remove(older.id)?;
            }
        }
        Ok(())
    }
}

/// The purges that are on the disk.
struct Notes {
    store: Store,
    /// The newest; those before them are unknown to the log in memory too.
    kept: VecDeque<Noted>,
    /// How many were added since there were none but those.
    added: usize,
}

impl Notes {
    fn add(&mut self, noted: Vec<Noted>) -> Result<(), ::disk::Error> {
        let notes = note::write(&noted);
        self.added += noted.len();
        self.kept.extend(noted);
        let surplus = self.kept.len().saturating_sub(REMEMBERED);
        self.kept.drain(..surplus);
        if self.added > 2 * REMEMBERED {
            return self.cut();
        }
        notes.iter().try_for_each(|note| self.store.note(note))
    }

    /// Leaves only those that are kept.
    fn cut(&mut self) -> Result<(), ::disk::Error> {
        self.store.rewrite_notes(note::write(&self.kept))?;
        self.added = 0;
        Ok(())
    }
}

fn tell_failure(written: Result<(), ::disk::Error>) {
    if let Err(error) = written {
        info!(%error, "the disk was not written to");
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an object costs while it waits: small ones too are not nothing.
fn bytes(object: &Object) -> u64 {
    object.body.bytes() + LEAST
}

const LEAST: u64 = 4096;
/// Bytes of objects that wait to be written; further objects stay in memory alone. Those that wait are held though they may be evicted.
const MOST_WAITING: u64 = 32 << 20;
