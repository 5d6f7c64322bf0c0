//! A worker of a data centre: a thread with separate connections to users and to origins.

use std::{
    ops::Deref,
    sync::{Arc, MutexGuard},
};

use http_cache::Form;
use http_stack::{Body, Method, Response, Version};

use crate::{
    fast_path::{
        pass_table::{PassReason, PassTable},
        raw_forward::may_be_forwarded_raw,
    },
    request::context::RequestContext,
    response::compress::default_form,
    server::node::Node,
    store::memory::Object,
    telemetry::{
        counters::{CacheResult, RequestCounters},
        delivery::HitNotes,
        traffic::RequestSeries,
    },
    upstream::connectors::Connectors,
};

pub(crate) struct WorkerState {
    pub(crate) node: Arc<Node>,
    index: usize,
    pub(crate) connectors: Connectors,
    audience: Audience,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audience {
    Client,
    Peer,
}

impl WorkerState {
    pub(crate) fn new(node: Arc<Node>, number: usize, clients: Connectors) -> Self {
        node.register_clients(&clients);
        Self { node, index: number, connectors: clients, audience: Audience::Client }
    }

    pub(crate) fn for_peers(&self) -> Self {
        let (node, clients) = (Arc::clone(&self.node), self.connectors.clone());
        Self { node, index: self.index, connectors: clients, audience: Audience::Peer }
    }

    pub(crate) fn counters(&self) -> &RequestCounters {
        match self.audience {
            Audience::Client => &self.node.client_counters,
            Audience::Peer => &self.node.peer_counters,
        }
    }

    pub(crate) fn serves_clients(&self) -> bool {
        self.audience == Audience::Client
    }

    /// Nanoseconds of a clock for durations.
    pub(crate) fn monotonic_ns(&self) -> u64 {
        self.connectors.requests.clock().now()
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn own_pass_table(&self) -> MutexGuard<'_, PassTable> {
        self.pass_table(self.index)
    }

    pub(crate) fn remember_pass(
        &self,
        context: &RequestContext,
        reason: PassReason,
        response: &Response<Body>,
    ) {
        let is_plain = context.forwarded.is_none()
            && context.version == Version::HTTP_11
            && context.method == Method::GET
            && !context.has_rate_limit()
            && context.headers.keys().all(|name| may_be_forwarded_raw(name.as_str()));
        let mut pass_table = self.own_pass_table();
        // A concurrent reload replaces the network before it clears the index.
        if is_plain && std::ptr::eq(&*self.network(), context.network()) {
            pass_table.add(context, reason, (&self.data_centre, response.status()), self.now());
        }
    }

    pub(crate) fn remember_hit(
        &self,
        context: &RequestContext,
        object: &Arc<Object>,
        form: Form,
        response: &Response<Body>,
    ) {
        if !context.is_plain()
            || context.has_rate_limit()
            || form != default_form(context, object)
            || context.matches().is_client_specific()
        {
            return;
        }
        let mut hits = self.hit_table(self.index);
        // A concurrent reload replaces the network before it clears the index.
        if !std::ptr::eq(&*self.network(), context.network()) {
            return;
        }
        if context.forwarded.is_some() {
            if let Some(lease) = self.store.lease(object) {
                hits.add_for_peer(context, object, form, &lease, response);
            }
            return;
        }
        let number = self.traffic.number(&context.zone().name);
        let series = RequestSeries::new(number, &Method::GET, response.status(), CacheResult::Hit);
        let log_suffix =
            || self.access_log.as_ref().map(|log| log.hit_suffix(context, response.status().as_u16()));
        let notes = || HitNotes { series, log_suffix: log_suffix() };
        if let Some(only) = &object.prerendered.disk_only {
            if let Some(names) = self.store.vary_names(&context.key, &context.headers) {
                hits.add_disk_only(context, (object, only), form, &names, response, notes());
            }
        } else if let Some(lease) = self.store.lease(object) {
            hits.add(context, object, form, &lease, response, notes());
        }
    }
}

impl Deref for WorkerState {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}
