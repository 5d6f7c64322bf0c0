//! The protocol of workerd's `kvNamespace` binding.
//!
//! | request | |
//! | --- | --- |
//! | `GET /KEY?urlencoded=true&cache_ttl=SECONDS` | a value |
//! | `PUT /KEY?urlencoded=true&expiration=SECONDS` or `&expiration_ttl=SECONDS`, with `CF-KV-Metadata` | sets it |
//! | `DELETE /KEY?urlencoded=true` | deletes it |
//! | `GET /?key_count_limit=NUMBER&prefix=TEXT&cursor=TEXT` | a page of keys |
//! | `POST /bulk/get` | several values |
//!
//! The namespace is selected by the token in `Authorization`, or by `KV-Namespace`.

use std::sync::Arc;

use http_stack::{
    Body, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts,
};
use kv::{Expiration, Key, Metadata, Page, Tier, Version};

use crate::{
    access::{NAMESPACE, Namespace, Use, authorization},
    api_error::{ApiError, Kind},
    bulk_read::{self, Shape, cache_ttl},
    envelope, json,
    operations::WriteOptions,
    query::Parameters,
    replication::in_binding,
    request_body::RequestBody,
    service::{Service, now},
    value::{CACHE_STATUS, EXPIRATION, METADATA, VERSION, cache_status, set},
};

pub(crate) async fn answer(service: &Arc<Service>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    answered(service, &parts, body).await.unwrap_or_else(ApiError::plain)
}

async fn answered(service: &Arc<Service>, parts: &Parts, body: Body) -> Result<Response<Body>, ApiError> {
    let named = parts.headers.get(NAMESPACE).map(HeaderValue::as_bytes);
    let wanted = Use::of(&parts.method, parts.uri.path() == "/bulk/get");
    let authorization = authorization(&parts.headers);
    let access = service.access_to(authorization, named).await;
    let namespace = access.of_binding(authorization, named, wanted)?;
    inside(service, namespace, parts, body, None).await
}

/// For a request of another data centre. A write gets `version` if the other data centre has
/// assigned one.
pub(crate) async fn of_link(
    service: &Arc<Service>,
    namespace: &Namespace,
    parts: &Parts,
    body: Body,
    version: Option<Version>,
) -> Response<Body> {
    inside(service, namespace, parts, body, version).await.unwrap_or_else(ApiError::plain)
}

pub(crate) async fn inside(
    service: &Arc<Service>,
    namespace: &Namespace,
    parts: &Parts,
    body: Body,
    version: Option<Version>,
) -> Result<Response<Body>, ApiError> {
    let namespace = &namespace.id;
    let parameters = Parameters::of(parts.uri.query())?;
    let path = parts.uri.path().strip_prefix('/').unwrap_or_default();
    let is_list = parts.method == Method::GET && path.is_empty();
    let far_store = if is_list { service.far_store_for_list() } else { service.far_store() };
    if let Some(store) = far_store {
        let keys = match (&parts.method, path) {
            (&Method::GET, "") => Some(Vec::new()),
            (&Method::PUT | &Method::DELETE, _) => Some(vec![key(path, &parameters)?]),
            _ => None,
        };
        if let Some(keys) = keys {
            if parts.method == Method::PUT {
                let beside = beside(&parts.headers, &parameters)?;
                if let Err(problem) = service.refuse_long(&beside) {
                    if !beside.is_waiting {
                        RequestBody::Raw(body).throw_away().await;
                    }
                    return Err(problem);
                }
            }
            return in_binding(service.pass_on(store, namespace, parts, (body, None), keys).await?).await;
        }
    }
    match (&parts.method, path) {
        (&Method::GET, "") => list(service, namespace, &parameters).await,
        (&Method::POST, "bulk/get") => {
            let text = bulk_read::read(service, namespace, body, Shape::Binding).await?;
            Ok(envelope::respond(StatusCode::OK, text))
        }
        (&Method::GET | &Method::HEAD, _) => {
            let response = get(service, namespace, &key(path, &parameters)?, &parameters).await?;
            Ok(if parts.method == Method::HEAD { response.map(|_| Body::empty()) } else { response })
        }
        (&Method::PUT, _) => {
            let key = key(path, &parameters)?;
            let beside = WriteOptions { version, ..beside(&parts.headers, &parameters)? };
            let version = service.put(namespace, key, beside, RequestBody::Raw(body)).await?;
            Ok(written(&version.to_string()))
        }
        (&Method::DELETE, _) => {
            let versions = service.delete(namespace, vec![key(path, &parameters)?], version).await?;
            Ok(written(&versions.first().map(ToString::to_string).unwrap_or_default()))
        }
        _ => Err(ApiError::method("GET, PUT or DELETE of a key, or POST of /bulk/get")),
    }
}

pub(crate) fn key(path: &str, parameters: &Parameters) -> Result<Key, ApiError> {
    let is_encoded = parameters.get("urlencoded").is_some_and(|flag| flag.eq_ignore_ascii_case("true"));
    Ok(if is_encoded { Key::from_path(path)? } else { Key::new(path)? })
}

fn beside(headers: &HeaderMap, parameters: &Parameters) -> Result<WriteOptions, ApiError> {
    let metadata = headers.get(METADATA).map(|field| Metadata::new(field.as_bytes())).transpose()?;
    Ok(WriteOptions { metadata, ..expiring(headers, parameters)? })
}

pub(crate) fn expiring(headers: &HeaderMap, parameters: &Parameters) -> Result<WriteOptions, ApiError> {
    let expiration =
        Expiration::asked(parameters.get("expiration"), parameters.get("expiration_ttl"), now())?;
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let is_waiting = headers.contains_key(header::EXPECT);
    Ok(WriteOptions { expiration, metadata: None, length, is_waiting, version: None })
}

async fn get(
    service: &Arc<Service>,
    namespace: &str,
    key: &Key,
    parameters: &Parameters,
) -> Result<Response<Body>, ApiError> {
    let ttl = cache_ttl(parameters.get("cache_ttl"))?;
    let found = match service.get(namespace, key, ttl).await? {
        Ok(found) => found,
        Err(absent) => {
            let mut response = ApiError::of(Kind::NoKey, "Not Found").plain();
            absent.describe(response.headers_mut());
            return Ok(response);
        }
    };
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    found.describe(headers);
    if let Some(expiration) = found.about.expiration {
        headers.insert(EXPIRATION, expiration.0.into());
    }
    if let Some(metadata) = &found.about.metadata {
        set(headers, METADATA, metadata.as_str());
    }
    *response.body_mut() = found.into_body();
    Ok(response)
}

async fn list(
    service: &Arc<Service>,
    namespace: &str,
    parameters: &Parameters,
) -> Result<Response<Body>, ApiError> {
    let get = |name| parameters.get(name);
    let page =
        Page::asked(namespace, ("key_count_limit", get("key_count_limit")), get("prefix"), get("cursor"))?;
    let prefix = page.prefix.clone();
    let listed = service.page(namespace, page).await?;
    let mut text = String::from("{\"keys\":");
    // The metadata are JSON inside a JSON string: workerd parses the string as JSON.
    json::keys(&mut text, &listed.keys, json::text);
    match &listed.next {
        None => text.push_str(",\"list_complete\":true}"),
        Some(next) => {
            text.push_str(",\"list_complete\":false,\"cursor\":");
            json::text(&mut text, &next.text(namespace, &prefix));
            text.push('}');
        }
    }
    let mut response = envelope::respond(StatusCode::OK, text);
    let status = HeaderValue::from_static(cache_status(Tier::Store));
    response.headers_mut().insert(CACHE_STATUS, status);
    Ok(response)
}

fn written(version: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    set(response.headers_mut(), VERSION, version);
    response
}
