//! Fetches an object from the disk, the upper tiers or the origin, stores it, and completes the
//! collapsed requests.

use std::{
    sync::Arc,
    task::{Context, Waker},
};

use http_cache::{
    Control, Form, NotStored, RequestDirectives, Reuse, Stored, Terms, Time, Validators, VaryKey,
    invalidation, may_store,
    purge::{self, Purge, Subject},
    ranges::announced,
    take_personal, update,
};
use http_stack::{Body, HeaderMap, Method, Response, StatusCode, header::CONTENT_TYPE};

use crate::{
    cache::{
        collapse::{CollapseOutcome, Leader},
        fill::{FillOptions, ReplacedObject},
        freshen::{Cacheable, Freshened},
        response_order::SentRequest,
        stale_on_error::{is_origin_failure, may_serve_stale_on_error},
    },
    fast_path::prerendered::PrerenderedSet,
    request::{
        context::RequestContext,
        rejection::{Rejection, UNREACHABLE},
    },
    server::worker_state::WorkerState,
    store::memory::{Lookup, Object},
    upstream::{origins::upstream_headers, select::Upstream},
    util::compact_headers::compact,
};

pub(crate) enum MissOutcome {
    Stored(Arc<Object>, HeaderMap),
    Found(Arc<Object>),
    Freshened(Freshened),
    StaleOnError(Arc<Object>),
    Uncacheable(Response<Body>, NotStored),
    Failed(Rejection),
}

impl WorkerState {
    /// The fetch continues if its client disconnects, because followers may wait for it.
    pub(crate) async fn fetch(
        self: Arc<Self>,
        context: Arc<RequestContext>,
        stale: Option<Arc<Object>>,
        leader: Leader,
    ) -> MissOutcome {
        let stale = match stale {
            None => self.lookup_on_disk(&context).await,
            stored => stored.filter(|stored| !stored.body.is_broken()),
        };
        if let Some(object) =
            stale.clone().filter(|object| self.reuse(&context, object, self.now()) == Reuse::Fresh)
        {
            leader.complete(CollapseOutcome::Found(Arc::clone(&object)));
            return MissOutcome::Found(object);
        }
        let sent = self.register_request(&context.key);
        let headers = |validators: Option<&Validators>| {
            let mut headers = upstream_headers(&context, &self.data_centre);
            http_cache::make_unconditional(&mut headers);
            if let Some(validators) = validators {
                validators.ask(&mut headers);
            }
            headers
        };
        let validators = stale.as_ref().and_then(|stale| Validators::of(&stale.stored));
        let request_headers = headers(validators.as_ref());
        let mut result =
            self.fetch_upstream(&context, request_headers, Body::empty(), sent.time, Upstream::Tiers).await;
        if let (Ok(response), Some(request_headers), Some(stale)) = (&result, &validators, &stale)
            && response.status() == StatusCode::NOT_MODIFIED
        {
            if request_headers.are_confirmed_by(response.headers()) && !stale.body.is_broken() {
                let confirmed = self.freshen(&context, stale, response.headers(), (&sent, self.now()));
                let object = Some(&confirmed.object).filter(|_| confirmed.is_stored);
                self.remember_hit_for_miss(&context, object);
                leader.complete(object.map_or(CollapseOutcome::NotShared, |object| {
                    CollapseOutcome::Shared(Arc::clone(object))
                }));
                return MissOutcome::Freshened(confirmed);
            }
            // The 304 is about another representation, or the stored one has been removed.
            result =
                self.fetch_upstream(&context, headers(None), Body::empty(), sent.time, Upstream::Tiers).await;
        }
        let is_error = result.as_ref().map_or(true, |response| is_origin_failure(response.status()));
        if let Some(stale) = stale.filter(|stale| {
            is_error && may_serve_stale_on_error(&self.purge_log, &context, stale, self.now())
        }) {
            leader.complete(CollapseOutcome::StaleOnError(Arc::clone(&stale)));
            return MissOutcome::StaleOnError(stale);
        }
        match result {
            Err(rejection) => {
                // A request that has passed other data centres has fewer alternatives than other
                // requests.
                let is_for_all = context.through().is_empty() || rejection != UNREACHABLE;
                leader.complete(if is_for_all {
                    CollapseOutcome::Failed(rejection)
                } else {
                    CollapseOutcome::NotShared
                });
                MissOutcome::Failed(rejection)
            }
            Ok(response) => self.receive_response(&context, response, &sent, leader),
        }
    }

    fn receive_response(
        self: &Arc<Self>,
        context: &Arc<RequestContext>,
        response: Response<Body>,
        sent: &SentRequest,
        leader: Leader,
    ) -> MissOutcome {
        let now = self.now();
        match self.check_cacheable_whole(context, &response, (sent, now)) {
            Err(reason) => {
                // A 206 or 416 response to a request for the whole object is no failure either.
                let status = response.status();
                let is_answer = !status.is_server_error() && status != StatusCode::TOO_MANY_REQUESTS;
                if is_answer {
                    self.discard_stored(context, sent);
                }
                if is_answer && reason != NotStored::Superseded {
                    self.remember_hit_for_miss(context, None);
                }
                leader.complete(CollapseOutcome::NotShared);
                MissOutcome::Uncacheable(forwarded_response(context, response), reason)
            }
            Ok(cacheable) => {
                let (object, client_headers) =
                    self.store_response(context, Some(Arc::clone(context)), cacheable, response, (sent, now));
                self.remember_hit_for_miss(context, Some(&object));
                leader.complete(CollapseOutcome::Shared(Arc::clone(&object)));
                MissOutcome::Stored(object, client_headers)
            }
        }
    }

    /// Further requests are then not collapsed. A reusable response clears the entry.
    fn remember_hit_for_miss(&self, context: &RequestContext, stored: Option<&Arc<Object>>) {
        let now = self.now();
        match stored
            .filter(|object| object.stored.reuse(RequestDirectives::default(), now) != Reuse::Validate)
        {
            Some(_) => self.hit_for_miss.remove(&context.key),
            None => self.hit_for_miss.insert(&context.key, now),
        }
    }

    pub(crate) fn store_forwarded(
        self: &Arc<Self>,
        context: &RequestContext,
        response: Response<Body>,
        (sent, now): (&SentRequest, Time),
    ) -> (Response<Body>, bool) {
        if response.status() == StatusCode::PARTIAL_CONTENT {
            return self.store_range(context, response, (sent, now));
        }
        let is_right = matches!(context.method, Method::GET | Method::POST);
        let cacheable = is_right.then(|| self.check_cacheable_whole(context, &response, (sent, now)).ok());
        let Some(cacheable) = cacheable.flatten() else {
            return (self.compress_response(context, forwarded_response(context, response)), false);
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let (object, _) = self.store_response(context, None, cacheable, response, (sent, now));
        self.remember_hit_for_miss(context, Some(&object));
        let form = self.form(context, &object);
        let body = match form {
            Form::Coded(coding) => self.node.encoded(&object, coding),
            Form::Only | Form::Identity => Arc::clone(&object.body),
        };
        let mut response = Response::new(Body::stream(body.read()));
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        form.describe(response.headers_mut());
        (forwarded_response(context, response), true)
    }

    fn check_cacheable_whole(
        &self,
        context: &RequestContext,
        response: &Response<Body>,
        times: (&SentRequest, Time),
    ) -> Result<Cacheable, NotStored> {
        let cacheable =
            self.check_cacheable(context, &context.method, (response.status(), response.headers()), times)?;
        let is_too_large =
            announced(response.headers()).is_some_and(|length| length > self.max_stored_size(context));
        if is_too_large { Err(NotStored::TooLarge) } else { Ok(cacheable) }
    }

    pub(crate) fn check_cacheable(
        &self,
        context: &RequestContext,
        method: &Method,
        (status, headers): (StatusCode, &HeaderMap),
        (sent, now): (&SentRequest, Time),
    ) -> Result<Cacheable, NotStored> {
        let terms = self.terms(context, status, headers, (sent.time, now));
        let is_own = invalidation::is_own_location(&context.url, headers);
        let is_promised = || {
            let mut urls = [context.original_url(), &context.url].into_iter();
            urls.all(|url| http_cache::fits_extension(url.path(), headers.get(CONTENT_TYPE)))
        };
        if context.zone().deception_armor && !is_promised() {
            return Err(NotStored::ContentType);
        }
        let cookies = context.zone().set_cookie;
        may_store((method, &context.headers), context.wishes, (status, headers), &terms, cookies, is_own)?;
        let selection = VaryKey::of(&context.headers, headers).ok_or(NotStored::Vary)?;
        if sent.is_superseded(&selection) {
            return Err(NotStored::Superseded);
        }
        Ok(Cacheable { terms, selection })
    }

    /// Parts are stored in memory only.
    pub(crate) fn max_partial_size(&self, context: &RequestContext) -> u64 {
        context.zone().largest.min(self.store.capacity())
    }

    pub(crate) fn max_stored_size(&self, context: &RequestContext) -> u64 {
        context.zone().largest.min(self.node.max_object_size())
    }

    pub(crate) fn terms(
        &self,
        context: &RequestContext,
        status: StatusCode,
        headers: &HeaderMap,
        times: (Time, Time),
    ) -> Terms {
        let control = Control::read(headers, &context.zone().targets);
        let ttl = context.rule_for(status).and_then(|rule| rule.edge_ttl_for(status));
        Terms::read(status, headers, control, ttl, times)
            .or_default(context.zone().cache_statuses.get(status).copied())
    }

    fn store_response(
        self: &Arc<Self>,
        context: &RequestContext,
        resume_context: Option<Arc<RequestContext>>,
        Cacheable { terms, selection }: Cacheable,
        response: Response<Body>,
        (sent, now): (&SentRequest, Time),
    ) -> (Arc<Object>, HeaderMap) {
        let subject = purge_subject(context, response.headers());
        let (mut parts, body) = response.into_parts();
        parts.headers.remove(purge::CACHE_TAG);
        let client_headers = take_personal(&mut parts.headers, &terms.control, context.zone().set_cookie);
        let stored = Stored { status: parts.status, headers: compact(parts.headers), terms, selection };
        let object = Object {
            key: context.key.clone(),
            subject,
            stored,
            body: Arc::default(),
            parts: None,
            sent_epoch: sent.epoch,
            request_number: sent.number(),
            prerendered: PrerenderedSet::default(),
        };
        let previous = self.store.whole(&context.key, &context.headers);
        let is_on_disk = self.disk.as_ref().is_some_and(|disk| disk.may_have(&context.key));
        let replaced = (previous.is_some() || is_on_disk)
            .then(|| ReplacedObject { request: context.headers.clone(), object: previous });
        let object = self.add_to_store(context, object, sent, now);
        let pouring =
            FillOptions { largest: context.zone().largest, resume_context, replaced, sent: sent.clone() };
        let mut pouring = Box::pin(Arc::clone(self).fill_object(Arc::clone(&object), body, pouring));
        if pouring.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            tokio::spawn(pouring);
        }
        (object, client_headers)
    }

    /// An unsafe request invalidates URLs and groups, and a HEAD confirms or outdates the stored
    /// object. Advances the epoch of the request, so that the invalidation does not apply to its
    /// own response.
    pub(crate) fn apply_response_effects(
        &self,
        context: &RequestContext,
        response: &Response<Body>,
        sent: &mut SentRequest,
    ) {
        let (status, headers, now) = (response.status(), response.headers(), self.now());
        let mut urls = invalidation::urls(&context.method, &context.url, status, headers);
        if context.original_url() != &context.url {
            urls.extend(invalidation::urls(&context.method, context.original_url(), status, headers));
        }
        if !urls.is_empty() {
            let keys = urls.iter().flat_map(|url| context.zone().rules.key_urls(url));
            let mut purges: Vec<_> = keys.map(Purge::Url).collect();
            let own = http_cache::Key::of(&context.url, &context.headers, &http_cache::KeyRule::default());
            let origin = own
                .url()
                .strip_suffix(context.url.path_and_query().map_or("", |path| path.as_str()))
                .unwrap_or_default();
            let groups = invalidation::invalidated_groups(&context.method, headers).into_iter();
            purges.extend(groups.map(|group| Purge::Group(origin.to_owned(), group)));
            sent.epoch = self.invalidate(&purge_subject(context, headers), sent.epoch, purges);
        }
        if update::ends_use(&context.method, status) {
            self.discard_stored(context, sent);
        }
        if context.method == Method::HEAD
            && status == StatusCode::OK
            && let Lookup::Object(object) | Lookup::Partial(object, _) =
                self.store.find(&context.key, &context.headers)
        {
            if update::is_same(&object.stored, headers) {
                self.freshen(context, &object, headers, (sent, now));
            } else {
                let mut object = Object::clone(&object);
                object.stored.terms.outdated = Some(now);
                let object = self.store.add(object, &context.headers, now);
                if let Some(on_disk) = &self.disk {
                    on_disk.refresh(&object, &context.headers, sent.clone());
                }
            }
        }
    }
}

pub(crate) fn purge_subject(context: &RequestContext, headers: &HeaderMap) -> Subject {
    Subject {
        zone: context.zone().name.clone(),
        url: context.key.url().to_owned(),
        tags: purge::tags(headers),
        groups: invalidation::groups(headers),
    }
}

pub(crate) fn forwarded_response(context: &RequestContext, mut response: Response<Body>) -> Response<Body> {
    if context.forwarded.is_none() {
        response.headers_mut().remove(purge::CACHE_TAG);
    }
    response
}
