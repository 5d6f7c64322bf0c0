//! Bulk reads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use http_stack::{Body, StatusCode};
use kv::{Key, MOST_VALUE_BYTES};
use serde::{Deserialize, de::IgnoredAny};
use tokio::task::JoinSet;

use crate::{
    api_error::ApiError,
    json,
    request_body::collected,
    service::Service,
    value::{Content, Found},
};

#[derive(Debug, Deserialize)]
struct Asked {
    keys: Vec<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "withMetadata", default)]
    with_metadata: bool,
    #[serde(rename = "cacheTtl")]
    cache_ttl: Option<Ttl>,
}

/// workerd sends the number as a string.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Ttl {
    Number(u64),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Binding,
    Rest,
}

/// `null` for keys without a value.
pub(crate) async fn read(
    service: &Arc<Service>,
    namespace: &str,
    body: Body,
    shape: Shape,
) -> Result<String, ApiError> {
    let text = collected(body, LARGEST_REQUEST).await?;
    let asked: Asked =
        serde_json::from_slice(&text).map_err(|error| ApiError::bad(format!("invalid request: {error}")))?;
    let kind = match asked.kind.as_deref() {
        None | Some("" | "text") => Kind::Text,
        Some("json") => Kind::Json,
        Some(other) => {
            return Err(ApiError::bad(format!("\"{other}\" is not a valid type. Use \"json\" or \"text\"")));
        }
    };
    match asked.keys.len() {
        0 => return Err(ApiError::bad("You must request a minimum of 1 key")),
        1..=MOST_KEYS => {}
        _ => return Err(ApiError::bad(format!("You can request a maximum of {MOST_KEYS} keys"))),
    }
    let ttl = asked.cache_ttl.map(|ttl| match ttl {
        Ttl::Number(number) => number.to_string(),
        Ttl::Text(text) => text,
    });
    let ttl = cache_ttl(ttl.as_deref())?;
    let keys: Vec<_> = asked.keys.iter().map(|name| Key::new(name)).collect::<Result<_, _>>()?;
    let _place = service.large(&service.large_reads).await?;
    let (mut found, bytes) = (Vec::new(), Arc::new(AtomicU64::new(0)));
    for some in keys.chunks(if service.store_elsewhere().is_some() { AT_ONCE } else { 1 }) {
        let mut asking = JoinSet::new();
        for (number, key) in some.iter().cloned().enumerate() {
            let (service, namespace, bytes) = (Arc::clone(service), namespace.to_owned(), Arc::clone(&bytes));
            asking.spawn(async move {
                let value = match service.get(&namespace, &key, ttl).await {
                    Ok(value) => taken(value.ok(), &bytes).await,
                    Err(problem) => Err(problem),
                };
                (number, value, key)
            });
        }
        let mut values = asking.join_all().await;
        values.sort_by_key(|(number, ..)| *number);
        for (_, value, key) in values {
            found.push((key, value?));
        }
    }
    let mut parts = Vec::new();
    for (key, value) in found {
        let mut part = String::new();
        json::text(&mut part, key.as_str());
        part.push(':');
        match value {
            None => part.push_str("null"),
            Some(value) if asked.with_metadata => described(&mut part, value, kind, shape).await?,
            Some(value) => part.push_str(&shown(value, kind).await?),
        }
        parts.push(part);
    }
    let mut text = String::new();
    json::between(&mut text, json::OBJECT, parts, |text, part| text.push_str(&part));
    Ok(text)
}

/// Collects a value of another data centre, which would block the connection while it waits.
async fn taken(value: Option<Found>, bytes: &AtomicU64) -> Result<Option<Found>, ApiError> {
    let Some(found) = value else { return Ok(None) };
    if bytes.fetch_add(found.about.bytes, SeqCst) + found.about.bytes > MOST_VALUE_BYTES {
        let message = "Total size of request exceeds the limit of 25MB";
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    if !matches!(found.content, Content::Passing(_)) {
        return Ok(Some(found));
    }
    let (about, version, age, source) = (found.about.clone(), found.version.clone(), found.age, found.source);
    let content = Content::Whole(found.collect().await?);
    Ok(Some(Found { about, version, age, source, content }))
}

pub(crate) fn cache_ttl(text: Option<&str>) -> Result<Option<Duration>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let ttl: Option<u64> = text.parse().ok().filter(|&ttl| ttl >= LEAST_CACHE_TTL);
    let ttl = ttl.ok_or_else(|| {
        ApiError::bad(format!("Invalid cache_ttl of {text}. Cache TTL must be at least {LEAST_CACHE_TTL}."))
    })?;
    Ok(Some(Duration::from_secs(ttl)))
}

async fn described(to: &mut String, found: Found, kind: Kind, shape: Shape) -> Result<(), ApiError> {
    let about = found.about.clone();
    to.push_str("{\"value\":");
    to.push_str(&shown(found, kind).await?);
    to.push_str(",\"metadata\":");
    to.push_str(about.metadata.as_ref().map_or("null", |metadata| metadata.as_str()));
    if let Some(expiration) = about.expiration.filter(|_| shape == Shape::Rest) {
        to.push_str(&format!(",\"expiration\":{}", expiration.0));
    }
    to.push('}');
    Ok(())
}

async fn shown(found: Found, kind: Kind) -> Result<String, ApiError> {
    let bytes = found.collect().await?;
    let text = String::from_utf8_lossy(&bytes);
    match kind {
        Kind::Text => {
            let mut json = String::with_capacity(text.len() + 2);
            json::text(&mut json, &text);
            Ok(json)
        }
        Kind::Json if serde_json::from_str::<IgnoredAny>(&text).is_ok() => Ok(text.into_owned()),
        Kind::Json => {
            Err(ApiError::bad("At least one of the requested keys corresponds to a non-json value"))
        }
    }
}

const AT_ONCE: usize = 25;
const MOST_KEYS: usize = 100;
/// 100 keys in JSON, where each byte may be escaped as six.
const LARGEST_REQUEST: usize = 512 << 10;
/// Seconds, as in Workers KV.
const LEAST_CACHE_TTL: u64 = 30;
