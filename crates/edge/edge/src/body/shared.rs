//! A response body with concurrent readers while it is filled. Each reader has a separate pace.
//!
//! [`Retention`] determines how long pieces stay in memory: permanently; until they are on disk,
//! from where slow readers read them; or until all readers have received them. In the last case the
//! source waits for the slowest reader.

mod reader;

use std::{
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Poll, Waker},
};

use ::segment_store::{Kept, StoredBody};
use http_cache::Coding;
use http_stack::{Bytes, Failure, memfd_buffer};

pub(crate) use self::reader::BodyReader;

#[derive(Debug, Default)]
pub(crate) struct SharedBody {
    state: Mutex<State>,
    pub(crate) disk_id: OnceLock<::segment_store::Id>,
    /// The index is the order of [`Coding::ALL`].
    encoded: [OnceLock<Arc<Self>>; Coding::ALL.len()],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Retention {
    #[default]
    Memory,
    Disk,
    PassThrough,
}

#[derive(Debug, Default)]
struct State {
    pieces: VecDeque<(u64, Bytes)>,
    first: u64,
    bytes: u64,
    end: Option<Result<(), Failure>>,
    retention: Retention,
    disk: Option<DiskState>,
    is_disk_lost: bool,
    readers: BTreeMap<u64, ReadPosition>,
    next_reader: u64,
    source: Option<Waker>,
}

#[derive(Debug)]
enum DiskState {
    Writing(StoredBody),
    Complete(Kept),
}

#[derive(Debug)]
struct ReadPosition {
    at: u64,
    /// Holding it prevents the removal from the disk.
    written: Option<StoredBody>,
    waker: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoReaders;

impl SharedBody {
    pub(crate) fn in_memory(bytes: Bytes) -> Self {
        let (length, end) = (bytes.len() as u64, Some(Ok(())));
        let pieces = if bytes.is_empty() { VecDeque::new() } else { VecDeque::from([(0, bytes)]) };
        let state = State { pieces, bytes: length, end, ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    pub(crate) fn loading_from_disk(stored: Kept) -> Self {
        let state = State { disk: Some(DiskState::Complete(stored)), ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    pub(crate) fn from_disk(stored: Kept) -> Self {
        let (bytes, end, disk) = (stored.bytes(), Some(Ok(())), Some(DiskState::Complete(stored)));
        let state = State { first: bytes, bytes, end, retention: Retention::Disk, disk, ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    pub(crate) fn push(&self, piece: Bytes) {
        if piece.is_empty() {
            return;
        }
        let mut state = self.lock();
        let begin = state.bytes;
        state.bytes += piece.len() as u64;
        state.pieces.push_back((begin, piece));
        wake_all(state);
    }

    /// Does nothing if the body has ended. Small bodies are joined to one piece, so that they keep
    /// no larger buffer allocated.
    pub(crate) fn finish(&self, end: Result<(), Failure>) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        state.end = Some(end);
        if state.retention == Retention::Memory {
            state.disk = None;
        }
        if state.is_in_memory() && state.bytes <= MAX_JOINED {
            state.join_pieces();
        }
        wake_all(state);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let state = self.lock();
        let places = match &state.disk {
            Some(DiskState::Complete(stored)) => stored.cost(),
            _ => 0,
        };
        state.held_bytes() + places
    }

    pub(crate) fn length(&self) -> Option<u64> {
        let state = self.lock();
        match (&state.disk, state.end) {
            (_, Some(Ok(()))) => Some(state.bytes),
            (Some(DiskState::Complete(stored)), None) => Some(stored.bytes()),
            _ => None,
        }
    }

    pub(crate) fn retention(&self) -> Retention {
        self.lock().retention
    }

    pub(crate) fn encoded(&self, coding: Coding) -> Option<&Arc<Self>> {
        self.encoded[coding as usize].get()
    }

    /// The first caller makes the body, and must fill it.
    pub(crate) fn encoded_or(&self, coding: Coding, make: impl FnOnce() -> Arc<Self>) -> Arc<Self> {
        Arc::clone(self.encoded[coding as usize].get_or_init(make))
    }

    pub(crate) fn encoded_bytes(&self) -> u64 {
        let whole = self
            .encoded
            .iter()
            .filter_map(|encoded| encoded.get().filter(|encoded| encoded.length().is_some()));
        whole.map(|encoded| encoded.memory_bytes()).sum()
    }

    pub(crate) fn whole(&self) -> Option<Bytes> {
        let mut state = self.lock();
        let is_whole = state.is_in_memory();
        if is_whole && state.pieces.len() > 1 && state.bytes <= MAX_JOINED {
            state.join_pieces();
        }
        match state.pieces.len() {
            0 if is_whole => Some(Bytes::new()),
            1 if is_whole => state.pieces.front().map(|(_, piece)| piece.clone()),
            _ => None,
        }
    }

    pub(crate) fn pieces(&self) -> Vec<Bytes> {
        self.lock().pieces.iter().map(|(_, piece)| piece.clone()).collect()
    }

    pub(crate) fn piece_at(&self, at: u64) -> Option<Bytes> {
        self.lock().piece_at(at)
    }

    pub(crate) fn is_broken(&self) -> bool {
        let state = self.lock();
        match &state.disk {
            Some(DiskState::Complete(stored)) if state.retention == Retention::Disk => {
                state.is_disk_lost || !stored.is_there()
            }
            _ => matches!(state.end, Some(Err(_))),
        }
    }

    pub(crate) fn stop_retaining(&self) {
        let mut state = self.lock();
        state.retention = Retention::PassThrough;
        state.drop_pieces();
    }

    pub(crate) fn is_writing_to_disk(&self) -> bool {
        let state = self.lock();
        state.retention == Retention::Disk && !state.is_all_on_disk() && !matches!(state.end, Some(Err(_)))
    }

    pub(crate) fn start_writing_to_disk(&self) {
        self.lock().retention = Retention::Disk;
    }

    pub(crate) fn set_disk_reader(&self, written: &StoredBody) {
        let mut state = self.lock();
        state.readers.values_mut().for_each(|place| place.written = Some(written.clone()));
        state.disk = Some(DiskState::Writing(written.clone()));
    }

    pub(crate) fn mark_written(&self) {
        self.lock().drop_pieces();
    }

    pub(crate) fn is_on_disk(&self, stored: Kept) {
        let mut state = self.lock();
        state.disk = Some(DiskState::Complete(stored));
        state.drop_pieces();
    }

    /// The body stays in memory if all of it is still there, else it is only passed on.
    pub(crate) fn abandon_disk(&self) {
        let mut state = self.lock();
        if state.retention == Retention::Disk && !state.is_all_on_disk() {
            if state.first == 0 {
                (state.retention, state.disk) = (Retention::Memory, None);
            } else {
                state.retention = Retention::PassThrough;
            }
            state.drop_pieces();
        }
    }

    fn mark_lost(&self) {
        let mut state = self.lock();
        state.is_disk_lost = true;
        if let Some(DiskState::Complete(stored)) = &state.disk {
            stored.give_up();
        }
    }

    /// Waits until the disk has written enough, or the slowest reader of a passed-on body has
    /// caught up. A body in memory may always grow.
    pub(crate) async fn wait_for_room(&self) -> Result<(), NoReaders> {
        poll_fn(|cx| {
            let mut state = self.lock();
            let has_room = match state.retention {
                Retention::Memory => true,
                Retention::Disk => state.bytes - state.written() <= MAX_DISK_LAG,
                Retention::PassThrough if state.readers.is_empty() && !state.is_unread() => {
                    return Poll::Ready(Err(NoReaders));
                }
                Retention::PassThrough => state.held_bytes() <= MAX_READER_LAG,
            };
            if has_room {
                return Poll::Ready(Ok(()));
            }
            state.source = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    pub(crate) fn is_unread(&self) -> bool {
        self.lock().is_unread()
    }

    pub(crate) fn has_waiting_reader(&self) -> bool {
        let state = self.lock();
        state.readers.values().any(|place| place.waker.is_some() && place.at >= state.bytes)
    }

    pub(crate) async fn final_retention(&self) -> Retention {
        poll_fn(|cx| {
            let mut state = self.lock();
            if state.retention == Retention::Disk && !state.is_all_on_disk() {
                state.source = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(state.retention)
        })
        .await
    }

    /// A reader that joins a passed-on body too late receives an error.
    pub(crate) fn read(self: &Arc<Self>) -> BodyReader {
        self.read_part(0, None)
    }

    pub(crate) fn read_part(self: &Arc<Self>, skip: u64, length: Option<u64>) -> BodyReader {
        let mut state = self.lock();
        let number = state.next_reader;
        state.next_reader += 1;
        let written = match &state.disk {
            Some(DiskState::Writing(written)) => Some(written.clone()),
            Some(DiskState::Complete(stored)) => stored.written(),
            None => None,
        };
        state.readers.insert(number, ReadPosition { at: skip, written, waker: None });
        if let Some(source) = state.source.take() {
            source.wake();
        }
        BodyReader::new(Arc::clone(self), number, skip, length)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_in_memory(&self) -> bool {
        self.end == Some(Ok(())) && self.retention == Retention::Memory
    }

    fn is_unread(&self) -> bool {
        self.next_reader == 0
    }

    fn is_all_on_disk(&self) -> bool {
        matches!(self.disk, Some(DiskState::Complete(_)))
    }

    fn held_bytes(&self) -> u64 {
        self.bytes - self.first
    }

    fn written(&self) -> u64 {
        match &self.disk {
            Some(DiskState::Writing(written)) => written.bytes(),
            Some(DiskState::Complete(stored)) => stored.bytes(),
            None => 0,
        }
    }

    fn piece_at(&self, at: u64) -> Option<Bytes> {
        let next = self.pieces.partition_point(|(begin, _)| *begin <= at);
        let (begin, piece) = self.pieces.get(next.checked_sub(1)?)?;
        let within = within(at - begin);
        (within < piece.len()).then(|| piece.slice(within..))
    }

    fn drop_pieces(&mut self) {
        let may_go = match self.retention {
            Retention::Memory => 0,
            // The most recent bytes stay in memory for readers that follow closely.
            Retention::Disk if self.is_all_on_disk() => self.bytes,
            Retention::Disk => self.written().min(self.bytes.saturating_sub(MAX_READER_LAG)),
            Retention::PassThrough if self.is_unread() => 0,
            Retention::PassThrough => self.readers.values().map(|place| place.at).min().unwrap_or(u64::MAX),
        };
        while let Some((begin, piece)) = self.pieces.front() {
            let end = begin + piece.len() as u64;
            if end > may_go {
                break;
            }
            self.first = end;
            self.pieces.pop_front();
        }
        if let Some(source) = self.source.take() {
            source.wake();
        }
    }

    fn join_pieces(&mut self) {
        let pieces = || self.pieces.iter().map(|(_, piece)| piece);
        if !self.pieces.is_empty() {
            let whole = memfd_buffer::moved(pieces()).unwrap_or_else(|| {
                let mut whole = Vec::with_capacity(pieces().map(Bytes::len).sum());
                pieces().for_each(|piece| whole.extend_from_slice(piece));
                Bytes::from(whole)
            });
            self.pieces = VecDeque::from([(0, whole)]);
        }
    }
}

/// Releases the lock first.
fn wake_all(mut state: MutexGuard<'_, State>) {
    let wakers: Vec<_> = state.readers.values_mut().filter_map(|place| place.waker.take()).collect();
    drop(state);
    wakers.into_iter().for_each(Waker::wake);
}

/// A piece is in memory, so its offsets fit into `usize`.
fn within(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

const MAX_JOINED: u64 = memfd_buffer::MOST as u64;

/// Bytes kept for the slowest reader of a passed-on body, or for close readers of a body that is
/// written to the disk.
const MAX_READER_LAG: u64 = 256 << 10;

pub(crate) const MAX_DISK_LAG: u64 = 4 << 20;

#[cfg(test)]
mod tests;
