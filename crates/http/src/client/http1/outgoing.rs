//! A request on its way out: its head and the pieces of its body, as fast as the connection takes them.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use hyper::{HeaderMap, Version, body::Body as _, http::request::Parts};
use tokio::io::AsyncWrite;

use super::super::{io::Io, stamps::Stamps};
use crate::{
    Body, Failure,
    http1::{Framing, chunked, framing, head},
};

/// What is still to be written of a request.
pub(super) struct Outgoing {
    /// The head, or a chunk's first line; then the piece, and what ends its chunk.
    lines: BytesMut,
    piece: Bytes,
    tail: &'static [u8],
    /// What is left of the body; `None` once its end was taken.
    body: Option<Body>,
    framing: Framing,
    progress: Progress,
    /// Why the connection takes no more.
    broken: Option<Failure>,
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
    /// Of a connection that has made no request.
    pub(super) fn new() -> Self {
        Self {
            lines: BytesMut::new(),
            piece: Bytes::new(),
            tail: b"",
            body: None,
            framing: Framing::None,
            progress: Progress::Sent,
            broken: None,
        }
    }

    /// Begins with a request. The one before it was sent.
    pub(super) fn begin(&mut self, request: &Parts, host: &str, body: Body) {
        self.framing = framing_of(&body, &request.headers);
        self.body = Some(body).filter(|_| self.framing != Framing::None);
        self.progress = Progress::Untouched;
        let Parts { method, uri, headers, .. } = request;
        let target = uri.path_and_query().map_or("/", |path| path.as_str());
        head::write_request(&mut self.lines, method, target, host, headers, self.framing);
    }

    pub(super) fn is_sent(&self) -> bool {
        self.progress == Progress::Sent
    }

    pub(super) fn broken(&self) -> Option<Failure> {
        self.broken
    }

    /// The body, if no byte of the request was written; `spare` is another one like it.
    pub(super) fn unsent(&mut self, spare: &Option<Body>) -> Option<Body> {
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
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, io: &mut Io, stamps: &Stamps) -> Result<(), Failure> {
        while !self.is_sent() && self.broken.is_none() {
            let taken = self.take_piece(cx).inspect_err(|_| stamps.set_broken_off())?;
            let is_written = self.lines.is_empty() && self.piece.is_empty() && self.tail.is_empty();
            let moved = if is_written { Pin::new(&mut *io).poll_flush(cx) } else { self.poll_write(cx, io) };
            match moved {
                Poll::Pending => break,
                Poll::Ready(Err(error)) => self.broken = Some(Failure::from_io(&error)),
                // The body is waited for.
                Poll::Ready(Ok(())) if is_written && taken.is_pending() => break,
                Poll::Ready(Ok(())) if is_written && self.body.is_none() => {
                    stamps.set_sent();
                    self.progress = Progress::Sent;
                }
                Poll::Ready(Ok(())) => {}
            }
        }
        Ok(())
    }

    /// Takes the body's next piece if there is none to be written; pending if it is not there yet.
    fn take_piece(&mut self, cx: &mut Context<'_>) -> Result<Poll<()>, Failure> {
        while self.piece.is_empty() && self.tail.is_empty() {
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
        match &mut self.framing {
            Framing::Chunked if !data.is_empty() => {
                chunked::write_size(&mut self.lines, data.len());
                self.tail = chunked::LINE_END;
            }
            Framing::Length(left) => *left = left.checked_sub(data.len() as u64).ok_or(Failure::Source)?,
            _ => {}
        }
        self.piece = data;
        Ok(())
    }

    /// The body is over.
    fn end(&mut self, trailers: &HeaderMap) -> Result<(), Failure> {
        self.body = None;
        match self.framing {
            Framing::Chunked => chunked::write_end(&mut self.lines, trailers),
            // Shorter than was announced.
            Framing::Length(1..) => return Err(Failure::Source),
            _ => {}
        }
        Ok(())
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, io: &mut Io) -> Poll<io::Result<()>> {
        let parts = [&self.lines[..], &self.piece[..], self.tail].map(IoSlice::new);
        let is_one = self.piece.is_empty() && self.tail.is_empty();
        let io = Pin::new(io);
        let written =
            ready!(if is_one { io.poll_write(cx, &self.lines) } else { io.poll_write_vectored(cx, &parts) })?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        self.progress = Progress::Underway;
        let of_lines = written.min(self.lines.len());
        self.lines.advance(of_lines);
        let of_piece = (written - of_lines).min(self.piece.len());
        self.piece.advance(of_piece);
        self.tail = &self.tail[written - of_lines - of_piece..];
        Poll::Ready(Ok(()))
    }
}

/// How a request's body is sent: with its length, if it or the caller knows it, and else in chunks.
fn framing_of(body: &Body, headers: &HeaderMap) -> Framing {
    if body.is_end_stream() {
        return Framing::None;
    }
    match body.size_hint().exact() {
        Some(0) => Framing::None,
        Some(length) => Framing::Length(length),
        None => match framing::of_request(Version::HTTP_11, headers) {
            Ok(Framing::Length(length)) => Framing::Length(length),
            _ => Framing::Chunked,
        },
    }
}
