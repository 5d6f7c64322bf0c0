//! For all who wait, from the disk or else from the origin into the store: one request, what its response is judged to be, and its body for all who wait.

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

/// What a flight came to, for the one who made it.
pub(crate) enum Fetched {
    /// It is stored; its body may still be coming. The fields are for the client that asked alone.
    Stored(Arc<Object>, HeaderMap),
    /// It was on disk.
    Found(Arc<Object>),
    /// What was stored is still right.
    Confirmed(Confirmed),
    /// The origin fails, and what was stored may be used instead.
    Instead(Arc<Object>),
    /// It is not stored, and why.
    Passed(Response<Body>, NotStored),
    /// There is no response.
    Failed(Refusal),
}

impl Core {
    /// Looks for what a flight is for on disk, and else asks the origin: for what is stored under the key, if it is `stale`, only
    /// whether it is still right.
    /// It is for others too: whoever waits for it may go without ending it.
    pub(crate) async fn fetch(
        self: Arc<Self>,
        visit: Arc<Visit>,
        stale: Option<Arc<Object>>,
        flight: Flight,
    ) -> Fetched {
        let stale = match stale {
            None => self.from_disk(&visit).await,
            // The disk may have given up its body.
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
            // It is about something that is not stored here, or not any more: what is there now?
            answered = self.ask(&visit, headers(None), Body::empty(), sent.time, Aim::Tiers).await;
        }
        let is_error = answered.as_ref().map_or(true, |response| is_failure(response.status()));
        if let Some(stale) = stale.filter(|stale| is_error && self.stands_in(&visit, stale, self.now())) {
            flight.land(Landing::Instead(Arc::clone(&stale)));
            return Fetched::Instead(stale);
        }
        match answered {
            Err(refusal) => {
                // Who came through other data centres has fewer ways left than one who did not.
                let is_for_all = visit.through().is_empty() || refusal != UNREACHABLE;
                flight.land(if is_for_all { Landing::Failed(refusal) } else { Landing::Alone });
                Fetched::Failed(refusal)
            }
            Ok(response) => self.receive(&visit, response, &sent, flight),
        }
    }

    /// Stores a response while it comes, or gives it to the one who asked.
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
                // A 206 or a 416 to a request for the whole is no failure either.
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

    /// Requests for a response that each has to ask its origin for do not wait for one another from now on; those for one that may
    /// be reused do.
    fn remember_hit_for_miss(&self, visit: &Visit, stored: Option<&Arc<Object>>) {
        let now = self.now();
        match stored.filter(|object| object.stored.reuse(Wishes::default(), now) != Reuse::Validate) {
            Some(_) => self.passing.forget(&visit.key),
            None => self.passing.note(&visit.key, now),
        }
    }

    /// Stores a response that was passed on, if a GET would be answered with the same, or with a part of it; whether it did.
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

    /// Whether a response may be stored as a whole, and for what.
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

    /// Whether a response of any length to a request with this method may be stored, and for what.
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

    /// How many bytes of a body that came in parts are kept at most: those are in memory alone.
    pub(crate) fn largest_in_parts(&self, visit: &Visit) -> u64 {
        visit.zone().largest.min(self.store.capacity())
    }

    /// How many bytes of a body are stored at most.
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

    /// Stores a response while its body comes. If that breaks off, the rest is asked for as `again` was. Returns the fields that
    /// are for the client that asked alone as well.
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
        // What is here as a whole already, as small bodies often are, needs no task.
        if pouring.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            tokio::spawn(pouring);
        }
        (object, personal)
    }

    /// What an answer to a request that was passed on changes in the store: an unsafe one makes URLs and groups invalid, a HEAD
    /// confirms or contradicts what is stored. Moves the epoch of the request on, as the response does not make itself invalid.
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

/// What purges know a response by.
pub(crate) fn subject(visit: &Visit, headers: &HeaderMap) -> Subject {
    Subject {
        zone: visit.zone().name.clone(),
        url: visit.key.url().to_owned(),
        tags: purge::tags(headers),
        groups: invalidation::groups(headers),
    }
}

/// A response that is handed on as it is. Its tags are for data centres alone.
pub(crate) fn passed(visit: &Visit, mut response: Response<Body>) -> Response<Body> {
    if visit.came.is_none() {
        response.headers_mut().remove(purge::CACHE_TAG);
    }
    response
}

/// Statuses that say that the origin fails, and not what the resource is (RFC 5861 section 4).
pub(crate) fn is_failure(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}
