//! A body that many read while it is still coming: each at its own pace, the last piece as soon as it is there.
//!
//! What becomes of its pieces is what [`Keeping`] says: they stay in memory, or until they are on disk, from where those who are
//! behind read them; or only until all readers have seen them, whose slowest one the source waits for.

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

/// A body and those who read it.
#[derive(Debug, Default)]
pub(crate) struct Fill {
    state: Mutex<State>,
    /// Under which number it is on disk as well.
    pub(crate) on_disk: OnceLock<::disk::Id>,
    /// The same in other codings, by the place of each in [`Coding::ALL`].
    coded: [OnceLock<Arc<Self>>; Coding::ALL.len()],
}

/// Where a body is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Keeping {
    /// All pieces stay here.
    #[default]
    Memory,
    /// They are written to the disk, and go then.
    Disk,
    /// Nowhere: it is passed on to those who read it.
    Nowhere,
}

#[derive(Debug, Default)]
struct State {
    /// Each with the place in the body where it begins.
    pieces: VecDeque<(u64, Bytes)>,
    /// Where the first piece that is still here begins.
    first: u64,
    /// Of all pieces that came.
    bytes: u64,
    end: Option<Result<(), Failure>>,
    keeping: Keeping,
    disk: Option<OnDisk>,
    /// Whether what is on disk cannot be read.
    is_lost: bool,
    readers: BTreeMap<u64, Place>,
    next_reader: u64,
    source: Option<Waker>,
}

/// What of a body is on disk.
#[derive(Debug)]
enum OnDisk {
    /// As much as is written.
    Coming(Written),
    /// All of it, unless the disk has given it up.
    All(Kept),
}

/// How far a reader is.
#[derive(Debug)]
struct Place {
    /// Where in the body it reads next.
    at: u64,
    /// What is on disk, so that it stays there.
    written: Option<Written>,
    waker: Option<Waker>,
}

/// Nobody reads a body that is not kept either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unwanted;

impl Fill {
    /// A body that is here already.
    pub(crate) fn of(bytes: Bytes) -> Self {
        let (length, end) = (bytes.len() as u64, Some(Ok(())));
        let pieces = if bytes.is_empty() { VecDeque::new() } else { VecDeque::from([(0, bytes)]) };
        let state = State { pieces, bytes: length, end, ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    /// A body that is read from the disk into memory. Who wants a later part does not wait for that.
    pub(crate) fn loading(kept: Kept) -> Self {
        let state = State { disk: Some(OnDisk::All(kept)), ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    /// A body that stays on disk.
    pub(crate) fn on_disk(kept: Kept) -> Self {
        let (bytes, end, disk) = (kept.bytes(), Some(Ok(())), Some(OnDisk::All(kept)));
        let state = State { first: bytes, bytes, end, keeping: Keeping::Disk, disk, ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    /// Adds a piece, for all to read.
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

    /// Ends it, if it has not ended: as a whole, or broken off. Small ones become one piece, which holds on to no buffer that was larger.
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

    /// How many bytes came so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// How many bytes it takes here.
    pub(crate) fn bytes_here(&self) -> u64 {
        let state = self.lock();
        let places = match &state.disk {
            Some(OnDisk::All(kept)) => kept.cost(),
            _ => 0,
        };
        state.held() + places
    }

    /// Its length, once that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        let state = self.lock();
        match (&state.disk, state.end) {
            (_, Some(Ok(()))) => Some(state.bytes),
            (Some(OnDisk::All(kept)), None) => Some(kept.bytes()),
            _ => None,
        }
    }

    /// Where it is kept.
    pub(crate) fn keeping(&self) -> Keeping {
        self.lock().keeping
    }

    /// The same in a coding, if that was begun.
    pub(crate) fn coded(&self, coding: Coding) -> Option<&Arc<Self>> {
        self.coded[coding as usize].get()
    }

    /// The same in a coding. Who is the first to want it has to `make` it, or what it will come to.
    pub(crate) fn coded_or(&self, coding: Coding, make: impl FnOnce() -> Arc<Self>) -> Arc<Self> {
        Arc::clone(self.coded[coding as usize].get_or_init(make))
    }

    /// How many bytes it has here in codings in which it is whole.
    pub(crate) fn coded_bytes(&self) -> u64 {
        let whole =
            self.coded.iter().filter_map(|coded| coded.get().filter(|coded| coded.length().is_some()));
        whole.map(|coded| coded.bytes_here()).sum()
    }

    /// All of it, if it is one piece, or can be made one.
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

    /// All pieces that are here.
    pub(crate) fn pieces(&self) -> Vec<Bytes> {
        self.lock().pieces.iter().map(|(_, piece)| piece.clone()).collect()
    }

    /// What is here from this place on, up to the end of a piece.
    pub(crate) fn piece_at(&self, at: u64) -> Option<Bytes> {
        self.lock().piece_at(at)
    }

    /// Whether it broke off, or the disk has given it up.
    pub(crate) fn is_broken(&self) -> bool {
        let state = self.lock();
        match &state.disk {
            Some(OnDisk::All(kept)) if state.keeping == Keeping::Disk => state.is_lost || !kept.is_there(),
            _ => matches!(state.end, Some(Err(_))),
        }
    }

    /// From here on it is only passed on: pieces that all readers have seen are dropped.
    pub(crate) fn pass_on(&self) {
        let mut state = self.lock();
        state.keeping = Keeping::Nowhere;
        state.drop_pieces();
    }

    /// Whether the disk is to take what it does not have yet.
    pub(crate) fn is_going_to_disk(&self) -> bool {
        let state = self.lock();
        state.keeping == Keeping::Disk && !state.is_all_on_disk() && !matches!(state.end, Some(Err(_)))
    }

    /// From here on its pieces go when they are on disk.
    pub(crate) fn go_to_disk(&self) {
        self.lock().keeping = Keeping::Disk;
    }

    /// What is written of it can be read from there.
    pub(crate) fn is_read_from(&self, written: &Written) {
        let mut state = self.lock();
        state.readers.values_mut().for_each(|place| place.written = Some(written.clone()));
        state.disk = Some(OnDisk::Coming(written.clone()));
    }

    /// More of it was written.
    pub(crate) fn was_written(&self) {
        self.lock().drop_pieces();
    }

    /// All of it is on disk.
    pub(crate) fn is_on_disk(&self, kept: Kept) {
        let mut state = self.lock();
        state.disk = Some(OnDisk::All(kept));
        state.drop_pieces();
    }

    /// The disk does not take it: it stays in memory if all of it is still there, else it is passed on.
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

    /// It cannot be read from the disk, which does not find it any more.
    fn lose(&self) {
        let mut state = self.lock();
        state.is_lost = true;
        if let Some(OnDisk::All(kept)) = &state.disk {
            kept.give_up();
        }
    }

    /// Waits until there is room for more: until the disk has written enough, or the slowest reader of a body that is passed on has
    /// caught up. One that is kept in memory has always room.
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

    /// Whether nobody has begun to read it yet.
    pub(crate) fn is_unread(&self) -> bool {
        self.lock().is_unread()
    }

    /// Whether somebody waits for more.
    pub(crate) fn is_awaited(&self) -> bool {
        let state = self.lock();
        state.readers.values().any(|place| place.waker.is_some() && place.at >= state.bytes)
    }

    /// Where it is kept, as soon as a body that has ended and goes to disk is there as a whole, or is left by the disk.
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

    /// Reads it from its beginning. Who comes to a body that is passed on when others have read of it is told that it broke off.
    pub(crate) fn read(self: &Arc<Self>) -> Reader {
        self.read_part(0, None)
    }

    /// Reads `length` bytes after the first `skip` ones.
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

    /// Bytes of the pieces that are here.
    fn held(&self) -> u64 {
        self.bytes - self.first
    }

    /// Bytes that are on disk.
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

    /// Drops the pieces that nobody needs here, and lets the source see whether there is room.
    fn drop_pieces(&mut self) {
        let may_go = match self.keeping {
            Keeping::Memory => 0,
            // Those who follow closely need not read from the disk what has just come.
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

    /// Makes one piece of all, in pages if it is large enough.
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

/// Wakes every reader that waits, after the lock is given back.
fn wake_all(mut state: MutexGuard<'_, State>) {
    let wakers: Vec<_> = state.readers.values_mut().filter_map(|place| place.waker.take()).collect();
    drop(state);
    wakers.into_iter().for_each(Waker::wake);
}

/// A place in a piece, which is in memory and so no longer than memory.
fn within(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Bodies up to this length become one piece when they are whole.
const JOINED: u64 = pages::MOST as u64;

/// Bytes that may wait for the slowest reader of a body that is only passed on, or stay for those who follow one that goes to disk.
const WINDOW: u64 = 256 << 10;

/// Bytes of a body that may wait for the disk.
pub(crate) const AHEAD: u64 = 4 << 20;

#[cfg(test)]
mod tests;
