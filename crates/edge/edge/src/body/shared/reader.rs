//! A reader of a body: from memory, from the disk, and from the source as pieces arrive.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use ::segment_store::{Piece, StoredBody, Wait, format::BLOCK};
use http_stack::{
    Bytes, Failure,
    body::{Frame, Frames, SizeHint},
};
use tokio::task::{JoinHandle, spawn_blocking};

use super::{SharedBody, State, within};

#[derive(Debug)]
pub(crate) struct BodyReader {
    body: Arc<SharedBody>,
    number: u64,
    at: u64,
    end: Option<u64>,
    reading: Option<JoinHandle<Option<Result<Piece, ::segment_store::Error>>>>,
}

enum NextPiece {
    Memory(Bytes),
    Disk(StoredBody),
    Pending,
    Lost(Option<Failure>),
}

impl BodyReader {
    pub(super) fn new(fill: Arc<SharedBody>, number: u64, at: u64, length: Option<u64>) -> Self {
        let end = length.map(|length| at.saturating_add(length));
        Self { body: fill, number, at, end, reading: None }
    }

    fn next(&self, state: &mut State, cx: &Context<'_>) -> NextPiece {
        if self.is_at_end() {
            return NextPiece::Lost(None);
        }
        if let Some(piece) = state.piece_at(self.at) {
            return NextPiece::Memory(piece);
        }
        let (bytes, end) = (state.bytes, state.end);
        let Some(place) = state.readers.get_mut(&self.number) else { return NextPiece::Lost(None) };
        let written = place.written.as_ref().filter(|written| self.at < written.bytes());
        // Bytes that are about to be loaded into memory are not also read from the disk here.
        let is_far = self.at >= bytes + BLOCK as u64;
        match (written, end) {
            (Some(written), _) if self.at < bytes || is_far => NextPiece::Disk(written.clone()),
            (_, Some(Ok(()))) if self.at >= bytes => NextPiece::Lost(None),
            (_, Some(Err(failure))) => NextPiece::Lost(Some(failure)),
            (_, None) if self.at >= bytes => {
                place.waker = Some(cx.waker().clone());
                NextPiece::Pending
            }
            // The body was passed on before this reader joined, or the disk has evicted it.
            _ => NextPiece::Lost(Some(Failure::Source)),
        }
    }

    fn advance(&mut self, mut piece: Bytes) -> Bytes {
        if let Some(end) = self.end {
            piece.truncate(within(end - self.at));
        }
        self.at += piece.len() as u64;
        let mut state = self.body.lock();
        if let Some(place) = state.readers.get_mut(&self.number) {
            place.at = self.at;
        }
        state.drop_pieces();
        piece
    }

    /// A body that cannot be read is removed from the index of the disk.
    fn finish_disk_read(
        &mut self,
        read: Option<Result<Piece, ::segment_store::Error>>,
    ) -> Result<Frame<Bytes>, Failure> {
        match read {
            Some(Ok(piece)) => Ok(Frame::data(self.advance(Bytes::from_owner(piece)))),
            Some(Err(error)) => {
                tracing::warn!(%error, "an object on disk cannot be read");
                self.body.mark_lost();
                Err(Failure::Source)
            }
            None => Err(Failure::Source),
        }
    }

    fn is_at_end(&self) -> bool {
        self.end.is_some_and(|end| self.at >= end)
    }
}

impl Frames for BodyReader {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let reader = self.get_mut();
        loop {
            if let Some(reading) = &mut reader.reading {
                let read = ready!(Pin::new(reading).poll(cx));
                reader.reading = None;
                return Poll::Ready(Some(reader.finish_disk_read(read.ok().flatten())));
            }
            let next = reader.next(&mut reader.body.lock(), cx);
            match next {
                NextPiece::Memory(piece) => return Poll::Ready(Some(Ok(Frame::data(reader.advance(piece))))),
                NextPiece::Disk(written) => {
                    let range = reader.at..reader.end.unwrap_or(u64::MAX);
                    match written.read(range.clone(), Wait::Never).next() {
                        Some(Err(error)) if error.would_wait() => {}
                        read => return Poll::Ready(Some(reader.finish_disk_read(read))),
                    }
                    let read = move || written.read(range, Wait::ForDisk).next();
                    reader.reading = Some(spawn_blocking(read));
                }
                NextPiece::Pending => return Poll::Pending,
                NextPiece::Lost(failure) => return Poll::Ready(failure.map(Err)),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.end == Some(self.at)
    }

    fn size_hint(&self) -> SizeHint {
        match self.end.or_else(|| self.body.length()) {
            Some(end) => SizeHint::with_exact(end.saturating_sub(self.at)),
            None => SizeHint::default(),
        }
    }
}

impl Drop for BodyReader {
    fn drop(&mut self) {
        let mut state = self.body.lock();
        state.readers.remove(&self.number);
        if state.readers.is_empty() {
            // An empty map keeps a node allocated, in every object.
            state.readers = std::collections::BTreeMap::new();
        }
        state.drop_pieces();
    }
}
