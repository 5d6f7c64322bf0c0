//! Max-Forwards: responses to OPTIONS of which this server is the final recipient (RFC 9110 section 7.6.2).
//! TRACE is handled earlier.

use cache::{CacheStatus, Forward, MaxForwards};
use http::{Body, HeaderMap, Response, StatusCode, header};

use crate::{answer::respond, chain::METHODS, core::Core, counts::Word, visit::Visit};

impl Core {
    /// Responds to a request whose Max-Forwards is 0, and decrements the value of others. A network counts as
    /// one hop, even if a request passes several of its data centres.
    pub(crate) fn answer_last_hop(&self, visit: &mut Visit) -> Option<Response<Body>> {
        if visit.came.is_some() {
            return None;
        }
        let limit = MaxForwards::of(&visit.method, &visit.headers);
        limit.write(&mut visit.headers);
        if limit != MaxForwards::Final {
            return None;
        }
        let headers = HeaderMap::from_iter([(header::ALLOW, METHODS)]);
        let status = CacheStatus { detail: Some("max-forwards"), ..self.status(Forward::Bypass) };
        let response = respond(StatusCode::NO_CONTENT, headers, Body::empty());
        Some(self.finish(response, visit, &status, Word::Bypass))
    }
}
