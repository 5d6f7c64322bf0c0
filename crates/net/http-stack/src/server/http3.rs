//! An HTTP/3 connection of a server, and a request on it.

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
    delivery_tracking::watched,
    expect_continue::{patient, told_to_go_on},
    handler::{Handler, answered},
    interim::Interim,
    peer::Peer,
    response_head::{self, Content},
};
use crate::{
    Body, Failure, Scheme,
    body::peeked::PeekedBody,
    http1::framing,
    http3::{Connection, Incoming, Outgoing, RecvStream, announced},
    limits,
};

type Resolver = RequestResolver<Connection, Bytes>;
type Downstream = RequestStream<h3_quinn::SendStream<Bytes>, Bytes>;
type Upstream = RequestStream<RecvStream, Bytes>;

impl<H: Handler> Context<H> {
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
        // Dropped with this connection, which aborts the requests.
        let mut answering = JoinSet::new();
        let most = usize::try_from(self.config.streams).unwrap_or(usize::MAX);
        let mut is_stopping = false;
        while !is_stopping || !answering.is_empty() {
            tokio::select! {
                // Backpressure for clients that open and reset streams faster than they are served.
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
                // The client can keep the QUIC connection alive without requests.
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

    async fn respond(
        &self,
        head: Request<()>,
        up: (Upstream, watch::Sender<bool>),
        outgoing: &mut Outgoing<Downstream>,
        (peer, mut handshake): (Peer, watch::Receiver<bool>),
        is_malformed: &watch::Receiver<bool>,
    ) {
        // The first datagrams of another client can be replayed, but not the end of a handshake (RFC
        // 8470 section 3).
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
        while let Some(interim) = interims.next() {
            if outgoing.stream().send_response(interim).await.is_err() {
                return;
            }
        }
        drop(interims);
        if *is_malformed.borrow() {
            return;
        }
        if let Ok(response) = response
            && !response.status().is_informational()
        {
            let _ = answer(outgoing, watched(response, &self.handler), &method).await;
        }
    }

    /// The head of an HTTP/3 request does not indicate whether a body follows. For methods that
    /// usually have no body, this waits for its first frame or its end, because a proxy must not
    /// add a body to a GET.
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
            Poll::Ready(Some(first)) => {
                Body::stream(PeekedBody::new(Ok(first?), patient(incoming, patience)))
            }
        })
    }
}

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
    response_head::clear(&mut head.headers);
    let content = response_head::prepare(&mut head, method, body.size_hint().exact());
    outgoing.stream().send_response(Response::from_parts(head, ())).await?;
    let body = if content == Content::Sent { body } else { Body::empty() };
    if outgoing.send(body).await.is_err() {
        response_head::has_left().await;
    }
    Ok(())
}

/// Never returns if it fails, because then the connection ends.
async fn until_over(quic: &quinn::Connection, handshake: Option<ZeroRttAccepted>) {
    if let Some(handshake) = handshake {
        handshake.await;
    }
    if quic.close_reason().is_some() {
        std::future::pending::<()>().await;
    }
}

/// Waits until no datagram is sent for some round trips: quinn discards unacknowledged data when a
/// connection is closed.
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

/// Longer than the retransmission of a lost packet takes.
const ROUND_TRIPS: u32 = 3;
const LEAST_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);
