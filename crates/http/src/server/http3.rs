//! One HTTP/3 connection of a server, and one request on it.

mod checked;

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
};

use bytes::Bytes;
use h3::{
    error::{Code, StreamError},
    server::{self, RequestResolver, RequestStream},
};
use hyper::{Method, Request, Response, body::Body as _, header::EXPECT, http::request};
use quinn::ZeroRttAccepted;
use tokio::{sync::watch, task::JoinSet};
use tracing::debug;

use self::checked::Checked;
use super::{
    context::Context,
    handler::{Handler, answered},
    head::{self, Content},
    interim::Interim,
    peer::Peer,
    upload::{patient, told_to_go_on},
    watched::watched,
};
use crate::{
    Body, Failure, Scheme,
    body::begun::Begun,
    http1::framing,
    http3::{Connection, Incoming, Outgoing, RecvStream, announced},
    limits,
};

type Resolver = RequestResolver<Connection, Bytes>;
type Downstream = RequestStream<h3_quinn::SendStream<Bytes>, Bytes>;
type Upstream = RequestStream<RecvStream, Bytes>;

impl<H: Handler> Context<H> {
    /// Serves an HTTP/3 connection to its end. How it ended is the client's business. `handshake` is one that is not over yet.
    pub(super) async fn serve_http3(
        self: &Arc<Self>,
        quic: quinn::Connection,
        handshake: Option<ZeroRttAccepted>,
    ) {
        let client = quic.remote_address();
        if let Err(error) = self.requests(quic, handshake).await {
            debug!(%client, %error, "an HTTP/3 connection ended");
        }
    }

    /// Accepts requests until the client has gone, or the server is stopped and those in flight are finished.
    async fn requests(
        self: &Arc<Self>,
        quic: quinn::Connection,
        handshake: Option<ZeroRttAccepted>,
    ) -> Result<(), h3::error::ConnectionError> {
        let (over, is_over) = watch::channel(handshake.is_none());
        let mut handshake = pin!(until_over(&quic, handshake));
        let peer = Peer { address: quic.remote_address(), scheme: Scheme::Https };
        let mut connection = server::builder()
            .max_field_section_size(limits::HEADER_BYTES as u64)
            .send_grease(false)
            .build::<_, Bytes>(Connection::new(quic.clone()))
            .await?;
        // Dropped with this connection, which cuts the requests off.
        let mut answering = JoinSet::new();
        let most = usize::try_from(self.config.streams).unwrap_or(usize::MAX);
        let mut is_stopping = false;
        // Once the client was told which requests are the last, those that come after them are not begun.
        while !is_stopping || !answering.is_empty() {
            tokio::select! {
                // A client that opens and resets streams faster than they are answered waits here.
                accepted = connection.accept(), if answering.len() < most => match accepted? {
                    Some(resolver) => {
                        let (context, is_over) = (Arc::clone(self), is_over.clone());
                        answering.spawn(async move { context.exchange(resolver, peer, is_over).await });
                    }
                    None => break,
                },
                Some(_) = answering.join_next() => {}
                () = handshake.as_mut(), if !*over.borrow() => drop(over.send_replace(true)),
                () = self.stop.asked(), if !is_stopping => {
                    is_stopping = true;
                    connection.shutdown(0).await?;
                }
                // Its transport may be kept alive by the client for as long as that likes.
                () = tokio::time::sleep(self.config.read_timeout), if answering.is_empty() => {
                    connection.shutdown(0).await?;
                    break;
                }
            }
        }
        while answering.join_next().await.is_some() {}
        flushed(&quic).await;
        Ok(())
    }

    /// One request and its response.
    async fn exchange(&self, resolver: Resolver, peer: Peer, handshake: watch::Receiver<bool>) {
        let head = tokio::time::timeout(self.config.read_timeout, resolver.resolve_request());
        let Ok(Ok((head, stream))) = head.await else { return };
        let (down, up) = stream.split();
        let mut outgoing = Outgoing::new(down, Code::H3_INTERNAL_ERROR, self.config.read_timeout);
        let (malformed, is_malformed) = watch::channel(false);
        tokio::select! {
            () = self.respond(head, (up, malformed), &mut outgoing, (peer, handshake), &is_malformed) => {}
            () = until_found(is_malformed.clone()) => {}
        }
        if *is_malformed.borrow() {
            outgoing.would_end_with(Code::H3_MESSAGE_ERROR);
        }
    }

    /// Handles a request and sends the response. Stops if the request body is malformed.
    async fn respond(
        &self,
        head: Request<()>,
        up: (Upstream, watch::Sender<bool>),
        outgoing: &mut Outgoing<Downstream>,
        (peer, mut handshake): (Peer, watch::Receiver<bool>),
        is_malformed: &watch::Receiver<bool>,
    ) {
        // Who saw the first datagrams of another client can send them again, but not finish the handshake (RFC 8470 section 3).
        if !head.method().is_safe() && handshake.wait_for(|is_over| *is_over).await.is_err() {
            return;
        }
        let (mut head, ()) = head.into_parts();
        let (interim, interims) = Interim::of_stream();
        head.extensions.insert(peer);
        let method = head.method.clone();
        let Ok(body) = self.upload(&head, up, &interim).await else { return };
        head.extensions.insert(interim);
        let handling = answered(&*self.handler, Request::from_parts(head, body), peer);
        let mut handling = pin!(handling);
        let response = loop {
            tokio::select! {
                biased;
                interim = interims.coming() => {
                    if outgoing.stream().send_response(interim).await.is_err() {
                        return;
                    }
                }
                response = handling.as_mut() => break response,
            }
        };
        // Those that it sent just before it answered.
        while let Some(interim) = interims.next() {
            if outgoing.stream().send_response(interim).await.is_err() {
                return;
            }
        }
        drop(interims);
        if *is_malformed.borrow() {
            return;
        }
        // A final one that says that another follows is none.
        if let Ok(response) = response
            && !response.status().is_informational()
        {
            // What the client does not take any more is its own business.
            let _ = answer(outgoing, watched(response, &self.handler), &method).await;
        }
    }

    /// The request's body. HTTP/3 does not tell with the head whether there is one, so that its beginning or its end is waited
    /// for where the method has none as a rule; a proxy must not add a body to a GET.
    async fn upload(
        &self,
        head: &request::Parts,
        (up, malformed): (Upstream, watch::Sender<bool>),
        interim: &Interim,
    ) -> Result<Body, Failure> {
        let length = announced(&head.headers)?;
        let mut incoming = Checked::new(Incoming::new(up, length, ()), malformed);
        let patience = self.config.read_timeout;
        let is_held_back = framing::has_token(&head.headers, &EXPECT, "100-continue");
        let has_none = !is_held_back && !matches!(head.method, Method::POST | Method::PUT | Method::PATCH);
        let first = if length == Some(0) || has_none {
            let first = poll_fn(|cx| Pin::new(&mut incoming).poll_frame(cx));
            Poll::Ready(tokio::time::timeout(patience, first).await.map_err(|_| Failure::Timeout)?)
        } else {
            // A body that arrived with the head may prove malformed before the handler runs.
            poll_fn(|cx| Poll::Ready(Pin::new(&mut incoming).poll_frame(cx))).await
        };
        Ok(match first {
            Poll::Pending => patient(told_to_go_on(incoming, &head.headers, interim), patience),
            Poll::Ready(None) => Body::empty(),
            Poll::Ready(Some(first)) => Body::stream(Begun::new(Ok(first?), patient(incoming, patience))),
        })
    }
}

/// Waits until the request body proves malformed.
async fn until_found(mut is_malformed: watch::Receiver<bool>) {
    if is_malformed.wait_for(|is_malformed| *is_malformed).await.is_err() {
        // The body was dropped: nothing can set the flag.
        std::future::pending::<()>().await;
    }
}

async fn answer(
    outgoing: &mut Outgoing<Downstream>,
    response: Response<Body>,
    method: &Method,
) -> Result<(), StreamError> {
    let (mut head, body) = response.into_parts();
    head::clear(&mut head.headers);
    let content = head::prepare(&mut head, method, body.size_hint().exact());
    outgoing.stream().send_response(Response::from_parts(head, ())).await?;
    let body = if content == Content::Sent { body } else { Body::empty() };
    // A body that breaks off resets the stream.
    if outgoing.send(body).await.is_err() {
        head::has_left().await;
    }
    Ok(())
}

/// Waits until a handshake is over. One that failed is the connection's end, and never over.
async fn until_over(quic: &quinn::Connection, handshake: Option<ZeroRttAccepted>) {
    if let Some(handshake) = handshake {
        handshake.await;
    }
    if quic.close_reason().is_some() {
        std::future::pending::<()>().await;
    }
}

/// Waits until what was sent has arrived, as far as one can see from here: nothing more is sent for some round trips.
/// quinn throws away what is not acknowledged when a connection is closed.
async fn flushed(quic: &quinn::Connection) {
    let mut sent = u64::MAX;
    while quic.close_reason().is_none() {
        let now = quic.stats().udp_tx.datagrams;
        if now == sent {
            return;
        }
        sent = now;
        let pause = (ROUND_TRIPS * quic.rtt()).max(LEAST_PAUSE);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = quic.closed() => {}
        }
    }
}

/// Longer than a lost packet takes to be sent again.
const ROUND_TRIPS: u32 = 3;
const LEAST_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);
