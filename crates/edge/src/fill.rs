//! A response body with concurrent readers while it is filled. Each reader has a separate pace and receives
//! new pieces as soon as they arrive.
//!
//! [`Keeping`] determines how long pieces stay in memory: permanently; until they are on disk, from where
//! slow readers read them; or until all readers have received them. In the last case the source waits for the
//! slowest reader.

mod reader;

use std::{
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Poll, Waker},
};

use ::disk::{Kept, Written};
use cache::Coding;
use http::{Bytes, Failure, pages};

pub(crate) use self::reader::Reader;

#[derive(Debug, Default)]
pub(crate) struct Fill {
    state: Mutex<State>,
    /// The identity of the body on disk, if it is stored there.
    pub(crate) on_disk: OnceLock<::disk::Id>,
    /// The body in other codings, in the order of [`Coding::ALL`].
    coded: [OnceLock<Arc<Self>>; Coding::ALL.len()],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Keeping {
    /// All pieces stay in memory.
    #[default]
    Memory,
    /// Pieces are written to the disk, then dropped.
    Disk,
    /// Not stored: only passed on to the current readers.
    Nowhere,
}

#[derive(Debug, Default)]
struct State {
    /// With the offset of each piece in the body.
    pieces: VecDeque<(u64, Bytes)>,
    /// The offset of the first piece in memory.
    first: u64,
    /// The length of all pieces received.
    bytes: u64,
    end: Option<Result<(), Failure>>,
    keeping: Keeping,
    disk: Option<OnDisk>,
    /// Whether reading from the disk has failed.
    is_lost: bool,
    readers: BTreeMap<u64, Place>,
    next_reader: u64,
    source: Option<Waker>,
}

#[derive(Debug)]
enum OnDisk {
    /// The part that is written so far.
    Coming(Written),
    /// The complete body, unless the disk has evicted it.
    All(Kept),
}

#[derive(Debug)]
struct Place {
    /// The offset of the next read.
    at: u64,
    /// The part on disk; holding it prevents its removal.
    written: Option<Written>,
    waker: Option<Waker>,
}

/// The body is neither stored nor read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unwanted;

impl Fill {
    pub(crate) fn of(bytes: Bytes) -> Self {
        let (length, end) = (bytes.len() as u64, Some(Ok(())));
        let pieces = if bytes.is_empty() { VecDeque::new() } else { VecDeque::from([(0, bytes)]) };
        let state = State { pieces, bytes: length, end, ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    /// A body that is read from the disk into memory. A reader of a later part reads it from the disk
    /// directly.
    pub(crate) fn loading(kept: Kept) -> Self {
        let state = State { disk: Some(OnDisk::All(kept)), ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    pub(crate) fn on_disk(kept: Kept) -> Self {
        let (bytes, end, disk) = (kept.bytes(), Some(Ok(())), Some(OnDisk::All(kept)));
        let state = State { first: bytes, bytes, end, keeping: Keeping::Disk, disk, ..State::default() };
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

    /// Ends the body, unless it has ended: complete or with an error. Small bodies are joined to one piece,
    /// so that they keep no larger buffer allocated.
    pub(crate) fn finish(&self, end: Result<(), Failure>) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        state.end = Some(end);
        if state.keeping == Keeping::Memory {
            state.disk = None;
        }
        if state.is_in_memory() && state.bytes <= JOINED {
            state.join();
        }
        wake_all(state);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// The memory of the body, in bytes.
    pub(crate) fn bytes_here(&self) -> u64 {
        let state = self.lock();
        let places = match &state.disk {
            Some(OnDisk::All(kept)) => kept.cost(),
            _ => 0,
        };
        state.held() + places
    }

    /// The length of the complete body, if known.
    pub(crate) fn length(&self) -> Option<u64> {
        let state = self.lock();
        match (&state.disk, state.end) {
            (_, Some(Ok(()))) => Some(state.bytes),
            (Some(OnDisk::All(kept)), None) => Some(kept.bytes()),
            _ => None,
        }
    }

    pub(crate) fn keeping(&self) -> Keeping {
        self.lock().keeping
    }

    /// The body in a coding, if it exists; it may still be filling.
    pub(crate) fn coded(&self, coding: Coding) -> Option<&Arc<Self>> {
        self.coded[coding as usize].get()
    }

    /// The body in a coding. The first caller makes it, and is responsible for filling it.
    pub(crate) fn coded_or(&self, coding: Coding, make: impl FnOnce() -> Arc<Self>) -> Arc<Self> {
        Arc::clone(self.coded[coding as usize].get_or_init(make))
    }

    /// The memory of complete bodies in other codings, in bytes.
    pub(crate) fn coded_bytes(&self) -> u64 {
        let whole =
            self.coded.iter().filter_map(|coded| coded.get().filter(|coded| coded.length().is_some()));
        whole.map(|coded| coded.bytes_here()).sum()
    }

    /// The complete body, if it is or can be joined to one piece.
    pub(crate) fn whole(&self) -> Option<Bytes> {
        let mut state = self.lock();
        let is_whole = state.is_in_memory();
        if is_whole && state.pieces.len() > 1 && state.bytes <= JOINED {
            state.join();
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

    /// The bytes in memory from an offset to the end of its piece.
    pub(crate) fn piece_at(&self, at: u64) -> Option<Bytes> {
        self.lock().piece_at(at)
    }

    /// Whether the body is truncated, or the disk has evicted it.
    pub(crate) fn is_broken(&self) -> bool {
        let state = self.lock();
        match &state.disk {
            Some(OnDisk::All(kept)) if state.keeping == Keeping::Disk => state.is_lost || !kept.is_there(),
            _ => matches!(state.end, Some(Err(_))),
        }
    }

    /// Stops storing the body: pieces are dropped when all readers have received them.
    pub(crate) fn pass_on(&self) {
        let mut state = self.lock();
        state.keeping = Keeping::Nowhere;
        state.drop_pieces();
    }

    /// Whether parts of the body still have to be written to the disk.
    pub(crate) fn is_going_to_disk(&self) -> bool {
        let state = self.lock();
        state.keeping == Keeping::Disk && !state.is_all_on_disk() && !matches!(state.end, Some(Err(_)))
    }

    /// Starts storing the body on disk: pieces are dropped when they are written.
    pub(crate) fn go_to_disk(&self) {
        self.lock().keeping = Keeping::Disk;
    }

    /// Makes the written part readable from the disk.
    pub(crate) fn is_read_from(&self, written: &Written) {
        let mut state = self.lock();
        state.readers.values_mut().for_each(|place| place.written = Some(written.clone()));
        state.disk = Some(OnDisk::Coming(written.clone()));
    }

    pub(crate) fn was_written(&self) {
        self.lock().drop_pieces();
    }

    pub(crate) fn is_on_disk(&self, kept: Kept) {
        let mut state = self.lock();
        state.disk = Some(OnDisk::All(kept));
        state.drop_pieces();
    }

    /// Stops writing to the disk: the body stays in memory if all of it is still there, else it is only
    /// passed on.
    pub(crate) fn leave_disk(&self) {
        let mut state = self.lock();
        if state.keeping == Keeping::Disk && !state.is_all_on_disk() {
            if state.first == 0 {
                (state.keeping, state.disk) = (Keeping::Memory, None);
            } else {
                state.keeping = Keeping::Nowhere;
            }
            state.drop_pieces();
        }
    }

    /// Marks the body as unreadable, and removes it from the index of the disk.
    fn lose(&self) {
        let mut state = self.lock();
        state.is_lost = true;
        if let Some(OnDisk::All(kept)) = &state.disk {
            kept.give_up();
        }
    }

    /// Waits until the body may grow: until the disk has written enough, or the slowest reader of a body that
    /// is passed on has caught up. A body in memory may always grow.
    pub(crate) async fn room(&self) -> Result<(), Unwanted> {
        poll_fn(|cx| {
            let mut state = self.lock();
            let has_room = match state.keeping {
                Keeping::Memory => true,
                Keeping::Disk => state.bytes - state.written() <= AHEAD,
                Keeping::Nowhere if state.readers.is_empty() && !state.is_unread() => {
                    return Poll::Ready(Err(Unwanted));
                }
                Keeping::Nowhere => state.held() <= WINDOW,
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

    /// Whether a reader waits for more bytes.
    pub(crate) fn is_awaited(&self) -> bool {
        let state = self.lock();
        state.readers.values().any(|place| place.waker.is_some() && place.at >= state.bytes)
    }

    /// Where the body is finally stored. Waits until a body that is written to the disk is complete there, or
    /// no longer written there.
    pub(crate) async fn kept(&self) -> Keeping {
        poll_fn(|cx| {
            let mut state = self.lock();
            if state.keeping == Keeping::Disk && !state.is_all_on_disk() {
                state.source = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(state.keeping)
        })
        .await
    }

    /// Reads the body from the beginning. A reader that joins a passed-on body too late receives an error.
    pub(crate) fn read(self: &Arc<Self>) -> Reader {
        self.read_part(0, None)
    }

    /// Reads `length` bytes after the first `skip` bytes, or all of them.
    pub(crate) fn read_part(self: &Arc<Self>, skip: u64, length: Option<u64>) -> Reader {
        let mut state = self.lock();
        let number = state.next_reader;
        state.next_reader += 1;
        let written = match &state.disk {
            Some(OnDisk::Coming(written)) => Some(written.clone()),
            Some(OnDisk::All(kept)) => kept.written(),
            None => None,
        };
        state.readers.insert(number, Place { at: skip, written, waker: None });
        if let Some(source) = state.source.take() {
            source.wake();
        }
        Reader::new(Arc::clone(self), number, skip, length)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_in_memory(&self) -> bool {
        self.end == Some(Ok(())) && self.keeping == Keeping::Memory
    }

    fn is_unread(&self) -> bool {
        self.next_reader == 0
    }

    fn is_all_on_disk(&self) -> bool {
        matches!(self.disk, Some(OnDisk::All(_)))
    }

    fn held(&self) -> u64 {
        self.bytes - self.first
    }

    fn written(&self) -> u64 {
        match &self.disk {
            Some(OnDisk::Coming(written)) => written.bytes(),
            Some(OnDisk::All(kept)) => kept.bytes(),
            None => 0,
        }
    }

    fn piece_at(&self, at: u64) -> Option<Bytes> {
        let next = self.pieces.partition_point(|(begin, _)| *begin <= at);
        let (begin, piece) = self.pieces.get(next.checked_sub(1)?)?;
        let within = within(at - begin);
        (within < piece.len()).then(|| piece.slice(within..))
    }

    /// Drops pieces that are no longer needed in memory, and wakes the source.
    fn drop_pieces(&mut self) {
        let may_go = match self.keeping {
            Keeping::Memory => 0,
            // The most recent bytes stay in memory for readers that follow closely.
            Keeping::Disk if self.is_all_on_disk() => self.bytes,
            Keeping::Disk => self.written().min(self.bytes.saturating_sub(WINDOW)),
            Keeping::Nowhere if self.is_unread() => 0,
            Keeping::Nowhere => self.readers.values().map(|place| place.at).min().unwrap_or(u64::MAX),
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

    /// Joins all pieces to one, in separate memory pages if it is large enough.
    fn join(&mut self) {
        let pieces = || self.pieces.iter().map(|(_, piece)| piece);
        if !self.pieces.is_empty() {
            let whole = pages::moved(pieces()).unwrap_or_else(|| {
                let mut whole = Vec::with_capacity(pieces().map(Bytes::len).sum());
                pieces().for_each(|piece| whole.extend_from_slice(piece));
                Bytes::from(whole)
            });
            self.pieces = VecDeque::from([(0, whole)]);
        }
    }
}

/// Wakes all waiting readers after releasing the lock.
fn wake_all(mut state: MutexGuard<'_, State>) {
    let wakers: Vec<_> = state.readers.values_mut().filter_map(|place| place.waker.take()).collect();
    drop(state);
    wakers.into_iter().for_each(Waker::wake);
}

/// An offset in a piece, which is in memory, so it fits into `usize`.
fn within(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Bodies up to this length are joined to one piece when complete.
const JOINED: u64 = pages::MOST as u64;

/// Bytes kept in memory for the slowest reader of a body that is passed on, or for close readers of a body
/// that is written to the disk.
const WINDOW: u64 = 256 << 10;

/// Bytes of a body that may be queued for the disk.
pub(crate) const AHEAD: u64 = 4 << 20;

#[cfg(test)]
mod tests;
