//! From a stored object to the response for one request: all of it, parts of it, or that the client has it already.

use std::{sync::Arc, time::Duration};

use cache::{
    CacheStatus, Coding, Form, Time, is_not_modified,
    ranges::{self, Part, Wanted},
};
use http::{Body, Bytes, Failure, HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};

use crate::{
    fill::Fill,
    origins::{append, via},
    store::Object,
    visit::Visit,
};

/// The response that an object is for this request, in this form; its body in a coding is what `coded` says.
pub(crate) fn answer(
    visit: &Visit,
    object: &Object,
    form: Form,
    now: Time,
    coded: impl FnOnce(Coding) -> Arc<Fill>,
) -> Response<Body> {
    let mut headers = object.stored.head(now);
    form.describe(&mut headers);
    if is_not_modified(&visit.method, &visit.headers, &object.stored) {
        // What describes the body that the client has is not said again (RFC 9110 section 15.4.5).
        for field in
            [header::CONTENT_LENGTH, header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE]
        {
            headers.remove(field);
        }
        return respond(StatusCode::NOT_MODIFIED, headers, Body::empty());
    }
    if let Form::Coded(coding) = form {
        let is_head = visit.method == Method::HEAD;
        let coded = if is_head { object.body.coded(coding).cloned() } else { Some(coded(coding)) };
        if let Some(length) = coded.as_ref().and_then(|coded| coded.length()) {
            headers.insert(header::CONTENT_LENGTH, length.into());
        }
        let body = coded.filter(|_| !is_head).map_or_else(Body::empty, |coded| Body::stream(coded.read()));
        return respond(object.stored.status, headers, body);
    }
    let Some(length) = object.body.length().or_else(|| ranges::announced(&headers)) else {
        return respond(object.stored.status, headers, Body::stream(object.body.read()));
    };
    if object.stored.status == StatusCode::OK {
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    }
    match ranges::wanted(&visit.method, &visit.headers, &object.stored, length) {
        Wanted::Whole => {
            if has_body(object.stored.status) {
                headers.insert(header::CONTENT_LENGTH, length.into());
            }
            let is_head = visit.method == Method::HEAD;
            let body = if is_head { Body::empty() } else { Body::stream(object.body.read()) };
            respond(object.stored.status, headers, body)
        }
        Wanted::Nothing => {
            set(&mut headers, header::CONTENT_RANGE, &format!("bytes */{length}"));
            headers.insert(header::CONTENT_LENGTH, 0.into());
            respond(StatusCode::RANGE_NOT_SATISFIABLE, headers, Body::empty())
        }
        Wanted::Parts(parts) => match parts[..] {
            [part] => {
                set(&mut headers, header::CONTENT_RANGE, &part.label(length));
                headers.insert(header::CONTENT_LENGTH, part.length().into());
                let body = Body::stream(object.body.read_part(part.first, Some(part.length())));
                respond(StatusCode::PARTIAL_CONTENT, headers, body)
            }
            _ => several(object, &parts, length, headers),
        },
    }
}

/// Several parts in one body (RFC 9110 section 14.6), each with a header of its own.
fn several(object: &Object, parts: &[Part], length: u64, mut headers: HeaderMap) -> Response<Body> {
    let boundary = format!("longhaul-{:016x}", object.body.bytes() ^ object.key.as_str().len() as u64);
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.map_or_else(String::new, |kind| format!("Content-Type: {kind}\r\n"));
    let heads: Vec<_> = parts
        .iter()
        .map(|part| format!("\r\n--{boundary}\r\n{kind}Content-Range: {}\r\n\r\n", part.label(length)))
        .collect();
    let end = format!("\r\n--{boundary}--\r\n");
    let bytes = heads.iter().map(|head| head.len() as u64).sum::<u64>()
        + parts.iter().map(|part| part.length()).sum::<u64>()
        + end.len() as u64;
    headers.insert(header::CONTENT_LENGTH, bytes.into());
    set(&mut headers, header::CONTENT_TYPE, &format!("multipart/byteranges; boundary={boundary}"));
    let bodies: Vec<_> = parts
        .iter()
        .map(|part| Body::stream(object.body.read_part(part.first, Some(part.length()))))
        .collect();
    let (sender, body) = Body::channel(2);
    tokio::spawn(async move {
        for (head, mut part) in heads.into_iter().zip(bodies) {
            sender.send(head).await.map_err(|_| Failure::Source)?;
            while let Some(data) = part.data().await? {
                sender.send(data).await.map_err(|_| Failure::Source)?;
            }
        }
        sender.send(Bytes::from(end)).await.map_err(|_| Failure::Source)?;
        sender.finish().await.map_err(|_| Failure::Source)
    });
    respond(StatusCode::PARTIAL_CONTENT, headers, body)
}

/// Adds what every response gets: what the cache did with it, through which data centre it came, and how long the zone's rule lets
/// browsers keep it.
pub(crate) fn dress(response: &mut Response<Body>, visit: &Visit, status: &CacheStatus) {
    let code = response.status();
    let headers = response.headers_mut();
    if let Some(ttl) = browser_ttl(visit, code) {
        headers.remove(header::EXPIRES);
        // A browser counts from the origin's date, as Age is sent along.
        let age =
            headers.get(header::AGE).and_then(|age| age.to_str().ok()?.parse::<u64>().ok()).unwrap_or(0);
        set(headers, header::CACHE_CONTROL, &format!("max-age={}", ttl.as_secs() + age));
    }
    append(headers, &header::VIA, &via(http::Version::HTTP_11, &status.cache));
    tell(headers, status);
}

/// How long browsers are told that a response with this status is fresh, if that is not the origin's to say.
pub(crate) fn browser_ttl(visit: &Visit, status: StatusCode) -> Option<Duration> {
    visit.rule_for(status).and_then(|rule| rule.browser_ttl).filter(|_| status.as_u16() < 400)
}

/// Adds what the cache did.
pub(crate) fn tell(headers: &mut HeaderMap, status: &CacheStatus) {
    append(headers, &CacheStatus::FIELD, &status.to_string());
}

fn respond(status: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

fn has_body(status: StatusCode) -> bool {
    !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
