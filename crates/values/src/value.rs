//! A value that was found: in memory as a whole, or in pieces that are read from the file at the pace of who takes them.

use std::time::Duration;

use http::{Body, Bytes, HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use kv::{About, Tier};
use tokio::task::spawn_blocking;
use vault::Reading;

use crate::{problem::Problem, store::Store};

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
        let metadata = self.about.metadata.as_ref().map_or(0, |metadata| metadata.as_str().len());
        self.value.len() + metadata + self.version.len()
    }

    #[cfg(test)]
    pub(crate) fn test(value: Vec<u8>) -> Self {
        let about = About { bytes: value.len() as u64, expiration: None, metadata: None };
        Self { value: value.into(), about, version: String::new() }
    }
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
    /// With the store, which waits for them before it leaves its file.
    Pieces(Box<Reading>, Store),
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
            Content::Pieces(reading, store) => in_pieces(reading, store),
            Content::Passing(body) => body,
        }
    }

    /// All of it, in memory.
    pub(crate) async fn collect(self) -> Result<Bytes, Problem> {
        let mut reading: Box<Reading> = match self.content {
            Content::Whole(bytes) => return Ok(bytes),
            Content::Pieces(reading, _) => reading,
            Content::Passing(body) => {
                let whole = body.collect(usize::try_from(self.about.bytes).unwrap_or(usize::MAX)).await;
                return whole.map_err(|failure| {
                    let message = format!("a value broke off on its way from another data centre: {failure}");
                    Problem::new(StatusCode::SERVICE_UNAVAILABLE, message)
                });
            }
        };
        let all = move || {
            let mut all = Vec::new();
            while let Some(piece) = reading.piece()? {
                all.extend_from_slice(&piece);
            }
            Ok::<_, vault::Error>(all.into())
        };
        Ok(spawn_blocking(all).await.map_err(|_| vault::Error::Released)??)
    }
}

/// A body that is read from the file while it is sent: two pieces of it are in memory.
fn in_pieces(mut reading: Box<Reading>, store: Store) -> Body {
    let (sender, body) = Body::channel(1);
    tokio::spawn(async move {
        let _store = store;
        loop {
            let next = spawn_blocking(move || (reading.piece(), reading)).await;
            let Ok((piece, rest)) = next else { return };
            reading = rest;
            match piece {
                Ok(Some(piece)) => {
                    if sender.send(piece).await.is_err() {
                        return;
                    }
                }
                Ok(None) => {
                    let _ = sender.finish().await;
                    return;
                }
                // The body breaks off, so that nobody takes a part for the whole.
                Err(error) => return tracing::warn!(%error, "a value could not be read to its end"),
            }
        }
    });
    body
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
