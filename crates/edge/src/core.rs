//! A worker of a data centre: a thread with separate connections to users and to origins.

use std::{
    ops::Deref,
    sync::{Arc, MutexGuard},
};

use cache::{Form, Time};
use http::{
    Body, Bytes, Failure, Method, Request, Response, Version, Whole,
    server::{Delivery, Glance, Handler, Interim, Relaying},
};

use crate::{
    centre::Edge,
    clients::Clients,
    compress::usual_form,
    counts::{Counts, Word},
    hits::Match,
    log::{Log, Outcome},
    ready::Shape,
    relay::may_be_relayed,
    sending::Sending,
    store::Object,
    visit::Visit,
    ways::{Reason, Ways},
};

pub(crate) struct Core {
    pub(crate) edge: Arc<Edge>,
    number: usize,
    pub(crate) clients: Clients,
    whom: Whom,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whom {
    Visitors,
    Others,
}

impl Core {
    pub(crate) fn new(edge: Arc<Edge>, number: usize, clients: Clients) -> Self {
        edge.watch(&clients);
        Self { edge, number, clients, whom: Whom::Visitors }
    }

    /// The same worker for requests of peers, which are counted separately.
    pub(crate) fn for_others(&self) -> Self {
        let (edge, clients) = (Arc::clone(&self.edge), self.clients.clone());
        Self { edge, number: self.number, clients, whom: Whom::Others }
    }

    pub(crate) fn counted(&self) -> &Counts {
        match self.whom {
            Whom::Visitors => &self.edge.counts,
            Whom::Others => &self.edge.counts_of_others,
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The requests that this worker relays without a cache lookup.
    pub(crate) fn own_ways(&self) -> MutexGuard<'_, Ways> {
        self.ways(self.number)
    }

    /// Marks requests like this for relay without a cache lookup, with the reason.
    pub(crate) fn remember_way(&self, visit: &Visit, reason: Reason, response: &Response<Body>) {
        let is_plain = visit.came.is_none()
            && visit.version == Version::HTTP_11
            && visit.method == Method::GET
            && visit.headers.keys().all(|name| may_be_relayed(name.as_str()));
        let mut ways = self.own_ways();
        // A concurrent reload replaces the network before it clears the index.
        if is_plain && std::ptr::eq(&*self.network(), visit.network()) {
            ways.add(visit, reason, (&self.centre, response.status()), self.now());
        }
    }

    /// Enables synchronous responses to requests like this while the stored object is valid.
    pub(crate) fn remember(
        &self,
        visit: &Visit,
        object: &Arc<Object>,
        form: Form,
        response: &Response<Body>,
    ) {
        if !visit.is_plain() || form != usual_form(visit, object) {
            return;
        }
        let mut hits = self.hits(self.number);
        // A concurrent reload replaces the network before it clears the index.
        if !std::ptr::eq(&*self.network(), visit.network()) {
            return;
        }
        if visit.came.is_some() {
            if let Some(lease) = self.store.lease(object) {
                hits.add_of_others(visit, object, form, &lease, response);
            }
            return;
        }
        let about = || self.log.as_ref().map(|log| log.of_hit(visit, response.status().as_u16()));
        if let Some(only) = &object.serving.only_on_disk {
            if let Some(names) = self.store.names_beside(&visit.key, &visit.headers) {
                hits.add_on_disk(visit, (object, only), form, &names, response, about());
            }
        } else if let Some(lease) = self.store.lease(object) {
            hits.add(visit, object, form, &lease, response, about());
        }
    }
}

impl Deref for Core {
    type Target = Edge;

    fn deref(&self) -> &Edge {
        &self.edge
    }
}

pub(crate) struct Visitors(pub(crate) Arc<Core>);

impl Visitors {
    /// The response to a request that hits the synchronous hit path, with its log record.
    fn glance<T>(
        &self,
        request: &Glance<'_>,
        shape: Shape,
        answer: impl FnOnce(&Match, Time) -> Option<T>,
    ) -> Option<(T, Option<Sending>)> {
        let core = &self.0;
        // A data centre that is cut off may have to revalidate.
        if core.bus.is_cut_off() || core.traces.is_due(core.number, request) {
            return None;
        }
        let began = core.log.as_ref().map(Log::now);
        let now = core.now();
        let found = core.hits(core.number).find(&core.store, now, request, shape)?;
        let answered = answer(&found, now)?;
        core.counts.add(Word::Hit);
        core.traces.pass(core.number);
        let note = core.log.as_ref().zip(began).zip(found.about);
        let note = note.map(|((log, began), about)| log.note_of_hit(began, request.peer, about));
        Some((answered, Sending::new(note, None)))
    }
}

impl Handler for Visitors {
    const ANSWERS_AT_ONCE: bool = true;

    type Note = Sending;

    fn at_once(&self, request: &Glance<'_>, head: &mut Vec<u8>) -> Option<(Whole, Option<Sending>)> {
        self.glance(request, Shape::Lines, |found, now| found.write(request, now, head))
    }

    fn fields_at_once(&self, request: &Glance<'_>) -> Option<(Response<Bytes>, Option<Sending>)> {
        self.glance(request, Shape::Fields, |found, now| found.response(request, now))
    }

    fn relay<'h>(
        &'h self,
        request: &Glance<'_>,
        interim: impl FnOnce() -> Interim,
    ) -> Option<Relaying<'h, Sending>> {
        self.relayed(request, interim)
    }

    async fn handle(&self, mut request: Request<Body>) -> Result<Response<Body>, Failure> {
        let core = &self.0;
        let asked = core.log.as_ref().map(|log| log.asked(core.number, &request));
        let underway = core.traces.begin(core.number, &mut request);
        if asked.is_none() && underway.is_none() {
            return Ok(core.serve(request).await);
        }
        let mut response = core.serve(request).await;
        let (status, outcome) = (response.status(), response.extensions_mut().remove::<Outcome>());
        let traced = underway.and_then(|underway| {
            underway.answered(status, outcome.iter().flat_map(|outcome| outcome.told(&core.centre)))
        });
        let line = asked.map(|asked| asked.noted(status, outcome.as_ref()));
        if let Some(sending) = Sending::new(line, traced) {
            response.extensions_mut().insert(sending);
        }
        Ok(response)
    }

    fn sent(&self, sending: Sending, delivery: Delivery) {
        sending.tell(self.0.log.as_ref(), self.0.number(), delivery);
    }
}
