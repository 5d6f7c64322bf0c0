//! Who is asked for what is not here: another data centre, as the zone's tiers have it, or an origin.
//!
//! A data centre that does not answer, or has no answer, is passed over for the next candidate, and in the end for the origin: a visitor
//! sees an error only if nobody has an answer.

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

/// Where an answer may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// From the store of another data centre: it is something that many ask for.
    Tiers,
    /// From the origin alone.
    Origin,
}

impl Core {
    /// Asks for what a visit is about, with a header that goes on. The response has a date, and nothing that was about a connection.
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
        // Boxed, as requests of a data centre without others would have to carry the room for it.
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

    /// Joins the flight for the object of a request, or begins one.
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

    /// Asks other data centres, one after another. `None` if the origin is next.
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
            match self.ask_when_there_is_room(others, (centre, role), visit, headers).await {
                Ok(response) => match begun(received(response, visit.zone().next_byte + MARGIN)).await {
                    Ok(response) => return Some(Ok(response)),
                    Err(_) => through.push(centre),
                },
                Err(unanswered) => {
                    note(others, centre, visit, &unanswered);
                    match unanswered {
                        // The origin was asked, and would be asked once more.
                        Unanswered::Refused(word) if word == TOO_SLOW.word => return Some(Err(TOO_SLOW)),
                        Unanswered::Refused(word) if word == BUSY.word => return Some(Err(BUSY)),
                        // It may still wait for the origin.
                        Unanswered::Late => return Some(Err(TOO_SLOW)),
                        _ => through.push(centre),
                    }
                }
            }
        }
        None
    }

    /// Sends a request to another data centre. While that one, or the connections to it, have no room for it, it is sent again.
    async fn ask_when_there_is_room(
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

    /// Asks the zone's origins for what the request is about, in their order, those that failed last; a second one only if the
    /// request is safe and has no body, as another one may have acted on it.
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
                    // Boxed, as all else that is asked for would have to carry the room for it.
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
                    // The head of the response to an unsafe request counts, however its body ends.
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

/// Reads the start of a body before the head is sent: a failure there can still be answered in another way.
pub(crate) async fn begun(response: Response<Body>) -> Result<Response<Body>, Refusal> {
    let is_strong = |tag: &HeaderValue| tag.as_bytes().starts_with(b"\"");
    // The rest of such a body is asked for.
    if response.status() == StatusCode::OK && response.headers().get(header::ETAG).is_some_and(is_strong) {
        return Ok(response);
    }
    let (head, body) = response.into_parts();
    let body = body.look_ahead(LOOKED_AT, HELD).await.map_err(|_| BROKE_OFF)?;
    Ok(Response::from_parts(head, body))
}

/// Whether only a look at the content of a request shows if there is any: it is chunked, or its end comes in a frame of its own.
pub(crate) fn may_be_empty(visit: &Visit, body: &Body) -> bool {
    let is_held = visit.headers.contains_key(header::EXPECT);
    !body.is_end_stream() && body.size_hint().exact().is_none() && !is_held
}

/// Bytes of a body that are looked at before its head is sent: as many as a connection reads in one piece.
const LOOKED_AT: u64 = 16 << 10;
/// How long a head waits for the first of its body: the end of a connection follows what was sent on it within this time.
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

/// Tells the log that a data centre was passed over.
fn note(others: &Others, centre: CentreId, visit: &Visit, unanswered: &Unanswered) {
    let (data_centre, zone) = (others.name(centre), &visit.zone().name);
    tracing::info!(data_centre, zone, why = %unanswered, "another data centre is passed over");
}

/// The origin sent a 304 to an unconditional request.
pub(crate) const UNSOLICITED: Refusal = Refusal {
    status: StatusCode::BAD_GATEWAY,
    word: "unsolicited-304",
    sentence: "The origin answered a request without conditions with 304.",
};

/// As what those may be asked that a visitor's own data centre asks, and so on: each asks three at most.
const MOST_ASKED: usize = 3;

/// Delays before a request is sent again to a data centre that had no room for it: 5 s in total.
const FIRST_BACKOFF: Duration = Duration::from_millis(20);
const LAST_BACKOFF: Duration = Duration::from_millis(2560);

/// How much longer than the next one a data centre waits, so that it hears what became of the request.
const MARGIN: Duration = Duration::from_secs(2);
