//! A request that got no response, and the request itself if it can still be made elsewhere.

use hyper::{
    Method, Request,
    http::{Extensions, request::Parts},
};

use crate::{Body, Failure};

/// A request with this among its extensions is not made again once some of it was sent, whatever its method.
#[derive(Debug, Clone, Copy)]
pub struct Once;

/// Whether to make a request twice does no harm (RFC 9110 section 9.2.2).
fn may_be_repeated(method: &Method, extensions: &Extensions) -> bool {
    method.is_idempotent() && extensions.get::<Once>().is_none()
}

/// Why a connection gave no response.
pub(crate) struct Refusal {
    pub(crate) failure: Failure,
    /// The request, if it can be made on another connection: none of it was written, or to make it twice does no harm.
    pub(crate) again: Option<Request<Body>>,
}

impl Refusal {
    pub(crate) fn unsent(failure: Failure, request: Request<Body>) -> Self {
        Self { failure, again: Some(request) }
    }

    /// Of a request whose head this was: with its body if none of it was written, and else with another one like it.
    pub(crate) fn new(failure: Failure, head: Parts, unsent: Option<Body>, spare: Option<Body>) -> Self {
        let spare = spare.filter(|_| may_be_repeated(&head.method, &head.extensions));
        Self { failure, again: unsent.or(spare).map(|body| Request::from_parts(head, body)) }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self { failure, again: None }
    }
}

/// The same request once more, if making it twice does no harm and its body can be sent twice.
pub(crate) fn again(request: &Request<Body>) -> Option<Request<Body>> {
    if !may_be_repeated(request.method(), request.extensions()) {
        return None;
    }
    let mut copy = Request::new(request.body().again()?);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    *copy.version_mut() = request.version();
    Some(copy)
}
