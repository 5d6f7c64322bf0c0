//! Requests for content that is not in the cache: to a peer, as the zone's tiers determine, or to an origin.
//!
//! If a peer is unreachable or has no response, the next candidate is tried, and finally the origin. A client
//! receives an error only if all of them fail.

use std::{sync::Arc, time::Duration};

use ::tiers::{CentreId, Hop, Role};
use cache::{Form, Time, is_solicited};
use http::{
    Body, Client, HeaderMap, HeaderValue, Method, Request, Response, StatusCode,
    body::Frames,
    client::{Informed, Trace},
    header,
};
use tokio::time::sleep;

use crate::{
    core::Core,
    flights::Part,
    origins::{pass_on, received, refusal_for},
    others::Others,
    toward::Unanswered,
    visit::{BROKE_OFF, BUSY, Refusal, TOO_SLOW, UNREACHABLE, Visit},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The tiers first: the object may be cached there.
    Tiers,
    Origin,
}

impl Core {
    /// Requests the object of a visit. `headers` is the header of the forwarded request. The response has a Date
    /// and no connection fields.
    ///
    /// A 304 to an unconditional request is an error: the client has nothing to reuse.
    pub(crate) async fn ask(
        &self,
        visit: &Visit,
        headers: HeaderMap,
        body: Body,
        now: Time,
        aim: Aim,
    ) -> Result<Response<Body>, Refusal> {
        let is_conditional = is_solicited(&headers, StatusCode::NOT_MODIFIED);
        let for_whole = may_need_whole(visit, &headers, &body).then(|| without_range(&headers));
        let mut response = self.ask_once(visit, headers, body, now, aim).await?;
        if let Some(headers) = for_whole.filter(|_| is_part_of_one_form(visit, &response)) {
            drop(response);
            // Boxed to keep the future of other requests small.
            response = Box::pin(self.ask_once(visit, headers, Body::empty(), now, aim)).await?;
        }
        if response.status() == StatusCode::NOT_MODIFIED && !is_conditional {
            return Err(UNSOLICITED);
        }
        Ok(response)
    }

    async fn ask_once(
        &self,
        visit: &Visit,
        headers: HeaderMap,
        body: Body,
        now: Time,
        aim: Aim,
    ) -> Result<Response<Body>, Refusal> {
        let client = &self.clients.usual;
        let Some(others) = self.others() else {
            return self.ask_origins(client, visit, headers, body, now, None).await;
        };
        // Boxed to keep this future small.
        Box::pin(async move {
            if aim == Aim::Tiers
                && let Some(answered) = self.ask_tiers(&others, visit, &headers).await
            {
                return answered;
            }
            self.ask_origins(client, visit, headers, body, now, Some(&others)).await
        })
        .await
    }

    /// Joins the request in flight for the key of a visit, or becomes its leader.
    pub(crate) fn join_flight(&self, visit: &Visit) -> Part {
        let next = || {
            let others = self.others()?;
            let (role, key) = (visit.role(), visit.key_hash());
            match others.next(&visit.zone().name, role, key, &others.ids(visit.through())) {
                Hop::Centre { role, .. } => Some(role),
                Hop::Origin => None,
            }
        };
        self.flights.join(&visit.key, visit.role(), next)
    }

    /// Tries peers in turn. `None` if the origin is next.
    async fn ask_tiers(
        &self,
        others: &Arc<Others>,
        visit: &Visit,
        headers: &HeaderMap,
    ) -> Option<Result<Response<Body>, Refusal>> {
        let (role, key) = (visit.role(), visit.key_hash());
        let mut through = others.ids(visit.through());
        for _ in 0..MOST_ASKED {
            let Hop::Centre { centre, role } = others.next(&visit.zone().name, role, key, &through) else {
                return None;
            };
            match self.ask_with_backoff(others, (centre, role), visit, headers).await {
                Ok(response) => match begun(received(response, visit.zone().next_byte + MARGIN)).await {
                    Ok(response) => return Some(Ok(response)),
                    Err(_) => through.push(centre),
                },
                Err(unanswered) => {
                    note(others, centre, visit, &unanswered);
                    match unanswered {
                        // The peer has already tried the origin: do not try it again.
                        Unanswered::Refused(word) if word == TOO_SLOW.word => return Some(Err(TOO_SLOW)),
                        Unanswered::Refused(word) if word == BUSY.word => return Some(Err(BUSY)),
                        // The peer may still be waiting for the origin.
                        Unanswered::Late => return Some(Err(TOO_SLOW)),
                        _ => through.push(centre),
                    }
                }
            }
        }
        None
    }

    /// Sends a request to a peer. Retries while the peer or the connections to it have no capacity.
    async fn ask_with_backoff(
        &self,
        others: &Arc<Others>,
        to: (CentreId, Role),
        visit: &Visit,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, Unanswered> {
        let mut backoff = FIRST_BACKOFF;
        loop {
            let answered = self.ask_other(others, to, visit, headers, Body::empty()).await;
            let is_full = matches!(answered, Err(Unanswered::Failed(failure)) if failure.is_want_of_room());
            if !is_full || backoff > LAST_BACKOFF {
                return answered;
            }
            sleep(backoff).await;
            backoff *= 2;
        }
    }

    /// Sends a request to the zone's origins in turn, recently failed ones last. Another origin is tried only
    /// if the request is safe and can be repeated: the first one may have processed it.
    pub(crate) async fn ask_origins(
        &self,
        client: &Client,
        visit: &Visit,
        headers: HeaderMap,
        body: Body,
        now: Time,
        others: Option<&Arc<Others>>,
    ) -> Result<Response<Body>, Refusal> {
        let origins = self.origins.in_order(visit.zone(), now);
        let may_repeat = visit.method.is_safe();
        let mut left = Some((headers, body));
        let mut refusal = UNREACHABLE;
        for (number, origin) in origins.iter().enumerate() {
            let Some((headers, body)) = left.take() else { break };
            if may_repeat && number + 1 < origins.len() {
                left = body.again().map(|body| (headers.clone(), body));
            }
            let mut request = Request::new(body);
            *request.method_mut() = visit.method.clone();
            *request.uri_mut() = visit.url.clone();
            *request.headers_mut() = headers;
            if let Some(interim) = visit.interim.clone() {
                request
                    .extensions_mut()
                    .insert(Informed::new(move |code, fields| pass_on(&interim, code, fields)));
            }
            let answered = match others {
                Some(others) => {
                    // Boxed to keep this future small.
                    Box::pin(self.by_some_route(others, (client, origin), request, visit, now)).await
                }
                None => {
                    let mut trace = Trace::start(client.clock().now());
                    let asked = self.origins.exchange(client, origin, request, visit, now, &mut trace).await;
                    asked.map_err(refusal_for)
                }
            };
            match answered {
                Ok(response) => {
                    let response = received(response, visit.zone().next_byte);
                    // An unsafe request is not repeated, even if its response body is truncated.
                    if !may_repeat {
                        return Ok(response);
                    }
                    match begun(response).await {
                        Ok(response) => return Ok(response),
                        Err(why) => refusal = why,
                    }
                }
                Err(why) => refusal = why,
            }
        }
        Err(refusal)
    }
}

/// Reads the start of a body before the head is sent: a failure can then still be handled by another source.
pub(crate) async fn begun(response: Response<Body>) -> Result<Response<Body>, Refusal> {
    let is_strong = |tag: &HeaderValue| tag.as_bytes().starts_with(b"\"");
    // If such a body is truncated, the rest is requested.
    if response.status() == StatusCode::OK && response.headers().get(header::ETAG).is_some_and(is_strong) {
        return Ok(response);
    }
    let (head, body) = response.into_parts();
    let body = body.look_ahead(LOOKED_AT, HELD).await.map_err(|_| BROKE_OFF)?;
    Ok(Response::from_parts(head, body))
}

/// Whether the end of a request body is known only after a read: it is chunked, or ends with a separate
/// frame.
pub(crate) fn may_be_empty(visit: &Visit, body: &Body) -> bool {
    let is_held = visit.headers.contains_key(header::EXPECT);
    !body.is_end_stream() && body.size_hint().exact().is_none() && !is_held
}

/// The part of a body that is read before its head is sent, bytes: the read size of a connection.
const LOOKED_AT: u64 = 16 << 10;
/// How long the head waits for it. A close of the connection usually follows the data within this time.
pub(crate) const HELD: Duration = Duration::from_millis(5);

/// Whether the If-Range of a request does not identify the form that the client has.
fn may_need_whole(visit: &Visit, headers: &HeaderMap, body: &Body) -> bool {
    !visit.compress().is_empty()
        && headers.contains_key(header::RANGE)
        && !Form::Identity.has_parts_for(headers)
        && visit.method == Method::GET
        && body.is_end_stream()
}

fn without_range(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.remove(header::RANGE);
    headers.remove(header::IF_RANGE);
    headers
}

/// Whether a response is a part of a body that other clients receive compressed.
fn is_part_of_one_form(visit: &Visit, response: &Response<Body>) -> bool {
    let mut whole = response.headers().clone();
    // Content-Length is the length of the part.
    whole.remove(header::CONTENT_LENGTH);
    response.status() == StatusCode::PARTIAL_CONTENT
        && Form::of(&visit.headers, (StatusCode::OK, &whole), visit.compress()) != Form::Only
}

fn note(others: &Others, centre: CentreId, visit: &Visit, unanswered: &Unanswered) {
    let (data_centre, zone) = (others.name(centre), &visit.zone().name);
    tracing::info!(data_centre, zone, why = %unanswered, "a data centre is skipped");
}

/// The origin sent a 304 to an unconditional request.
pub(crate) const UNSOLICITED: Refusal = Refusal {
    status: StatusCode::BAD_GATEWAY,
    word: "unsolicited-304",
    sentence: "The origin sent a 304 to an unconditional request.",
};

/// The maximum number of peers that a data centre tries for a request.
const MOST_ASKED: usize = 3;

/// Delays before retries to a peer without capacity: 5 s in total.
const FIRST_BACKOFF: Duration = Duration::from_millis(20);
const LAST_BACKOFF: Duration = Duration::from_millis(2560);

/// Added to the timeout of the next data centre, so that its response about a failure arrives in time.
const MARGIN: Duration = Duration::from_secs(2);
