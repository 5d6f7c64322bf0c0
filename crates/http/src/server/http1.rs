//! One HTTP/1.1 connection of a server: request after request, in one task that does all of its reading and writing.
//!
//! It reads a head, polls the handler, gives it the pieces of the request's body that it wants, and writes the response. What cannot be
//! a request gets an answer that says why, and the connection ends, as nobody can say where the next request would begin.

mod answer;
mod arrival;

use std::{
    cell::Cell,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf, BytesMut};
use hyper::{
    Method, Response, StatusCode, Version,
    header::{self, HeaderValue},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use self::arrival::Arrival;
use super::{
    at_once::Glance, context::Context as Shared, delivery::Delivery, handler::Handler, interim::Waiting,
    patience::Patience, peer::Peer, wire::Wire,
};
use crate::{
    Body, Failure,
    http1::{Framing, Malformed, Outgoing, Persistence, RequestHead, Trailers, chunked, head},
    tunnel::{Begun, Downstream},
};

/// A connection of a server.
pub(super) struct Http1<S> {
    stream: S,
    peer: Peer,
    /// Tells of another protocol, in each response.
    alternative: Option<HeaderValue>,
    /// What has come in and is not taken yet.
    input: BytesMut,
    /// The client sends no more, or nothing that could be read.
    is_over: bool,
    head: head::End,
    /// The request's body, until all of it has come.
    arrival: Option<Arrival>,
    outgoing: Outgoing,
    interim: Arc<Waiting>,
    patience: Patience,
}

/// How a connection goes on.
enum Next {
    Request,
    /// It ends, in order.
    End,
    /// It ends too, but the client is still sending: an end with bytes unread would take the last response back.
    Linger,
    /// It ends, as there is nobody at the other end, or a response broke off.
    Cut,
    /// Something else than HTTP begins.
    Tunnel(Downstream),
}

/// A request whose head was taken.
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and a box for each request would cost more"
)]
enum Taken<N> {
    /// Its response is on the way, and the handler noted this.
    Answered(Option<N>),
    Request(RequestHead),
}

/// Why there is no further request.
enum NoHead {
    Gone,
    Slow,
    Malformed(Malformed),
}

impl<S: Wire> Http1<S> {
    pub(super) fn new<H>(
        stream: S,
        peer: Peer,
        alternative: Option<HeaderValue>,
        context: &Shared<H>,
    ) -> Self {
        Self {
            stream,
            peer,
            alternative,
            input: BytesMut::new(),
            is_over: false,
            head: head::End::default(),
            arrival: None,
            outgoing: Outgoing::new(),
            interim: Arc::default(),
            patience: Patience::new(context.config.read_timeout),
        }
    }

    /// Serves requests until the connection ends, or the server is stopped and this one is idle.
    pub(super) async fn serve<H: Handler>(mut self, context: &Shared<H>) {
        let mut ended = pin!(context.idle_ended());
        loop {
            self.patience.begin();
            let next = match std::future::poll_fn(|cx| self.poll_head(cx, ended.as_mut())).await {
                Ok(length) => self.exchange(context, length).await,
                Err(NoHead::Gone) => Next::End,
                Err(NoHead::Slow) => {
                    self.refuse(StatusCode::REQUEST_TIMEOUT, "The request did not come in time.").await
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

    /// Reads until the next head is whole, and says how long it is.
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

    /// One request, whose head is so long, and its response.
    async fn exchange<H: Handler>(&mut self, context: &Shared<H>, length: usize) -> Next {
        let before = self.outgoing.written();
        let taken = self.take_head(context, length);
        let RequestHead { mut request, framing, persistence } = match taken {
            Ok(Taken::Answered(note)) => {
                let sent = self.sent().await;
                self.tell(&*context.handler, note, before, sent);
                return sent.map_or(Next::Cut, |()| Next::Request);
            }
            Ok(Taken::Request(head)) => head,
            Err(why) => return self.refuse(status_for(why), &sentence(why)).await,
        };
        if framing == Framing::Chunked && !chunked::Decoder::can_begin(&self.input) {
            return self.refuse(status_for(Malformed::Framing), &sentence(Malformed::Framing)).await;
        }
        let (method, version) = (request.method().clone(), request.version());
        let trailers = answer::trailers(request.headers());
        let body = self.arrives(framing, version, request.headers(), context.config.read_timeout);
        request.extensions_mut().insert(self.peer);
        if version == Version::HTTP_11 {
            request.extensions_mut().insert(self.interim.begin());
        }
        let answered = {
            // In a box, so that a connection that is idle takes no room for it.
            let mut handling = Box::pin(context.handler.handle(request.map(|()| body)));
            std::future::poll_fn(|cx| self.poll_answered(cx, handling.as_mut())).await
        };
        self.interim.end();
        let Some(Ok(mut response)) = answered else { return Next::Cut };
        if let Some(alternative) = &self.alternative {
            response.headers_mut().entry(header::ALT_SVC).or_insert_with(|| alternative.clone());
        }
        let tunnel = response.extensions().get::<Downstream>().cloned();
        let note = response.extensions_mut().remove::<H::Note>();
        let is_last = self.is_over || context.stop.is_asked();
        let persistence = if is_last { Persistence::Closed } else { persistence };
        let persistence =
            answer::write(&mut self.outgoing, response, (&method, version), persistence, trailers);
        let sent = self.sent().await;
        self.tell(&*context.handler, note, before, sent);
        if sent.is_none() {
            return Next::Cut;
        }
        match (tunnel, persistence) {
            (Some(tunnel), _) => Next::Tunnel(tunnel),
            (None, Persistence::Kept) if self.rest().await => Next::Request,
            _ if self.arrival.is_some() || !self.input.is_empty() => Next::Linger,
            _ => Next::End,
        }
    }

    /// Tells the handler what became of a response; it began with so many bytes written before it.
    fn tell<H: Handler>(&self, handler: &H, note: Option<H::Note>, before: u64, sent: Option<()>) {
        if let Some(note) = note {
            let bytes = Some(self.outgoing.written() - before);
            let body_bytes = self.outgoing.body_bytes();
            handler.sent(note, Delivery { is_whole: sent.is_some(), body_bytes, bytes });
        }
    }

    /// Takes a request's head off the input: answered already, if the handler can do that with a look at its lines.
    fn take_head<H: Handler>(
        &mut self,
        context: &Shared<H>,
        length: usize,
    ) -> Result<Taken<H::Note>, Malformed> {
        let may_answer = H::ANSWERS_AT_ONCE && !context.stop.is_asked();
        let (input, outgoing) = (&self.input[..length], &mut self.outgoing);
        let (peer, alternative) = (self.peer, self.alternative.as_ref());
        let taken = head::with_lines(input, |lines| {
            let glance = may_answer.then(|| Glance::of(lines, peer)).flatten();
            match glance.and_then(|glance| answer_at_once(&*context.handler, &glance, alternative, outgoing))
            {
                Some(note) => Ok(Taken::Answered(note)),
                None => head::copied(input, lines).map(Taken::Request),
            }
        });
        if length == self.input.len() {
            self.input.clear();
        } else {
            self.input.advance(length);
        }
        taken?
    }

    /// Polls the handler, and moves what can be moved meanwhile. `None` if the client is gone.
    fn poll_answered(
        &mut self,
        cx: &mut Context<'_>,
        handling: Pin<&mut impl Future<Output = Result<Response<Body>, Failure>>>,
    ) -> Poll<Option<Result<Response<Body>, Failure>>> {
        let answered = handling.poll(cx);
        let interim = self.interim.take(cx);
        if !interim.is_empty() {
            self.outgoing.lines().extend_from_slice(&interim);
        }
        if let Poll::Ready(answered) = answered {
            return Poll::Ready(Some(answered));
        }
        if !self.poll_arrival(cx) || self.outgoing.poll(cx, &mut self.stream).is_err() {
            return Poll::Ready(None);
        }
        if self.outgoing.broken().is_some() { Poll::Ready(None) } else { Poll::Pending }
    }

    /// Sends what is to be sent. `None` if it breaks off, or nobody reads it.
    async fn sent(&mut self) -> Option<()> {
        let mut written = u64::MAX;
        std::future::poll_fn(|cx| {
            if self.outgoing.poll(cx, &mut self.stream).is_err() || self.outgoing.broken().is_some() {
                return Poll::Ready(None);
            }
            if self.outgoing.is_sent() {
                return Poll::Ready(Some(()));
            }
            if !self.poll_arrival(cx) {
                return Poll::Ready(None);
            }
            if !self.outgoing.is_held_up() {
                return Poll::Pending;
            }
            if std::mem::replace(&mut written, self.outgoing.written()) != written {
                self.patience.begin();
            }
            self.patience.poll(cx).map(|()| None)
        })
        .await
    }

    /// Answers what is not a request, and why.
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

    /// Tells the client that the connection ends, and throws away what it was still sending.
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

    /// Reads what has come; `false` if nothing more will.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if self.input.capacity() == 0 {
            self.input = SPARE.take();
        }
        if self.input.capacity() - self.input.len() < ROOM / 4 {
            self.input.reserve(ROOM);
        }
        let Poll::Ready(read) = pin!(self.stream.read_buf(&mut self.input)).poll(cx) else {
            if self.input.is_empty() && self.input.capacity() <= 2 * ROOM {
                SPARE.set(std::mem::take(&mut self.input));
            }
            return Poll::Pending;
        };
        self.is_over = matches!(read, Ok(0) | Err(_));
        Poll::Ready(!self.is_over)
    }
}

/// Has a plain request answered if the handler can do that without being asked twice; returns what that noted of it.
fn answer_at_once<H: Handler>(
    handler: &H,
    request: &Glance<'_>,
    alternative: Option<&HeaderValue>,
    outgoing: &mut Outgoing,
) -> Option<Option<H::Note>> {
    let to = outgoing.lines();
    let begin = to.len();
    let Some((body, note)) = handler.at_once(request, to) else {
        to.truncate(begin);
        return None;
    };
    if let Some(alternative) = alternative {
        to.extend_from_slice(b"alt-svc: ");
        to.extend_from_slice(alternative.as_bytes());
        to.extend_from_slice(b"\r\n");
    }
    to.extend_from_slice(b"\r\n");
    outgoing.begin_with(body);
    Some(note)
}

/// What answers bytes that are not a request.
fn status_for(why: Malformed) -> StatusCode {
    match why {
        Malformed::Syntax | Malformed::Framing | Malformed::Host => StatusCode::BAD_REQUEST,
        Malformed::TooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        Malformed::Coding => StatusCode::NOT_IMPLEMENTED,
        Malformed::Version => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
    }
}

fn sentence(why: Malformed) -> String {
    format!("The request cannot be answered: {why}.")
}

thread_local! {
    /// A buffer for whichever connection reads next: those that are idle have none.
    static SPARE: Cell<BytesMut> = Cell::new(BytesMut::new());
}

/// How much is read at once.
const ROOM: usize = 16 * 1024;

/// How much is read, and for how long, from a client that goes on sending after its last response.
const LINGERING_BYTES: usize = 1 << 20;
const LINGERING: Duration = Duration::from_secs(2);
