//! The disk store below the memory store. It keeps objects across restarts and after their eviction
//! from memory.
//!
//! One thread executes all writes sequentially; excess writes are skipped. Requests wait for reads
//! only.

mod admission;
mod object_head;
mod pending_removals;
mod shutdown;
mod streaming_write;
mod variants;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use ::segment_store::{BlockRef, Body, Found, Id, State, Store, Wait, format::BLOCK};
use ::tier_routing::{LogId, Position};
use http_cache::{Coding, Key, purge::REMEMBERED};
use http_stack::{Bytes, HeaderMap, HeaderName};
use tracing::{info, warn};

use self::{
    admission::DiskAdmission,
    pending_removals::{PendingRemovals, Removal},
    shutdown::ShutdownDeadline,
};
pub(crate) use self::{admission::ReadPermit, streaming_write::StreamingWrite, variants::EncodedVariant};
use crate::{
    Error,
    body::shared::{Retention, SharedBody},
    cache::response_order::SentRequest,
    config::Disk,
    purge::record::{self, PurgeRecord, RecoveredPurges},
    store::memory::Object,
};

pub(crate) struct DiskTier {
    store: Store,
    jobs: Mutex<Option<Sender<WriteJob>>>,
    pending_bytes: Arc<AtomicU64>,
    purges: Arc<Mutex<PersistedPurges>>,
    shutdown: Arc<ShutdownDeadline>,
    pending_removals: Arc<PendingRemovals>,
    writer: Mutex<Option<JoinHandle<()>>>,
    admission: DiskAdmission,
}

enum WriteJob {
    Store(Arc<Object>, SentRequest),
    StoreEncoded(Arc<Object>, Coding),
    Stream(Arc<StreamingWrite>, Arc<Object>),
    Refresh(Arc<Object>, SentRequest, Removal),
    Remove(Removal),
    /// No request waits for the durability of these purges.
    PersistPurges(Vec<PurgeRecord>),
}

pub(crate) struct DiskObject {
    pub(crate) object: Object,
    pub(crate) rest: Option<Body>,
    pub(crate) short: Option<BlockRef>,
    pub(crate) names: Vec<HeaderName>,
    id: Id,
    store: Store,
}

impl DiskObject {
    pub(crate) fn remove(&self) {
        remove(&self.store, self.id);
        if let Err(error) = variants::remove(&self.store, &self.object.key, self.id) {
            info!(%error, "codings of an object were not removed from the disk");
        }
    }
}

impl DiskTier {
    /// Returns the recorded purges, because objects on disk may predate them, and the position of
    /// the previous run in all purge logs.
    pub(crate) fn open(disk: &Disk) -> Result<(Self, RecoveredPurges), Error> {
        let (store, opened) = Store::open(::segment_store::Config::new(&disk.path, disk.bytes))?;
        if opened.has_lost_notes {
            warn!(path = %disk.path.display(), "the disk lost purges: all stored objects were removed");
        }
        let mut recovered = match record::read(&opened.notes) {
            Some(recovered) => recovered,
            None => {
                warn!(path = %disk.path.display(), "purges on the disk cannot be read: all stored objects are removed");
                store.clear()?;
                RecoveredPurges::default()
            }
        };
        let RecoveredPurges { records, position } = &mut recovered;
        // Purges with a waiting request are recorded first, so the records are not in epoch order.
        records.sort_by_key(|records| records.epoch);
        records
            .iter()
            .filter_map(|records| records.place)
            .for_each(|(log, number)| position.reach(log, number));
        records.drain(..records.len().saturating_sub(REMEMBERED));
        let recent = records.iter().cloned().collect();
        let mut notes =
            PersistedPurges { store: store.clone(), recent, position: position.clone(), added: 0 };
        notes.cut()?;
        let (jobs, job_receiver) = mpsc::channel();
        let (pending_bytes, notes, ending) = (Arc::default(), Arc::new(Mutex::new(notes)), Arc::default());
        let forgotten = Arc::<PendingRemovals>::default();
        let writer = DiskWriter {
            store: store.clone(),
            purges: Arc::clone(&notes),
            pending_bytes: Arc::clone(&pending_bytes),
            shutdown: Arc::clone(&ending),
            pending_removals: Arc::clone(&forgotten),
        };
        let writer = thread::Builder::new().name("disk".into()).spawn(move || writer.write(&job_receiver));
        let writer = Mutex::new(Some(writer.map_err(Error::Runtime)?));
        let (jobs, admission) = (Mutex::new(Some(jobs)), DiskAdmission::default());
        Ok((
            Self {
                store,
                jobs,
                pending_bytes,
                purges: notes,
                shutdown: ending,
                pending_removals: forgotten,
                writer,
                admission,
            },
            recovered,
        ))
    }

    pub(crate) fn may_have(&self, key: &Key) -> bool {
        self.store.contains(key.as_str().as_bytes())
    }

    pub(crate) fn store(&self) -> Store {
        self.store.clone()
    }

    pub(crate) fn largest(&self) -> u64 {
        self.store.largest()
    }

    /// `targets` are the cache-control target fields of the zone. Bodies longer than `share` stay
    /// on disk. The returned function blocks.
    pub(crate) fn search(
        &self,
        key: &Key,
        request: &HeaderMap,
        targets: &[HeaderName],
        share: u64,
    ) -> impl FnOnce() -> Option<DiskObject> + Send + 'static {
        let (store, key, request, targets) =
            (self.store.clone(), key.clone(), request.clone(), targets.to_vec());
        let forgotten = Arc::clone(&self.pending_removals);
        move || {
            let found = search(&store, &key, (&request, &targets), share, Wait::ForDisk);
            let found = found.inspect_err(|error| info!(%error, "the disk was not read")).ok().flatten();
            found.filter(|_| !forgotten.contains(&key))
        }
    }

    pub(crate) fn search_nonblocking(
        &self,
        key: &Key,
        request: &HeaderMap,
        targets: &[HeaderName],
        share: u64,
    ) -> Option<DiskObject> {
        let found = search(&self.store, key, (request, targets), share, Wait::Never).ok().flatten();
        found.filter(|_| !self.pending_removals.contains(key))
    }

    pub(crate) fn may_have_encoded(&self, object: &Object, coding: Coding) -> bool {
        object.body.disk_id.get().is_some() && variants::may_exist(&self.store, &object.key, coding)
    }

    pub(crate) fn encoded(
        &self,
        object: &Object,
        coding: Coding,
        wait: Wait,
    ) -> Result<Option<EncodedVariant>, ::segment_store::Error> {
        variants::search(&self.store, object, coding, wait)
    }

    /// Does nothing if the queue is full.
    pub(crate) fn store_encoded(&self, object: &Arc<Object>, coding: Coding) {
        let bytes = encoded_job_bytes(object, coding);
        if self.pending_bytes.load(Relaxed) + bytes <= MAX_PENDING_BYTES {
            self.pending_bytes.fetch_add(bytes, Relaxed);
            if !self.send_job(WriteJob::StoreEncoded(Arc::clone(object), coding)) {
                self.pending_bytes.fetch_sub(bytes, Relaxed);
            }
        }
    }

    pub(crate) fn begin_streaming(&self, object: &Object, sent: &SentRequest) -> Option<Arc<StreamingWrite>> {
        let is_possible = self.pending_bytes.load(Relaxed) <= MAX_PENDING_BYTES && lock(&self.jobs).is_some();
        is_possible.then(|| {
            object.body.start_writing_to_disk();
            Arc::new(StreamingWrite::new(
                Arc::clone(&self.pending_bytes),
                Arc::clone(&self.shutdown),
                sent.clone(),
            ))
        })
    }

    pub(crate) fn write(&self, stream: &Arc<StreamingWrite>, object: &Arc<Object>) {
        if stream.count_received(&object.body)
            && !self.send_job(WriteJob::Stream(Arc::clone(stream), Arc::clone(object)))
        {
            object.body.abandon_disk();
        }
    }

    /// Not written if the queue is full, or if a request later than `sent` receives a response
    /// first.
    pub(crate) fn store_object(&self, object: &Arc<Object>, sent: SentRequest) {
        let (bytes, pending_bytes) = (job_bytes(object), self.pending_bytes.load(Relaxed));
        if pending_bytes == 0 || pending_bytes + bytes <= MAX_PENDING_BYTES {
            self.pending_bytes.fetch_add(bytes, Relaxed);
            self.send_job(WriteJob::Store(Arc::clone(object), sent));
        }
    }

    /// Also writes the body if it is not on disk yet, and removes other objects for this request.
    /// Until then, lookups do not return the older head.
    pub(crate) fn refresh(&self, object: &Arc<Object>, request: &HeaderMap, sent: SentRequest) {
        let older = self.pending_removals.add(&object.key, request);
        if !self.send_job(WriteJob::Refresh(Arc::clone(object), sent, older)) {
            self.pending_removals.complete(&object.key);
        }
    }

    pub(crate) fn remove_matching(&self, key: &Key, request: &HeaderMap) {
        let forgotten = self.pending_removals.add(key, request);
        if !self.send_job(WriteJob::Remove(forgotten)) {
            self.pending_removals.complete(key);
        }
    }

    pub(crate) fn persist_purges_later(&self, records: Vec<PurgeRecord>) {
        self.send_job(WriteJob::PersistPurges(records));
    }

    /// Returns whether these and all earlier purges are on disk. Blocking.
    pub(crate) fn persist_purges(&self, records: Vec<PurgeRecord>) -> bool {
        let added = lock(&self.purges).add(records);
        let is_noted = added.is_ok();
        log_failure(added);
        is_noted
    }

    /// Used after purges without individual records. Blocking.
    pub(crate) fn persist_position(&self, position: &Position) {
        log_failure(lock(&self.purges).reach(position));
    }

    pub(crate) fn forget_logs(&self, logs: &[LogId]) {
        lock(&self.purges).forget_logs(logs);
    }

    /// The number of bytes on disk, and the error that prevents writes, if any.
    pub(crate) fn report(&self) -> (u64, Option<String>) {
        let failing = match self.store.state() {
            State::Working => None,
            State::Failing { last, .. } => Some(last),
            State::Released => Some(::segment_store::Error::Released.to_string()),
        };
        (self.store.usage().bytes, failing)
    }

    /// Returns the result with the permit that it used. `None` if the disk is too slow.
    pub(crate) async fn read_blocking<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Option<(T, ReadPermit)> {
        self.admission.read_blocking(look).await
    }

    pub(crate) fn try_permit(&self) -> Option<ReadPermit> {
        self.admission.try_permit()
    }

    pub(crate) fn timeouts(&self) -> u64 {
        self.admission.timeouts()
    }

    /// Writes the queue, within a time limit. Blocking.
    pub(crate) fn close(&self) {
        self.shutdown.begin();
        drop(lock(&self.jobs).take());
        if let Some(writer) = lock(&self.writer).take() {
            let _ = writer.join();
        }
    }

    /// Like [`DiskTier::close`]; another process may then open the directory. Reads remain
    /// possible. Blocking.
    pub(crate) fn release(&self) {
        self.close();
        self.store.release();
    }

    fn send_job(&self, job: WriteJob) -> bool {
        lock(&self.jobs).as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }
}

struct DiskWriter {
    store: Store,
    purges: Arc<Mutex<PersistedPurges>>,
    pending_bytes: Arc<AtomicU64>,
    shutdown: Arc<ShutdownDeadline>,
    pending_removals: Arc<PendingRemovals>,
}

impl DiskWriter {
    fn write(&self, jobs: &Receiver<WriteJob>) {
        while let Ok(job) = jobs.recv() {
            log_failure(match job {
                WriteJob::Store(object, sent) => {
                    let recent = self.store_object(&object, &sent);
                    self.pending_bytes.fetch_sub(job_bytes(&object), Relaxed);
                    recent
                }
                WriteJob::StoreEncoded(object, coding) => {
                    let recent = self.store_encoded(&object, coding);
                    self.pending_bytes.fetch_sub(encoded_job_bytes(&object, coding), Relaxed);
                    recent
                }
                WriteJob::Stream(stream, object) => stream.write(&self.store, &object),
                WriteJob::Refresh(object, sent, older) => {
                    let refreshed = self.refresh(&object, &sent, &older);
                    self.pending_removals.complete(&older.key);
                    refreshed
                }
                WriteJob::Remove(forgotten) => {
                    let removed = forgotten.remove(&self.store);
                    self.pending_removals.complete(&forgotten.key);
                    removed
                }
                WriteJob::PersistPurges(records) => lock(&self.purges).add(records),
            });
        }
    }

    fn refresh(
        &self,
        object: &Object,
        sent: &SentRequest,
        older: &Removal,
    ) -> Result<(), ::segment_store::Error> {
        if let Some(id) = object.body.disk_id.get() {
            self.store.replace(*id, &object_head::write(object))?;
        } else if object.parts.is_none()
            && object.body.retention() == Retention::Memory
            && object.body.length().is_some()
        {
            self.store_object(object, sent)?;
        }
        older.remove_except(&self.store, object.body.disk_id.get().copied())
    }

    fn store_encoded(&self, object: &Object, coding: Coding) -> Result<(), ::segment_store::Error> {
        if self.shutdown.has_passed() { Ok(()) } else { variants::write(&self.store, object, coding) }
    }

    fn store_object(&self, object: &Object, sent: &SentRequest) -> Result<(), ::segment_store::Error> {
        if self.shutdown.has_passed() || sent.is_superseded(&object.stored.selection) {
            return Ok(());
        }
        let key = object.key.as_str().as_bytes();
        let mut writer = self.store.begin(key, &object_head::write(object))?;
        for piece in object.body.pieces() {
            if self.shutdown.has_passed() {
                return Ok(());
            }
            writer.write(&piece)?;
        }
        let id = writer.finish()?;
        // A response that arrived during the write did not find the object.
        if sent.is_superseded(&object.stored.selection) {
            return self.store.remove(id).map(drop);
        }
        replace_older(&self.store, object, id)?;
        Coding::ALL.into_iter().try_for_each(|coding| self.store_encoded(object, coding))
    }
}

fn replace_older(store: &Store, object: &Object, id: Id) -> Result<(), ::segment_store::Error> {
    let _ = object.body.disk_id.set(id);
    for older in store.find(object.key.as_str().as_bytes())?.into_iter().filter(|other| other.id != id) {
        let other = object_head::read(&older.head, &object.key, &[], Arc::default());
        if other.is_none_or(|other| other.stored.selection == object.stored.selection) {
            store.remove(older.id)?;
            variants::remove(store, &object.key, older.id)?;
        }
    }
    Ok(())
}

fn search(
    store: &Store,
    key: &Key,
    (request, targets): (&HeaderMap, &[HeaderName]),
    share: u64,
    wait: Wait,
) -> Result<Option<DiskObject>, ::segment_store::Error> {
    let mut names = Vec::new();
    for found in store.look(key.as_str().as_bytes(), wait)? {
        let Some(object) = object_head::read(&found.head, key, targets, Arc::default()) else { continue };
        if !object.stored.selection.matches(request) {
            names.extend(object.stored.selection.names().cloned());
            continue;
        }
        match body(&found, share, wait) {
            Ok((body, rest)) => {
                let _ = body.disk_id.set(found.id);
                let object = Object { body: Arc::new(body), ..object };
                let (short, id, store) = (found.short(), found.id, store.clone());
                return Ok(Some(DiskObject { object, rest, short, names, id, store }));
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

/// Also returns the part that remains to be read into memory. Bodies of up to one block are read
/// immediately.
fn body(found: &Found, share: u64, wait: Wait) -> Result<(SharedBody, Option<Body>), ::segment_store::Error> {
    let (length, recent) = (found.length, found.body.kept());
    if length > share {
        return Ok((SharedBody::from_disk(recent), None));
    }
    if length > BLOCK as u64 {
        return Ok((SharedBody::loading_from_disk(recent), Some(found.body.read(0..length, Wait::ForDisk))));
    }
    let whole =
        found.body.read(0..length, wait).next().transpose()?.map_or_else(Bytes::new, Bytes::from_owner);
    Ok((SharedBody::in_memory(whole), None))
}

fn remove(store: &Store, id: Id) {
    if let Err(error) = store.remove(id) {
        info!(%error, "an object was not removed from the disk");
    }
}

struct PersistedPurges {
    store: Store,
    recent: VecDeque<PurgeRecord>,
    position: Position,
    /// Since the last rewrite; `usize::MAX` if a record is missing on disk.
    added: usize,
}

impl PersistedPurges {
    fn add(&mut self, records: Vec<PurgeRecord>) -> Result<(), ::segment_store::Error> {
        let notes = record::write(&records);
        self.added = self.added.saturating_add(records.len());
        for (log, number) in records.iter().filter_map(|records| records.place) {
            self.position.reach(log, number);
        }
        self.recent.extend(records);
        let surplus = self.recent.len().saturating_sub(REMEMBERED);
        self.recent.drain(..surplus);
        if self.added > 2 * REMEMBERED {
            return self.cut();
        }
        let added = notes.iter().try_for_each(|note| self.store.note(note));
        // Later records would hide the missing one, so the next call rewrites all.
        added.inspect_err(|_| self.added = usize::MAX)
    }

    fn cut(&mut self) -> Result<(), ::segment_store::Error> {
        let notes = record::write(&self.recent).into_iter().chain(record::write_reached(&self.position));
        self.store.rewrite_notes(notes)?;
        self.added = 0;
        Ok(())
    }

    fn reach(&mut self, position: &Position) -> Result<(), ::segment_store::Error> {
        self.position.join(position);
        record::write_reached(position).map_or(Ok(()), |note| self.store.note(&note))
    }

    fn forget_logs(&mut self, logs: &[LogId]) {
        logs.iter().for_each(|&log| self.position.leave(log));
        let is_over = |records: &&mut PurgeRecord| records.place.is_some_and(|(log, _)| logs.contains(&log));
        self.recent.iter_mut().filter(is_over).for_each(|records| records.place = None);
    }
}

fn log_failure(written: Result<(), ::segment_store::Error>) {
    if let Err(error) = written {
        info!(%error, "the disk was not written to");
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn job_bytes(object: &Object) -> u64 {
    object.body.bytes() + MIN_JOB_BYTES
}

fn encoded_job_bytes(object: &Object, coding: Coding) -> u64 {
    object.body.encoded(coding).map_or(0, |encoded| encoded.bytes()) + MIN_JOB_BYTES
}

const MIN_JOB_BYTES: u64 = 4096;
/// Queued objects use memory even after their eviction; further objects stay in memory only.
const MAX_PENDING_BYTES: u64 = 32 << 20;
