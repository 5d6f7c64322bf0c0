//! The envelope in which the field's REST API answers.

use http::{Body, HeaderValue, Response, StatusCode, header};

use crate::{json, problem::Problem};

/// All went well; result and what is said of it are JSON.
pub(crate) fn success(result: &str, info: Option<&str>) -> Response<Body> {
    success_but(result, info, None)
}

/// All went well as far as could be; what could not is said beside it.
pub(crate) fn success_but(result: &str, info: Option<&str>, but: Option<&Problem>) -> Response<Body> {
    let info = info.map_or_else(String::new, |info| format!(",\"result_info\":{info}"));
    let said = but.map(said).unwrap_or_default();
    let text = format!("{{\"success\":true,\"errors\":[],\"messages\":[{said}],\"result\":{result}{info}}}");
    respond(StatusCode::OK, text)
}

/// What a problem is called, and in words.
fn said(problem: &Problem) -> String {
    let mut message = String::new();
    json::text(&mut message, &problem.message);
    format!("{{\"code\":{},\"message\":{message}}}", problem.code)
}

/// It was refused, or failed.
pub(crate) fn failure(problem: &Problem) -> Response<Body> {
    let said = said(problem);
    let text = format!("{{\"success\":false,\"errors\":[{said}],\"messages\":[],\"result\":null}}");
    let mut response = respond(problem.status, text);
    problem.challenge(&mut response);
    problem.tell_beside(&mut response);
    response
}

/// A response of JSON.
pub(crate) fn respond(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
