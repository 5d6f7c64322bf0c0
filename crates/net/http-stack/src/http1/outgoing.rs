//! An outgoing message: its head and the pieces of its body, written as the connection accepts them.

use std::{
    cell::Cell,
    io::{self, IoSlice},
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use hyper::{HeaderMap, body::Body as _};

use super::{Framing, chunked, sendfile_io::SendfileIo};
use crate::{Body, CompleteBody, Failure};

pub(crate) struct Outgoing {
    lines: Vec<u8>,
    at: usize,
    piece: CompleteBody,
    tail: &'static [u8],
    body: Option<Body>,
    body_bytes: u64,
    framing: Framing,
    trailers: Trailers,
    progress: Progress,
    written: u64,
    broken: Option<Failure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trailers {
    Sent,
    /// The recipient does not accept trailers.
    LeftOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Untouched,
    Taken,
    Underway,
    Sent,
}

impl Outgoing {
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

    pub(crate) fn lines(&mut self) -> &mut Vec<u8> {
        if self.progress == Progress::Sent {
            self.progress = Progress::Untouched;
            if self.lines.capacity() == 0 {
                self.lines = SPARE.take();
            }
        }
        &mut self.lines
    }

    pub(crate) fn begin(&mut self, body: Body, framing: Framing, trailers: Trailers) {
        self.framing = framing;
        self.trailers = trailers;
        self.body = Some(body).filter(|_| framing != Framing::None);
        self.body_bytes = 0;
    }

    pub(crate) fn begin_with(&mut self, body: CompleteBody) {
        self.body_bytes = body.len() as u64;
        match body {
            CompleteBody::Bytes(bytes) => self.append(bytes),
            CompleteBody::File(_) => self.piece = body,
        }
    }

    /// Short ones are copied, which is cheaper than a vectored write.
    fn append(&mut self, bytes: Bytes) {
        if bytes.len() <= COPIED {
            self.lines.extend_from_slice(&bytes);
        } else {
            self.piece = bytes.into();
        }
    }

    pub(crate) fn is_held_up(&self) -> bool {
        !self.is_written() && self.broken.is_none()
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// The head and the pieces before the failure are still sent, without an end.
    pub(crate) fn break_off(&mut self) {
        self.body = None;
    }

    /// Includes the bytes of an incomplete body.
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

    /// Returns the body, if no byte of the request was written; `spare` is a copy of it.
    pub(crate) fn unsent(&mut self, spare: &Option<Body>) -> Option<Body> {
        match self.progress {
            Progress::Untouched => Some(self.body.take().unwrap_or_default()),
            Progress::Taken => spare.as_ref().and_then(Body::again),
            Progress::Underway | Progress::Sent => None,
        }
    }

    /// A write error is only recorded, because there may still be a response.
    ///
    /// # Errors
    /// The body fails.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, io: &mut impl SendfileIo) -> Result<(), Failure> {
        while !self.is_sent() && self.broken.is_none() {
            let taken = self.take_piece(cx)?;
            let is_written = self.is_written();
            let moved = if is_written { Pin::new(&mut *io).poll_flush(cx) } else { self.poll_write(cx, io) };
            match moved {
                Poll::Pending => break,
                Poll::Ready(Err(error)) => self.broken = Some(Failure::from_io(&error)),
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

    /// Pending if the body has no data yet.
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

    fn end(&mut self, trailers: &HeaderMap) -> Result<(), Failure> {
        self.body = None;
        match self.framing {
            Framing::Chunked if self.trailers == Trailers::Sent => {
                chunked::write_end(&mut self.lines, trailers);
            }
            Framing::Chunked => chunked::write_end(&mut self.lines, &HeaderMap::new()),
            Framing::Length(1..) => return Err(Failure::Source),
            _ => {}
        }
        Ok(())
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, io: &mut impl SendfileIo) -> Poll<io::Result<()>> {
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

/// Pieces up to this length are copied: a second buffer in a write costs the kernel about as much.
const COPIED: usize = 4096;
const GATHERED: usize = 16 * 1024;

thread_local! {
    /// A line buffer for the next message, so that idle connections need none.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}
