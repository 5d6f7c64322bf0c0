//! An HTTP/2 connection of a server. h2 reads and writes its frames; this module serves its requests.
//!
//! A request that the handler can serve from its fields, or without waiting, is served in the
//! connection's task; any other gets a separate task. Only the connection's task reads and writes the
//! socket.

mod abuse_guard;
mod deferred_waker;
mod download;
mod exchange;
mod keepalive;
mod kernel_send_limit;
mod upload;
mod write_coalescer;

use std::{
    future::poll_fn,
    io,
    os::fd::OwnedFd,
    sync::Arc,
    task::{Context as Task, Poll, Waker, ready},
};

use bytes::Bytes;
use h2::{
    Reason, RecvStream, SendStream,
    server::{Builder, Connection, SendResponse},
};
use hyper::{
    Method, Request, Response, StatusCode,
    header::{ALT_SVC, HeaderValue},
    http::request,
};
use tokio::task::JoinSet;
use tracing::debug;

use self::{
    abuse_guard::{AbuseGuard, Ending},
    deferred_waker::DeferredWaker,
    exchange::Exchange,
    keepalive::Keepalive,
    kernel_send_limit::Backlog,
    upload::Upload,
    write_coalescer::{WriteCoalescer, gathered},
};
use super::{
    context::Context,
    delivery::Delivery,
    expect_continue::{patient, told_to_go_on},
    fast_path::RequestView,
    handler::Handler,
    http1::Http1,
    interim::Interim,
    peer::Peer,
    response_head::{self, Content},
    wire::Wire,
};
use crate::{
    Body, PeerIdentity,
    h1_over_h2::{self, H1OverH2},
    http1::{Malformed, framing},
    kernel_timestamp::{self, TimeInKernel},
    limits, request_head,
};

impl<H: Handler> Context<H> {
    pub(super) async fn serve_http2(
        self: &Arc<Self>,
        stream: impl Wire,
        (peer, caller): (Peer, Option<PeerIdentity>),
        alternative: Option<HeaderValue>,
    ) {
        let socket = stream.socket().filter(|_| self.config.needs_socket());
        let socket = socket.and_then(|socket| socket.try_clone_to_owned().ok()).map(Arc::new);
        let limit = self.config.unsent.zip(socket.clone());
        let backlog = limit.and_then(|(within, socket)| Backlog::of(socket, within));
        let (stream, sender) = gathered(stream, backlog);
        let to_its_end = async {
            let mut builder = Builder::new();
            // A member multiplexes requests of many clients, so one unread stream must not block the
            // others: the connection window covers all streams.
            let streams = if caller.is_some() { self.config.streams } else { 1 };
            let all = self.config.upload_window.saturating_mul(streams).min(LARGEST_WINDOW);
            builder
                .initial_window_size(self.config.upload_window)
                .initial_connection_window_size(all)
                .max_header_list_size(u32::try_from(limits::HEADER_BYTES).unwrap_or(u32::MAX))
                .max_concurrent_streams(self.config.streams);
            if caller.is_some() {
                builder.enable_connect_protocol();
            }
            let beginning = async { builder.handshake(stream).await.map_err(io::Error::other) };
            if let Some(connection) = self.opened(beginning, peer.address).await {
                Http2 {
                    connection,
                    context: self,
                    peer,
                    caller,
                    alternative,
                    socket: socket.filter(|_| self.config.tells_waits),
                    waited: None,
                    conduct: Arc::default(),
                    answering: JoinSet::new(),
                    quiet: Arc::default(),
                }
                .serve()
                .await;
            }
        };
        sender.drive(to_its_end).await;
    }
}

struct Http2<'c, H, S: Wire> {
    connection: Connection<WriteCoalescer<S>, Bytes>,
    context: &'c Arc<Context<H>>,
    peer: Peer,
    caller: Option<PeerIdentity>,
    alternative: Option<HeaderValue>,
    socket: Option<Arc<OwnedFd>>,
    waited: Option<TimeInKernel>,
    conduct: Arc<AbuseGuard>,
    answering: JoinSet<()>,
    quiet: Arc<DeferredWaker>,
}

impl<H: Handler, S: Wire> Http2<'_, H, S> {
    /// Ends when the client closes the connection, when a limit is violated, or after the stop
    /// signal.
    async fn serve(mut self) {
        let (conduct, patience) = (Arc::clone(&self.conduct), self.context.config.read_timeout);
        let stop = &self.context.stop;
        let pulse = self.connection.ping_pong().map(|pings| Keepalive::new(pings, patience));
        let lost = async {
            match pulse {
                Some(pulse) => pulse.lost().await,
                None => std::future::pending().await,
            }
        };
        let is_member = self.caller.is_some();
        let misconduct = async {
            loop {
                match conduct.ending(patience).await {
                    // A member forwards the behaviour of its clients, and its connection carries
                    // requests of other clients too.
                    Ending::Stalled | Ending::Abuse if is_member => {}
                    ending => return ending,
                }
            }
        };
        let ending = tokio::select! {
            biased;
            () = poll_fn(|cx| self.poll_requests(cx)) => return,
            ending = misconduct => ending,
            () = lost => Ending::Lost,
            () = stop.asked() => {
                self.connection.graceful_shutdown();
                return poll_fn(|cx| self.poll_requests(cx)).await;
            }
        };
        match ending {
            Ending::Idle => {
                self.connection.graceful_shutdown();
                let _ = tokio::time::timeout(patience, poll_fn(|cx| self.poll_requests(cx))).await;
            }
            Ending::Stalled | Ending::Abuse | Ending::Lost => {
                debug!(client = %self.peer.address, ?ending, "closing a connection abruptly");
            }
        }
    }

    fn poll_requests(&mut self, cx: &mut Task<'_>) -> Poll<()> {
        while let Poll::Ready(Some(_)) = self.answering.poll_join_next(cx) {}
        self.waited = self.socket.as_ref().and_then(kernel_timestamp::of_unread);
        self.quiet.begin(cx);
        let waker = Waker::from(Arc::clone(&self.quiet));
        let ended = self.poll_connection(&mut Task::from_waker(&waker));
        self.quiet.end();
        ended
    }

    fn poll_connection(&mut self, cx: &mut Task<'_>) -> Poll<()> {
        loop {
            self.quiet.look();
            match ready!(self.connection.poll_accept(cx)) {
                Some(Ok((request, respond))) => self.begin(request, respond),
                Some(Err(error)) => {
                    debug!(client = %self.peer.address, %error, "an HTTP/2 connection ended");
                    return Poll::Ready(());
                }
                None => return Poll::Ready(()),
            }
        }
    }

    fn begin(&mut self, request: Request<RecvStream>, respond: SendResponse<Bytes>) {
        let (head, upload) = request.into_parts();
        if self.caller.is_some() && h1_over_h2::is_asked_for(&head) {
            return self.nest(upload, respond);
        }
        if let Err(why) = request_head::check_http2(&head) {
            return self.refuse(why, respond);
        }
        let handler = &self.context.handler;
        if H::HAS_FAST_PATH
            && upload.is_end_stream()
            && let Some(glance) = RequestView::of_fields(
                &head.method,
                &head.uri,
                &head.headers,
                (self.peer, self.caller.as_ref()),
            )
            && let Some((response, note)) = handler.try_respond(&glance)
        {
            return self.answer(&head.method, response, note, respond);
        }
        self.handle(head, upload, respond);
    }

    /// Resets the stream of a malformed request. If only its host is invalid or ambiguous, the response
    /// is 400.
    fn refuse(&mut self, why: Malformed, mut respond: SendResponse<Bytes>) {
        if why != Malformed::Host {
            // The abuse limit counts it like a canceled request.
            drop(self.conduct.begin());
            return respond.send_reset(Reason::PROTOCOL_ERROR);
        }
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        self.answer(&Method::GET, response, None, respond);
    }

    fn nest(&mut self, upload: RecvStream, mut respond: SendResponse<Bytes>) {
        let Ok(stream) = respond.send_response(Response::new(()), false) else { return };
        let mut exchange = self.conduct.begin();
        exchange.answered();
        let stream = H1OverH2::agreed_to(stream, upload, exchange);
        let (context, whose) = (Arc::clone(self.context), (self.peer, self.caller.clone()));
        self.answering.spawn(async move { Http1::new(stream, whose, None, &context).serve(&context).await });
    }

    fn answer(
        &mut self,
        method: &Method,
        response: Response<Bytes>,
        note: Option<H::Observer>,
        mut respond: SendResponse<Bytes>,
    ) {
        let (mut head, body) = response.into_parts();
        if let Some(alternative) = &self.alternative {
            head.headers.entry(ALT_SVC).or_insert_with(|| alternative.clone());
        }
        let content = response_head::prepare(&mut head, method, Some(body.len() as u64));
        let body = if content == Content::Sent { body } else { Bytes::new() };
        let (head, length) = (Response::from_parts(head, ()), body.len());
        let mut is_whole = false;
        if let Ok(mut stream) = respond.send_response(head, length == 0) {
            stream.reserve_capacity(length);
            if stream.capacity() < length {
                return self.finish(stream, body, note);
            }
            is_whole = length == 0 || stream.send_data(body, true).is_ok();
        }
        self.conduct.answered_at_once();
        if let Some(note) = note {
            let body_bytes = if is_whole { length as u64 } else { 0 };
            self.context.handler.on_delivered(note, Delivery { is_whole, body_bytes, bytes: None });
        }
    }

    fn finish(&mut self, stream: SendStream<Bytes>, body: Bytes, note: Option<H::Observer>) {
        let mut exchange = self.exchange(note);
        exchange.conduct.answered();
        self.answering.spawn(exchange.finish(stream, Body::whole(body)));
    }

    fn handle(&mut self, head: request::Parts, upload: RecvStream, respond: SendResponse<Bytes>) {
        let (interim, interims) = Interim::of_stream();
        let body = if upload.is_end_stream() {
            Body::empty()
        } else {
            let length = framing::length(&head.headers).ok().flatten();
            let upload = told_to_go_on(Upload::new(upload, length), &head.headers, &interim);
            match self.caller {
                // Traffic forwarded by a member may pause as long as its connection responds to pings,
                // like a tunnel.
                Some(_) => Body::stream(upload),
                None => patient(upload, self.context.config.read_timeout),
            }
        };
        let mut request = Request::from_parts(head, body);
        request.extensions_mut().insert(self.peer);
        if let Some(caller) = &self.caller {
            request.extensions_mut().insert(caller.clone());
        }
        request.extensions_mut().insert(interim);
        if let Some(waited) = self.waited {
            request.extensions_mut().insert(waited);
        }
        let mut answering = Box::pin(self.exchange(None).run(request, respond, interims));
        if answering.as_mut().poll(&mut Task::from_waker(Waker::noop())).is_pending() {
            self.answering.spawn(answering);
        }
    }

    fn exchange(&self, note: Option<H::Observer>) -> Exchange<H> {
        Exchange {
            handler: Arc::clone(&self.context.handler),
            conduct: self.conduct.begin(),
            alternative: self.alternative.clone(),
            note,
            is_whole: false,
        }
    }
}

/// The largest flow-control window (RFC 9113 section 6.9.1).
const LARGEST_WINDOW: u32 = (1 << 31) - 1;
