//! Max-Forwards: responses to OPTIONS of which this server is the final recipient (RFC 9110 section
//! 7.6.2). TRACE is handled earlier.

use http_cache::{CacheStatus, Forward, MaxForwards};
use http_stack::{Body, HeaderMap, Response, StatusCode, header};

use crate::{
    request::{context::RequestContext, pipeline::ALLOWED_METHODS},
    response::build::respond,
    server::worker_state::WorkerState,
    telemetry::counters::CacheResult,
};

impl WorkerState {
    /// A network counts as one hop, even if a request passes several of its data centres. `None` if
    /// the request must be forwarded.
    pub(crate) fn answer_max_forwards(&self, context: &mut RequestContext) -> Option<Response<Body>> {
        if context.forwarded.is_some() {
            return None;
        }
        let limit = MaxForwards::of(&context.method, &context.headers);
        limit.write(&mut context.headers);
        if limit != MaxForwards::Final {
            return None;
        }
        let headers = HeaderMap::from_iter([(header::ALLOW, ALLOWED_METHODS)]);
        let status = CacheStatus { detail: Some("max-forwards"), ..self.cache_status(Forward::Bypass) };
        let response = respond(StatusCode::NO_CONTENT, headers, Body::empty());
        Some(self.finish(response, context, &status, CacheResult::Bypass))
    }
}
