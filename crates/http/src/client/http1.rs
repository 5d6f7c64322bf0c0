//! One request at a time on an HTTP/1.1 connection.
//!
//! Nothing runs beside the request: whoever waits for the response's head, and then whoever reads its body, writes what is left of
//! the request meanwhile. What the server sends on an idle connection, or that it closes it, is found when the connection is
//! asked for.

mod download;
mod raw;
mod relayed;

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

pub(crate) use self::{download::stamped, raw::switched, relayed::Answered};
use super::{
    interims::Interims,
    io::{Connection, Io, Recorder},
    refusal::Refusal,
    stamps::Stamps,
    trace::Trace,
    wire::Wire,
};
use crate::{
    Body, Failure, Origin, Stage,
    clock::Clock,
    http1::{Framing, Incoming, Outgoing, Persistence, Piece, ResponseHead, Trailers, framing, head},
    limits,
    patience::Patience,
};

/// A connection that is idle or carries one request. It goes from hand to hand, in a box.
pub(crate) struct Http1 {
    io: Io,
    /// What has come in and is not taken yet.
    input: BytesMut,
    /// How much is asked for at once.
    room: usize,
    outgoing: Outgoing,
    head: head::End,
    /// How much of the head was there when it was last looked at before its end.
    looked: usize,
    body: Incoming,
    stamps: Arc<Stamps>,
    life: Life,
    recorder: Arc<Recorder>,
    remote: Option<SocketAddr>,
    is_used: bool,
    /// With a server that owes the answer to a relayed request.
    patience: Option<Patience>,
    /// The Host field of requests to the one origin that a connection is for.
    host: Option<(Origin, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Idle,
    /// With a request, after which it is kept or not as far as was said.
    Busy(Persistence),
    Over,
}

impl Http1 {
    /// Speaks HTTP/1.1 over a connection to `remote`, if that has an address; nothing is sent yet.
    pub(crate) fn start(
        stream: Box<dyn Connection>,
        wire: Arc<Wire>,
        remote: Option<SocketAddr>,
        clock: Clock,
    ) -> Box<Self> {
        let recorder = Arc::new(Recorder::new(wire, clock));
        Box::new(Self {
            io: Io::new(stream, Arc::clone(&recorder)),
            input: BytesMut::new(),
            room: LEAST_ROOM,
            outgoing: Outgoing::new(),
            head: head::End::default(),
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

    /// Whether it is known that no further request can be made. What came in since the last one is either the connection's end or
    /// nobody's answer.
    pub(crate) fn is_closed(&mut self) -> bool {
        let cx = &mut Context::from_waker(Waker::noop());
        self.life != Life::Idle || self.poll_read(cx).is_ready()
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Makes a request and waits for the final response's head. The connection has to live until the body was read.
    pub(crate) async fn exchange(
        &mut self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<()>, Refusal> {
        if !self.introduce(trace) {
            return Err(Refusal::unsent(Failure::Closed(Stage::Head), request));
        }
        let (request, body) = request.into_parts();
        let spare = body.again();
        self.begin(origin, &request, body);
        match self.final_head(&request, trace).await {
            Ok(head) => Ok(head),
            Err(failure) => {
                self.life = Life::Over;
                let unsent = self.outgoing.unsent(&spare);
                Err(Refusal::new(failure, request, unsent, spare))
            }
        }
    }

    /// Puts down what a request finds here, and has its bytes stamped; whether it can be made.
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

    /// Writes what there is of the request and can be written.
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

    /// The final response's head.
    async fn final_head(&mut self, request: &Parts, trace: &mut Trace) -> Result<Response<()>, Failure> {
        let mut interims = Interims::to(&request.extensions);
        loop {
            let length = std::future::poll_fn(|cx| self.poll_head(cx)).await?;
            let Some(head) = self.take_head(length, &request.method, &mut interims)? else {
                continue;
            };
            let is_switched = head.response.status() == StatusCode::SWITCHING_PROTOCOLS;
            if is_switched && !request.headers.contains_key(UPGRADE) {
                // To what, nobody knows.
                return Err(Failure::Garbled);
            }
            self.begin_body(head.framing, head.persistence, trace);
            return Ok(head.response);
        }
    }

    /// Takes a head of this length; `None` if it is that of an interim response.
    fn take_head(
        &mut self,
        length: usize,
        to: &Method,
        interims: &mut Interims,
    ) -> Result<Option<ResponseHead>, Failure> {
        // What is copied leaves the buffer to the next response.
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

    /// The final response's head was taken: what follows is its body.
    fn begin_body(&mut self, framing: Framing, persistence: Persistence, trace: &mut Trace) {
        // If the final header came in the same read as the end of an interim response, that read is its first.
        trace.final_headers = self.stamps.first_read().or(self.recorder.last_read());
        if persistence == Persistence::Closed {
            self.life = Life::Busy(Persistence::Closed);
        }
        self.body = Incoming::new(framing);
    }

    /// Sends on, and reads until the next response's head is whole; how long that is.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, Failure>> {
        self.send(cx)?;
        loop {
            if let Some(length) = self.head.find(&self.input, head::Lines::Lenient)? {
                self.looked = 0;
                return Poll::Ready(Ok(length));
            }
            // What begins as no head does need not be waited for. Looked at when there is twice as much, no byte is looked at often.
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

    /// The next frame of the response's body; meanwhile the request is sent on.
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        self.send(cx)?;
        loop {
            match self.body.next(&mut self.input).map_err(|_| Failure::Garbled)? {
                Piece::Data(data) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Piece::Trailers(fields) => return Poll::Ready(Some(Ok(Frame::trailers(fields)))),
                Piece::End => return Poll::Ready(None),
                Piece::Wanting => {}
            }
            let read =
                ready!(self.poll_read(cx)).map_err(|error| Failure::from_io(&error).at(Stage::Body))?;
            if read == 0 && !self.body.close() {
                return Poll::Ready(Some(Err(Failure::Closed(Stage::Body))));
            }
        }
    }

    /// The rest of a body if it is there already.
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

    /// HTTP ends here; returns what has come in behind it.
    fn switch(&mut self) -> Bytes {
        self.life = Life::Over;
        std::mem::take(&mut self.input).freeze()
    }

    /// Whether the response's body is known to be whole.
    fn is_whole(&self) -> bool {
        self.body.is_done()
    }

    /// How many bytes of the body are still to come, if that is known.
    pub(crate) fn left(&self) -> Option<u64> {
        self.body.left()
    }

    /// The response was read to its end. A request that is still being sent would be in the way of the next, and what came in
    /// behind the response answers none.
    fn finish(&mut self) {
        let is_kept = self.life == Life::Busy(Persistence::Kept);
        let is_clear = self.outgoing.is_sent() && self.input.is_empty();
        self.life = if is_kept && is_clear { Life::Idle } else { Life::Over };
    }

    /// How many bytes have come in; none at the connection's end.
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
    /// Says goodbye, as TLS has it, on a connection on which nothing else is under way. It goes out now or not at all.
    fn drop(&mut self) {
        if !matches!(self.life, Life::Busy(_)) {
            let _ = Pin::new(&mut self.io).poll_shutdown(&mut Context::from_waker(Waker::noop()));
        }
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

/// How much is asked for at once as long as it is not all there: more than most responses have, and few connections at once
/// make much of it.
const LEAST_ROOM: usize = 8 * 1024;

/// A body up to this length, if it came with its head, is copied out of the buffer, so that the next response comes into the same one.
const COPIED: usize = 4096;

#[cfg(test)]
mod tests;
