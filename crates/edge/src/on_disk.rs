//! Objects on disk, below those in memory: what was stored is found again after a restart, and after memory had no room for it.
//!
//! One thread writes, in the order in which it was told; what there is too much of for it is not written. Visitors wait for reads alone.

mod head;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use ::disk::{Body, Found, Id, State, Store};
use cache::{Key, purge};
use http::{HeaderMap, HeaderName};
use tracing::{info, warn};

use crate::{
    Error,
    fill::Fill,
    network::Disk,
    note::{self, Noted},
    store::Object,
};

/// The disk of a data centre.
pub(crate) struct OnDisk {
    store: Store,
    jobs: Mutex<Option<Sender<Job>>>,
    /// Objects that wait to be written.
    waiting: Arc<AtomicUsize>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

enum Job {
    /// An object whose body is whole.
    Keep(Arc<Object>),
    /// The head of one that was confirmed by its origin.
    Refresh(Arc<Object>),
    /// Purges; whoever waits for them to be on the disk is told.
    Note(Vec<Noted>, Option<Sender<()>>),
}

/// An object that was found, without the bytes of its body.
pub(crate) struct OfDisk {
    pub(crate) object: Object,
    pub(crate) body: Body,
    id: Id,
}

impl OnDisk {
    /// Opens it; returns the purges that objects on it may not know of.
    pub(crate) fn open(disk: &Disk) -> Result<(Self, Vec<Noted>), Error> {
        let (store, opened) = Store::open(::disk::Config::new(&disk.path, disk.bytes))?;
        if opened.has_lost_notes {
            warn!(path = %disk.path.display(), "the disk lost purges: all that was stored on it was removed");
        }
        let noted: Option<Vec<_>> = opened.notes.iter().map(|note| note::read(note)).collect();
        let noted = match noted {
            Some(noted) => noted.into_iter().flatten().collect(),
            None => {
                warn!(path = %disk.path.display(), "purges on the disk cannot be read: all that was stored on it is removed");
                store.clear()?;
                Vec::new()
            }
        };
        let kept: VecDeque<_> = noted.iter().rev().take(purge::REMEMBERED).rev().cloned().collect();
        store.rewrite_notes((!kept.is_empty()).then(|| note::write(&kept)))?;
        let (jobs, told) = mpsc::channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let desk = Writer { store: store.clone(), kept, noted: 0, waiting: Arc::clone(&waiting) };
        let writer = thread::Builder::new().name("disk".into()).spawn(move || desk.write(&told));
        let writer = Mutex::new(Some(writer.map_err(Error::Runtime)?));
        Ok((Self { store, jobs: Mutex::new(Some(jobs)), waiting, writer }, noted))
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
                let body = Arc::new(Fill::default());
                let object = head::read(&found.head, &key, &targets, body)?;
                let _ = object.body.on_disk.set(found.id);
                object.stored.selection.matches(&request).then(|| {
                    let body = store.read(&found, ..);
                    OfDisk { object, body, id: found.id }
                })
            };
            found.ok()?.into_iter().find_map(of_disk)
        }
    }

    /// Has an object written whose body is whole, unless too many wait for that.
    pub(crate) fn keep(&self, object: &Arc<Object>) {
        if self.waiting.load(Relaxed) < MOST_WAITING {
            self.waiting.fetch_add(1, Relaxed);
            self.tell(Job::Keep(Arc::clone(object)));
        }
    }

    /// Has the head of an object written.
    pub(crate) fn refresh(&self, object: &Arc<Object>) {
        self.tell(Job::Refresh(Arc::clone(object)));
    }

    /// Has purges noted.
    pub(crate) fn note(&self, noted: Vec<Noted>) {
        self.tell(Job::Note(noted, None));
    }

    /// Has purges noted, and waits until they are on the disk or cannot be. Blocks.
    pub(crate) fn note_now(&self, noted: Vec<Noted>) {
        let (done, told) = mpsc::channel();
        self.tell(Job::Note(noted, Some(done)));
        let _ = told.recv();
    }

    /// Removes an object that cannot be read, or was purged.
    pub(crate) fn remove(&self, found: &OfDisk) {
        if let Err(error) = self.store.remove(found.id) {
            info!(%error, "an object was not removed from the disk");
        }
    }

    /// Bytes on it, and why it is not written to, if so.
    pub(crate) fn report(&self) -> (u64, Option<String>) {
        let failing = match self.store.state() {
            State::Working => None,
            State::Failing { last, .. } => Some(last),
        };
        (self.store.usage().bytes, failing)
    }

    /// Writes what waits, and ends. Blocks.
    pub(crate) fn close(&self) {
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = writer.join();
        }
    }

    fn tell(&self, job: Job) {
        if let Some(jobs) = &*self.jobs.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = jobs.send(job);
        }
    }
}

/// The thread that writes.
struct Writer {
    store: Store,
    /// The newest purges; those before them are unknown to the log in memory too.
    kept: VecDeque<Noted>,
    /// How many were noted since the notes were last cut to those.
    noted: usize,
    waiting: Arc<AtomicUsize>,
}

impl Writer {
    fn write(mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            let written = match job {
                Job::Keep(object) => {
                    self.waiting.fetch_sub(1, Relaxed);
                    self.keep(&object)
                }
                Job::Refresh(object) => match object.body.on_disk.get() {
                    Some(&id) => self.store.replace(id, &head::write(&object)).map(|_| ()),
                    None => Ok(()),
                },
                Job::Note(noted, done) => {
                    let written = self.note(noted);
                    drop(done);
                    written
                }
            };
            if let Err(error) = written {
                info!(%error, "the disk was not written to");
            }
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

    fn note(&mut self, noted: Vec<Noted>) -> Result<(), ::disk::Error> {
        self.noted += noted.len();
        let line = note::write(&noted);
        self.kept.extend(noted);
        let surplus = self.kept.len().saturating_sub(purge::REMEMBERED);
        self.kept.drain(..surplus);
        if self.noted > 2 * purge::REMEMBERED {
            self.noted = 0;
            return self.store.rewrite_notes([note::write(&self.kept)]);
        }
        self.store.note(&line)
    }
}

/// Objects that wait to be written; further ones stay in memory alone.
const MOST_WAITING: usize = 1024;
