//! A value that is read from a file at the pace of its receiver.

use std::fmt;

use http_stack::{Body, Bytes};
use tokio::task::spawn_blocking;

use crate::api_error::{ApiError, ended};

pub(crate) struct ValueStream(Box<Next>);

/// `None` at the end. Blocks.
type Next = dyn FnMut() -> Result<Option<Bytes>, ApiError> + Send;

impl ValueStream {
    /// `next` is called in a thread that may block.
    pub(crate) fn new(next: impl FnMut() -> Result<Option<Bytes>, ApiError> + Send + 'static) -> Self {
        Self(Box::new(next))
    }

    /// At most two pieces are in memory.
    pub(crate) fn into_body(mut self) -> Body {
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move {
            loop {
                let next = spawn_blocking(move || ((self.0)(), self)).await;
                let Ok((piece, rest)) = next else { return };
                self = rest;
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
                    // Truncate the body, so that the client detects the failure.
                    Err(problem) => {
                        return tracing::warn!(
                            error = problem.message,
                            "a value could not be read completely"
                        );
                    }
                }
            }
        });
        body
    }

    pub(crate) async fn collect(mut self) -> Result<Bytes, ApiError> {
        let all = move || {
            let mut all = Vec::new();
            while let Some(piece) = (self.0)()? {
                all.extend_from_slice(&piece);
            }
            Ok(all.into())
        };
        spawn_blocking(all).await.map_err(|error| ended(&error))?
    }
}

impl fmt::Debug for ValueStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pieces")
    }
}
