//! A body that many read while it is still coming: each at its own pace, the last piece as soon as it is there.
//!
//! What is stored keeps all pieces. What turned out too large to be stored keeps only those that a reader still has to see, and
//! its source waits for the slowest of them.

use std::{
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Context, Poll, Waker},
};

use cache::Coding;
use http::{
    Bytes, Failure,
    body::{Frame, Frames, SizeHint},
    pages,
};

/// A body and those who read it.
#[derive(Debug, Default)]
pub(crate) struct Fill {
    state: Mutex<State>,
    /// Under which number it is on disk as well.
    pub(crate) on_disk: OnceLock<disk::Id>,
    /// The same in other codings, by the place of each in [`Coding::ALL`].
    coded: [OnceLock<Arc<Self>>; Coding::ALL.len()],
}

#[derive(Debug, Default)]
struct State {
    pieces: VecDeque<Bytes>,
    /// The number of the first piece that is still here.
    first: usize,
    /// Of all pieces that came.
    bytes: u64,
    /// Of the pieces that are here.
    held: u64,
    end: Option<Result<(), Failure>>,
    is_passed_on: bool,
    readers: BTreeMap<u64, Place>,
    next_reader: u64,
    source: Option<Waker>,
}

/// How far a reader is.
#[derive(Debug)]
struct Place {
    /// The number of the piece that it reads next.
    piece: usize,
    waker: Option<Waker>,
}

/// Nobody reads a body that is not kept either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unwanted;

impl Fill {
    /// A body that is here already.
    #[cfg(test)]
    pub(crate) fn of(bytes: Bytes) -> Self {
        let fill = Self::default();
        fill.push(bytes);
        fill.finish(Ok(()));
        fill
    }

    /// Adds a piece, for all to read.
    pub(crate) fn push(&self, piece: Bytes) {
        if piece.is_empty() {
            return;
        }
        let mut state = self.lock();
        state.bytes += piece.len() as u64;
        state.held += piece.len() as u64;
        state.pieces.push_back(piece);
        wake_all(state);
    }

    /// Ends it, if it has not ended: as a whole, or broken off. Small ones become one piece, which holds on to no buffer that was larger.
    pub(crate) fn finish(&self, end: Result<(), Failure>) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        if end.is_ok() && state.first == 0 && state.held <= JOINED {
            state.join();
        }
        state.end = Some(end);
        wake_all(state);
    }

    /// How many bytes came so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// Its length, once all of it is here.
    pub(crate) fn length(&self) -> Option<u64> {
        let state = self.lock();
        (state.end == Some(Ok(()))).then_some(state.bytes)
    }

    /// The same in a coding, if that was begun.
    pub(crate) fn coded(&self, coding: Coding) -> Option<&Arc<Self>> {
        self.coded[coding as usize].get()
    }

    /// The same in a coding. Who is the first to want it is told to `begin`: the body is empty until then.
    pub(crate) fn coded_or(&self, coding: Coding, begin: impl FnOnce(&Arc<Self>)) -> Arc<Self> {
        let mut is_new = false;
        let coded = self.coded[coding as usize].get_or_init(|| {
            is_new = true;
            Arc::default()
        });
        if is_new {
            begin(coded);
        }
        Arc::clone(coded)
    }

    /// How many bytes it has in codings in which it is whole.
    pub(crate) fn coded_bytes(&self) -> u64 {
        self.coded.iter().filter_map(|coded| coded.get()?.length()).sum()
    }

    /// All of it, if it is one piece, or can be made one.
    pub(crate) fn whole(&self) -> Option<Bytes> {
        let mut state = self.lock();
        let is_whole = state.end == Some(Ok(())) && state.first == 0 && !state.is_passed_on;
        if is_whole && state.pieces.len() > 1 && state.held <= JOINED {
            state.join();
        }
        match state.pieces.len() {
            0 if is_whole => Some(Bytes::new()),
            1 if is_whole => state.pieces.front().cloned(),
            _ => None,
        }
    }

    /// All pieces that are here.
    pub(crate) fn pieces(&self) -> Vec<Bytes> {
        self.lock().pieces.iter().cloned().collect()
    }

    /// Whether it broke off.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.lock().end, Some(Err(_)))
    }

    /// Whether it is only passed on.
    pub(crate) fn is_passed_on(&self) -> bool {
        self.lock().is_passed_on
    }

    /// From here on it is only passed on: pieces that all readers have seen are dropped.
    pub(crate) fn pass_on(&self) {
        let mut state = self.lock();
        state.is_passed_on = true;
        state.drop_seen();
    }

    /// Waits until the slowest reader of a body that is passed on has caught up. One that is kept has always room.
    pub(crate) async fn room(&self) -> Result<(), Unwanted> {
        poll_fn(|cx| {
            let mut state = self.lock();
            if !state.is_passed_on || state.held <= WINDOW && !state.readers.is_empty() {
                return Poll::Ready(Ok(()));
            }
            if state.readers.is_empty() {
                return Poll::Ready(Err(Unwanted));
            }
            state.source = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Reads it from its beginning. To be called before it is passed on.
    pub(crate) fn read(self: &Arc<Self>) -> Reader {
        self.read_part(0, None)
    }

    /// Reads `length` bytes after the first `skip` ones.
    pub(crate) fn read_part(self: &Arc<Self>, skip: u64, length: Option<u64>) -> Reader {
        let mut state = self.lock();
        let number = state.next_reader;
        state.next_reader += 1;
        let piece = state.first;
        state.readers.insert(number, Place { piece, waker: None });
        Reader { fill: Arc::clone(self), number, skip, left: length, read: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn drop_seen(&mut self) {
        let seen = self.readers.values().map(|place| place.piece).min().unwrap_or(usize::MAX);
        while self.is_passed_on && self.first < seen {
            let Some(piece) = self.pieces.pop_front() else { break };
            self.held -= piece.len() as u64;
            self.first += 1;
        }
        if let Some(source) = self.source.take() {
            source.wake();
        }
    }

    /// Makes one piece of all, in pages if it is large enough, where that leaves the readers where they are: those who have not begun, or are through.
    fn join(&mut self) {
        let count = self.pieces.len();
        if count == 0 || self.readers.values().any(|place| place.piece != 0 && place.piece != count) {
            return;
        }
        let whole = pages::moved(self.pieces.iter()).unwrap_or_else(|| {
            let mut whole = Vec::with_capacity(self.pieces.iter().map(Bytes::len).sum());
            self.pieces.iter().for_each(|piece| whole.extend_from_slice(piece));
            Bytes::from(whole)
        });
        self.pieces = VecDeque::from([whole]);
        for place in self.readers.values_mut().filter(|place| place.piece == count) {
            place.piece = 1;
        }
    }
}

/// Wakes every reader that waits, after the lock is given back.
fn wake_all(mut state: MutexGuard<'_, State>) {
    let wakers: Vec<_> = state.readers.values_mut().filter_map(|place| place.waker.take()).collect();
    drop(state);
    wakers.into_iter().for_each(Waker::wake);
}

/// One who reads.
#[derive(Debug)]
pub(crate) struct Reader {
    fill: Arc<Fill>,
    number: u64,
    /// Bytes to be passed over first.
    skip: u64,
    /// Bytes to be read at most.
    left: Option<u64>,
    read: u64,
}

impl Frames for Reader {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let reader = self.get_mut();
        let mut state = reader.fill.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        let Some(place) = state.readers.get_mut(&reader.number) else { return Poll::Ready(None) };
        while reader.left != Some(0) {
            let Some(piece) = state.pieces.get(place.piece - state.first) else {
                return match state.end {
                    Some(Ok(())) => Poll::Ready(None),
                    Some(Err(failure)) => Poll::Ready(Some(Err(failure))),
                    None => {
                        place.waker = Some(cx.waker().clone());
                        Poll::Pending
                    }
                };
            };
            place.piece += 1;
            let whole = piece.len() as u64;
            if reader.skip >= whole {
                reader.skip -= whole;
                continue;
            }
            let end = reader.left.map_or(whole, |left| whole.min(reader.skip + left));
            let data = piece.slice(within(reader.skip)..within(end));
            reader.skip = 0;
            reader.read += data.len() as u64;
            reader.left = reader.left.map(|left| left - data.len() as u64);
            if state.is_passed_on {
                state.drop_seen();
            }
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.left == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        match (self.left, self.fill.length()) {
            (Some(left), _) => SizeHint::with_exact(left),
            (None, Some(length)) => SizeHint::with_exact(length.saturating_sub(self.read + self.skip)),
            (None, None) => SizeHint::default(),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.fill.lock();
        state.readers.remove(&self.number);
        if state.readers.is_empty() {
            // An empty map keeps a node, which all objects would have for good.
            state.readers = BTreeMap::new();
        }
        state.drop_seen();
    }
}

/// A place in a piece, which is in memory and so no longer than memory.
fn within(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Bodies up to this length become one piece when they are whole.
const JOINED: u64 = pages::MOST as u64;

/// Bytes of a body that is only passed on which may wait for its slowest reader.
const WINDOW: u64 = 256 << 10;

#[cfg(test)]
mod tests {
    use http::{Body, Stage};

    use super::*;

    fn data(reader: Reader) -> impl Future<Output = Result<Bytes, Failure>> {
        Body::stream(reader).collect(1 << 20)
    }

    #[tokio::test]
    async fn readers_see_all_of_it_whenever_they_come() {
        let fill = Arc::new(Fill::default());
        let early = fill.read();
        fill.push(Bytes::from_static(b"abc"));
        let between = fill.read();
        fill.push(Bytes::from_static(b"def"));
        let early = tokio::spawn(data(early));
        tokio::task::yield_now().await;
        fill.finish(Ok(()));
        for reader in [early.await.unwrap(), data(between).await, data(fill.read()).await] {
            assert_eq!(reader.unwrap(), "abcdef");
        }
        assert_eq!(fill.length(), Some(6));
    }

    #[tokio::test]
    async fn a_part_is_what_it_says_across_pieces() {
        let fill = Arc::new(Fill::default());
        for piece in ["abc", "def", "ghi"] {
            fill.push(Bytes::from_static(piece.as_bytes()));
        }
        for (skip, length, expected) in
            [(0, 1, "a"), (2, 2, "cd"), (3, 3, "def"), (2, 6, "cdefgh"), (8, 1, "i")]
        {
            assert_eq!(data(fill.read_part(skip, Some(length))).await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn who_waits_for_a_body_that_breaks_off_is_told() {
        let fill = Arc::new(Fill::default());
        fill.push(Bytes::from_static(b"abc"));
        let reader = tokio::spawn(data(fill.read()));
        tokio::task::yield_now().await;
        fill.finish(Err(Failure::Closed(Stage::Body)));
        assert_eq!(reader.await.unwrap(), Err(Failure::Closed(Stage::Body)));
        assert!(fill.is_broken() && fill.length().is_none());
    }

    #[tokio::test]
    async fn what_is_passed_on_is_dropped_once_all_have_seen_it() {
        let fill = Arc::new(Fill::default());
        let (mut quick, slow) = (Body::stream(fill.read()), fill.read());
        fill.pass_on();
        let large = Bytes::from(vec![0; within(WINDOW) + 1]);
        fill.push(large);
        quick.data().await.unwrap();
        let source = tokio::spawn({
            let fill = Arc::clone(&fill);
            async move { fill.room().await }
        });
        tokio::task::yield_now().await;
        assert!(!source.is_finished());
        drop(slow);
        assert_eq!(source.await.unwrap(), Ok(()));
        assert_eq!(fill.lock().held, 0);
        drop(quick);
        assert_eq!(fill.room().await, Err(Unwanted));
    }
}
