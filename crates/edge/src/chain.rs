//! Request handling from admission to response: bypass, lookup, revalidation, fetch, pass.

use std::{sync::Arc, time::Duration};

use cache::{CacheStatus, Form, Forward, Reuse, Time, purge::CACHE_TAG};
use http::{Body, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, body::Frames, header};

use crate::{
    answer::{answer, dress, tell},
    asking::{Aim, HELD, begun, may_be_empty},
    confirm::Confirmed,
    core::Core,
    counts::Word,
    fetch::{Fetched, is_failure, passed},
    flights::{Landing, Part},
    in_flight::Sent,
    kept::Kept,
    lasting::Lasting,
    log::{AtOrigin, Outcome},
    origins::onward,
    store::{Found, Object},
    visit::{INCOMPLETE, NOT_CACHED, Refusal, Visit},
    ways::Reason,
};

impl Core {
    pub(crate) async fn serve(self: &Arc<Self>, request: Request<Body>) -> Response<Body> {
        let (mut visit, body) = match Visit::admit(&self.network(), &self.centre, request) {
            Ok(admitted) => admitted,
            Err(refusal) => return self.refuse(refusal),
        };
        let is_told = self.log.is_some() || visit.traced.is_some();
        let zone = is_told.then(|| visit.zone().name.clone());
        visit.at_origin = self.log.as_ref().map(|_| Arc::default());
        let at_origin = visit.at_origin.clone();
        let mut response = self.answer_visit(visit, body).await;
        self.complete(&mut response, zone.as_deref().unwrap_or_default(), at_origin.as_deref());
        response
    }

    pub(crate) fn complete(&self, response: &mut Response<Body>, zone: &str, at_origin: Option<&AtOrigin>) {
        if let Some(outcome) = response.extensions_mut().get_mut::<Outcome>() {
            outcome.zone = Some(zone.to_owned());
            outcome.at_origin = at_origin.and_then(AtOrigin::times);
            outcome.tier = at_origin.and_then(AtOrigin::tier);
        }
    }

    pub(crate) async fn answer_visit(self: &Arc<Self>, mut visit: Visit, body: Body) -> Response<Body> {
        if let Some(response) = self.answer_last_hop(&mut visit) {
            return response;
        }
        if let Some(protocol) = visit.protocol.clone() {
            return Box::pin(self.switch(&visit, body, &protocol)).await;
        }
        if visit.rule().is_some_and(|rule| rule.is_bypass) {
            let is_plain_get = visit.method == Method::GET && body.is_end_stream();
            let response = self.pass(&visit, body, Forward::Bypass).await;
            if is_plain_get {
                self.remember_way(&visit, Reason::Bypass, &response);
            }
            return response;
        }
        if !matches!(visit.method, Method::GET | Method::HEAD) {
            return self.pass(&visit, body, Forward::Method).await;
        }
        let body = match may_be_empty(&visit, &body) {
            true => Box::pin(body.look_ahead(1, HELD)).await,
            false => Ok(body),
        };
        let Ok(body) = body else { return self.refuse(INCOMPLETE) };
        // The response may depend on the request content, which no cache key contains (RFC 9110 section
        // 9.3.1).
        if !body.is_end_stream() {
            if visit.wishes.only_if_cached {
                return self.refuse(NOT_CACHED);
            }
            return self.pass(&visit, body, Forward::Bypass).await;
        }
        self.find_or_fetch(Arc::new(visit)).await
    }

    async fn find_or_fetch(self: &Arc<Self>, visit: Arc<Visit>) -> Response<Body> {
        let now = self.now();
        let found = self.find(&visit, now);
        let (forward, stale) = match found {
            Found::Nothing => (Forward::UriMiss, None),
            Found::OtherVariant => (Forward::VaryMiss, None),
            Found::Object(object) => match self.reuse(&visit, &object, now) {
                Reuse::Fresh => return self.hit(&visit, &object, now, None),
                Reuse::Stale => return self.hit(&visit, &object, now, Some("stale")),
                Reuse::WhileRevalidated => {
                    self.revalidate(&visit, &object);
                    return self.hit(&visit, &object, now, Some("revalidating"));
                }
                Reuse::Validate => (reason(&object, now), Some(object)),
            },
            Found::InParts(object, parts) => {
                // Boxed to keep this future small.
                match Box::pin(self.from_parts(&visit, &object, &parts)).await {
                    Some(response) => return response,
                    None => (Forward::Partial, None),
                }
            }
        };
        if visit.wishes.only_if_cached {
            return self.refuse(NOT_CACHED);
        }
        if visit.method == Method::HEAD {
            let instead = stale.filter(|stale| self.stands_in(&visit, stale, now));
            let response = self.pass(&visit, Body::empty(), forward).await;
            return match instead.filter(|_| is_failure(response.status())) {
                Some(instead) => self.hit(&visit, &instead, self.now(), Some("origin-failed")),
                None => response,
            };
        }
        let hit_for_miss = self.passing.of(&visit.key, now);
        if let Some(passed) = hit_for_miss.as_ref().filter(|_| stale.is_none()) {
            let response = self.pass(&visit, Body::empty(), forward).await;
            let is_on_disk = || self.on_disk.as_ref().is_some_and(|disk| disk.may_have(&visit.key));
            if forward == Forward::UriMiss && !is_on_disk() {
                self.remember_way(&visit, Reason::Passed(Arc::clone(passed)), &response);
            }
            return response;
        }
        let (stale, zone) = (stale.filter(|stale| !stale.body.is_broken()), visit.zone());
        let instead = stale.clone().filter(|stale| self.stands_in(&visit, stale, now));
        let may_share = |object: &Object| {
            object.stored.selection.matches(&visit.headers)
                && self.reuse(&visit, object, self.now()) != Reuse::Validate
        };
        let may_stand_in = |object: &Object| {
            object.stored.selection.matches(&visit.headers) && self.stands_in(&visit, object, self.now())
        };
        let on_failure = instead.clone();
        if let Some(instead) = instead.as_ref().filter(|_| self.origins.are_failing(zone, now)) {
            self.revalidate(&visit, instead);
            return self.hit(&visit, instead, now, Some("origin-failed"));
        }
        // A fetch that began before this request does not revalidate for it (RFC 9111 section 5.2.1.4).
        let part = match hit_for_miss {
            None if !visit.wishes.wants_validation() => self.join_flight(&visit),
            _ => Part::Leads(self.flights.alone(&visit.key)),
        };
        match part {
            Part::Leads(flight) => {
                // Another fetch may have stored the object between the lookup and the start of this fetch.
                if let Found::Object(object) = self.store.find(&visit.key, &visit.headers)
                    && self.reuse(&visit, &object, self.now()) == Reuse::Fresh
                {
                    flight.land(Landing::Found(Arc::clone(&object)));
                    return self.hit(&visit, &object, self.now(), None);
                }
                let fetch = Lasting::new(Arc::clone(self).fetch(Arc::clone(&visit), stale, flight));
                match in_time(fetch, zone.stale_after, instead).await {
                    Ok(Fetched::Passed(response, _)) if self.is_better_in_parts(&visit, &response) => {
                        drop(response);
                        self.pass(&visit, Body::empty(), forward).await
                    }
                    Ok(fetched) => self.land(&visit, fetched, forward),
                    Err(instead) => self.hit(&visit, &instead, self.now(), Some("origin-slow")),
                }
            }
            Part::Follows(waiting) => match in_time(waiting.landing(), zone.stale_after, instead).await {
                Ok(Landing::Shared(object)) if may_share(&object) => self.collapsed(&visit, &object, forward),
                Ok(Landing::Found(object)) if may_share(&object) => {
                    self.hit(&visit, &object, self.now(), None)
                }
                Ok(Landing::Instead(object)) if may_stand_in(&object) => {
                    self.hit(&visit, &object, self.now(), Some("origin-failed"))
                }
                Ok(Landing::Shared(_) | Landing::Found(_) | Landing::Instead(_) | Landing::Alone) => {
                    let _turn = waiting.turn().await;
                    self.pass(&visit, Body::empty(), forward).await
                }
                Ok(Landing::Failed(refusal)) => match on_failure {
                    Some(instead) => self.hit(&visit, &instead, self.now(), Some("origin-failed")),
                    None => self.refuse(refusal),
                },
                Err(instead) => self.hit(&visit, &instead, self.now(), Some("origin-slow")),
            },
        }
    }

    /// How an object may be reused for a client or for a peer data centre. A peer receives no purged object,
    /// because it would treat the object as fresh. If purges may have been missed and the zone requires it,
    /// every object is revalidated.
    pub(crate) fn reuse(&self, visit: &Visit, object: &Object, now: Time) -> Reuse {
        if is_withheld(visit, object) || self.asks_first(visit) {
            return Reuse::Validate;
        }
        match object.stored.reuse(visit.wishes, now) {
            // The peer may have the same stale object and revalidate in the background: it waits for the
            // response of the origin.
            Reuse::WhileRevalidated if visit.came.is_some() => Reuse::Validate,
            reuse => reuse,
        }
    }

    /// Whether an object may be served because the origin fails (stale-if-error).
    pub(crate) fn stands_in(&self, visit: &Visit, object: &Object, now: Time) -> bool {
        let operators = visit.zone().stale_if_error;
        // A fresh object may be served without stale-if-error, unless revalidation is mandatory.
        let has_leave = !operators.is_zero() || object.stored.terms.control.stale_if_error.is_some();
        !is_withheld(visit, object)
            && (has_leave || !self.asks_first(visit))
            && object.stored.stands_in(operators, now)
    }

    fn asks_first(&self, visit: &Visit) -> bool {
        self.bus.asks_first(visit.zone().cut_off, visit.zone().cut_off_limit)
    }

    /// Revalidates an object in the background, unless a request for its key is already in flight.
    fn revalidate(self: &Arc<Self>, visit: &Arc<Visit>, object: &Arc<Object>) {
        if let Part::Leads(flight) = self.join_flight(visit) {
            tokio::spawn(Arc::clone(self).fetch(Arc::clone(visit), Some(Arc::clone(object)), flight));
        }
    }

    pub(crate) fn land(&self, visit: &Visit, fetched: Fetched, forward: Forward) -> Response<Body> {
        let now = self.now();
        let (word, object, personal, stored) = match fetched {
            Fetched::Failed(refusal) => return self.refuse(refusal),
            Fetched::Passed(response, reason) => {
                let response = self.compressed(visit, response);
                let status = CacheStatus { detail: Some(reason.word()), ..self.status(forward) };
                return self.finish(response, visit, &status, Word::Miss);
            }
            Fetched::Found(object) => return self.hit(visit, &object, now, None),
            Fetched::Instead(object) => return self.hit(visit, &object, now, Some("origin-failed")),
            Fetched::Confirmed(Confirmed { object, personal, is_stored }) => {
                (Word::Revalidated, object, personal, is_stored)
            }
            Fetched::Stored(object, personal) => (Word::Miss, object, personal, true),
        };
        let status = CacheStatus {
            forward_status: Some(if word == Word::Revalidated { 304 } else { object.stored.status.as_u16() }),
            ttl: Some(object.stored.terms.seconds_left(now)),
            stored,
            ..self.status(forward)
        };
        let mut response = self.answer(visit, &object, self.form(visit, &object), now);
        append_all(response.headers_mut(), personal);
        // A response directly from the origin keeps the age that the origin sent.
        if word == Word::Miss && object.stored.terms.age(now).is_zero() {
            response.headers_mut().remove(header::AGE);
        }
        self.finish(response, visit, &status, word)
    }

    fn collapsed(&self, visit: &Visit, object: &Arc<Object>, forward: Forward) -> Response<Body> {
        let now = self.now();
        let ttl = Some(object.stored.terms.seconds_left(now));
        let status = CacheStatus { ttl, collapsed: true, ..self.status(forward) };
        let response = self.answer(visit, object, self.form(visit, object), now);
        self.finish(response, visit, &status, Word::Collapsed)
    }

    pub(crate) fn answer(
        &self,
        visit: &Visit,
        object: &Arc<Object>,
        form: Form,
        now: Time,
    ) -> Response<Body> {
        let mut response = answer(visit, object, form, now, |coding| self.edge.coded(object, coding));
        if visit.came.is_some() {
            name(&mut response, object);
        }
        response
    }

    pub(crate) fn hit(
        &self,
        visit: &Visit,
        object: &Arc<Object>,
        now: Time,
        detail: Option<&'static str>,
    ) -> Response<Body> {
        let ttl = Some(object.stored.terms.seconds_left(now));
        let status = CacheStatus { cache: self.centre.clone(), ttl, detail, ..CacheStatus::default() };
        let word = if detail.is_some() { Word::Stale } else { Word::Hit };
        let form = self.form(visit, object);
        let response = self.finish(self.answer(visit, object, form, now), visit, &status, word);
        if word == Word::Hit {
            self.remember(visit, object, form, &response);
        }
        response
    }

    pub(crate) async fn pass(
        self: &Arc<Self>,
        visit: &Visit,
        body: Body,
        forward: Forward,
    ) -> Response<Body> {
        // The origin may close the connection at this moment: a body in memory can be sent again on another
        // connection.
        let Ok(body) = body.in_memory(KEPT).await else { return self.refuse(INCOMPLETE) };
        let mut sent = self.send(&visit.key);
        let answered = self.ask(visit, onward(visit, &self.centre), body, sent.time, Aim::Origin).await;
        match answered {
            Ok(response) if visit.method.is_safe() => self.pass_back(visit, response, forward, sent),
            // The header of the response to an unsafe request invalidates, even if the body is truncated.
            Ok(response) => {
                if forward != Forward::Bypass {
                    self.learn(visit, &response, &mut sent);
                }
                match begun(response).await {
                    Ok(response) => self.judge_passed(visit, response, forward, &sent),
                    Err(refusal) => self.refuse(refusal),
                }
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    pub(crate) fn pass_back(
        self: &Arc<Self>,
        visit: &Visit,
        response: Response<Body>,
        forward: Forward,
        mut sent: Sent,
    ) -> Response<Body> {
        if forward != Forward::Bypass {
            self.learn(visit, &response, &mut sent);
        }
        self.judge_passed(visit, response, forward, &sent)
    }

    /// Returns a forwarded response, and stores it if allowed.
    fn judge_passed(
        self: &Arc<Self>,
        visit: &Visit,
        response: Response<Body>,
        forward: Forward,
        sent: &Sent,
    ) -> Response<Body> {
        if forward == Forward::Bypass {
            let status =
                CacheStatus { forward_status: Some(response.status().as_u16()), ..self.status(forward) };
            return self.finish(
                self.compressed(visit, passed(visit, response)),
                visit,
                &status,
                Word::Bypass,
            );
        }
        let code = response.status().as_u16();
        let (response, stored) = self.keep_passed(visit, response, (sent, self.now()));
        let status = CacheStatus { forward_status: Some(code), stored, ..self.status(forward) };
        let word = if forward == Forward::Method { Word::Bypass } else { Word::Miss };
        self.finish(response, visit, &status, word)
    }

    pub(crate) fn status(&self, forward: Forward) -> CacheStatus {
        CacheStatus { cache: self.centre.clone(), forward: Some(forward), ..CacheStatus::default() }
    }

    pub(crate) fn finish(
        &self,
        mut response: Response<Body>,
        visit: &Visit,
        status: &CacheStatus,
        word: Word,
    ) -> Response<Body> {
        self.count(word, &mut response);
        dress(&mut response, visit, status);
        response
    }

    fn count(&self, word: Word, response: &mut Response<Body>) {
        self.counted().add(word);
        if self.log.is_some() || self.traces.is_on() {
            response.extensions_mut().insert(Outcome { word, zone: None, at_origin: None, tier: None });
        }
    }

    pub(crate) fn refuse(&self, refusal: Refusal) -> Response<Body> {
        let mut response = refusal.response();
        response.extensions_mut().insert(refusal);
        self.count(Word::Refused, &mut response);
        let status = CacheStatus {
            cache: self.centre.clone(),
            forward: Some(Forward::Bypass),
            detail: Some(refusal.word),
            ..CacheStatus::default()
        };
        tell(response.headers_mut(), &status);
        if response.status() == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, 1.into());
        }
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, METHODS);
        }
        response
    }
}

/// For responses to a peer data centre: adds the cache tags, which clients do not receive, and marks the
/// object as stored.
fn name(response: &mut Response<Body>, object: &Object) {
    if let Ok(tags) = HeaderValue::from_str(&object.subject.tags.join(","))
        && !tags.is_empty()
    {
        response.headers_mut().insert(CACHE_TAG, tags);
    }
    response.extensions_mut().insert(Kept);
}

pub(crate) fn append_all(headers: &mut HeaderMap, personal: HeaderMap) {
    let mut last = None;
    for (name, value) in personal {
        last = name.or(last);
        if let Some(name) = &last {
            headers.append(name, value);
        }
    }
}

/// Whether an object is soft-purged or invalidated and the request is from a peer data centre.
fn is_withheld(visit: &Visit, object: &Object) -> bool {
    visit.came.is_some() && object.stored.terms.outdated.is_some()
}

/// The Cache-Status `fwd` reason for an object that needs revalidation.
pub(crate) fn reason(object: &Object, now: Time) -> Forward {
    let is_asked_for = object.stored.terms.is_fresh(now) && !object.stored.terms.control.no_cache;
    if is_asked_for { Forward::Request } else { Forward::Stale }
}

/// Request bodies up to this length are read before the request is forwarded. It is about the initial
/// flow-control window of HTTP/2 (RFC 9113 section 6.9.2).
const KEPT: u64 = 64 << 10;

/// The Allow field of a 405 response: the methods in common use. Other methods except CONNECT are forwarded
/// too.
pub(crate) const METHODS: HeaderValue =
    HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");

/// Waits for a response; for at most `patience` if a stale object can be served instead.
async fn in_time<T>(
    waiting: impl Future<Output = T>,
    patience: Duration,
    instead: Option<Arc<Object>>,
) -> Result<T, Arc<Object>> {
    match instead {
        Some(instead) => tokio::time::timeout(patience, waiting).await.map_err(|_| instead),
        None => Ok(waiting.await),
    }
}
