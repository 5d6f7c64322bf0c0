//! Responses of the server: documents, texts, and errors.

use http_stack::{Body, HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Serialize;

pub(crate) type Answer = Result<Response<Body>, Refusal>;

#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    why: String,
    field: Option<(HeaderName, &'static str)>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, why: why.into(), field: None }
    }

    pub(crate) fn with(self, name: HeaderName, value: &'static str) -> Self {
        Self { field: Some((name, value)), ..self }
    }

    /// `methods` is the value of `Allow`.
    pub(crate) fn not_allowed(methods: &'static str) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, format!("this takes {methods}\n"))
            .with(header::ALLOW, methods)
    }
}

impl From<Refusal> for Response<Body> {
    fn from(refusal: Refusal) -> Self {
        let mut response = text(refusal.status, refusal.why);
        if let Some((name, value)) = refusal.field {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

pub(crate) fn json(document: &impl Serialize) -> Response<Body> {
    stored(serde_json::to_vec(document).unwrap_or_default())
}

pub(crate) fn stored(document: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::whole(document));
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Response<Body> {
    let mut response = Response::new(Body::whole(text.into()));
    *response.status_mut() = status;
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
