//! The envelope in which the field's REST API answers.

use http::{Body, HeaderValue, Response, StatusCode, header};

use crate::{json, problem::Problem};

/// All went well; result and what is said of it are JSON.
pub(crate) fn success(result: &str, info: Option<&str>) -> Response<Body> {
    let info = info.map_or_else(String::new, |info| format!(",\"result_info\":{info}"));
    let text = format!("{{\"success\":true,\"errors\":[],\"messages\":[],\"result\":{result}{info}}}");
    respond(StatusCode::OK, text)
}

/// It was refused, or failed.
pub(crate) fn failure(problem: &Problem) -> Response<Body> {
    let mut message = String::new();
    json::text(&mut message, &problem.message);
    let text = format!(
        "{{\"success\":false,\"errors\":[{{\"code\":{},\"message\":{message}}}],\"messages\":[],\"result\":null}}",
        problem.code
    );
    let mut response = respond(problem.status, text);
    if let Some(known) = &problem.known {
        response.extensions_mut().insert(known.clone());
    }
    response
}

/// A response of JSON.
pub(crate) fn respond(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
