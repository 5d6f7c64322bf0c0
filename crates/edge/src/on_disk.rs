//! The disk store below the memory store. It keeps objects across restarts and after their eviction from
//! memory.
//!
//! One thread executes all writes sequentially; excess writes are skipped. Requests wait for reads only.

mod coded;
mod ending;
mod forgotten;
mod head;
mod stream;
mod waiting;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use ::disk::{Body, Found, Id, Short, State, Store, Wait, format::BLOCK};
use ::tiers::{LogId, Position};
use cache::{Coding, Key, purge::REMEMBERED};
use http::{Bytes, HeaderMap, HeaderName};
use tracing::{info, warn};

pub(crate) use self::{coded::OfCoded, stream::Stream, waiting::Place};
use self::{
    ending::Ending,
    forgotten::{AllForgotten, Forgotten},
    waiting::Waiting,
};
use crate::{
    Error,
    fill::{Fill, Keeping},
    in_flight::Sent,
    network::Disk,
    note::{self, Before, Noted},
    store::Object,
};

pub(crate) struct OnDisk {
    store: Store,
    jobs: Mutex<Option<Sender<Job>>>,
    /// Bytes of objects that are queued for writing or being written.
    waiting: Arc<AtomicU64>,
    notes: Arc<Mutex<Notes>>,
    ending: Arc<Ending>,
    forgotten: Arc<AllForgotten>,
    writer: Mutex<Option<JoinHandle<()>>>,
    visitors: Waiting,
}

enum Job {
    Keep(Arc<Object>, Sent),
    KeepCoded(Arc<Object>, Coding),
    /// Writes the new bytes of an object that is written while it arrives.
    Write(Arc<Stream>, Arc<Object>),
    /// Writes the head of a revalidated object, and removes older objects for the same request.
    Refresh(Arc<Object>, Sent, Forgotten),
    Forget(Forgotten),
    /// Records purges whose durability no request waits for.
    Note(Vec<Noted>),
}

pub(crate) struct OfDisk {
    pub(crate) object: Object,
    /// The part of the body to read into memory; `None` if the body is read already or stays on disk.
    pub(crate) rest: Option<Body>,
    /// A handle to read a small body again.
    pub(crate) short: Option<Short>,
    /// Request fields that distinguish this object from newer variants.
    pub(crate) names: Vec<HeaderName>,
    id: Id,
    store: Store,
}

impl OfDisk {
    pub(crate) fn remove(&self) {
        remove(&self.store, self.id);
        if let Err(error) = coded::remove(&self.store, &self.object.key, self.id) {
            info!(%error, "codings of an object were not removed from the disk");
        }
    }
}

impl OnDisk {
    /// Opens the store. Returns the recorded purges by epoch, because objects on disk may predate them, and
    /// the position of the previous run in all purge logs.
    pub(crate) fn open(disk: &Disk) -> Result<(Self, Before), Error> {
        let (store, opened) = Store::open(::disk::Config::new(&disk.path, disk.bytes))?;
        if opened.has_lost_notes {
            warn!(path = %disk.path.display(), "the disk lost purges: all stored objects were removed");
        }
        let mut before = match note::read(&opened.notes) {
            Some(before) => before,
            None => {
                warn!(path = %disk.path.display(), "purges on the disk cannot be read: all stored objects are removed");
                store.clear()?;
                Before::default()
            }
        };
        let Before { noted, reached } = &mut before;
        // Purges with a waiting request are recorded before queued ones, so the records are not in epoch
        // order.
        noted.sort_by_key(|noted| noted.epoch);
        noted.iter().filter_map(|noted| noted.place).for_each(|(log, number)| reached.reach(log, number));
        noted.drain(..noted.len().saturating_sub(REMEMBERED));
        let kept = noted.iter().cloned().collect();
        let mut notes = Notes { store: store.clone(), kept, reached: reached.clone(), added: 0 };
        notes.cut()?;
        let (jobs, told) = mpsc::channel();
        let (waiting, notes, ending) = (Arc::default(), Arc::new(Mutex::new(notes)), Arc::default());
        let forgotten = Arc::<AllForgotten>::default();
        let writer = Writer {
            store: store.clone(),
            notes: Arc::clone(&notes),
            waiting: Arc::clone(&waiting),
            ending: Arc::clone(&ending),
            forgotten: Arc::clone(&forgotten),
        };
        let writer = thread::Builder::new().name("disk".into()).spawn(move || writer.write(&told));
        let writer = Mutex::new(Some(writer.map_err(Error::Runtime)?));
        let (jobs, visitors) = (Mutex::new(Some(jobs)), Waiting::default());
        Ok((Self { store, jobs, waiting, notes, ending, forgotten, writer, visitors }, before))
    }

    /// Whether the disk probably has an object for this key.
    pub(crate) fn may_have(&self, key: &Key) -> bool {
        self.store.contains(key.as_str().as_bytes())
    }

    /// The underlying store, through which the memory store invalidates lookups.
    pub(crate) fn store(&self) -> Store {
        self.store.clone()
    }

    /// In bytes.
    pub(crate) fn largest(&self) -> u64 {
        self.store.largest()
    }

    /// A function that looks up an object for a request. `targets` are the cache-control target fields of the
    /// zone. Bodies longer than `share` stay on disk. The returned function blocks.
    pub(crate) fn search(
        &self,
        key: &Key,
        request: &HeaderMap,
        targets: &[HeaderName],
        share: u64,
    ) -> impl FnOnce() -> Option<OfDisk> + Send + 'static {
        let (store, key, request, targets) =
            (self.store.clone(), key.clone(), request.clone(), targets.to_vec());
        let forgotten = Arc::clone(&self.forgotten);
        move || {
            let found = search(&store, &key, (&request, &targets), share, Wait::ForDisk);
            let found = found.inspect_err(|error| info!(%error, "the disk was not read")).ok().flatten();
            found.filter(|_| !forgotten.has(&key))
        }
    }

    /// The same lookup without blocking; `None` also if the lookup would block.
    pub(crate) fn search_at_once(
        &self,
        key: &Key,
        request: &HeaderMap,
        targets: &[HeaderName],
        share: u64,
    ) -> Option<OfDisk> {
        let found = search(&self.store, key, (request, targets), share, Wait::Never).ok().flatten();
        found.filter(|_| !self.forgotten.has(key))
    }

    pub(crate) fn may_have_coded(&self, object: &Object, coding: Coding) -> bool {
        object.body.on_disk.get().is_some() && coded::may_be(&self.store, &object.key, coding)
    }

    pub(crate) fn coded(
        &self,
        object: &Object,
        coding: Coding,
        wait: Wait,
    ) -> Result<Option<OfCoded>, ::disk::Error> {
        coded::search(&self.store, object, coding, wait)
    }

    /// Queues the complete body in a content coding for writing, unless the queue is full.
    pub(crate) fn keep_coded(&self, object: &Arc<Object>, coding: Coding) {
        let bytes = coded_bytes(object, coding);
        if self.waiting.load(Relaxed) + bytes <= MOST_WAITING {
            self.waiting.fetch_add(bytes, Relaxed);
            if !self.tell(Job::KeepCoded(Arc::clone(object), coding)) {
                self.waiting.fetch_sub(bytes, Relaxed);
            }
        }
    }

    /// Starts to write a body while it arrives. `None` if the write queue is full, or another process has
    /// taken over the disk.
    pub(crate) fn stream(&self, object: &Object, sent: &Sent) -> Option<Arc<Stream>> {
        let is_possible = self.waiting.load(Relaxed) <= MOST_WAITING && lock(&self.jobs).is_some();
        is_possible.then(|| {
            object.body.go_to_disk();
            Arc::new(Stream::new(Arc::clone(&self.waiting), Arc::clone(&self.ending), sent.clone()))
        })
    }

    /// Queues the new bytes of a body for writing. Completes the object at the end of the body.
    pub(crate) fn write(&self, stream: &Arc<Stream>, object: &Arc<Object>) {
        if stream.is_to_be_told(&object.body)
            && !self.tell(Job::Write(Arc::clone(stream), Arc::clone(object)))
        {
            object.body.leave_disk();
        }
    }

    /// Queues an object with a complete body for writing, unless the queue is full. It is not written if a
    /// request later than `sent` receives a response first.
    pub(crate) fn keep(&self, object: &Arc<Object>, sent: Sent) {
        let (bytes, waiting) = (bytes(object), self.waiting.load(Relaxed));
        if waiting == 0 || waiting + bytes <= MOST_WAITING {
            self.waiting.fetch_add(bytes, Relaxed);
            self.tell(Job::Keep(Arc::clone(object), sent));
        }
    }

    /// Queues the head of an object for writing, and its body if that is not on disk yet. Removes other
    /// objects for a request with this header. Until then, lookups do not return the older head.
    pub(crate) fn refresh(&self, object: &Arc<Object>, request: &HeaderMap, sent: Sent) {
        let older = self.forgotten.add(&object.key, request);
        if !self.tell(Job::Refresh(Arc::clone(object), sent, older)) {
            self.forgotten.is_done(&object.key);
        }
    }

    /// Queues the removal of the objects for a request with this header. Lookups do not return them from now
    /// on.
    pub(crate) fn forget(&self, key: &Key, request: &HeaderMap) {
        let forgotten = self.forgotten.add(key, request);
        if !self.tell(Job::Forget(forgotten)) {
            self.forgotten.is_done(key);
        }
    }

    pub(crate) fn note(&self, noted: Vec<Noted>) {
        self.tell(Job::Note(noted));
    }

    /// Records purges. Returns whether these and all earlier ones are on disk. Blocking.
    pub(crate) fn note_now(&self, noted: Vec<Noted>) -> bool {
        let added = lock(&self.notes).add(noted);
        let is_noted = added.is_ok();
        tell_failure(added);
        is_noted
    }

    /// Records the position of this data centre in all purge logs, after it applied purges without individual
    /// records. Blocking.
    pub(crate) fn note_reached(&self, position: &Position) {
        tell_failure(lock(&self.notes).reach(position));
    }

    /// Forgets the positions in logs that have ended.
    pub(crate) fn forget_logs(&self, logs: &[LogId]) {
        lock(&self.notes).forget_logs(logs);
    }

    /// The number of bytes on disk, and the error that prevents writes, if any.
    pub(crate) fn report(&self) -> (u64, Option<String>) {
        let failing = match self.store.state() {
            State::Working => None,
            State::Failing { last, .. } => Some(last),
            State::Released => Some(::disk::Error::Released.to_string()),
        };
        (self.store.usage().bytes, failing)
    }

    /// Executes a blocking lookup; returns its result with the permit that it used. `None` if the disk is too
    /// slow.
    pub(crate) async fn wait_for<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Option<(T, Place)> {
        self.visitors.wait_for(look).await
    }

    pub(crate) fn place(&self) -> Option<Place> {
        self.visitors.place()
    }

    /// Reads since the start that were abandoned because the disk was too slow.
    pub(crate) fn given_up(&self) -> u64 {
        self.visitors.given_up()
    }

    /// Writes the queue, within a time limit, and stops the writer. Blocking.
    pub(crate) fn close(&self) {
        self.ending.begin();
        drop(lock(&self.jobs).take());
        if let Some(writer) = lock(&self.writer).take() {
            let _ = writer.join();
        }
    }

    /// Like [`OnDisk::close`], and releases the directory to another process. Reads remain possible.
    /// Blocking.
    pub(crate) fn release(&self) {
        self.close();
        self.store.release();
    }

    /// Returns false if the writer has stopped.
    fn tell(&self, job: Job) -> bool {
        lock(&self.jobs).as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }
}

struct Writer {
    store: Store,
    notes: Arc<Mutex<Notes>>,
    waiting: Arc<AtomicU64>,
    ending: Arc<Ending>,
    forgotten: Arc<AllForgotten>,
}

impl Writer {
    fn write(&self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            tell_failure(match job {
                Job::Keep(object, sent) => {
                    let kept = self.keep(&object, &sent);
                    self.waiting.fetch_sub(bytes(&object), Relaxed);
                    kept
                }
                Job::KeepCoded(object, coding) => {
                    let kept = self.keep_coded(&object, coding);
                    self.waiting.fetch_sub(coded_bytes(&object, coding), Relaxed);
                    kept
                }
                Job::Write(stream, object) => stream.write(&self.store, &object),
                Job::Refresh(object, sent, older) => {
                    let refreshed = self.refresh(&object, &sent, &older);
                    self.forgotten.is_done(&older.key);
                    refreshed
                }
                Job::Forget(forgotten) => {
                    let removed = forgotten.remove(&self.store);
                    self.forgotten.is_done(&forgotten.key);
                    removed
                }
                Job::Note(noted) => lock(&self.notes).add(noted),
            });
        }
    }

    fn refresh(&self, object: &Object, sent: &Sent, older: &Forgotten) -> Result<(), ::disk::Error> {
        if let Some(id) = object.body.on_disk.get() {
            self.store.replace(*id, &head::write(object))?;
        } else if object.parts.is_none()
            && object.body.keeping() == Keeping::Memory
            && object.body.length().is_some()
        {
            // The body was not written before the revalidation.
            self.keep(object, sent)?;
        }
        older.remove_but(&self.store, object.body.on_disk.get().copied())
    }

    fn keep_coded(&self, object: &Object, coding: Coding) -> Result<(), ::disk::Error> {
        if self.ending.is_over() { Ok(()) } else { coded::write(&self.store, object, coding) }
    }

    fn keep(&self, object: &Object, sent: &Sent) -> Result<(), ::disk::Error> {
        if self.ending.is_over() || sent.is_superseded(&object.stored.selection) {
            return Ok(());
        }
        let key = object.key.as_str().as_bytes();
        let mut writer = self.store.begin(key, &head::write(object))?;
        for piece in object.body.pieces() {
            if self.ending.is_over() {
                return Ok(());
            }
            writer.write(&piece)?;
        }
        let id = writer.finish()?;
        // A response that arrived during the write did not find the object.
        if sent.is_superseded(&object.stored.selection) {
            return self.store.remove(id).map(drop);
        }
        take_place(&self.store, object, id)?;
        // The coded bodies that were created while the object was queued.
        Coding::ALL.into_iter().try_for_each(|coding| self.keep_coded(object, coding))
    }
}

fn take_place(store: &Store, object: &Object, id: Id) -> Result<(), ::disk::Error> {
    let _ = object.body.on_disk.set(id);
    for older in store.find(object.key.as_str().as_bytes())?.into_iter().filter(|other| other.id != id) {
        let other = head::read(&older.head, &object.key, &[], Arc::default());
        if other.is_none_or(|other| other.stored.selection == object.stored.selection) {
            store.remove(older.id)?;
            coded::remove(store, &object.key, older.id)?;
        }
    }
    Ok(())
}

/// Looks up the object for a request with this header; `targets` are the cache-control target fields of the
/// zone.
fn search(
    store: &Store,
    key: &Key,
    (request, targets): (&HeaderMap, &[HeaderName]),
    share: u64,
    wait: Wait,
) -> Result<Option<OfDisk>, ::disk::Error> {
    let mut names = Vec::new();
    for found in store.look(key.as_str().as_bytes(), wait)? {
        let Some(object) = head::read(&found.head, key, targets, Arc::default()) else { continue };
        if !object.stored.selection.matches(request) {
            names.extend(object.stored.selection.names().cloned());
            continue;
        }
        match body(&found, share, wait) {
            Ok((body, rest)) => {
                let _ = body.on_disk.set(found.id);
                let object = Object { body: Arc::new(body), ..object };
                let (short, id, store) = (found.short(), found.id, store.clone());
                return Ok(Some(OfDisk { object, rest, short, names, id, store }));
            }
            Err(error) if wait == Wait::Never => return Err(error),
            Err(error) => {
                warn!(%error, %key, "an object on disk cannot be read");
                remove(store, found.id);
            }
        }
    }
    Ok(None)
}

/// The body of an object that was found, and the part that remains to be read into memory. Bodies of up to
/// one block are read immediately.
fn body(found: &Found, share: u64, wait: Wait) -> Result<(Fill, Option<Body>), ::disk::Error> {
    let (length, kept) = (found.length, found.body.kept());
    if length > share {
        return Ok((Fill::on_disk(kept), None));
    }
    if length > BLOCK as u64 {
        return Ok((Fill::loading(kept), Some(found.body.read(0..length, Wait::ForDisk))));
    }
    let whole =
        found.body.read(0..length, wait).next().transpose()?.map_or_else(Bytes::new, Bytes::from_owner);
    Ok((Fill::of(whole), None))
}

fn remove(store: &Store, id: Id) {
    if let Err(error) = store.remove(id) {
        info!(%error, "an object was not removed from the disk");
    }
}

struct Notes {
    store: Store,
    /// The newest purges. The log in memory does not have older ones either.
    kept: VecDeque<Noted>,
    /// The position in the purge logs of all data centres.
    reached: Position,
    /// Records appended since the last rewrite; `usize::MAX` if one is missing on disk.
    added: usize,
}

impl Notes {
    fn add(&mut self, noted: Vec<Noted>) -> Result<(), ::disk::Error> {
        let notes = note::write(&noted);
        self.added = self.added.saturating_add(noted.len());
        for (log, number) in noted.iter().filter_map(|noted| noted.place) {
            self.reached.reach(log, number);
        }
        self.kept.extend(noted);
        let surplus = self.kept.len().saturating_sub(REMEMBERED);
        self.kept.drain(..surplus);
        if self.added > 2 * REMEMBERED {
            return self.cut();
        }
        let added = notes.iter().try_for_each(|note| self.store.note(note));
        // A missing record would be hidden by later ones, so the next call rewrites all.
        added.inspect_err(|_| self.added = usize::MAX)
    }

    /// Rewrites the file with the kept purges only.
    fn cut(&mut self) -> Result<(), ::disk::Error> {
        let notes = note::write(&self.kept).into_iter().chain(note::write_reached(&self.reached));
        self.store.rewrite_notes(notes)?;
        self.added = 0;
        Ok(())
    }

    fn reach(&mut self, position: &Position) -> Result<(), ::disk::Error> {
        self.reached.join(position);
        note::write_reached(position).map_or(Ok(()), |note| self.store.note(&note))
    }

    fn forget_logs(&mut self, logs: &[LogId]) {
        logs.iter().for_each(|&log| self.reached.leave(log));
        let is_over = |noted: &&mut Noted| noted.place.is_some_and(|(log, _)| logs.contains(&log));
        self.kept.iter_mut().filter(is_over).for_each(|noted| noted.place = None);
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

fn bytes(object: &Object) -> u64 {
    object.body.bytes() + LEAST
}

fn coded_bytes(object: &Object, coding: Coding) -> u64 {
    object.body.coded(coding).map_or(0, |coded| coded.bytes()) + LEAST
}

const LEAST: u64 = 4096;
/// Bytes of objects in the write queue; further objects stay in memory only. Queued objects use memory even
/// after their eviction.
const MOST_WAITING: u64 = 32 << 20;
