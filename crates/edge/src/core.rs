//! One core of a data centre: a thread that serves its own connections to visitors and has its own to origins.

use std::{ops::Deref, sync::Arc};

use http::{
    Body, Bytes, Failure, Request, Response,
    server::{Glance, Handler},
};

use crate::{centre::Edge, clients::Clients, counts::Word, store::Object, visit::Visit};

/// A core of a data centre.
pub(crate) struct Core {
    edge: Arc<Edge>,
    /// Which of its cores.
    number: usize,
    /// Connections to origins.
    pub(crate) clients: Clients,
}

impl Core {
    pub(crate) fn new(edge: Arc<Edge>, number: usize, clients: Clients) -> Self {
        Self { edge, number, clients }
    }

    /// Has requests like this one answered at once while the object stands.
    pub(crate) fn remember(&self, visit: &Visit, object: &Arc<Object>, response: &Response<Body>) {
        if !visit.is_plain() {
            return;
        }
        let mut hits = self.hits(self.number);
        // A network that is replaced now is so before everything is forgotten.
        if std::ptr::eq(&*self.network(), visit.network())
            && let Some(lease) = self.store.lease(object)
        {
            hits.add(visit, object, &lease, response);
        }
    }
}

impl Deref for Core {
    type Target = Edge;

    fn deref(&self) -> &Edge {
        &self.edge
    }
}

/// Who answers the requests of a core.
pub(crate) struct Visitors(pub(crate) Arc<Core>);

impl Handler for Visitors {
    const ANSWERS_AT_ONCE: bool = true;

    fn at_once(&self, request: &Glance<'_>, head: &mut Vec<u8>) -> Option<Bytes> {
        let core = &self.0;
        let body = core.hits(core.number).answer(&core.store, core.now(), request, head)?;
        core.counts.add(Word::Hit);
        Some(body)
    }

    async fn handle(&self, request: Request<Body>) -> Result<Response<Body>, Failure> {
        Ok(self.0.serve(request).await)
    }
}
