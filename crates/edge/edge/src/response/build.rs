//! Responses from stored objects: 200, 206, 304 and 416.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use http_cache::{
    CacheStatus, Coding, Form, Time, is_not_modified,
    ranges::{self, Part, Wanted},
};
use http_stack::{Body, HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};

use crate::{
    body::{concat::concat, shared::SharedBody},
    request::context::RequestContext,
    store::memory::Object,
    upstream::origins::{append_member, via},
};

pub(crate) fn from_object(
    context: &RequestContext,
    object: &Object,
    form: Form,
    now: Time,
    encoded: impl FnOnce(Coding) -> Arc<SharedBody>,
) -> Response<Body> {
    let mut headers = object.stored.head(now);
    form.describe(&mut headers);
    if is_not_modified(&context.method, &context.headers, &object.stored, context.date_match()) {
        // A 304 has no fields that describe the body (RFC 9110 section 15.4.5).
        for field in
            [header::CONTENT_LENGTH, header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE]
        {
            headers.remove(field);
        }
        return respond(StatusCode::NOT_MODIFIED, headers, Body::empty());
    }
    if let Form::Coded(coding) = form {
        let is_head = context.method == Method::HEAD;
        let encoded = if is_head { object.body.encoded(coding).cloned() } else { Some(encoded(coding)) };
        if let Some(length) = encoded.as_ref().and_then(|encoded| encoded.length()) {
            headers.insert(header::CONTENT_LENGTH, length.into());
        }
        let body =
            encoded.filter(|_| !is_head).map_or_else(Body::empty, |encoded| Body::stream(encoded.read()));
        return respond(object.stored.status, headers, body);
    }
    let Some(length) = length(object) else {
        return respond(object.stored.status, headers, Body::stream(object.body.read()));
    };
    let status = object.stored.status;
    // A peer data centre adds Accept-Ranges for its own clients.
    if status == StatusCode::OK && context.forwarded.is_none() {
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    }
    let wanted = if form.has_parts_for(&context.headers) {
        ranges::wanted(&context.method, &context.headers, (status, &object.stored.headers), length)
    } else {
        Wanted::Whole
    };
    match wanted {
        Wanted::Whole => {
            if has_body(status) {
                headers.insert(header::CONTENT_LENGTH, length.into());
            }
            let is_head = context.method == Method::HEAD;
            respond(status, headers, if is_head { Body::empty() } else { read(object, None) })
        }
        Wanted::Nothing => {
            set_header(&mut headers, header::CONTENT_RANGE, &format!("bytes */{length}"));
            headers.insert(header::CONTENT_LENGTH, 0.into());
            respond(StatusCode::RANGE_NOT_SATISFIABLE, headers, Body::empty())
        }
        Wanted::Parts(parts) => match parts[..] {
            [part] => single_part(headers, part, length, read(object, Some(part))),
            _ => multipart(object, &parts, length, headers),
        },
    }
}

fn length(object: &Object) -> Option<u64> {
    let known = || object.body.length().or_else(|| ranges::announced(&object.stored.headers));
    object.parts.as_ref().map_or_else(known, |parts| Some(parts.length()))
}

fn read(object: &Object, part: Option<Part>) -> Body {
    match (&object.parts, part) {
        (Some(parts), part) => {
            part.or(Part::whole(parts.length())).map_or_else(Body::empty, |part| parts.read(part))
        }
        (None, Some(part)) => Body::stream(object.body.read_part(part.first, Some(part.length()))),
        (None, None) => match object.body.whole().filter(|body| body.len() <= MAX_INLINE_BYTES) {
            Some(body) => Body::whole(body),
            None => Body::stream(object.body.read()),
        },
    }
}

pub(crate) fn single_part(mut headers: HeaderMap, part: Part, length: u64, body: Body) -> Response<Body> {
    set_header(&mut headers, header::CONTENT_RANGE, &part.label(length));
    headers.insert(header::CONTENT_LENGTH, part.length().into());
    respond(StatusCode::PARTIAL_CONTENT, headers, body)
}

/// RFC 9110 section 14.6.
fn multipart(object: &Object, parts: &[Part], length: u64, mut headers: HeaderMap) -> Response<Body> {
    let boundary = boundary();
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
    set_header(&mut headers, header::CONTENT_TYPE, &format!("multipart/byteranges; boundary={boundary}"));
    let bodies = heads.into_iter().zip(parts);
    let bodies = bodies.flat_map(|(head, part)| [Body::whole(head), read(object, Some(*part))]);
    respond(StatusCode::PARTIAL_CONTENT, headers, concat(bodies.chain([Body::whole(end)])))
}

/// 128 random bits: the author of a body cannot predict them, and a collision by chance is
/// negligible.
fn boundary() -> String {
    let random = || RandomState::new().hash_one(());
    format!("longhaul-{:016x}{:016x}", random(), random())
}

pub(crate) fn add_cache_headers(
    response: &mut Response<Body>,
    context: &RequestContext,
    status: &CacheStatus,
) {
    let code = response.status();
    let headers = response.headers_mut();
    if let Some(ttl) = browser_ttl(context, code) {
        headers.remove(header::EXPIRES);
        // Browsers count the age from the origin's Date, because Age is sent too.
        let age =
            headers.get(header::AGE).and_then(|age| age.to_str().ok()?.parse::<u64>().ok()).unwrap_or(0);
        set_header(headers, header::CACHE_CONTROL, &format!("max-age={}", ttl.as_secs() + age));
    }
    append_member(headers, &header::VIA, &via(http_stack::Version::HTTP_11, &status.cache));
    add_cache_status(headers, status);
}

pub(crate) fn browser_ttl(context: &RequestContext, status: StatusCode) -> Option<Duration> {
    let changes = context.response_changes.as_ref();
    if changes.is_some_and(|changes| changes.has_field(status, &header::CACHE_CONTROL)) {
        return None;
    }
    let rule = context.rule_for(status).filter(|_| context.forwarded.is_none() && status.as_u16() < 400);
    rule.and_then(|rule| rule.browser_ttl)
}

pub(crate) fn add_cache_status(headers: &mut HeaderMap, status: &CacheStatus) {
    append_member(headers, &CacheStatus::FIELD, &[&status.text()]);
}

pub(crate) fn respond(status: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

fn has_body(status: StatusCode) -> bool {
    !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Longer bodies are sent in several pieces. The default frame size of HTTP/2 (RFC 9113 section
/// 4.2).
const MAX_INLINE_BYTES: usize = 16 << 10;

fn set_header(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn multipart_boundaries_are_unique() {
        let boundaries: HashSet<_> = (0..1000).map(|_| boundary()).collect();
        assert_eq!(boundaries.len(), 1000);
        // RFC 2046 section 5.1.1 allows 70 characters.
        assert!(boundaries.iter().all(|boundary| boundary.len() == "longhaul-".len() + 32));
    }
}
