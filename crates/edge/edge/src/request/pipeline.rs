//! Request handling from admission to response: bypass, lookup, revalidation, fetch, pass.

use std::sync::Arc;

use http_cache::{CacheStatus, Form, Forward, Reuse, Time, purge::CACHE_TAG};
use http_stack::{Body, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, body::Frames, header};

use crate::{
    cache::{
        collapse::{CollapseOutcome, JoinRole},
        freshen::Freshened,
        miss::{MissOutcome, forwarded_response},
        response_order::SentRequest,
        stale_on_error::{
            is_origin_failure, is_withheld_from_peer, may_serve_stale_on_error, must_revalidate,
            within_stale_timeout,
        },
    },
    config::Zone,
    fast_path::pass_table::PassReason,
    peers::headers::StoredMarker,
    request::{
        body_limit::BodyLimit,
        context::RequestContext,
        rejection::{CONTENT_TOO_LARGE, INCOMPLETE, NOT_CACHED, RATE_LIMITED, Rejection},
    },
    response::build::{add_cache_headers, add_cache_status, from_object, respond},
    rules::answer::{Answer, FixedResponse},
    server::worker_state::WorkerState,
    store::memory::{Lookup, Object},
    telemetry::{
        access_log::{RequestOutcome, UpstreamTiming},
        counters::CacheResult,
        traffic::ZoneNumber,
    },
    upstream::{
        origins::upstream_headers,
        select::{MAX_HEAD_DELAY, Upstream, may_be_empty, peek_body},
    },
    util::detach_on_drop::DetachOnDrop,
};

impl WorkerState {
    pub(crate) async fn serve(self: &Arc<Self>, request: Request<Body>) -> Response<Body> {
        let (mut context, body) = match RequestContext::admit(&self.network(), &self.data_centre, request) {
            Ok(admitted) => admitted,
            Err(rejection) => return self.reject(rejection),
        };
        let (network, number) = context.zone_place();
        let (network, number) = (Arc::clone(network), number);
        let (body, body_limit) = match BodyLimit::apply(body, context.zone().max_request_body) {
            Ok(limited) => limited,
            Err(rejection) => return self.reject(rejection),
        };
        let needs_name = self.access_log.is_some() || context.trace.is_some();
        let zone =
            (self.traffic.number(&context.zone().name), needs_name.then(|| context.zone().name.clone()));
        context.upstream_timing = self.access_log.as_ref().map(|_| Arc::default());
        let upstream_timing = context.upstream_timing.clone();
        let changes = context.response_changes.clone();
        let limits = self.rate_limiter.check(&context, self.monotonic_ns());
        let mut response = match (&limits, context.answer.take()) {
            (Err(excess), _) => self.reject(RATE_LIMITED.with_status(excess.status)),
            (Ok(_), Some(answer)) => self.answer_by_rule(&context, *answer),
            (Ok(_), None) => self.handle_admitted(context, body).await,
        };
        if body_limit.is_exceeded() && response.extensions().get::<Rejection>().is_some() {
            response = self.reject(CONTENT_TOO_LARGE);
        }
        if let Some(changes) = changes
            && response.extensions().get::<Rejection>().is_some()
        {
            changes.apply(response.status(), response.headers_mut());
        }
        match &limits {
            Ok(fields) => fields.insert_into(&mut response),
            Err(excess) => excess.insert_into(&mut response),
        }
        self.complete_outcome(&mut response, zone, upstream_timing.as_deref());
        apply_error_page(&network.zones[number], &mut response);
        response
    }

    pub(crate) fn complete_outcome(
        &self,
        response: &mut Response<Body>,
        zone: (ZoneNumber, Option<String>),
        upstream_timing: Option<&UpstreamTiming>,
    ) {
        if let Some(outcome) = response.extensions_mut().get_mut::<RequestOutcome>() {
            (outcome.zone_number, outcome.zone) = zone;
            outcome.upstream_timing = upstream_timing.and_then(UpstreamTiming::times);
            outcome.tier = upstream_timing.and_then(UpstreamTiming::source);
        }
    }

    pub(crate) async fn handle_admitted(
        self: &Arc<Self>,
        mut context: RequestContext,
        body: Body,
    ) -> Response<Body> {
        if let Some(response) = self.answer_max_forwards(&mut context) {
            return response;
        }
        if let Some(protocol) = context.protocol.clone() {
            return Box::pin(self.upgrade(&context, body, &protocol)).await;
        }
        if context.rule().is_some_and(|rule| rule.is_bypass) {
            let is_plain_get = context.method == Method::GET && body.is_end_stream();
            let response = self.forward(&context, body, Forward::Bypass).await;
            if is_plain_get {
                self.remember_pass(&context, PassReason::Bypass, &response);
            }
            return response;
        }
        if !matches!(context.method, Method::GET | Method::HEAD) {
            return self.forward(&context, body, Forward::Method).await;
        }
        let body = match may_be_empty(&context, &body) {
            true => Box::pin(body.look_ahead(1, MAX_HEAD_DELAY)).await,
            false => Ok(body),
        };
        let Ok(body) = body else { return self.reject(INCOMPLETE) };
        // The response may depend on the request content, which no cache key contains (RFC 9110
        // section 9.3.1).
        if !body.is_end_stream() {
            if context.wishes.only_if_cached {
                return self.reject(NOT_CACHED);
            }
            return self.forward(&context, body, Forward::Bypass).await;
        }
        self.find_or_fetch(Arc::new(context)).await
    }

    fn answer_by_rule(&self, context: &RequestContext, answer: Answer) -> Response<Body> {
        let Answer { response: FixedResponse { status, headers, body }, kind } = answer;
        let body = if context.method == Method::HEAD { Body::empty() } else { Body::whole(body) };
        let response = respond(status, headers, body);
        let status = CacheStatus { detail: Some(kind.detail()), ..self.cache_status(Forward::Bypass) };
        self.finish(response, context, &status, CacheResult::Bypass)
    }

    async fn find_or_fetch(self: &Arc<Self>, context: Arc<RequestContext>) -> Response<Body> {
        let now = self.now();
        let found = self.lookup(&context, now);
        let (forward, stale) = match found {
            Lookup::Absent => (Forward::UriMiss, None),
            Lookup::OtherVariant => (Forward::VaryMiss, None),
            Lookup::Object(object) => match self.reuse(&context, &object, now) {
                Reuse::Fresh => return self.respond_hit(&context, &object, now, None),
                Reuse::Stale => return self.respond_hit(&context, &object, now, Some("stale")),
                Reuse::WhileRevalidated => {
                    self.revalidate_in_background(&context, &object);
                    return self.respond_hit(&context, &object, now, Some("revalidating"));
                }
                Reuse::Validate => (forward_reason(&object, now), Some(object)),
            },
            Lookup::Partial(object, parts) => {
                // Boxed to keep this future small.
                match Box::pin(self.respond_from_ranges(&context, &object, &parts)).await {
                    Some(response) => return response,
                    None => (Forward::Partial, None),
                }
            }
        };
        if context.wishes.only_if_cached {
            return self.reject(NOT_CACHED);
        }
        if context.method == Method::HEAD {
            let fallback =
                stale.filter(|stale| may_serve_stale_on_error(&self.purge_log, &context, stale, now));
            let response = self.forward(&context, Body::empty(), forward).await;
            return match fallback.filter(|_| is_origin_failure(response.status())) {
                Some(fallback) => self.respond_hit(&context, &fallback, self.now(), Some("origin-failed")),
                None => response,
            };
        }
        let hit_for_miss = self.hit_for_miss.get(&context.key, now);
        if let Some(passed) = hit_for_miss.as_ref().filter(|_| stale.is_none()) {
            let response = self.forward(&context, Body::empty(), forward).await;
            let is_on_disk = || self.disk.as_ref().is_some_and(|disk| disk.may_have(&context.key));
            if forward == Forward::UriMiss && !is_on_disk() {
                self.remember_pass(&context, PassReason::HitForMiss(Arc::clone(passed)), &response);
            }
            return response;
        }
        let (stale, zone) = (stale.filter(|stale| !stale.body.is_broken()), context.zone());
        let fallback =
            stale.clone().filter(|stale| may_serve_stale_on_error(&self.purge_log, &context, stale, now));
        let may_share = |object: &Object| {
            object.stored.selection.matches(&context.headers)
                && self.reuse(&context, object, self.now()) != Reuse::Validate
        };
        let may_stand_in = |object: &Object| {
            object.stored.selection.matches(&context.headers)
                && may_serve_stale_on_error(&self.purge_log, &context, object, self.now())
        };
        let on_failure = fallback.clone();
        if let Some(fallback) = fallback.as_ref().filter(|_| self.origins.are_failing(zone, now)) {
            self.revalidate_in_background(&context, fallback);
            return self.respond_hit(&context, fallback, now, Some("origin-failed"));
        }
        // A fetch that began before this request does not revalidate for it (RFC 9111 section
        // 5.2.1.4).
        let part = match hit_for_miss {
            None if !context.wishes.wants_validation() => self.join_collapse(&context),
            _ => JoinRole::Leader(self.collapse.uncollapsed(&context.key)),
        };
        match part {
            JoinRole::Leader(leader) => {
                // Another fetch may have stored the object between the lookup and the start of this
                // one.
                if let Lookup::Object(object) = self.store.find(&context.key, &context.headers)
                    && self.reuse(&context, &object, self.now()) == Reuse::Fresh
                {
                    leader.complete(CollapseOutcome::Found(Arc::clone(&object)));
                    return self.respond_hit(&context, &object, self.now(), None);
                }
                let fetch = DetachOnDrop::new(Arc::clone(self).fetch(Arc::clone(&context), stale, leader));
                match within_stale_timeout(fetch, zone.stale_after, fallback).await {
                    Ok(MissOutcome::Uncacheable(response, _))
                        if self.should_fetch_ranges(&context, &response) =>
                    {
                        drop(response);
                        self.forward(&context, Body::empty(), forward).await
                    }
                    Ok(fetched) => self.respond_to_miss(&context, fetched, forward),
                    Err(fallback) => self.respond_hit(&context, &fallback, self.now(), Some("origin-slow")),
                }
            }
            JoinRole::Follower(follower) => {
                match within_stale_timeout(follower.outcome(), zone.stale_after, fallback).await {
                    Ok(CollapseOutcome::Shared(object)) if may_share(&object) => {
                        self.respond_collapsed(&context, &object, forward)
                    }
                    Ok(CollapseOutcome::Found(object)) if may_share(&object) => {
                        self.respond_hit(&context, &object, self.now(), None)
                    }
                    Ok(CollapseOutcome::StaleOnError(object)) if may_stand_in(&object) => {
                        self.respond_hit(&context, &object, self.now(), Some("origin-failed"))
                    }
                    Ok(
                        CollapseOutcome::Shared(_)
                        | CollapseOutcome::Found(_)
                        | CollapseOutcome::StaleOnError(_)
                        | CollapseOutcome::NotShared,
                    ) => {
                        let _turn = follower.fetch_permit().await;
                        self.forward(&context, Body::empty(), forward).await
                    }
                    Ok(CollapseOutcome::Failed(rejection)) => match on_failure {
                        Some(fallback) => {
                            self.respond_hit(&context, &fallback, self.now(), Some("origin-failed"))
                        }
                        None => self.reject(rejection),
                    },
                    Err(fallback) => self.respond_hit(&context, &fallback, self.now(), Some("origin-slow")),
                }
            }
        }
    }

    /// A peer receives no purged object, because it would treat it as fresh. If purges may have
    /// been missed and the zone requires it, every object is revalidated.
    pub(crate) fn reuse(&self, context: &RequestContext, object: &Object, now: Time) -> Reuse {
        if is_withheld_from_peer(context, object) || must_revalidate(&self.purge_log, context) {
            return Reuse::Validate;
        }
        match object.stored.reuse(context.wishes, now) {
            // The peer may have the same stale object and revalidate in the background, so it waits
            // for the origin.
            Reuse::WhileRevalidated if context.forwarded.is_some() => Reuse::Validate,
            reuse => reuse,
        }
    }

    fn revalidate_in_background(self: &Arc<Self>, context: &Arc<RequestContext>, object: &Arc<Object>) {
        if let JoinRole::Leader(leader) = self.join_collapse(context) {
            tokio::spawn(Arc::clone(self).fetch(Arc::clone(context), Some(Arc::clone(object)), leader));
        }
    }

    pub(crate) fn respond_to_miss(
        &self,
        context: &RequestContext,
        fetched: MissOutcome,
        forward: Forward,
    ) -> Response<Body> {
        let now = self.now();
        let (result, object, client_headers, stored) = match fetched {
            MissOutcome::Failed(rejection) => return self.reject(rejection),
            MissOutcome::Uncacheable(response, reason) => {
                let response = self.compress_response(context, response);
                let status = CacheStatus { detail: Some(reason.word()), ..self.cache_status(forward) };
                return self.finish(response, context, &status, CacheResult::Miss);
            }
            MissOutcome::Found(object) => return self.respond_hit(context, &object, now, None),
            MissOutcome::StaleOnError(object) => {
                return self.respond_hit(context, &object, now, Some("origin-failed"));
            }
            MissOutcome::Freshened(Freshened { object, client_headers, is_stored }) => {
                (CacheResult::Revalidated, object, client_headers, is_stored)
            }
            MissOutcome::Stored(object, client_headers) => (CacheResult::Miss, object, client_headers, true),
        };
        let status = CacheStatus {
            forward_status: Some(if result == CacheResult::Revalidated {
                304
            } else {
                object.stored.status.as_u16()
            }),
            ttl: Some(object.stored.terms.seconds_left(now)),
            stored,
            ..self.cache_status(forward)
        };
        let mut response = self.build_response(context, &object, self.form(context, &object), now);
        append_all(response.headers_mut(), client_headers);
        // A response directly from the origin keeps the age that the origin sent.
        if result == CacheResult::Miss && object.stored.terms.age(now).is_zero() {
            response.headers_mut().remove(header::AGE);
        }
        self.finish(response, context, &status, result)
    }

    fn respond_collapsed(
        &self,
        context: &RequestContext,
        object: &Arc<Object>,
        forward: Forward,
    ) -> Response<Body> {
        let now = self.now();
        let ttl = Some(object.stored.terms.seconds_left(now));
        let status = CacheStatus { ttl, collapsed: true, ..self.cache_status(forward) };
        let response = self.build_response(context, object, self.form(context, object), now);
        self.finish(response, context, &status, CacheResult::Collapsed)
    }

    pub(crate) fn build_response(
        &self,
        context: &RequestContext,
        object: &Arc<Object>,
        form: Form,
        now: Time,
    ) -> Response<Body> {
        let mut response =
            from_object(context, object, form, now, |coding| self.node.encoded(object, coding));
        if context.forwarded.is_some() {
            add_peer_metadata(&mut response, object);
        }
        response
    }

    pub(crate) fn respond_hit(
        &self,
        context: &RequestContext,
        object: &Arc<Object>,
        now: Time,
        detail: Option<&'static str>,
    ) -> Response<Body> {
        let ttl = Some(object.stored.terms.seconds_left(now));
        let status = CacheStatus { cache: self.data_centre.clone(), ttl, detail, ..CacheStatus::default() };
        let result = if detail.is_some() { CacheResult::Stale } else { CacheResult::Hit };
        let form = self.form(context, object);
        let response = self.finish(self.build_response(context, object, form, now), context, &status, result);
        if result == CacheResult::Hit {
            self.remember_hit(context, object, form, &response);
        }
        response
    }

    pub(crate) async fn forward(
        self: &Arc<Self>,
        context: &RequestContext,
        body: Body,
        forward: Forward,
    ) -> Response<Body> {
        // The origin may close the connection at this moment; a body in memory can be sent again.
        let Ok(body) = body.in_memory(MAX_BUFFERED_BODY).await else { return self.reject(INCOMPLETE) };
        let mut sent = self.register_request(&context.key);
        let result = self
            .fetch_upstream(
                context,
                upstream_headers(context, &self.data_centre),
                body,
                sent.time,
                Upstream::OriginOnly,
            )
            .await;
        match result {
            Ok(response) if context.method.is_safe() => {
                self.respond_forwarded(context, response, forward, sent)
            }
            // The header of the response to an unsafe request invalidates, even if the body is
            // truncated.
            Ok(response) => {
                if forward != Forward::Bypass {
                    self.apply_response_effects(context, &response, &mut sent);
                }
                match peek_body(response).await {
                    Ok(response) => self.store_or_pass(context, response, forward, &sent),
                    Err(rejection) => self.reject(rejection),
                }
            }
            Err(rejection) => self.reject(rejection),
        }
    }

    pub(crate) fn respond_forwarded(
        self: &Arc<Self>,
        context: &RequestContext,
        response: Response<Body>,
        forward: Forward,
        mut sent: SentRequest,
    ) -> Response<Body> {
        if forward != Forward::Bypass {
            self.apply_response_effects(context, &response, &mut sent);
        }
        self.store_or_pass(context, response, forward, &sent)
    }

    fn store_or_pass(
        self: &Arc<Self>,
        context: &RequestContext,
        response: Response<Body>,
        forward: Forward,
        sent: &SentRequest,
    ) -> Response<Body> {
        if forward == Forward::Bypass {
            let status = CacheStatus {
                forward_status: Some(response.status().as_u16()),
                ..self.cache_status(forward)
            };
            return self.finish(
                self.compress_response(context, forwarded_response(context, response)),
                context,
                &status,
                CacheResult::Bypass,
            );
        }
        let code = response.status().as_u16();
        let (response, stored) = self.store_forwarded(context, response, (sent, self.now()));
        let status = CacheStatus { forward_status: Some(code), stored, ..self.cache_status(forward) };
        let result = if forward == Forward::Method { CacheResult::Bypass } else { CacheResult::Miss };
        self.finish(response, context, &status, result)
    }

    pub(crate) fn cache_status(&self, forward: Forward) -> CacheStatus {
        CacheStatus { cache: self.data_centre.clone(), forward: Some(forward), ..CacheStatus::default() }
    }

    pub(crate) fn finish(
        &self,
        mut response: Response<Body>,
        context: &RequestContext,
        status: &CacheStatus,
        result: CacheResult,
    ) -> Response<Body> {
        self.record_result(result, &mut response);
        add_cache_headers(&mut response, context, status);
        context.change_response(&mut response);
        response
    }

    pub(crate) fn record_result(&self, result: CacheResult, response: &mut Response<Body>) {
        self.counters().add(result);
        if self.serves_clients() {
            response.extensions_mut().insert(RequestOutcome {
                result,
                zone: None,
                zone_number: ZoneNumber::default(),
                upstream_timing: None,
                tier: None,
            });
        }
    }

    pub(crate) fn reject(&self, rejection: Rejection) -> Response<Body> {
        let mut response = rejection.response();
        response.extensions_mut().insert(rejection);
        self.record_result(CacheResult::Refused, &mut response);
        let status = CacheStatus {
            cache: self.data_centre.clone(),
            forward: Some(Forward::Bypass),
            detail: Some(rejection.code),
            ..CacheStatus::default()
        };
        add_cache_status(response.headers_mut(), &status);
        if response.status() == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, 1.into());
        }
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, ALLOWED_METHODS);
        }
        response
    }
}

/// Replaces the body of an error that the edge generated.
fn apply_error_page(zone: &Zone, response: &mut Response<Body>) {
    if response.extensions().get::<Rejection>().is_none() {
        return;
    }
    if let Some(page) = zone.error_pages.get(response.status()) {
        *response.body_mut() = Body::whole(page.body.clone());
        response.headers_mut().insert(header::CONTENT_TYPE, page.content_type.clone());
    }
}

fn add_peer_metadata(response: &mut Response<Body>, object: &Object) {
    if let Ok(tags) = HeaderValue::from_str(&object.subject.tags.join(","))
        && !tags.is_empty()
    {
        response.headers_mut().insert(CACHE_TAG, tags);
    }
    response.extensions_mut().insert(StoredMarker);
}

pub(crate) fn append_all(headers: &mut HeaderMap, client_headers: HeaderMap) {
    let mut last = None;
    for (name, value) in client_headers {
        last = name.or(last);
        if let Some(name) = &last {
            headers.append(name, value);
        }
    }
}

pub(crate) fn forward_reason(object: &Object, now: Time) -> Forward {
    let is_asked_for = object.stored.terms.is_fresh(now) && !object.stored.terms.control.no_cache;
    if is_asked_for { Forward::Request } else { Forward::Stale }
}

/// Longer bodies are not buffered. About the initial flow-control window of HTTP/2 (RFC 9113
/// section 6.9.2).
const MAX_BUFFERED_BODY: u64 = 64 << 10;

/// The methods in common use. Other methods except CONNECT are forwarded too.
pub(crate) const ALLOWED_METHODS: HeaderValue =
    HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
