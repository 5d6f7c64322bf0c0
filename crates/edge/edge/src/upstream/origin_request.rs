//! Turns the request of a visitor into the request to an origin: target, Host, header fields and
//! signature.
//!
//! This is the last step before a request leaves for the origin, after tiers and detours.

use http_cache::Time;
use http_stack::{
    Body, Failure, HeaderMap, HeaderName, HeaderValue, Request, Uri, header, uri::PathAndQuery,
};

use super::sigv4::{EMPTY_PAYLOAD_SHA256, SignedParts, Signer, UNSIGNED_PAYLOAD, amz_date, canonical_query};
use crate::config::{OriginAuth, OriginHost, OriginRequest, OriginUrl, Secret};

/// Failures other than a target that is too long are impossible for a validated configuration.
pub(crate) fn change_request(
    request: &mut Request<Body>,
    changes: &OriginRequest,
    (origin, now): (&OriginUrl, Time),
) -> Result<(), Failure> {
    if !origin.keeps_target() {
        let visitor = request.uri().path_and_query().cloned();
        let visitor = visitor.unwrap_or_else(|| PathAndQuery::from_static("/"));
        set_target(request, origin.target(&visitor).map_err(|_| Failure::TooLarge)?)?;
    }
    if changes.keeps_headers() {
        return Ok(());
    }
    let headers = request.headers_mut();
    let host = match &changes.host {
        OriginHost::Visitor => None,
        OriginHost::Origin => HeaderValue::from_str(&origin.authority()).ok(),
        OriginHost::Name(authority) => HeaderValue::from_str(authority.as_str()).ok(),
    };
    if let Some(host) = host {
        headers.insert(header::HOST, host);
    }
    // Many origins treat `_` in a name like `-`.
    let is_fixed = |name: &&HeaderName| {
        changes.is_fixed(name.as_str()) || changes.is_fixed(&name.as_str().replace('_', "-"))
    };
    let fixed: Vec<_> = headers.keys().filter(is_fixed).cloned().collect();
    fixed.iter().for_each(|name| drop(headers.remove(name)));
    for (name, value) in &changes.set {
        insert_secret(headers, name.clone(), value.value());
    }
    changes.auth.as_ref().map_or(Ok(()), |auth| sign(request, auth, now))
}

/// A response does not vary by a field whose value is the same for all visitors.
pub(crate) fn trim_vary(headers: &mut HeaderMap, changes: &OriginRequest) {
    if !headers.contains_key(header::VARY) || changes.keeps_headers() {
        return;
    }
    let lines = headers.get_all(header::VARY).iter().filter_map(|line| line.to_str().ok());
    let names: Vec<_> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
    if !names.iter().any(|name| changes.is_fixed(name)) {
        return;
    }
    let kept: Vec<_> = names.into_iter().filter(|name| !changes.is_fixed(name)).collect();
    match HeaderValue::from_str(&kept.join(", ")) {
        Ok(line) if !kept.is_empty() => drop(headers.insert(header::VARY, line)),
        _ => drop(headers.remove(header::VARY)),
    }
}

fn sign(request: &mut Request<Body>, auth: &OriginAuth, now: Time) -> Result<(), Failure> {
    let payload = if request.method().is_safe() { EMPTY_PAYLOAD_SHA256 } else { UNSIGNED_PAYLOAD };
    let date = amz_date(now);
    let query = request.uri().query().map(canonical_query);
    if let Some(query) = &query {
        let target = format!("{}?{query}", request.uri().path());
        set_target(request, PathAndQuery::from_maybe_shared(target).map_err(|_| Failure::TooLarge)?)?;
    }
    let headers = request.headers_mut();
    headers.insert(DATE, HeaderValue::from_str(&date).map_err(|_| Failure::Source)?);
    headers.insert(CONTENT_SHA256, HeaderValue::from_static(payload));
    if let Some(token) = auth.session_token.as_ref().map(Secret::value) {
        insert_secret(headers, SECURITY_TOKEN, token);
    }
    let scope = Signer {
        region: &auth.region,
        service: &auth.service,
        access_key: auth.access_key.value(),
        secret_key: auth.secret_key.value(),
    };
    let parts = SignedParts {
        method: request.method().as_str(),
        path: request.uri().path(),
        query: query.as_deref().unwrap_or_default(),
        headers: &signed_headers(request.headers()),
        payload,
    };
    let written = scope.authorization(&parts, &date);
    insert_secret(request.headers_mut(), header::AUTHORIZATION, &written);
    Ok(())
}

/// Conditions are not signed, because the client may drop them when it repeats a request.
fn signed_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let is_signed = |name: &&HeaderName| {
        **name == header::HOST || **name == header::RANGE || name.as_str().starts_with("x-amz-")
    };
    let mut names: Vec<_> = headers.keys().filter(is_signed).collect();
    names.sort_by_key(|name| name.as_str());
    let value = |name: &HeaderName| {
        let lines = headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
        lines.collect::<Vec<_>>().join(",")
    };
    names.into_iter().map(|name| (name.as_str().to_owned(), value(name))).collect()
}

fn set_target(request: &mut Request<Body>, target: PathAndQuery) -> Result<(), Failure> {
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(target);
    *request.uri_mut() = Uri::from_parts(parts).map_err(|_| Failure::TooLarge)?;
    Ok(())
}

/// Debug output does not contain the value, and HTTP/2 does not index it.
fn insert_secret(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(mut value) = HeaderValue::from_str(value) {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
}

const DATE: HeaderName = HeaderName::from_static("x-amz-date");
const CONTENT_SHA256: HeaderName = HeaderName::from_static("x-amz-content-sha256");
const SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");
