//! Max-Forwards: responses to OPTIONS and TRACE of which this server is the final recipient (RFC 9110 section 7.6.2).

use cache::{CacheStatus, Forward, MaxForwards};
use http::{Body, HeaderMap, Method, Response, StatusCode, header};

use crate::{
    answer::respond,
    chain::METHODS,
    core::Core,
    counts::Word,
    visit::{Refusal, Visit},
};

impl Core {
    /// Responds to a request whose Max-Forwards is 0, and decrements the value of others. A network counts as one hop, however many of its
    /// data centres a request passes.
    pub(crate) fn answer_last_hop(&self, visit: &mut Visit) -> Option<Response<Body>> {
        if visit.came.is_some() {
            return None;
        }
        let limit = MaxForwards::of(&visit.method, &visit.headers);
        limit.write(&mut visit.headers);
        if limit != MaxForwards::Final {
            return None;
        }
        if visit.method == Method::TRACE {
            return Some(self.refuse(NO_ECHO));
        }
        let headers = HeaderMap::from_iter([(header::ALLOW, METHODS)]);
        let status = CacheStatus { detail: Some("max-forwards"), ..self.status(Forward::Bypass) };
        let response = respond(StatusCode::NO_CONTENT, headers, Body::empty());
        Some(self.finish(response, visit, &status, Word::Bypass))
    }
}

/// An echo would expose fields such as Cookie to scripts.
const NO_ECHO: Refusal = Refusal {
    status: StatusCode::METHOD_NOT_ALLOWED,
    word: "max-forwards",
    sentence: "This server does not echo requests (TRACE).",
};
