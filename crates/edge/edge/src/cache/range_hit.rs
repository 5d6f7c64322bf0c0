//! Responses from objects that are stored in parts, for example because they are too large to store
//! whole. `cache/range_fill.rs` stores the parts.

use std::sync::Arc;

use http_cache::{
    CacheStatus, Forward, Fragment, Gap, MissingRange, Reuse, Supply, Time, Validators,
    ranges::{self, Part, Wanted},
};
use http_stack::{Body, HeaderValue, Response, StatusCode, header};

use crate::{
    body::{concat::concat, sparse::SparseBody},
    cache::{
        collapse::{self, CollapseOutcome},
        fill::FillOptions,
        freshen::Freshened,
        miss::MissOutcome,
        response_order::SentRequest,
        stale_on_error::{is_origin_failure, may_serve_stale_on_error},
    },
    request::{
        context::RequestContext,
        pipeline::{append_all, forward_reason},
        rejection::Rejection,
    },
    response::build::{respond, single_part},
    server::worker_state::WorkerState,
    store::memory::Object,
    telemetry::counters::CacheResult,
    upstream::{origins::upstream_headers, select::Upstream},
};

impl WorkerState {
    /// The object is too large to store, and the bytes before the wanted ranges would be
    /// transferred for nothing.
    pub(crate) fn should_fetch_ranges(&self, context: &RequestContext, response: &Response<Body>) -> bool {
        let (status, headers) = (response.status(), response.headers());
        let has_parts = headers.get(header::ACCEPT_RANGES).is_none_or(|unit| unit != "none");
        let length =
            ranges::announced(headers).filter(|length| *length > self.max_stored_size(context) && has_parts);
        length.is_some_and(|length| {
            match ranges::wanted(&context.method, &context.headers, (status, headers), length) {
                Wanted::Parts(parts) => Part::whole(length).is_none_or(|whole| parts != [whole]),
                Wanted::Nothing => true,
                Wanted::Whole => false,
            }
        })
    }

    /// Requests at most one missing range from the origin. `None` if the stored parts cannot be
    /// used.
    pub(crate) async fn respond_from_ranges(
        self: &Arc<Self>,
        context: &Arc<RequestContext>,
        object: &Arc<Object>,
        parts: &Arc<SparseBody>,
    ) -> Option<Response<Body>> {
        if !self.form(context, object).has_parts_for(&context.headers) {
            return None;
        }
        let sent = self.register_request(&context.key);
        let now = sent.time;
        // An object that was purged earlier is not used. A later purge is detected when the object
        // is added again.
        self.store.lease(object)?;
        match (parts.supply(context, &object.stored), self.reuse(context, object, now)) {
            (Supply::Here, Reuse::Fresh) => Some(self.respond_hit(context, object, now, None)),
            (Supply::Here, Reuse::Stale) => Some(self.respond_hit(context, object, now, Some("stale"))),
            (Supply::Elsewhere, _) => None,
            _ if context.wishes.only_if_cached => None,
            (Supply::Here, Reuse::WhileRevalidated) => {
                self.revalidate_ranges_in_background(context, object, sent);
                Some(self.respond_hit(context, object, now, Some("revalidating")))
            }
            (Supply::Here, Reuse::Validate) => Some(self.revalidate_ranges(context, object, &sent).await),
            (Supply::AllBut(gap), _) => self.fill_gap(context, (object, parts), gap, &sent).await,
        }
    }

    async fn revalidate_ranges(
        self: &Arc<Self>,
        context: &RequestContext,
        object: &Arc<Object>,
        sent: &SentRequest,
    ) -> Response<Body> {
        let forward = forward_reason(object, sent.time);
        let validation = self.validate_ranges(context, object, sent).await;
        let now = self.now();
        if validation.is_failure() && may_serve_stale_on_error(&self.purge_log, context, object, now) {
            return self.respond_hit(context, object, now, Some("origin-failed"));
        }
        match validation {
            RangeValidation::Valid(confirmed) => {
                self.respond_to_miss(context, MissOutcome::Freshened(confirmed), forward)
            }
            RangeValidation::Other(response) if response.status() == StatusCode::NOT_MODIFIED => {
                self.forward(context, Body::empty(), forward).await
            }
            RangeValidation::Other(response) => {
                self.respond_forwarded(context, response, forward, sent.clone())
            }
            RangeValidation::Nothing(rejection) => self.reject(rejection),
        }
    }

    /// Does nothing if a request for the key is in flight. Removes the parts if the origin has
    /// another representation.
    fn revalidate_ranges_in_background(
        self: &Arc<Self>,
        context: &Arc<RequestContext>,
        object: &Arc<Object>,
        sent: SentRequest,
    ) {
        let collapse::JoinRole::Leader(leader) = self.join_collapse(context) else { return };
        let (worker, context, object) = (Arc::clone(self), Arc::clone(context), Arc::clone(object));
        tokio::spawn(async move {
            let validation = worker.validate_ranges(&context, &object, &sent).await;
            if let RangeValidation::Other(response) = validation
                && !response.status().is_server_error()
                && response.status() != StatusCode::TOO_MANY_REQUESTS
            {
                worker.store.remove(&object);
            }
            leader.complete(CollapseOutcome::NotShared);
        });
    }

    async fn validate_ranges(
        &self,
        context: &RequestContext,
        object: &Object,
        sent: &SentRequest,
    ) -> RangeValidation {
        let mut headers = upstream_headers(context, &self.data_centre);
        let validators = Validators::of(&object.stored);
        if let Some(validators) = &validators {
            validators.ask_first(&mut headers);
        }
        let result =
            self.fetch_upstream(context, headers, Body::empty(), sent.time, Upstream::OriginOnly).await;
        let response = match result {
            Ok(response) => response,
            Err(rejection) => return RangeValidation::Nothing(rejection),
        };
        let is_right = response.status() == StatusCode::NOT_MODIFIED
            && validators.is_some_and(|asked| asked.are_confirmed_by(response.headers()));
        if !is_right {
            return RangeValidation::Other(response);
        }
        RangeValidation::Valid(self.freshen(context, object, response.headers(), (sent, self.now())))
    }

    async fn fill_gap(
        self: &Arc<Self>,
        context: &Arc<RequestContext>,
        (object, parts): (&Arc<Object>, &Arc<SparseBody>),
        gap: Gap,
        sent: &SentRequest,
    ) -> Option<Response<Body>> {
        let rest = MissingRange::between(gap.missing, &object.stored)?;
        let mut headers = upstream_headers(context, &self.data_centre);
        rest.ask(&mut headers);
        let result =
            self.fetch_upstream(context, headers, Body::empty(), sent.time, Upstream::OriginOnly).await;
        let (head, body) = result.ok()?.into_parts();
        rest.is_in(head.status, &head.headers)?;
        Fragment::read(head.status, &head.headers).filter(Fragment::is_announced)?;
        let now = self.now();
        let confirmed = self.freshen(context, object, &head.headers, (sent, now));
        let status = CacheStatus {
            forward_status: Some(head.status.as_u16()),
            ttl: Some(confirmed.object.stored.terms.seconds_left(now)),
            stored: confirmed.is_stored,
            ..self.cache_status(Forward::Partial)
        };
        let response = self.join_gap(context, (confirmed, parts), gap, body, (sent, now));
        Some(self.finish(response, context, &status, CacheResult::Miss))
    }

    fn join_gap(
        self: &Arc<Self>,
        context: &Arc<RequestContext>,
        (Freshened { object, client_headers, is_stored }, parts): (Freshened, &Arc<SparseBody>),
        Gap { asked, missing }: Gap,
        body: Body,
        (sent, now): (&SentRequest, Time),
    ) -> Response<Body> {
        let object = &object;
        let length = parts.length();
        let part = asked.or(Part::whole(length)).unwrap_or(missing);
        let around = |body| {
            let before = part.before(missing.first).map(|before| parts.read(before));
            let behind = part.behind(missing.last).map(|behind| parts.read(behind));
            concat(before.into_iter().chain([body]).chain(behind))
        };
        // A complete object that may be stored is filled once: concurrent requests read the same
        // fill.
        let may_be_whole = is_stored && asked.is_none() && length <= self.max_stored_size(context);
        if let Some(whole) = may_be_whole.then(|| self.store.complete(object, Arc::default())).flatten() {
            let pouring = FillOptions {
                largest: context.zone().largest,
                resume_context: Some(Arc::clone(context)),
                replaced: None,
                sent: sent.clone(),
            };
            tokio::spawn(Arc::clone(self).fill_object(Arc::clone(&whole), around(body), pouring));
            let mut response = self.build_response(context, &whole, self.form(context, &whole), now);
            append_all(response.headers_mut(), client_headers);
            return response;
        }
        let body = match is_stored {
            true => self.node.tee_range(object, parts, missing, self.max_partial_size(context), (body, sent)),
            false => body,
        };
        let body = around(body);
        let mut headers = object.stored.head(now);
        append_all(&mut headers, client_headers);
        self.form(context, object).describe(&mut headers);
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        match asked {
            Some(part) => single_part(headers, part, length, body),
            None => respond(object.stored.status, headers, body),
        }
    }
}

enum RangeValidation {
    Valid(Freshened),
    Other(Response<Body>),
    Nothing(Rejection),
}

impl RangeValidation {
    fn is_failure(&self) -> bool {
        match self {
            Self::Valid(_) => false,
            Self::Other(response) => is_origin_failure(response.status()),
            Self::Nothing(_) => true,
        }
    }
}
