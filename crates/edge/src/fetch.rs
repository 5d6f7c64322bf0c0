//! Fetches an object from the disk, the upper tiers or the origin, stores it, and completes the collapsed
//! requests.

use std::{
    sync::Arc,
    task::{Context, Waker},
};

use cache::{
    Control, Form, NotStored, Reuse, Selection, Stored, Terms, Time, Validators, Wishes, invalidation,
    may_store,
    purge::{self, Purge, Subject},
    ranges::announced,
    take_personal, update,
};
use http::{Body, HeaderMap, Method, Response, StatusCode, header::CONTENT_TYPE};

use crate::{
    asking::Aim,
    compact::compact,
    confirm::{Confirmed, Judged},
    core::Core,
    flights::{Flight, Landing},
    in_flight::Sent,
    origins::onward,
    pour::{Pouring, Replaced},
    ready::Serving,
    store::{Found, Object},
    visit::{Refusal, UNREACHABLE, Visit},
};

/// The result of a fetch, for the request that started it.
pub(crate) enum Fetched {
    /// The object is stored; its body may still be arriving. The fields are only for this client.
    Stored(Arc<Object>, HeaderMap),
    /// Found on disk.
    Found(Arc<Object>),
    Confirmed(Confirmed),
    /// The origin fails, and this stale object may be served (stale-if-error).
    Instead(Arc<Object>),
    /// The response is not stored, for this reason.
    Passed(Response<Body>, NotStored),
    Failed(Refusal),
}

impl Core {
    /// Looks up the object on disk, else requests it upstream; a `stale` object is revalidated. The fetch
    /// continues if its client disconnects, because followers may wait for it.
    pub(crate) async fn fetch(
        self: Arc<Self>,
        visit: Arc<Visit>,
        stale: Option<Arc<Object>>,
        flight: Flight,
    ) -> Fetched {
        let stale = match stale {
            None => self.from_disk(&visit).await,
            // The disk may have failed to provide the body.
            stored => stored.filter(|stored| !stored.body.is_broken()),
        };
        if let Some(object) =
            stale.clone().filter(|object| self.reuse(&visit, object, self.now()) == Reuse::Fresh)
        {
            flight.land(Landing::Found(Arc::clone(&object)));
            return Fetched::Found(object);
        }
        let sent = self.send(&visit.key);
        let headers = |validators: Option<&Validators>| {
            let mut headers = onward(&visit, &self.centre);
            cache::make_unconditional(&mut headers);
            if let Some(validators) = validators {
                validators.ask(&mut headers);
            }
            headers
        };
        let validators = stale.as_ref().and_then(|stale| Validators::of(&stale.stored));
        let asked = headers(validators.as_ref());
        let mut answered = self.ask(&visit, asked, Body::empty(), sent.time, Aim::Tiers).await;
        if let (Ok(response), Some(asked), Some(stale)) = (&answered, &validators, &stale)
            && response.status() == StatusCode::NOT_MODIFIED
        {
            if asked.are_confirmed_by(response.headers()) && !stale.body.is_broken() {
                let confirmed = self.confirm(&visit, stale, response.headers(), (&sent, self.now()));
                let object = Some(&confirmed.object).filter(|_| confirmed.is_stored);
                self.remember_hit_for_miss(&visit, object);
                flight.land(object.map_or(Landing::Alone, |object| Landing::Shared(Arc::clone(object))));
                return Fetched::Confirmed(confirmed);
            }
            // The 304 is about another representation, or the stored one has been removed: fetch the current
            // one.
            answered = self.ask(&visit, headers(None), Body::empty(), sent.time, Aim::Tiers).await;
        }
        let is_error = answered.as_ref().map_or(true, |response| is_failure(response.status()));
        if let Some(stale) = stale.filter(|stale| is_error && self.stands_in(&visit, stale, self.now())) {
            flight.land(Landing::Instead(Arc::clone(&stale)));
            return Fetched::Instead(stale);
        }
        match answered {
            Err(refusal) => {
                // A request that has passed other data centres has fewer alternatives left than other
                // requests.
                let is_for_all = visit.through().is_empty() || refusal != UNREACHABLE;
                flight.land(if is_for_all { Landing::Failed(refusal) } else { Landing::Alone });
                Fetched::Failed(refusal)
            }
            Ok(response) => self.receive(&visit, response, &sent, flight),
        }
    }

    fn receive(
        self: &Arc<Self>,
        visit: &Arc<Visit>,
        response: Response<Body>,
        sent: &Sent,
        flight: Flight,
    ) -> Fetched {
        let now = self.now();
        match self.judge_whole(visit, &response, (sent, now)) {
            Err(reason) => {
                // A 206 or 416 response to a request for the whole object is no failure either.
                let status = response.status();
                let is_answer = !status.is_server_error() && status != StatusCode::TOO_MANY_REQUESTS;
                if is_answer {
                    self.end_use(visit, sent);
                }
                if is_answer && reason != NotStored::Superseded {
                    self.remember_hit_for_miss(visit, None);
                }
                flight.land(Landing::Alone);
                Fetched::Passed(passed(visit, response), reason)
            }
            Ok(judged) => {
                let (object, personal) =
                    self.keep(visit, Some(Arc::clone(visit)), judged, response, (sent, now));
                self.remember_hit_for_miss(visit, Some(&object));
                flight.land(Landing::Shared(Arc::clone(&object)));
                Fetched::Stored(object, personal)
            }
        }
    }

    /// Notes a hit-for-miss for a response that cannot be reused, so that further requests are not collapsed.
    /// A reusable response clears it.
    fn remember_hit_for_miss(&self, visit: &Visit, stored: Option<&Arc<Object>>) {
        let now = self.now();
        match stored.filter(|object| object.stored.reuse(Wishes::default(), now) != Reuse::Validate) {
            Some(_) => self.passing.forget(&visit.key),
            None => self.passing.note(&visit.key, now),
        }
    }

    /// Stores a forwarded response if it, or a part of it, may answer a GET. Returns whether it was stored.
    pub(crate) fn keep_passed(
        self: &Arc<Self>,
        visit: &Visit,
        response: Response<Body>,
        (sent, now): (&Sent, Time),
    ) -> (Response<Body>, bool) {
        if response.status() == StatusCode::PARTIAL_CONTENT {
            return self.keep_part(visit, response, (sent, now));
        }
        let is_right = matches!(visit.method, Method::GET | Method::POST);
        let judged = is_right.then(|| self.judge_whole(visit, &response, (sent, now)).ok());
        let Some(judged) = judged.flatten() else {
            return (self.compressed(visit, passed(visit, response)), false);
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let (object, _) = self.keep(visit, None, judged, response, (sent, now));
        self.remember_hit_for_miss(visit, Some(&object));
        let form = self.form(visit, &object);
        let body = match form {
            Form::Coded(coding) => self.edge.coded(&object, coding),
            Form::Only | Form::Identity => Arc::clone(&object.body),
        };
        let mut response = Response::new(Body::stream(body.read()));
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        form.describe(response.headers_mut());
        (passed(visit, response), true)
    }

    fn judge_whole(
        &self,
        visit: &Visit,
        response: &Response<Body>,
        times: (&Sent, Time),
    ) -> Result<Judged, NotStored> {
        let judged = self.judge(visit, &visit.method, (response.status(), response.headers()), times)?;
        let is_too_large = announced(response.headers()).is_some_and(|length| length > self.largest(visit));
        if is_too_large { Err(NotStored::TooLarge) } else { Ok(judged) }
    }

    /// Whether a response of any length may be stored, and with which terms.
    pub(crate) fn judge(
        &self,
        visit: &Visit,
        method: &Method,
        (status, headers): (StatusCode, &HeaderMap),
        (sent, now): (&Sent, Time),
    ) -> Result<Judged, NotStored> {
        let terms = self.terms(visit, status, headers, (sent.time, now));
        let is_own = invalidation::is_own_location(&visit.url, headers);
        let is_promised = || cache::fits_extension(visit.url.path(), headers.get(CONTENT_TYPE));
        if visit.zone().deception_armor && !is_promised() {
            return Err(NotStored::ContentType);
        }
        let cookies = visit.zone().set_cookie;
        may_store((method, &visit.headers), visit.wishes, (status, headers), &terms, cookies, is_own)?;
        let selection = Selection::of(&visit.headers, headers).ok_or(NotStored::Vary)?;
        if sent.is_superseded(&selection) {
            return Err(NotStored::Superseded);
        }
        Ok(Judged { terms, selection })
    }

    /// The maximum size of a body that is stored in parts. Parts are stored in memory only.
    pub(crate) fn largest_in_parts(&self, visit: &Visit) -> u64 {
        visit.zone().largest.min(self.store.capacity())
    }

    pub(crate) fn largest(&self, visit: &Visit) -> u64 {
        visit.zone().largest.min(self.edge.largest())
    }

    pub(crate) fn terms(
        &self,
        visit: &Visit,
        status: StatusCode,
        headers: &HeaderMap,
        times: (Time, Time),
    ) -> Terms {
        let control = Control::read(headers, &visit.zone().targets);
        let ttl = visit.rule_for(status).and_then(|rule| rule.edge_ttl_for(status));
        Terms::read(status, headers, control, ttl, times)
    }

    /// Stores a response while its body arrives. If the body is truncated, the rest is requested as in
    /// `again`. Also returns the fields that are only for this client.
    fn keep(
        self: &Arc<Self>,
        visit: &Visit,
        again: Option<Arc<Visit>>,
        Judged { terms, selection }: Judged,
        response: Response<Body>,
        (sent, now): (&Sent, Time),
    ) -> (Arc<Object>, HeaderMap) {
        let subject = subject(visit, response.headers());
        let (mut parts, body) = response.into_parts();
        parts.headers.remove(purge::CACHE_TAG);
        let personal = take_personal(&mut parts.headers, &terms.control, visit.zone().set_cookie);
        let stored = Stored { status: parts.status, headers: compact(parts.headers), terms, selection };
        let object = Object {
            key: visit.key.clone(),
            subject,
            stored,
            body: Arc::default(),
            parts: None,
            began: sent.epoch,
            asked: sent.number(),
            serving: Serving::default(),
        };
        let before = self.store.whole(&visit.key, &visit.headers);
        let is_on_disk = self.on_disk.as_ref().is_some_and(|disk| disk.may_have(&visit.key));
        let replaced = (before.is_some() || is_on_disk)
            .then(|| Replaced { request: visit.headers.clone(), object: before });
        let object = self.add(visit, object, sent, now);
        let pouring = Pouring { largest: visit.zone().largest, again, replaced, sent: sent.clone() };
        let mut pouring = Box::pin(Arc::clone(self).pour(Arc::clone(&object), body, pouring));
        // A small body is often complete already and needs no task.
        if pouring.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            tokio::spawn(pouring);
        }
        (object, personal)
    }

    /// Updates the store from the response to a forwarded request: an unsafe request invalidates URLs and
    /// groups, and a HEAD confirms or outdates the stored object. Advances the epoch of the request, so that
    /// the invalidation does not apply to its own response.
    pub(crate) fn learn(&self, visit: &Visit, response: &Response<Body>, sent: &mut Sent) {
        let (status, headers, now) = (response.status(), response.headers(), self.now());
        let urls = invalidation::urls(&visit.method, &visit.url, status, headers);
        if !urls.is_empty() {
            let keys = urls.iter().flat_map(|url| visit.zone().key_urls(url));
            let mut purges: Vec<_> = keys.map(Purge::Url).collect();
            let own = cache::Key::of(&visit.url, &visit.headers, &cache::KeyRule::default());
            let origin = own
                .url()
                .strip_suffix(visit.url.path_and_query().map_or("", |path| path.as_str()))
                .unwrap_or_default();
            let groups = invalidation::invalidated_groups(&visit.method, headers).into_iter();
            purges.extend(groups.map(|group| Purge::Group(origin.to_owned(), group)));
            sent.epoch = self.invalidate(&subject(visit, headers), sent.epoch, purges);
        }
        if update::ends_use(&visit.method, status) {
            self.end_use(visit, sent);
        }
        if visit.method == Method::HEAD
            && status == StatusCode::OK
            && let Found::Object(object) | Found::InParts(object, _) =
                self.store.find(&visit.key, &visit.headers)
        {
            if update::is_same(&object.stored, headers) {
                self.confirm(visit, &object, headers, (sent, now));
            } else {
                let mut object = Object::clone(&object);
                object.stored.terms.outdated = Some(now);
                let object = self.store.add(object, &visit.headers, now);
                if let Some(on_disk) = &self.on_disk {
                    on_disk.refresh(&object, &visit.headers, sent.clone());
                }
            }
        }
    }
}

pub(crate) fn subject(visit: &Visit, headers: &HeaderMap) -> Subject {
    Subject {
        zone: visit.zone().name.clone(),
        url: visit.key.url().to_owned(),
        tags: purge::tags(headers),
        groups: invalidation::groups(headers),
    }
}

/// Prepares a response that is forwarded unchanged. Only data centres receive cache tags.
pub(crate) fn passed(visit: &Visit, mut response: Response<Body>) -> Response<Body> {
    if visit.came.is_none() {
        response.headers_mut().remove(purge::CACHE_TAG);
    }
    response
}

/// Server errors for which stale-if-error applies (RFC 5861 section 4).
pub(crate) fn is_failure(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}
