//! A request without a response, and the request itself if it can be retried.

use hyper::{
    Method, Request,
    http::{Extensions, request::Parts},
};

use crate::{Body, Failure};

/// A request extension that forbids a retry once part of the request has been sent, whatever its method.
#[derive(Debug, Clone, Copy)]
pub struct Once;

/// Whether repeating the request is harmless (RFC 9110 section 9.2.2).
fn may_be_repeated(method: &Method, extensions: &Extensions) -> bool {
    method.is_idempotent() && extensions.get::<Once>().is_none()
}

pub(crate) struct SendError {
    pub(crate) failure: Failure,
    /// It is idempotent, or none of it was written.
    pub(crate) again: Option<Request<Body>>,
}

impl SendError {
    pub(crate) fn unsent(failure: Failure, request: Request<Body>) -> Self {
        Self { failure, again: Some(request) }
    }

    pub(crate) fn new(failure: Failure, head: Parts, unsent: Option<Body>, spare: Option<Body>) -> Self {
        let spare = spare.filter(|_| may_be_repeated(&head.method, &head.extensions));
        Self { failure, again: unsent.or(spare).map(|body| Request::from_parts(head, body)) }
    }
}

impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        Self { failure, again: None }
    }
}

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
