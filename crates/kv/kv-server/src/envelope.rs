//! The response envelope of the REST API.

use http_stack::{Body, HeaderValue, Response, StatusCode, header};

use crate::{api_error::ApiError, json};

/// `result` and `info` are JSON.
pub(crate) fn success(result: &str, info: Option<&str>) -> Response<Body> {
    success_but(result, info, None)
}

/// With the problem of an incomplete result in `messages`.
pub(crate) fn success_but(result: &str, info: Option<&str>, but: Option<&ApiError>) -> Response<Body> {
    let info = info.map_or_else(String::new, |info| format!(",\"result_info\":{info}"));
    let said = but.map(said).unwrap_or_default();
    let text = format!("{{\"success\":true,\"errors\":[],\"messages\":[{said}],\"result\":{result}{info}}}");
    respond(StatusCode::OK, text)
}

fn said(problem: &ApiError) -> String {
    let mut message = String::new();
    json::text(&mut message, &problem.message);
    format!("{{\"code\":{},\"message\":{message}}}", problem.code)
}

pub(crate) fn failure(problem: &ApiError) -> Response<Body> {
    let said = said(problem);
    let text = format!("{{\"success\":false,\"errors\":[{said}],\"messages\":[],\"result\":null}}");
    let mut response = respond(problem.status, text);
    problem.challenge(&mut response);
    problem.tell_beside(&mut response);
    response
}

pub(crate) fn respond(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
