//! A value that lies in a file, and is read at the pace of who takes it.

use std::fmt;

use http::{Body, Bytes};
use tokio::task::spawn_blocking;

use crate::problem::{Problem, ended};

/// Its pieces, in order.
pub(crate) struct Pieces(Box<Next>);

/// Reads the next piece; `None` at the end. Blocks.
type Next = dyn FnMut() -> Result<Option<Bytes>, Problem> + Send;

impl Pieces {
    /// Those that this reads; it is called in a thread that may block.
    pub(crate) fn new(next: impl FnMut() -> Result<Option<Bytes>, Problem> + Send + 'static) -> Self {
        Self(Box::new(next))
    }

    /// As a body that is read from the file while it is sent: two pieces of it are in memory.
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
                    // The body breaks off, so that nobody takes a part for the whole.
                    Err(problem) => {
                        return tracing::warn!(
                            error = problem.message,
                            "a value could not be read to its end"
                        );
                    }
                }
            }
        });
        body
    }

    /// All of it, in memory.
    pub(crate) async fn collect(mut self) -> Result<Bytes, Problem> {
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

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pieces")
    }
}
