//! Acceptance of a stream that lacks acknowledged messages, by the operator.

use std::time::Duration;

use http_stack::StatusCode;
use kv_nats::StreamState;
use tokio::time::sleep;

use crate::{
    api_error::ApiError,
    refused_stream::{RefusedStream, Seen},
    service::Service,
    store::Store,
};

impl Service {
    /// Accepts the store's stream in this state. Returns the difference once the stream can be
    /// used.
    ///
    /// # Errors
    /// Fails if no stream is refused, the stream has changed since, or it cannot be used within a
    /// few seconds.
    pub async fn accept_stream(&self, found: Option<Seen>) -> Result<RefusedStream, ApiError> {
        let conflict = |why: String| ApiError::new(StatusCode::CONFLICT, why);
        let Store::Nats(bucket) = self.store()? else {
            return Err(conflict("the store is in a file: no stream is refused".to_owned()));
        };
        let found =
            found.map(|Seen { created, last_sequence, keys }| StreamState { created, last_sequence, keys });
        let loss = bucket.accept(found).map_err(conflict)?;
        for _ in 0..LOOKS {
            if bucket.trouble().is_none() {
                return Ok(loss.into());
            }
            sleep(BETWEEN_LOOKS).await;
        }
        let why = bucket.trouble().unwrap_or_default();
        Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("it is accepted, and cannot be used yet: {why}"),
        ))
    }
}

/// Shorter in total than the timeout of the operator's client.
const LOOKS: u32 = 400;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
