//! A message on its way out: its head and the pieces of its body, as fast as the connection takes them.

use std::{
    cell::Cell,
    io::{self, IoSlice},
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use hyper::{HeaderMap, body::Body as _};

use super::{Framing, chunked, outlet::Outlet};
use crate::{Body, Failure, Whole};

/// What is still to be written of a message.
pub(crate) struct Outgoing {
    /// The head, or a chunk's first line; then the piece, and what ends its chunk.
    lines: Vec<u8>,
    /// How much of the lines was written.
    at: usize,
    piece: Whole,
    tail: &'static [u8],
    /// What is left of the body; `None` once its end was taken.
    body: Option<Body>,
    /// Bytes taken from it so far.
    body_bytes: u64,
    framing: Framing,
    trailers: Trailers,
    progress: Progress,
    /// Bytes that the connection took so far.
    written: u64,
    /// Why the connection takes no more.
    broken: Option<Failure>,
}

/// What becomes of the fields after a body in chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trailers {
    Sent,
    /// Whoever reads it does not want them.
    LeftOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Nothing was written, and nothing taken from the body.
    Untouched,
    /// Nothing was written, but some of the body was taken.
    Taken,
    Underway,
    /// All of it was handed to the kernel.
    Sent,
}

impl Outgoing {
    /// Of a connection on which nothing was sent.
    pub(crate) fn new() -> Self {
        Self {
            lines: Vec::new(),
            at: 0,
            piece: Bytes::new().into(),
            tail: b"",
            body: None,
            body_bytes: 0,
            framing: Framing::None,
            trailers: Trailers::Sent,
            progress: Progress::Sent,
            written: 0,
            broken: None,
        }
    }

    /// Where heads are written to: what is there is to be sent, ahead of any body.
    pub(crate) fn lines(&mut self) -> &mut Vec<u8> {
        if self.progress == Progress::Sent {
            self.progress = Progress::Untouched;
            if self.lines.capacity() == 0 {
                self.lines = SPARE.take();
            }
        }
        &mut self.lines
    }

    /// Has a body sent after the lines. The one before it was sent.
    pub(crate) fn begin(&mut self, body: Body, framing: Framing, trailers: Trailers) {
        self.framing = framing;
        self.trailers = trailers;
        self.body = Some(body).filter(|_| framing != Framing::None);
        self.body_bytes = 0;
    }

    /// Has a body sent after lines that announce its length. The one before it was sent.
    pub(crate) fn begin_with(&mut self, body: Whole) {
        self.body_bytes = body.len() as u64;
        match body {
            Whole::Bytes(bytes) => self.append(bytes),
            Whole::File(_) => self.piece = body,
        }
    }

    /// Has bytes sent after the lines that no framing of their own belongs to. A few are cheaper to copy than to point at.
    fn append(&mut self, bytes: Bytes) {
        if bytes.len() <= COPIED {
            self.lines.extend_from_slice(&bytes);
        } else {
            self.piece = bytes.into();
        }
    }

    /// Whether bytes wait for the connection to take them.
    pub(crate) fn is_held_up(&self) -> bool {
        !self.is_written() && self.broken.is_none()
    }

    /// How the reader of the last body knows its end.
    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// Bytes that the connection took so far, of all messages.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Drops the rest of a failed body. The head and the pieces before the failure are still sent, without an end.
    pub(crate) fn break_off(&mut self) {
        self.body = None;
    }

    /// Bytes taken from the last body, as far as it came.
    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    fn is_written(&self) -> bool {
        self.at == self.lines.len() && self.piece.is_empty() && self.tail.is_empty()
    }

    pub(crate) fn is_sent(&self) -> bool {
        self.progress == Progress::Sent
    }

    pub(crate) fn broken(&self) -> Option<Failure> {
        self.broken
    }

    /// The body, if no byte of the request was written; `spare` is another one like it.
    pub(crate) fn unsent(&mut self, spare: &Option<Body>) -> Option<Body> {
        match self.progress {
            Progress::Untouched => Some(self.body.take().unwrap_or_default()),
            Progress::Taken => spare.as_ref().and_then(Body::again),
            Progress::Underway | Progress::Sent => None,
        }
    }

    /// Writes what there is and can be. A connection that takes no more is left at that: there may be a response all the same.
    ///
    /// # Errors
    /// When the body breaks off.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, io: &mut impl Outlet) -> Result<(), Failure> {
        while !self.is_sent() && self.broken.is_none() {
            let taken = self.take_piece(cx)?;
            let is_written = self.is_written();
            let moved = if is_written { Pin::new(&mut *io).poll_flush(cx) } else { self.poll_write(cx, io) };
            match moved {
                Poll::Pending => break,
                Poll::Ready(Err(error)) => self.broken = Some(Failure::from_io(&error)),
                // The body is waited for.
                Poll::Ready(Ok(())) if is_written && taken.is_pending() => break,
                Poll::Ready(Ok(())) if is_written && self.body.is_none() => {
                    self.progress = Progress::Sent;
                    if self.lines.capacity() <= GATHERED {
                        SPARE.set(mem::take(&mut self.lines));
                    }
                }
                Poll::Ready(Ok(())) => {}
            }
        }
        Ok(())
    }

    /// Takes the body's next pieces if there is room for them; pending if there is none yet.
    fn take_piece(&mut self, cx: &mut Context<'_>) -> Result<Poll<()>, Failure> {
        while self.piece.is_empty() && self.tail.is_empty() && self.lines.len() < GATHERED {
            let Some(body) = &mut self.body else { break };
            let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) else { return Ok(Poll::Pending) };
            if self.progress == Progress::Untouched {
                self.progress = Progress::Taken;
            }
            let Some(frame) = frame else {
                self.end(&HeaderMap::new())?;
                break;
            };
            match frame.map_err(|_| Failure::Source)?.into_data() {
                Ok(data) => self.add(data)?,
                Err(frame) => self.end(&frame.into_trailers().unwrap_or_default())?,
            }
        }
        Ok(Poll::Ready(()))
    }

    fn add(&mut self, data: Bytes) -> Result<(), Failure> {
        self.body_bytes += data.len() as u64;
        let mut tail: &[u8] = b"";
        match &mut self.framing {
            Framing::Chunked if !data.is_empty() => {
                chunked::write_size(&mut self.lines, data.len());
                tail = chunked::LINE_END;
            }
            Framing::Length(left) => *left = left.checked_sub(data.len() as u64).ok_or(Failure::Source)?,
            _ => {}
        }
        self.append(data);
        if self.piece.is_empty() {
            self.lines.extend_from_slice(tail);
        } else {
            self.tail = tail;
        }
        Ok(())
    }

    /// The body is over.
    fn end(&mut self, trailers: &HeaderMap) -> Result<(), Failure> {
        self.body = None;
        match self.framing {
            Framing::Chunked if self.trailers == Trailers::Sent => {
                chunked::write_end(&mut self.lines, trailers);
            }
            Framing::Chunked => chunked::write_end(&mut self.lines, &HeaderMap::new()),
            // Shorter than was announced.
            Framing::Length(1..) => return Err(Failure::Source),
            _ => {}
        }
        Ok(())
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, io: &mut impl Outlet) -> Poll<io::Result<()>> {
        let is_one = self.piece.is_empty() && self.tail.is_empty();
        let lines = &self.lines[self.at..];
        let in_file = if is_one { None } else { self.piece.in_file() };
        let sent = in_file.and_then(|place| io.poll_send_file(cx, lines, place, self.piece.len()));
        let written = ready!(match sent {
            Some(sent) => sent,
            None if is_one => Pin::new(io).poll_write(cx, lines),
            None => {
                let parts = [lines, self.piece.in_memory()?, self.tail].map(IoSlice::new);
                Pin::new(io).poll_write_vectored(cx, &parts)
            }
        })?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        self.progress = Progress::Underway;
        self.written += written as u64;
        let of_lines = written.min(self.lines.len() - self.at);
        self.at += of_lines;
        if self.at == self.lines.len() {
            self.lines.clear();
            self.at = 0;
        }
        let of_piece = (written - of_lines).min(self.piece.len());
        self.piece.advance(of_piece);
        self.tail = &self.tail[written - of_lines - of_piece..];
        Poll::Ready(Ok(()))
    }
}

/// Bytes that are rather copied than written from where they are: a second place to write from costs the kernel about as much.
const COPIED: usize = 4096;
/// Bytes of small pieces that are gathered for one write.
const GATHERED: usize = 16 * 1024;

thread_local! {
    /// A buffer for the lines of whichever message is next: connections that are idle have none.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}
