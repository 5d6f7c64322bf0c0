//! Writes a response in HTTP/1.1, with its framing and persistence.

use hyper::{
    HeaderMap, Method, Response, StatusCode, Version,
    body::Body as _,
    header::{self, HeaderName, HeaderValue},
};

use crate::{
    Body,
    clock::http_date,
    http1::{Framing, Outgoing, Persistence, Trailers, framing, head},
    server::{reason_phrase::ReasonPhrase, relay::Lines},
    tunnel::Downstream,
};

pub(super) fn write(
    outgoing: &mut Outgoing,
    response: Response<Body>,
    (method, version): (&Method, Version),
    persistence: Persistence,
    trailers: Trailers,
) -> Persistence {
    let (mut parts, body) = response.into_parts();
    let is_broken =
        parts.status == StatusCode::SWITCHING_PROTOCOLS && parts.extensions.get::<Downstream>().is_none();
    if is_broken {
        parts.status = StatusCode::INTERNAL_SERVER_ERROR;
    }
    let framing = framing_of(method, version, parts.status, &parts.headers, &body);
    let says_close = framing::has_token(&parts.headers, &header::CONNECTION, "close");
    let is_closed = framing == Framing::UntilClose || says_close || is_broken;
    let persistence = if is_closed { Persistence::Closed } else { persistence };
    if framing == Framing::None
        && *method == Method::HEAD
        && let Some(length) = body.size_hint().exact().filter(|&length| length > 0)
    {
        parts.headers.entry(header::CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    if !parts.headers.contains_key(header::DATE) && !parts.status.is_informational() {
        parts.headers.insert(header::DATE, http_date());
    }
    let reason = parts.extensions.get().map(ReasonPhrase::as_bytes);
    let status = (version, parts.status, reason);
    head::write_response(outgoing.lines(), status, &parts.headers, framing, persistence);
    outgoing.begin(body, framing, trailers);
    persistence
}

/// Starts sending a response whose head lacks only framing, persistence and Alt-Svc.
pub(super) fn write_lines<N>(
    outgoing: &mut Outgoing,
    Lines { head, framing, body, note }: Lines<N>,
    persistence: Persistence,
    alternative: Option<&HeaderValue>,
) -> Option<N> {
    let to = outgoing.lines();
    to.extend_from_slice(&head);
    head::write_end(to, framing, persistence, alternative);
    outgoing.begin(body, framing, Trailers::LeftOut);
    note
}

/// Whether a request accepts trailers (RFC 9110 section 6.5.1).
pub(super) fn trailers(headers: &HeaderMap) -> Trailers {
    if framing::has_token(headers, &header::TE, "trailers") { Trailers::Sent } else { Trailers::LeftOut }
}

fn framing_of(
    method: &Method,
    version: Version,
    status: StatusCode,
    headers: &HeaderMap,
    body: &Body,
) -> Framing {
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Framing::Tunnel;
    }
    if *method == Method::HEAD || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        return Framing::None;
    }
    let announced = || only(headers, &header::CONTENT_LENGTH)?.parse().ok();
    match body.size_hint().exact().or_else(announced) {
        Some(length) => Framing::Length(length),
        None if version == Version::HTTP_11 => Framing::Chunked,
        None => Framing::UntilClose,
    }
}

fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
