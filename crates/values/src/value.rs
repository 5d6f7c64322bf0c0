//! A value that was found: in memory as a whole, in a file, or on its way from another data centre.

use std::time::Duration;

use http::{Body, Bytes, HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use kv::{About, Tier};

use crate::{pieces::Pieces, problem::Problem};

/// A value in memory, with what is said of it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) value: Bytes,
    pub(crate) about: About,
    pub(crate) version: String,
}

impl Held {
    /// Bytes of all of it.
    pub(crate) fn bytes(&self) -> usize {
        self.value.len() + described(&self.about, &self.version)
    }

    #[cfg(test)]
    pub(crate) fn test(value: Vec<u8>) -> Self {
        let about = About { bytes: value.len() as u64, expiration: None, metadata: None };
        Self { value: value.into(), about, version: String::new() }
    }
}

/// What is said of a value on disk.
#[derive(Debug)]
pub(crate) struct Shelved {
    pub(crate) about: About,
    pub(crate) version: String,
}

impl Shelved {
    /// Bytes of all of it.
    pub(crate) fn bytes(&self) -> usize {
        described(&self.about, &self.version)
    }
}

/// Bytes of what is said of a value.
fn described(about: &About, version: &str) -> usize {
    about.metadata.as_ref().map_or(0, |metadata| metadata.as_str().len()) + version.len()
}

/// Where an answer comes from, as the field's `CF-Cache-Status` has it.
pub(crate) fn cache_status(source: Tier) -> &'static str {
    match source {
        Tier::Lower | Tier::Regional | Tier::Upper => "HIT",
        Tier::Store => "MISS",
    }
}

/// A value that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) about: About,
    pub(crate) version: String,
    /// How long ago it was read from the store.
    pub(crate) age: Duration,
    pub(crate) source: Tier,
    pub(crate) content: Content,
}

/// That there is no value.
#[derive(Debug, Clone)]
pub(crate) struct Absent {
    /// Since which version, if anything is known of that.
    pub(crate) version: Option<String>,
    /// How long ago that was read from the store.
    pub(crate) age: Duration,
    pub(crate) source: Tier,
}

impl Absent {
    /// As [`Found::describe`].
    pub(crate) fn describe(&self, headers: &mut HeaderMap) {
        headers.insert(AGE, self.age.as_secs().into());
        headers.insert(SOURCE, HeaderValue::from_static(self.source.name()));
        headers.insert(CACHE_STATUS, HeaderValue::from_static(cache_status(self.source)));
        if let Some(version) = &self.version {
            set(headers, VERSION, version);
        }
    }
}

/// Its bytes.
#[derive(Debug)]
pub(crate) enum Content {
    Whole(Bytes),
    /// In a file.
    Pieces(Pieces),
    /// On its way from another data centre.
    Passing(Body),
}

impl Found {
    /// Adds what an answer says of where it comes from.
    pub(crate) fn describe(&self, headers: &mut HeaderMap) {
        headers.insert(AGE, self.age.as_secs().into());
        headers.insert(SOURCE, HeaderValue::from_static(self.source.name()));
        headers.insert(CACHE_STATUS, HeaderValue::from_static(cache_status(self.source)));
        set(headers, VERSION, &self.version);
        headers.insert(header::CONTENT_LENGTH, self.about.bytes.into());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    }

    /// As a response's body.
    pub(crate) fn into_body(self) -> Body {
        match self.content {
            Content::Whole(bytes) => Body::whole(bytes),
            Content::Pieces(pieces) => pieces.into_body(),
            Content::Passing(body) => body,
        }
    }

    /// All of it, in memory.
    pub(crate) async fn collect(self) -> Result<Bytes, Problem> {
        match self.content {
            Content::Whole(bytes) => Ok(bytes),
            Content::Pieces(pieces) => pieces.collect().await,
            Content::Passing(body) => {
                let whole = body.collect(usize::try_from(self.about.bytes).unwrap_or(usize::MAX)).await;
                whole.map_err(|failure| {
                    let message = format!("a value broke off on its way from another data centre: {failure}");
                    Problem::new(StatusCode::SERVICE_UNAVAILABLE, message)
                })
            }
        }
    }
}

/// Adds a field, if its value can be one.
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
