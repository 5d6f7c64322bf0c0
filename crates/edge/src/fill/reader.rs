//! One who reads a body: from memory, from the disk where memory does not have it, and what is still to come when it comes.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use ::disk::{Piece, Wait, Written, format::BLOCK};
use http::{
    Bytes, Failure,
    body::{Frame, Frames, SizeHint},
};
use tokio::task::{JoinHandle, spawn_blocking};

use super::{Fill, State, within};

/// One who reads.
#[derive(Debug)]
pub(crate) struct Reader {
    fill: Arc<Fill>,
    number: u64,
    /// Where in the body it reads next.
    at: u64,
    /// Where it ends, if not with the body.
    end: Option<u64>,
    /// A piece that is being read from the disk.
    reading: Option<JoinHandle<Option<Result<Piece, ::disk::Error>>>>,
}

/// Where a reader's next piece is.
enum Next {
    Here(Bytes),
    OnDisk(Written),
    /// Its waker is told.
    Awaited,
    Nowhere(Option<Failure>),
}

impl Reader {
    /// Reads `length` bytes from this place on, or all that there are, as the reader of this number.
    pub(super) fn new(fill: Arc<Fill>, number: u64, at: u64, length: Option<u64>) -> Self {
        let end = length.map(|length| at.saturating_add(length));
        Self { fill, number, at, end, reading: None }
    }

    /// Looks for what comes next.
    fn next(&self, state: &mut State, cx: &Context<'_>) -> Next {
        if self.is_at_end() {
            return Next::Nowhere(None);
        }
        if let Some(piece) = state.piece_at(self.at) {
            return Next::Here(piece);
        }
        let (bytes, end) = (state.bytes, state.end);
        let Some(place) = state.readers.get_mut(&self.number) else { return Next::Nowhere(None) };
        let written = place.written.as_ref().filter(|written| self.at < written.bytes());
        // What is about to be read into memory is not read beside that.
        let is_far = self.at >= bytes + BLOCK as u64;
        match (written, end) {
            (Some(written), _) if self.at < bytes || is_far => Next::OnDisk(written.clone()),
            (_, Some(Ok(()))) if self.at >= bytes => Next::Nowhere(None),
            (_, Some(Err(failure))) => Next::Nowhere(Some(failure)),
            (_, None) if self.at >= bytes => {
                place.waker = Some(cx.waker().clone());
                Next::Awaited
            }
            // It was passed on before this reader came, or the disk gave it up.
            _ => Next::Nowhere(Some(Failure::Source)),
        }
    }

    /// Goes on behind this piece, of which it takes what it needs.
    fn take(&mut self, mut piece: Bytes) -> Bytes {
        if let Some(end) = self.end {
            piece.truncate(within(end - self.at));
        }
        self.at += piece.len() as u64;
        let mut state = self.fill.lock();
        if let Some(place) = state.readers.get_mut(&self.number) {
            place.at = self.at;
        }
        state.drop_pieces();
        piece
    }

    /// What was read from the disk. What cannot be read is not found there any more.
    fn taken(&mut self, read: Option<Result<Piece, ::disk::Error>>) -> Result<Frame<Bytes>, Failure> {
        match read {
            Some(Ok(piece)) => Ok(Frame::data(self.take(Bytes::from_owner(piece)))),
            Some(Err(error)) => {
                tracing::warn!(%error, "an object on disk cannot be read");
                self.fill.lose();
                Err(Failure::Source)
            }
            None => Err(Failure::Source),
        }
    }

    fn is_at_end(&self) -> bool {
        self.end.is_some_and(|end| self.at >= end)
    }
}

impl Frames for Reader {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let reader = self.get_mut();
        loop {
            if let Some(reading) = &mut reader.reading {
                let read = ready!(Pin::new(reading).poll(cx));
                reader.reading = None;
                return Poll::Ready(Some(reader.taken(read.ok().flatten())));
            }
            let next = reader.next(&mut reader.fill.lock(), cx);
            match next {
                Next::Here(piece) => return Poll::Ready(Some(Ok(Frame::data(reader.take(piece))))),
                Next::OnDisk(written) => {
                    let range = reader.at..reader.end.unwrap_or(u64::MAX);
                    match written.read(range.clone(), Wait::Never).next() {
                        Some(Err(error)) if error.would_wait() => {}
                        read => return Poll::Ready(Some(reader.taken(read))),
                    }
                    let read = move || written.read(range, Wait::ForDisk).next();
                    reader.reading = Some(spawn_blocking(read));
                }
                Next::Awaited => return Poll::Pending,
                Next::Nowhere(failure) => return Poll::Ready(failure.map(Err)),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.end == Some(self.at)
    }

    fn size_hint(&self) -> SizeHint {
        match self.end.or_else(|| self.fill.length()) {
            Some(end) => SizeHint::with_exact(end.saturating_sub(self.at)),
            None => SizeHint::default(),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.fill.lock();
        state.readers.remove(&self.number);
        if state.readers.is_empty() {
            // An empty map keeps a node, which all objects would have for good.
            state.readers = std::collections::BTreeMap::new();
        }
        state.drop_pieces();
    }
}
