//! A value that was found: in memory, in a file, or being received from another data centre.

use std::time::Duration;

use http_stack::{Body, Bytes, HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use kv::{Tier, ValueMeta};

use crate::{api_error::ApiError, value_stream::ValueStream};

#[derive(Debug)]
pub(crate) struct MemoryValue {
    pub(crate) value: Bytes,
    pub(crate) about: ValueMeta,
    pub(crate) version: String,
}

impl MemoryValue {
    pub(crate) fn bytes(&self) -> usize {
        self.value.len() + described(&self.about, &self.version)
    }

    #[cfg(test)]
    pub(crate) fn test(value: Vec<u8>) -> Self {
        let about = ValueMeta { bytes: value.len() as u64, expiration: None, metadata: None };
        Self { value: value.into(), about, version: String::new() }
    }
}

#[derive(Debug)]
pub(crate) struct DiskValue {
    pub(crate) about: ValueMeta,
    pub(crate) version: String,
}

impl DiskValue {
    pub(crate) fn bytes(&self) -> usize {
        described(&self.about, &self.version)
    }
}

/// Bytes of the metadata and the version.
fn described(about: &ValueMeta, version: &str) -> usize {
    about.metadata.as_ref().map_or(0, |metadata| metadata.as_str().len()) + version.len()
}

pub(crate) fn cache_status(source: Tier) -> &'static str {
    match source {
        Tier::Lower | Tier::Regional | Tier::Upper => "HIT",
        Tier::Store => "MISS",
    }
}

#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) about: ValueMeta,
    pub(crate) version: String,
    /// Since the value was read from the store.
    pub(crate) age: Duration,
    pub(crate) source: Tier,
    pub(crate) content: Content,
}

#[derive(Debug, Clone)]
pub(crate) struct NotFound {
    /// Of the deletion, if known.
    pub(crate) version: Option<String>,
    /// Since the absence was read from the store.
    pub(crate) age: Duration,
    pub(crate) source: Tier,
}

impl NotFound {
    pub(crate) fn describe(&self, headers: &mut HeaderMap) {
        headers.insert(AGE, self.age.as_secs().into());
        headers.insert(SOURCE, HeaderValue::from_static(self.source.name()));
        headers.insert(CACHE_STATUS, HeaderValue::from_static(cache_status(self.source)));
        if let Some(version) = &self.version {
            set(headers, VERSION, version);
        }
    }
}

#[derive(Debug)]
pub(crate) enum Content {
    Whole(Bytes),
    Pieces(ValueStream),
    Passing(Body),
}

impl Found {
    pub(crate) fn describe(&self, headers: &mut HeaderMap) {
        headers.insert(AGE, self.age.as_secs().into());
        headers.insert(SOURCE, HeaderValue::from_static(self.source.name()));
        headers.insert(CACHE_STATUS, HeaderValue::from_static(cache_status(self.source)));
        set(headers, VERSION, &self.version);
        headers.insert(header::CONTENT_LENGTH, self.about.bytes.into());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    }

    pub(crate) fn into_body(self) -> Body {
        match self.content {
            Content::Whole(bytes) => Body::whole(bytes),
            Content::Pieces(pieces) => pieces.into_body(),
            Content::Passing(body) => body,
        }
    }

    pub(crate) async fn collect(self) -> Result<Bytes, ApiError> {
        match self.content {
            Content::Whole(bytes) => Ok(bytes),
            Content::Pieces(pieces) => pieces.collect().await,
            Content::Passing(body) => {
                let whole = body.collect(usize::try_from(self.about.bytes).unwrap_or(usize::MAX)).await;
                whole.map_err(|failure| {
                    let message =
                        format!("the transfer of a value from another data centre failed: {failure}");
                    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
                })
            }
        }
    }
}

/// Unless the value is invalid in a header.
pub(crate) fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
        headers.insert(name, value);
    }
}

pub(crate) const AGE: HeaderName = HeaderName::from_static("kv-age");
pub(crate) const VERSION: HeaderName = HeaderName::from_static("kv-version");
pub(crate) const SOURCE: HeaderName = HeaderName::from_static("kv-source");
pub(crate) const CACHE_STATUS: HeaderName = HeaderName::from_static("cf-cache-status");
pub(crate) const EXPIRATION: HeaderName = HeaderName::from_static("cf-expiration");
pub(crate) const METADATA: HeaderName = HeaderName::from_static("cf-kv-metadata");
