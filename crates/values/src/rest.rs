//! The REST API of the field: what operators, their scripts and command lines ask, under `/client/v4/accounts/ACCOUNT/storage/kv`.
//!
//! Which account is asked for does not matter: a network is one. Namespaces are in the network's file, so that they cannot be made here.

mod namespaces;
mod values;

use std::{sync::Arc, time::Duration};

use http::{Body, Bytes, Method, Request, Response, StatusCode, request::Parts};
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    access::{Namespace, authorization},
    envelope,
    incoming::collected,
    operations::ended,
    pairs,
    parameters::Parameters,
    problem::{Kind, Problem},
    service::{Service, now},
    several::{self, Shape},
};

/// What its paths begin with. No request of the binding does: a key's slashes are encoded there.
pub(crate) const PREFIX: &str = "/client/v4/";

/// Answers a request.
pub(crate) async fn answer(service: &Arc<Service>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    answered(service, &parts, body).await.unwrap_or_else(|problem| envelope::failure(&problem))
}

async fn answered(service: &Arc<Service>, parts: &Parts, body: Body) -> Result<Response<Body>, Problem> {
    let access = service.access();
    let caller = access.caller(authorization(&parts.headers))?;
    let parameters = Parameters::of(parts.uri.query())?;
    let path = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let below = path.strip_prefix("accounts/").and_then(|path| path.split_once("/storage/kv/namespaces"));
    let Some((_, below)) = below.filter(|(account, _)| !account.is_empty() && !account.contains('/')) else {
        let message = "there is /client/v4/accounts/ACCOUNT/storage/kv/namespaces, and what is below it";
        return Err(Problem::new(StatusCode::NOT_FOUND, message));
    };
    let mut segments = below.trim_start_matches('/').splitn(3, '/');
    let name = segments.next().filter(|name| !name.is_empty());
    let Some(name) = name else {
        return match parts.method {
            Method::GET => namespaces::list(caller, &parameters),
            _ => Err(namespaces::in_the_file()),
        };
    };
    let namespace = caller.namespace(name)?;
    match (segments.next(), segments.next()) {
        (None, _) if parts.method == Method::GET => Ok(namespaces::one(namespace)),
        (None, _) => Err(namespaces::in_the_file()),
        (Some("keys"), None) if parts.method == Method::GET => {
            values::list(service, &namespace.id, &parameters).await
        }
        // A key may have slashes that its client did not encode.
        (Some("values"), Some(key)) => {
            values::answer(service, &namespace.id, key, (parts, &parameters), body).await
        }
        (Some("metadata"), Some(key)) if parts.method == Method::GET => {
            values::metadata(service, &namespace.id, key).await
        }
        (Some("bulk"), below) => bulk(service, namespace, (&parts.method, below), body).await,
        _ => Err(Problem::new(
            StatusCode::NOT_FOUND,
            "a namespace has values/KEY, metadata/KEY, keys, bulk, bulk/get and bulk/delete",
        )),
    }
}

/// Many keys at once.
async fn bulk(
    service: &Arc<Service>,
    namespace: &Namespace,
    what: (&Method, Option<&str>),
    body: Body,
) -> Result<Response<Body>, Problem> {
    let namespace = &namespace.id;
    match what {
        (&Method::POST, Some("get")) => {
            let values = several::read(service, namespace, body, Shape::Rest).await?;
            Ok(envelope::success(&format!("{{\"values\":{values}}}"), None))
        }
        (&Method::PUT, None) => {
            let place = service.large(&service.large_writes).await?;
            let (text, largest) = (in_time(collected(body, LARGEST_BULK)).await?, service.largest());
            let puts = beside(move || pairs::read(&text, largest, now())).await?;
            let count = puts.len();
            if count > 0 {
                service.put_several(namespace, puts, place).await?;
            }
            Ok(done(count))
        }
        (&Method::DELETE, None) | (&Method::POST, Some("delete")) => {
            let _place = service.large(&service.large_writes).await?;
            let text = in_time(collected(body, LARGEST_KEYS)).await?;
            let keys = beside(move || pairs::read_keys(&text)).await?;
            let count = keys.len();
            if count > 0 {
                service.delete(namespace, keys).await?;
            }
            Ok(done(count))
        }
        _ => Err(Problem::method("PUT or DELETE of bulk, or POST of bulk/get or bulk/delete")),
    }
}

/// What takes long to compute, while others go on on this thread.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    spawn_blocking(work).await.map_err(|error| ended(&error))?
}

/// A body that holds others up does not come for ever.
async fn in_time(body: impl Future<Output = Result<Bytes, Problem>>) -> Result<Bytes, Problem> {
    timeout(LONGEST_BODY, body).await.unwrap_or_else(|_| {
        let message = format!("the request did not come within {} s", LONGEST_BODY.as_secs());
        Err(Problem::new(StatusCode::REQUEST_TIMEOUT, message))
    })
}

fn done(count: usize) -> Response<Body> {
    envelope::success(&format!("{{\"successful_key_count\":{count},\"unsuccessful_keys\":[]}}"), None)
}

/// Why there is no value.
fn no_key() -> Problem {
    Problem::of(Kind::NoKey, "get: 'key not found'")
}

/// Enough for 100 MB over a line of 10 Mbit/s.
const LONGEST_BODY: Duration = Duration::from_secs(90);
/// As the field has it: 100 MB.
const LARGEST_BULK: usize = 100_000_000;
/// Ten thousand keys in JSON, each byte of which may be written as six.
const LARGEST_KEYS: usize = 32 << 20;
