//! The REST API of Workers KV, for operators and scripts, under
//! `/client/v4/accounts/ACCOUNT/storage/kv`.
//!
//! The account is ignored: a network has only one.

mod namespaces;
mod values;

use std::{sync::Arc, time::Duration};

use http_stack::{Body, Bytes, Method, Request, Response, StatusCode, request::Parts};
use kv::{Key, Version};
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    access::{Namespace, Use, authorization},
    api_error::{ApiError, Kind, ended},
    bulk,
    bulk_read::{self, Shape},
    envelope,
    query::Parameters,
    request_body::collected,
    service::{Service, now},
    value::{VERSION, set},
};

/// Binding requests cannot have it, because slashes in their keys are encoded.
pub(crate) const PREFIX: &str = "/client/v4/";

pub(crate) async fn answer(service: &Arc<Service>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    answered(service, &parts, body).await.unwrap_or_else(|problem| envelope::failure(&problem))
}

async fn answered(service: &Arc<Service>, parts: &Parts, body: Body) -> Result<Response<Body>, ApiError> {
    let parameters = Parameters::of(parts.uri.query())?;
    let path = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let below = path.strip_prefix("accounts/").and_then(|path| path.split_once("/storage/kv/namespaces"));
    let Some((_, below)) = below.filter(|(account, _)| !account.is_empty() && !account.contains('/')) else {
        let message =
            "unknown path: expected /client/v4/accounts/ACCOUNT/storage/kv/namespaces or a path below it";
        return Err(ApiError::new(StatusCode::NOT_FOUND, message));
    };
    let mut segments = below.trim_start_matches('/').splitn(3, '/');
    let name = segments.next().filter(|name| !name.is_empty());
    let name = name.map(|name| kv::decoded(name).unwrap_or_else(|| name.to_owned()));
    let name = name.as_deref();
    let below = (segments.next(), segments.next());
    let authorization = authorization(&parts.headers);
    let access = service.access_to(authorization, name.map(str::as_bytes)).await;
    let caller = access.caller(authorization)?;
    let Some(name) = name else {
        return namespaces::of_all(service, caller, (parts, &parameters), body).await;
    };
    if below.0.is_none() && parts.method != Method::GET {
        return namespaces::of_one(service, caller, name, (parts, body)).await;
    }
    let wanted = Use::of(&parts.method, below == (Some("bulk"), Some("get")));
    let namespace = caller.namespace(name, wanted)?;
    inside(service, namespace, below, (parts, &parameters), (body, None)).await
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
    let below = parts.uri.path().split_once("/storage/kv/namespaces/").map_or("", |(_, below)| below);
    let mut segments = below.splitn(3, '/').skip(1);
    let below = (segments.next(), segments.next());
    let answered = async {
        let parameters = Parameters::of(parts.uri.query())?;
        inside(service, namespace, below, (parts, &parameters), (body, version)).await
    };
    answered.await.unwrap_or_else(|problem| envelope::failure(&problem))
}

async fn inside(
    service: &Arc<Service>,
    namespace: &Namespace,
    below: (Option<&str>, Option<&str>),
    (parts, parameters): (&Parts, &Parameters),
    (body, version): (Body, Option<Version>),
) -> Result<Response<Body>, ApiError> {
    let is_list = parts.method == Method::GET && below == (Some("keys"), None);
    let far_store = if is_list { service.far_store_for_list() } else { service.far_store() };
    if let Some(store) = far_store {
        let keys = match (&parts.method, below) {
            (&Method::GET, (Some("keys"), None)) => Some(Vec::new()),
            (&Method::PUT | &Method::DELETE, (Some("values"), Some(key))) => Some(vec![Key::from_path(key)?]),
            _ => None,
        };
        if let Some(keys) = keys {
            return service.pass_on(store, &namespace.id, parts, (body, None), keys).await;
        }
    }
    match below {
        (None, _) => Ok(namespaces::one(namespace)),
        (Some("keys"), None) if parts.method == Method::GET => {
            values::list(service, &namespace.id, parameters).await
        }
        (Some("values"), Some(key)) => {
            values::answer(service, &namespace.id, key, (parts, parameters), (body, version)).await
        }
        (Some("metadata"), Some(key)) if parts.method == Method::GET => {
            values::metadata(service, &namespace.id, key).await
        }
        (Some("whereabouts"), Some(key)) if parts.method == Method::GET => {
            let whereabouts = service.whereabouts(&namespace.id, &Key::from_path(key)?).await;
            Ok(envelope::success(&serde_json::to_string(&whereabouts).unwrap_or_default(), None))
        }
        (Some("bulk"), below) => bulk(service, namespace, (parts, below), (body, version)).await,
        _ => Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "a namespace has values/KEY, metadata/KEY, whereabouts/KEY, keys, bulk, bulk/get and bulk/delete",
        )),
    }
}

async fn bulk(
    service: &Arc<Service>,
    namespace: &Namespace,
    (parts, below): (&Parts, Option<&str>),
    (body, version): (Body, Option<Version>),
) -> Result<Response<Body>, ApiError> {
    let namespace = &namespace.id;
    match (&parts.method, below) {
        (&Method::POST, Some("get")) => {
            let values = bulk_read::read(service, namespace, body, Shape::Rest).await?;
            Ok(envelope::success(&format!("{{\"values\":{values}}}"), None))
        }
        (&Method::PUT, None) => {
            let place = service.large(&service.large_writes).await?;
            let (text, largest) = (in_time(collected(body, LARGEST_BULK)).await?, service.largest());
            let whole = Body::whole(text.clone());
            let puts = beside(move || bulk::read(&text, largest, now())).await?;
            let count = puts.len();
            if let Some(store) = service.far_store().filter(|_| count > 0) {
                let keys = puts.iter().map(|put| Key::new(&put.key)).collect::<Result<_, _>>()?;
                drop(puts);
                return service.pass_on(store, namespace, parts, (whole, Some(place)), keys).await;
            }
            let version = match count {
                0 => None,
                _ => service.put_several(namespace, puts, version, place).await?,
            };
            Ok(done(count, version))
        }
        (&Method::DELETE, None) | (&Method::POST, Some("delete")) => {
            let place = service.large(&service.large_writes).await?;
            let text = in_time(collected(body, LARGEST_KEYS)).await?;
            let whole = Body::whole(text.clone());
            let keys = beside(move || bulk::read_keys(&text)).await?;
            let count = keys.len();
            if let Some(store) = service.far_store().filter(|_| count > 0) {
                return service.pass_on(store, namespace, parts, (whole, Some(place)), keys).await;
            }
            let versions = match count {
                0 => Vec::new(),
                _ => service.delete(namespace, keys, version).await?,
            };
            Ok(done(count, versions.into_iter().min()))
        }
        _ => Err(ApiError::method("PUT or DELETE of bulk, or POST of bulk/get or bulk/delete")),
    }
}

/// Runs a computation that would block the runtime's thread.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    spawn_blocking(work).await.map_err(|error| ended(&error))?
}

/// A body has one of the few slots for bulk requests.
async fn in_time(body: impl Future<Output = Result<Bytes, ApiError>>) -> Result<Bytes, ApiError> {
    timeout(LONGEST_BODY, body).await.unwrap_or_else(|_| {
        let message = format!("the request was not complete after {} s", LONGEST_BODY.as_secs());
        Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, message))
    })
}

/// `version` is the lowest of the written versions.
fn done(count: usize, version: Option<Version>) -> Response<Body> {
    let result = format!("{{\"successful_key_count\":{count},\"unsuccessful_keys\":[]}}");
    with_version(envelope::success(&result, None), version)
}

fn with_version(mut response: Response<Body>, version: Option<Version>) -> Response<Body> {
    if let Some(version) = version {
        set(response.headers_mut(), VERSION, &version.to_string());
    }
    response
}

fn no_key() -> ApiError {
    ApiError::of(Kind::NoKey, "get: 'key not found'")
}

/// 100 MB at 10 Mbit/s take 80 s.
const LONGEST_BODY: Duration = Duration::from_secs(90);
/// The limit of Workers KV: 100 MB.
const LARGEST_BULK: usize = 100_000_000;
/// 10 000 keys in JSON, where each byte may be escaped as six.
const LARGEST_KEYS: usize = 32 << 20;
