//! An HTTP/1.1 connection of a server, served in one task.
//!
//! A malformed request gets an error response and the connection is closed, because the start of
//! the next request is unknown.

mod answer;
mod exchange;
mod request_body;

use std::{
    cell::Cell,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::BytesMut;
use hyper::{
    Method, Response, StatusCode, Version,
    header::{self, HeaderValue},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use self::request_body::Arrival;
use super::{context::Context as Shared, handler::Handler, interim::Waiting, peer::Peer, wire::Wire};
use crate::{
    Body, PeerIdentity,
    http1::{Framing, Malformed, Outgoing, Persistence, Trailers, head},
    kernel_timestamp::{self, TimeInKernel},
    stall_timeout::StallTimeout,
    tunnel::{Begun, Downstream},
};

pub(super) struct Http1<S> {
    stream: S,
    peer: Peer,
    caller: Option<PeerIdentity>,
    alternative: Option<HeaderValue>,
    input: BytesMut,
    waited: Option<TimeInKernel>,
    tells_waits: bool,
    room: usize,
    is_over: bool,
    head: head::HeadEnd,
    arrival: Option<Arrival>,
    outgoing: Outgoing,
    interim: Arc<Waiting>,
    patience: StallTimeout,
}

enum Next {
    Request,
    End,
    /// Closing with unread data would reset the connection and could destroy the last response.
    Linger,
    /// An abrupt close, because the client has disconnected or a response was truncated.
    Cut,
    Tunnel(Downstream),
}

enum NoHead {
    Gone,
    Slow,
    Malformed(Malformed),
}

impl<S: Wire> Http1<S> {
    pub(super) fn new<H>(
        stream: S,
        (peer, caller): (Peer, Option<PeerIdentity>),
        alternative: Option<HeaderValue>,
        context: &Shared<H>,
    ) -> Self {
        Self {
            stream,
            peer,
            caller,
            alternative,
            input: BytesMut::new(),
            waited: None,
            tells_waits: context.config.tells_waits,
            room: ROOM,
            is_over: false,
            head: head::HeadEnd::default(),
            arrival: None,
            outgoing: Outgoing::new(),
            interim: Arc::default(),
            patience: StallTimeout::new(context.config.read_timeout),
        }
    }

    pub(super) async fn serve<H: Handler>(mut self, context: &Shared<H>) {
        let mut ended = pin!(context.idle_ended());
        loop {
            self.patience.begin();
            let next = match std::future::poll_fn(|cx| self.poll_head(cx, ended.as_mut())).await {
                Ok(length) => self.exchange(context, length).await,
                Err(NoHead::Gone) => Next::End,
                Err(NoHead::Slow) => {
                    self.refuse(StatusCode::REQUEST_TIMEOUT, "The request did not arrive in time.").await
                }
                Err(NoHead::Malformed(why)) => self.refuse(status_for(why), &sentence(why)).await,
            };
            match next {
                Next::Request => {}
                Next::End => {
                    let _ = self.stream.shutdown().await;
                    return;
                }
                Next::Linger => return self.linger().await,
                // With `UntilClose`, a normal close would present the truncated response as complete.
                Next::Cut if self.outgoing.framing() == Framing::UntilClose => return self.stream.reset(),
                Next::Cut => return,
                Next::Tunnel(tunnel) => {
                    if let Some(go) = tunnel.take() {
                        go(Box::new(Begun::new(self.input.freeze(), self.stream))).await;
                    }
                    return;
                }
            }
        }
    }

    fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        ended: Pin<&mut impl Future>,
    ) -> Poll<Result<usize, NoHead>> {
        loop {
            match self.head.find(&self.input, head::Lines::Strict) {
                Ok(Some(length)) => return Poll::Ready(Ok(length)),
                Ok(None) => {}
                Err(why) => return Poll::Ready(Err(NoHead::Malformed(why))),
            }
            if self.is_over {
                return Poll::Ready(Err(NoHead::Gone));
            }
            if self.tells_waits && self.input.is_empty() {
                self.waited = self.stream.socket().and_then(kernel_timestamp::of_unread);
            }
            match self.poll_read(cx) {
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(Err(NoHead::Gone)),
                Poll::Pending => break,
            }
        }
        let is_idle = self.input.is_empty();
        if is_idle && ended.poll(cx).is_ready() {
            return Poll::Ready(Err(NoHead::Gone));
        }
        ready!(self.patience.poll(cx));
        Poll::Ready(Err(if is_idle { NoHead::Gone } else { NoHead::Slow }))
    }

    /// `None` if the body fails or the client does not read.
    async fn sent(&mut self) -> Option<()> {
        let (mut written, mut is_whole) = (u64::MAX, true);
        std::future::poll_fn(|cx| {
            while self.outgoing.poll(cx, &mut self.stream).is_err() {
                is_whole = false;
                self.outgoing.break_off();
            }
            if self.outgoing.broken().is_some() {
                return Poll::Ready(None);
            }
            if self.outgoing.is_sent() {
                return Poll::Ready(is_whole.then_some(()));
            }
            if !self.poll_arrival(cx) {
                return Poll::Ready(None);
            }
            // Traffic forwarded by a member may pause as long as its connection responds to pings.
            if !self.outgoing.is_held_up() || self.caller.is_some() {
                return Poll::Pending;
            }
            if std::mem::replace(&mut written, self.outgoing.written()) != written {
                self.patience.begin();
            }
            self.patience.poll(cx).map(|()| None)
        })
        .await
    }

    async fn refuse(&mut self, status: StatusCode, why: &str) -> Next {
        let mut response = Response::new(Body::whole(format!("{why}\n")));
        *response.status_mut() = status;
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        let asked = (&Method::GET, Version::HTTP_11);
        answer::write(&mut self.outgoing, response, asked, Persistence::Closed, Trailers::LeftOut);
        self.sent().await.map_or(Next::Cut, |()| Next::Linger)
    }

    async fn linger(mut self) {
        let ending = async {
            let mut taken = 0;
            let mut is_open = self.stream.shutdown().await.is_ok();
            while is_open && taken < LINGERING_BYTES {
                self.input.clear();
                let read = self.stream.read_buf(&mut self.input).await.unwrap_or(0);
                is_open = read > 0;
                taken += read;
            }
        };
        let _ = tokio::time::timeout(LINGERING, ending).await;
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if self.input.capacity() == 0 {
            self.input = SPARE.take();
        }
        if self.input.capacity() - self.input.len() < self.room / 4 {
            self.input.reserve(self.room);
        }
        let room = self.input.capacity() - self.input.len();
        let Poll::Ready(read) = pin!(self.stream.read_buf(&mut self.input)).poll(cx) else {
            if self.input.is_empty() {
                let buffer = std::mem::take(&mut self.input);
                if buffer.capacity() <= 2 * ROOM {
                    SPARE.set(buffer);
                }
                self.room = ROOM;
            }
            return Poll::Pending;
        };
        if matches!(read, Ok(bytes) if bytes == room) {
            self.room = (2 * self.room).min(MOST_ROOM);
        }
        self.is_over = matches!(read, Ok(0) | Err(_));
        Poll::Ready(!self.is_over)
    }
}

fn status_for(why: Malformed) -> StatusCode {
    match why {
        Malformed::Syntax | Malformed::Framing | Malformed::Host => StatusCode::BAD_REQUEST,
        Malformed::TooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        Malformed::Coding => StatusCode::NOT_IMPLEMENTED,
        Malformed::Version => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
    }
}

fn sentence(why: Malformed) -> String {
    format!("The request is invalid: {why}.")
}

thread_local! {
    /// A read buffer for the next active connection, so that idle connections need none.
    static SPARE: Cell<BytesMut> = Cell::new(BytesMut::new());
}

const ROOM: usize = 16 * 1024;
const MOST_ROOM: usize = 64 * 1024;

const LINGERING_BYTES: usize = 1 << 20;
const LINGERING: Duration = Duration::from_secs(2);
