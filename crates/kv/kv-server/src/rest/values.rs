//! Requests for a value, its metadata, and pages of keys.

use std::sync::Arc;

use http_stack::{Body, HeaderName, Method, Response, request::Parts};
use kv::{Key, Page, Version};

use super::{no_key, with_version};
use crate::{
    api_error::ApiError, envelope, json, operations::WriteOptions, query::Parameters,
    request_body::RequestBody, service::Service, workerd_binding::expiring,
};

pub(super) async fn answer(
    service: &Arc<Service>,
    namespace: &str,
    key: &str,
    (parts, parameters): (&Parts, &Parameters),
    (body, version): (Body, Option<Version>),
) -> Result<Response<Body>, ApiError> {
    let key = Key::from_path(key)?;
    match parts.method {
        Method::GET => {
            let found = service.get(namespace, &key, None).await?.map_err(|_| no_key())?;
            let mut response = Response::new(Body::empty());
            found.describe(response.headers_mut());
            if let Some(expiration) = found.about.expiration {
                response.headers_mut().insert(EXPIRATION, expiration.0.into());
            }
            *response.body_mut() = found.into_body();
            Ok(response)
        }
        Method::PUT => {
            let beside = WriteOptions { version, ..expiring(&parts.headers, parameters)? };
            let incoming = RequestBody::of(&parts.headers, body)?;
            let version = service.put(namespace, key, beside, incoming).await?;
            Ok(with_version(envelope::success("{}", None), Some(version)))
        }
        Method::DELETE => {
            let versions = service.delete(namespace, vec![key], version).await?;
            Ok(with_version(envelope::success("{}", None), versions.into_iter().next()))
        }
        _ => Err(ApiError::method("GET, PUT or DELETE of values/KEY")),
    }
}

pub(super) async fn metadata(
    service: &Arc<Service>,
    namespace: &str,
    key: &str,
) -> Result<Response<Body>, ApiError> {
    let found = service.get(namespace, &Key::from_path(key)?, None).await?.map_err(|_| no_key())?;
    Ok(envelope::success(found.about.metadata.as_ref().map_or("null", |metadata| metadata.as_str()), None))
}

pub(super) async fn list(
    service: &Arc<Service>,
    namespace: &str,
    parameters: &Parameters,
) -> Result<Response<Body>, ApiError> {
    let get = |name| parameters.get(name);
    let page = Page::asked(namespace, ("limit", get("limit")), get("prefix"), get("cursor"))?;
    let prefix = page.prefix.clone();
    let listed = service.page(namespace, page).await?;
    let mut text = String::new();
    json::keys(&mut text, &listed.keys, String::push_str);
    let cursor = listed.next.map(|next| next.text(namespace, &prefix)).unwrap_or_default();
    let info = format!("{{\"count\":{},\"cursor\":\"{cursor}\"}}", listed.keys.len());
    Ok(envelope::success(&text, Some(&info)))
}

const EXPIRATION: HeaderName = HeaderName::from_static("expiration");
