//! Requests that the server handles without its handler: TRACE, and OPTIONS for the server as a whole.

use hyper::{
    Method, Request, Response, StatusCode,
    header::{ALLOW, HeaderValue},
};

use crate::Body;

/// An echo of TRACE would expose cookies and credentials (RFC 9110 section 9.3.8).
pub(super) fn own_response(request: &Request<Body>) -> Option<Response<Body>> {
    let status = match *request.method() {
        Method::TRACE => StatusCode::METHOD_NOT_ALLOWED,
        Method::OPTIONS if request.uri().path() == "*" => StatusCode::OK,
        _ => return None,
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(ALLOW, METHODS);
    Some(response)
}

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
