//! Responses from objects that are stored in parts, for example objects that are too large to store whole.
//! `keeping.rs` stores the parts.

use std::sync::Arc;

use cache::{
    CacheStatus, Forward, Fragment, Gap, Rest, Reuse, Supply, Time, Validators,
    ranges::{self, Part, Wanted},
};
use http::{Body, HeaderValue, Response, StatusCode, header};

use crate::{
    answer::{of_part, respond},
    asking::Aim,
    chain::{append_all, reason},
    confirm::Confirmed,
    core::Core,
    counts::Word,
    fetch::{Fetched, is_failure},
    flights::{self, Landing},
    in_flight::Sent,
    origins::onward,
    parts::Parts,
    pour::Pouring,
    sequence::in_sequence,
    store::Object,
    visit::{Refusal, Visit},
};

impl Core {
    /// Whether to discard the response to a request for the whole object and request only the ranges that the
    /// client wants: the object is too large to store, and the bytes before the ranges would be transferred
    /// for nothing.
    pub(crate) fn is_better_in_parts(&self, visit: &Visit, response: &Response<Body>) -> bool {
        let (status, headers) = (response.status(), response.headers());
        let has_parts = headers.get(header::ACCEPT_RANGES).is_none_or(|unit| unit != "none");
        let length = ranges::announced(headers).filter(|length| *length > self.largest(visit) && has_parts);
        length.is_some_and(|length| {
            match ranges::wanted(&visit.method, &visit.headers, (status, headers), length) {
                Wanted::Parts(parts) => Part::whole(length).is_none_or(|whole| parts != [whole]),
                Wanted::Nothing => true,
                Wanted::Whole => false,
            }
        })
    }

    /// Responds from the stored parts, and requests at most one missing range from the origin. `None` if the
    /// stored parts cannot be used.
    pub(crate) async fn from_parts(
        self: &Arc<Self>,
        visit: &Arc<Visit>,
        object: &Arc<Object>,
        parts: &Arc<Parts>,
    ) -> Option<Response<Body>> {
        if !self.form(visit, object).has_parts_for(&visit.headers) {
            return None;
        }
        let sent = self.send(&visit.key);
        let now = sent.time;
        // An object that was purged earlier is not used. A later purge is detected when the object is added
        // again.
        self.store.lease(object)?;
        match (parts.supply(visit, &object.stored), self.reuse(visit, object, now)) {
            (Supply::Here, Reuse::Fresh) => Some(self.hit(visit, object, now, None)),
            (Supply::Here, Reuse::Stale) => Some(self.hit(visit, object, now, Some("stale"))),
            (Supply::Elsewhere, _) => None,
            _ if visit.wishes.only_if_cached => None,
            (Supply::Here, Reuse::WhileRevalidated) => {
                self.revalidate_parts(visit, object, sent);
                Some(self.hit(visit, object, now, Some("revalidating")))
            }
            (Supply::Here, Reuse::Validate) => Some(self.confirm_parts(visit, object, &sent).await),
            (Supply::AllBut(gap), _) => self.fill_gap(visit, (object, parts), gap, &sent).await,
        }
    }

    /// Revalidates the parts, and responds from them or with the new response of the origin.
    async fn confirm_parts(
        self: &Arc<Self>,
        visit: &Visit,
        object: &Arc<Object>,
        sent: &Sent,
    ) -> Response<Body> {
        let forward = reason(object, sent.time);
        let said = self.ask_about(visit, object, sent).await;
        let now = self.now();
        if said.is_failure() && self.stands_in(visit, object, now) {
            return self.hit(visit, object, now, Some("origin-failed"));
        }
        match said {
            Said::Right(confirmed) => self.land(visit, Fetched::Confirmed(confirmed), forward),
            // The 304 is about a representation that is not stored here.
            Said::Other(response) if response.status() == StatusCode::NOT_MODIFIED => {
                self.pass(visit, Body::empty(), forward).await
            }
            Said::Other(response) => self.pass_back(visit, response, forward, sent.clone()),
            Said::Nothing(refusal) => self.refuse(refusal),
        }
    }

    /// Revalidates the parts in the background, unless a request for the key is in flight. Removes them if
    /// the origin has another representation now.
    fn revalidate_parts(self: &Arc<Self>, visit: &Arc<Visit>, object: &Arc<Object>, sent: Sent) {
        let flights::Part::Leads(flight) = self.join_flight(visit) else { return };
        let (core, visit, object) = (Arc::clone(self), Arc::clone(visit), Arc::clone(object));
        tokio::spawn(async move {
            let said = core.ask_about(&visit, &object, &sent).await;
            if let Said::Other(response) = said
                && !response.status().is_server_error()
                && response.status() != StatusCode::TOO_MANY_REQUESTS
            {
                core.store.remove(&object);
            }
            flight.land(Landing::Alone);
        });
    }

    /// Sends a conditional request for the ranges that the client wants.
    async fn ask_about(&self, visit: &Visit, object: &Object, sent: &Sent) -> Said {
        let mut headers = onward(visit, &self.centre);
        let validators = Validators::of(&object.stored);
        if let Some(validators) = &validators {
            validators.ask_first(&mut headers);
        }
        let answered = self.ask(visit, headers, Body::empty(), sent.time, Aim::Origin).await;
        let response = match answered {
            Ok(response) => response,
            Err(refusal) => return Said::Nothing(refusal),
        };
        let is_right = response.status() == StatusCode::NOT_MODIFIED
            && validators.is_some_and(|asked| asked.are_confirmed_by(response.headers()));
        if !is_right {
            return Said::Other(response);
        }
        Said::Right(self.confirm(visit, object, response.headers(), (sent, self.now())))
    }

    /// Requests the missing range from the origin, and responds with it and the stored bytes. `None` if the
    /// origin does not return the range of the same representation.
    async fn fill_gap(
        self: &Arc<Self>,
        visit: &Arc<Visit>,
        (object, parts): (&Arc<Object>, &Arc<Parts>),
        gap: Gap,
        sent: &Sent,
    ) -> Option<Response<Body>> {
        let rest = Rest::between(gap.missing, &object.stored)?;
        let mut headers = onward(visit, &self.centre);
        rest.ask(&mut headers);
        let answered = self.ask(visit, headers, Body::empty(), sent.time, Aim::Origin).await;
        let (head, body) = answered.ok()?.into_parts();
        rest.is_in(head.status, &head.headers)?;
        Fragment::read(head.status, &head.headers).filter(Fragment::is_announced)?;
        let now = self.now();
        let confirmed = self.confirm(visit, object, &head.headers, (sent, now));
        let status = CacheStatus {
            forward_status: Some(head.status.as_u16()),
            ttl: Some(confirmed.object.stored.terms.seconds_left(now)),
            stored: confirmed.is_stored,
            ..self.status(Forward::Partial)
        };
        let response = self.join(visit, (confirmed, parts), gap, body, (sent, now));
        Some(self.finish(response, visit, &status, Word::Miss))
    }

    /// Responds with the stored bytes and the `body` of the missing range.
    fn join(
        self: &Arc<Self>,
        visit: &Arc<Visit>,
        (Confirmed { object, personal, is_stored }, parts): (Confirmed, &Arc<Parts>),
        Gap { asked, missing }: Gap,
        body: Body,
        (sent, now): (&Sent, Time),
    ) -> Response<Body> {
        let object = &object;
        let length = parts.length();
        let part = asked.or(Part::whole(length)).unwrap_or(missing);
        let around = |body| {
            let before = part.before(missing.first).map(|before| parts.read(before));
            let behind = part.behind(missing.last).map(|behind| parts.read(behind));
            in_sequence(before.into_iter().chain([body]).chain(behind))
        };
        // A complete object that may be stored is filled once for all: concurrent requests read the same
        // fill.
        let may_be_whole = is_stored && asked.is_none() && length <= self.largest(visit);
        if let Some(whole) = may_be_whole.then(|| self.store.complete(object, Arc::default())).flatten() {
            let pouring = Pouring {
                largest: visit.zone().largest,
                again: Some(Arc::clone(visit)),
                replaced: None,
                sent: sent.clone(),
            };
            tokio::spawn(Arc::clone(self).pour(Arc::clone(&whole), around(body), pouring));
            let mut response = self.answer(visit, &whole, self.form(visit, &whole), now);
            append_all(response.headers_mut(), personal);
            return response;
        }
        let body = match is_stored {
            true => self.edge.keeping(object, parts, missing, self.largest_in_parts(visit), (body, sent)),
            false => body,
        };
        let body = around(body);
        let mut headers = object.stored.head(now);
        append_all(&mut headers, personal);
        self.form(visit, object).describe(&mut headers);
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        match asked {
            Some(part) => of_part(headers, part, length, body),
            None => respond(object.stored.status, headers, body),
        }
    }
}

/// The result of a revalidation of stored parts.
enum Said {
    /// Still valid: the object with the updated header.
    Right(Confirmed),
    Other(Response<Body>),
    Nothing(Refusal),
}

impl Said {
    fn is_failure(&self) -> bool {
        match self {
            Self::Right(_) => false,
            Self::Other(response) => is_failure(response.status()),
            Self::Nothing(_) => true,
        }
    }
}
