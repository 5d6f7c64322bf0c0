//! A request that got no response, and the request itself if it can still be made elsewhere.

use hyper::Request;

use crate::{Body, Failure};

/// Why a connection gave no response.
pub(crate) struct Refusal {
    pub(crate) failure: Failure,
    /// The request, if none of it was written.
    pub(crate) unsent: Option<Request<Body>>,
}

impl Refusal {
    pub(crate) fn unsent(failure: Failure, request: Request<Body>) -> Self {
        Self { failure, unsent: Some(request) }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self { failure, unsent: None }
    }
}

/// The same request once more, if making it twice does no harm (RFC 9110 section 9.2.2) and its body can be sent twice.
pub(crate) fn again(request: &Request<Body>) -> Option<Request<Body>> {
    if !request.method().is_idempotent() {
        return None;
    }
    let mut copy = Request::new(request.body().again()?);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    *copy.version_mut() = request.version();
    Some(copy)
}
