//! An HTTP/1.1 connection, which carries one request at a time.
//!
//! The connection has no background task.

mod download;
mod relayed;
mod upgraded;

use std::{
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Version,
    body::{Body as _, Frame},
    header::UPGRADE,
    http::request::Parts,
};
use tokio::io::{AsyncReadExt, AsyncWrite};

pub(crate) use self::{download::stamped, relayed::Answered, upgraded::switched};
use super::{
    byte_counter::ByteCounter,
    interims::Interims,
    io::{Connection, Io, Recorder},
    send_error::SendError,
    timestamps::Stamps,
    trace::Trace,
};
use crate::{
    Body, Failure, Origin, Stage,
    clock::Clock,
    http1::{Chunk, Framing, Incoming, Outgoing, Persistence, ResponseHead, Trailers, framing, head},
    limits,
    stall_timeout::StallTimeout,
};

pub(crate) struct Http1 {
    io: Io,
    input: BytesMut,
    room: usize,
    outgoing: Outgoing,
    head: head::HeadEnd,
    looked: usize,
    body: Incoming,
    stamps: Arc<Stamps>,
    life: Life,
    recorder: Arc<Recorder>,
    remote: Option<SocketAddr>,
    is_used: bool,
    patience: Option<StallTimeout>,
    host: Option<(Origin, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Idle,
    Busy(Persistence),
    Over,
}

impl Http1 {
    pub(crate) fn start(
        stream: Box<dyn Connection>,
        wire: Arc<ByteCounter>,
        remote: Option<SocketAddr>,
        clock: Clock,
    ) -> Box<Self> {
        let recorder = Arc::new(Recorder::new(wire, clock));
        Box::new(Self {
            io: Io::new(stream, Arc::clone(&recorder)),
            input: BytesMut::new(),
            room: LEAST_ROOM,
            outgoing: Outgoing::new(),
            head: head::HeadEnd::default(),
            looked: 0,
            body: Incoming::Done,
            stamps: Arc::default(),
            life: Life::Idle,
            recorder,
            remote,
            is_used: false,
            patience: None,
            host: None,
        })
    }

    /// Data received while it is idle is a close or an unsolicited response.
    pub(crate) fn is_closed(&mut self) -> bool {
        let cx = &mut Context::from_waker(Waker::noop());
        self.life != Life::Idle || self.poll_read(cx).is_ready()
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The connection must live until the body has been read.
    pub(crate) async fn exchange(
        &mut self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<()>, SendError> {
        if !self.introduce(trace) {
            return Err(SendError::unsent(Failure::Closed(Stage::Head), request));
        }
        let (request, body) = request.into_parts();
        let spare = body.again();
        self.begin(origin, &request, body);
        match self.final_head(&request, trace).await {
            Ok(head) => Ok(head),
            Err(failure) => {
                self.life = Life::Over;
                let unsent = self.outgoing.unsent(&spare);
                Err(SendError::new(failure, request, unsent, spare))
            }
        }
    }

    fn introduce(&mut self, trace: &mut Trace) -> bool {
        trace.protocol = Some("http/1.1");
        trace.reused = Some(self.is_used);
        trace.remote = self.remote;
        if self.life != Life::Idle {
            return false;
        }
        self.is_used = true;
        self.stamps = trace.stamps();
        self.recorder.begin(Arc::clone(&self.stamps));
        true
    }

    fn begin(&mut self, origin: &Origin, request: &Parts, body: Body) {
        self.life = Life::Busy(framing::persistence(Version::HTTP_11, &request.headers));
        self.room = LEAST_ROOM;
        let host = match self.host.take() {
            Some((of, host)) if of == *origin => (of, host),
            _ => (origin.clone(), origin.authority()),
        };
        let framing = framing_of(&body, &request.headers);
        let Parts { method, uri, headers, .. } = request;
        let target = uri.path_and_query().map_or("/", |path| path.as_str());
        head::write_request(self.outgoing.lines(), method, target, &host.1, headers, framing);
        self.outgoing.begin(body, framing, Trailers::Sent);
        self.host = Some(host);
    }

    fn send(&mut self, cx: &mut Context<'_>) -> Result<(), Failure> {
        if self.outgoing.is_sent() {
            return Ok(());
        }
        self.outgoing.poll(cx, &mut self.io).inspect_err(|_| self.stamps.set_broken_off())?;
        if self.outgoing.is_sent() {
            self.stamps.set_sent();
        }
        Ok(())
    }

    async fn final_head(&mut self, request: &Parts, trace: &mut Trace) -> Result<Response<()>, Failure> {
        let mut interims = Interims::to(&request.extensions);
        loop {
            let length = std::future::poll_fn(|cx| self.poll_head(cx)).await?;
            let Some(head) = self.take_head(length, &request.method, &mut interims)? else {
                continue;
            };
            let is_switched = head.response.status() == StatusCode::SWITCHING_PROTOCOLS;
            if is_switched && !request.headers.contains_key(UPGRADE) {
                return Err(Failure::Garbled);
            }
            self.begin_body(head.framing, head.persistence, trace);
            return Ok(head.response);
        }
    }

    fn take_head(
        &mut self,
        length: usize,
        to: &Method,
        interims: &mut Interims,
    ) -> Result<Option<ResponseHead>, Failure> {
        let head = head::response(&self.input[..length], to)?;
        self.input.advance(length);
        let status = head.response.status();
        if !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS {
            return Ok(Some(head));
        }
        interims.take(status, head.response.headers())?;
        self.stamps.interim();
        Ok(None)
    }

    fn begin_body(&mut self, framing: Framing, persistence: Persistence, trace: &mut Trace) {
        // If the final head arrived in the same read as the end of an interim response, that read is its
        // first.
        trace.final_headers = self.stamps.first_read().or(self.recorder.last_read());
        if persistence == Persistence::Closed {
            self.life = Life::Busy(Persistence::Closed);
        }
        self.body = Incoming::new(framing);
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, Failure>> {
        self.send(cx)?;
        loop {
            if let Some(length) = self.head.find(&self.input, head::Lines::Lenient)? {
                self.looked = 0;
                return Poll::Ready(Ok(length));
            }
            // Rejects input that cannot start a head. The check repeats only when the input has doubled,
            // so each byte is checked a constant number of times on average.
            if self.input.len() > 2 * self.looked {
                self.looked = self.input.len();
                head::may_begin_response(&self.input)?;
            }
            let read = match self.poll_read(cx) {
                Poll::Ready(read) => read.map_err(|error| Failure::from_io(&error).at(Stage::Head))?,
                Poll::Pending => {
                    return self.outgoing.broken().map_or(Poll::Pending, |why| Poll::Ready(Err(why)));
                }
            };
            if read == 0 {
                head::may_begin_response(&self.input)?;
                let why = self.outgoing.broken().unwrap_or(Failure::Closed(Stage::Head));
                return Poll::Ready(Err(why));
            }
        }
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        self.send(cx)?;
        loop {
            match self.body.next(&mut self.input).map_err(|_| Failure::Garbled)? {
                Chunk::Data(data) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Chunk::Trailers(fields) => return Poll::Ready(Some(Ok(Frame::trailers(fields)))),
                Chunk::End => return Poll::Ready(None),
                Chunk::Wanting => {}
            }
            let read =
                ready!(self.poll_read(cx)).map_err(|error| Failure::from_io(&error).at(Stage::Body))?;
            if read == 0 && !self.body.close() {
                return Poll::Ready(Some(Err(Failure::Closed(Stage::Body))));
            }
        }
    }

    fn take_rest(&mut self) -> Option<Bytes> {
        let left = usize::try_from(self.body.left()?).ok()?;
        if left > self.input.len() {
            return None;
        }
        self.body = Incoming::Done;
        if left > COPIED {
            return Some(self.input.split_to(left).freeze());
        }
        let rest = Bytes::copy_from_slice(&self.input[..left]);
        self.input.advance(left);
        Some(rest)
    }

    fn switch(&mut self) -> Bytes {
        self.life = Life::Over;
        std::mem::take(&mut self.input).freeze()
    }

    fn is_whole(&self) -> bool {
        self.body.is_done()
    }

    pub(crate) fn left(&self) -> Option<u64> {
        self.body.left()
    }

    /// The connection is reusable only if the request has been sent completely and no unsolicited
    /// bytes follow the response.
    fn finish(&mut self) {
        let is_kept = self.life == Life::Busy(Persistence::Kept);
        let is_clear = self.outgoing.is_sent() && self.input.is_empty();
        self.life = if is_kept && is_clear { Life::Idle } else { Life::Over };
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        if self.input.capacity() - self.input.len() < self.room / 4 {
            self.input.reserve(self.room);
        }
        let room = self.input.capacity() - self.input.len();
        let read = ready!(std::pin::pin!(self.io.read_buf(&mut self.input)).poll(cx))?;
        if read == room {
            self.room = (2 * self.room).min(limits::HEADER_BYTES);
        }
        Poll::Ready(Ok(read))
    }
}

impl Drop for Http1 {
    /// Sends a TLS close_notify on an idle connection, if the socket accepts it now.
    fn drop(&mut self) {
        if !matches!(self.life, Life::Busy(_)) {
            let _ = Pin::new(&mut self.io).poll_shutdown(&mut Context::from_waker(Waker::noop()));
        }
    }
}

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

/// Larger than most responses, and small enough that concurrent connections need little memory.
const LEAST_ROOM: usize = 8 * 1024;

/// A body up to this length that arrived with its head is copied, so the buffer can be reused for the
/// next response.
const COPIED: usize = 4096;

#[cfg(test)]
mod tests;
