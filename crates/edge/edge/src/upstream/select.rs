//! Requests for content that is not in the cache: to a peer, as the zone's tiers determine, or to
//! an origin.
//!
//! If a peer is unreachable or has no response, the next candidate is tried, and finally the
//! origin. A client receives an error only if all of them fail.

use std::{sync::Arc, time::Duration};

use ::tier_routing::{DataCentreId, Hop, Role};
use http_cache::{Form, Time, is_solicited};
use http_stack::{
    Body, Client, HeaderMap, HeaderValue, Method, Request, Response, StatusCode,
    body::Frames,
    client::{OnInterim, Trace},
    header,
};
use tokio::time::sleep;

use crate::{
    cache::collapse::JoinRole,
    peers::{Peers, client::PeerError},
    request::{
        context::RequestContext,
        rejection::{BROKE_OFF, BUSY, OUTSIDE_PREFIX, Rejection, TOO_SLOW, UNREACHABLE},
    },
    server::worker_state::WorkerState,
    upstream::{
        origins::{clean_response, forward_interim, rejection_for},
        route_attempts::Unanswered,
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    Tiers,
    OriginOnly,
}

impl WorkerState {
    /// `headers` is the header of the forwarded request. The response has a Date and no connection
    /// fields. A 304 to an unconditional request is an error.
    pub(crate) async fn fetch_upstream(
        &self,
        context: &RequestContext,
        headers: HeaderMap,
        body: Body,
        now: Time,
        upstream: Upstream,
    ) -> Result<Response<Body>, Rejection> {
        let is_conditional = is_solicited(&headers, StatusCode::NOT_MODIFIED);
        let for_whole = may_need_whole(context, &headers, &body).then(|| without_range(&headers));
        let mut response = self.fetch_upstream_once(context, headers, body, now, upstream).await?;
        if let Some(headers) = for_whole.filter(|_| is_part_of_one_form(context, &response)) {
            drop(response);
            // Boxed to keep the future of other requests small.
            response =
                Box::pin(self.fetch_upstream_once(context, headers, Body::empty(), now, upstream)).await?;
        }
        if response.status() == StatusCode::NOT_MODIFIED && !is_conditional {
            return Err(UNSOLICITED_NOT_MODIFIED);
        }
        Ok(response)
    }

    async fn fetch_upstream_once(
        &self,
        context: &RequestContext,
        headers: HeaderMap,
        body: Body,
        now: Time,
        upstream: Upstream,
    ) -> Result<Response<Body>, Rejection> {
        let client = &self.connectors.requests;
        let Some(peers) = self.peers() else {
            return self.fetch_from_origins(client, context, headers, body, now, None).await;
        };
        // Boxed to keep this future small.
        Box::pin(async move {
            if upstream == Upstream::Tiers
                && let Some(result) = self.fetch_from_peers(&peers, context, &headers).await
            {
                return result;
            }
            self.fetch_from_origins(client, context, headers, body, now, Some(&peers)).await
        })
        .await
    }

    pub(crate) fn join_collapse(&self, context: &RequestContext) -> JoinRole {
        let next = || {
            let peers = self.peers()?;
            let (role, key) = (context.role(), context.key_hash());
            match peers.next_hop(&context.zone().name, role, key, &peers.ids(context.through())) {
                Hop::Centre { role, .. } => Some(role),
                Hop::Origin => None,
            }
        };
        self.collapse.join(&context.key, context.role(), next)
    }

    async fn fetch_from_peers(
        &self,
        peers: &Arc<Peers>,
        context: &RequestContext,
        headers: &HeaderMap,
    ) -> Option<Result<Response<Body>, Rejection>> {
        let (role, key) = (context.role(), context.key_hash());
        let mut through = peers.ids(context.through());
        for _ in 0..MAX_PEER_ATTEMPTS {
            let Hop::Centre { centre, role } = peers.next_hop(&context.zone().name, role, key, &through)
            else {
                return None;
            };
            match self.ask_with_backoff(peers, (centre, role), context, headers).await {
                Ok(response) => {
                    match peek_body(clean_response(response, context.zone().next_byte + TIMEOUT_MARGIN)).await
                    {
                        Ok(response) => return Some(Ok(response)),
                        Err(_) => through.push(centre),
                    }
                }
                Err(unanswered) => {
                    log_skipped_peer(peers, centre, context, &unanswered);
                    match unanswered {
                        // The peer has already tried the origin.
                        PeerError::Rejected(word) if word == TOO_SLOW.code => return Some(Err(TOO_SLOW)),
                        PeerError::Rejected(word) if word == BUSY.code => return Some(Err(BUSY)),
                        // The peer may still be waiting for the origin.
                        PeerError::Timeout => return Some(Err(TOO_SLOW)),
                        _ => through.push(centre),
                    }
                }
            }
        }
        None
    }

    /// Retries while the peer or the connections to it have no capacity.
    async fn ask_with_backoff(
        &self,
        peers: &Arc<Peers>,
        to: (DataCentreId, Role),
        context: &RequestContext,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, PeerError> {
        let mut backoff = MIN_BACKOFF;
        loop {
            let result = self.fetch_from_peer(peers, to, context, headers, Body::empty()).await;
            let is_full = matches!(result, Err(PeerError::Failed(failure)) if failure.is_capacity_error());
            if !is_full || backoff > MAX_BACKOFF {
                return result;
            }
            sleep(backoff).await;
            backoff *= 2;
        }
    }

    /// Another origin is tried only if the request is safe and can be repeated: the first one may
    /// have processed it. In a pool, another one is tried also if nothing of the request was sent.
    pub(crate) async fn fetch_from_origins(
        &self,
        client: &Client,
        context: &RequestContext,
        headers: HeaderMap,
        body: Body,
        now: Time,
        peers: Option<&Arc<Peers>>,
    ) -> Result<Response<Body>, Rejection> {
        let mut choice = self.origins.choose(context, now);
        let may_repeat = context.method.is_safe();
        let mut remaining = Some((headers, body));
        let mut last = Err(UNREACHABLE);
        while let Some((headers, body)) = remaining.take() {
            let Some(chosen) = choice.next().await? else { break };
            let origin = chosen.origin;
            if origin.escapes_prefix(context.url.path()) {
                return last.or(Err(OUTSIDE_PREFIX));
            }
            if (may_repeat || choice.retries_unsent()) && choice.has_next() {
                remaining = body.again().map(|body| (headers.clone(), body));
            }
            let mut request = Request::new(body);
            *request.method_mut() = context.method.clone();
            *request.uri_mut() = context.url.clone();
            *request.headers_mut() = headers;
            if let Some(interim) = context.interim.clone() {
                request
                    .extensions_mut()
                    .insert(OnInterim::new(move |code, fields| forward_interim(&interim, code, fields)));
            }
            let result = match peers {
                Some(peers) => {
                    // Boxed to keep this future small.
                    Box::pin(self.send_by_best_route(peers, (client, origin), request, context, now)).await
                }
                None => {
                    let mut trace = Trace::start(client.clock().now());
                    let attempt = self.origins.send(client, origin, request, context, now, &mut trace).await;
                    attempt.map_err(|failure| Unanswered {
                        rejection: rejection_for(failure),
                        was_sent: trace.first_write().is_some(),
                    })
                }
            };
            let response = match result {
                Ok(response) => clean_response(response, context.zone().next_byte),
                Err(Unanswered { rejection, was_sent }) => {
                    chosen.failed(rejection);
                    remaining = remaining.filter(|_| may_repeat || !was_sent);
                    // An answer of another origin is worth more.
                    last = last.or(Err(rejection));
                    continue;
                }
            };
            // An unsafe request is not repeated, even if its response body is truncated.
            if !may_repeat {
                return Ok(chosen.responded(response));
            }
            match peek_body(response).await {
                Ok(response) if remaining.is_some() && choice.fails_over(&response) => {
                    last = Ok(chosen.responded(response));
                }
                Ok(response) => return Ok(chosen.responded(response)),
                Err(rejection) => {
                    chosen.failed(rejection);
                    last = last.or(Err(rejection));
                }
            }
        }
        last
    }
}

/// A failure before the head is sent can still be handled by another source.
pub(crate) async fn peek_body(response: Response<Body>) -> Result<Response<Body>, Rejection> {
    let is_strong = |tag: &HeaderValue| tag.as_bytes().starts_with(b"\"");
    // If such a body is truncated, the rest is requested.
    if response.status() == StatusCode::OK && response.headers().get(header::ETAG).is_some_and(is_strong) {
        return Ok(response);
    }
    let (head, body) = response.into_parts();
    let body = body.look_ahead(MAX_PEEKED_BYTES, MAX_HEAD_DELAY).await.map_err(|_| BROKE_OFF)?;
    Ok(Response::from_parts(head, body))
}

/// The end of a chunked body, or of one with a separate last frame, is known only after a read.
pub(crate) fn may_be_empty(context: &RequestContext, body: &Body) -> bool {
    let is_held = context.headers.contains_key(header::EXPECT);
    !body.is_end_stream() && body.size_hint().exact().is_none() && !is_held
}

/// The read size of a connection.
const MAX_PEEKED_BYTES: u64 = 16 << 10;
/// A close of the connection usually follows the data within this time.
pub(crate) const MAX_HEAD_DELAY: Duration = Duration::from_millis(5);

/// Whether the If-Range of a request does not identify the form that the client has.
fn may_need_whole(context: &RequestContext, headers: &HeaderMap, body: &Body) -> bool {
    !context.compress().is_empty()
        && headers.contains_key(header::RANGE)
        && !Form::Identity.has_parts_for(headers)
        && context.method == Method::GET
        && body.is_end_stream()
}

fn without_range(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.remove(header::RANGE);
    headers.remove(header::IF_RANGE);
    headers
}

/// A part of a body that other clients receive compressed.
fn is_part_of_one_form(context: &RequestContext, response: &Response<Body>) -> bool {
    let mut whole = response.headers().clone();
    whole.remove(header::CONTENT_LENGTH);
    response.status() == StatusCode::PARTIAL_CONTENT
        && Form::of(&context.headers, (StatusCode::OK, &whole), context.compress()) != Form::Only
}

fn log_skipped_peer(peers: &Peers, centre: DataCentreId, context: &RequestContext, unanswered: &PeerError) {
    let (data_centre, zone) = (peers.name(centre), &context.zone().name);
    tracing::info!(data_centre, zone, why = %unanswered, "a data centre is skipped");
}

pub(crate) const UNSOLICITED_NOT_MODIFIED: Rejection = Rejection {
    status: StatusCode::BAD_GATEWAY,
    code: "unsolicited-304",
    message: "The origin sent a 304 to an unconditional request.",
};

const MAX_PEER_ATTEMPTS: usize = 3;

/// 5 s in total.
const MIN_BACKOFF: Duration = Duration::from_millis(20);
const MAX_BACKOFF: Duration = Duration::from_millis(2560);

/// Gives the next data centre time to respond about a failure.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(2);
