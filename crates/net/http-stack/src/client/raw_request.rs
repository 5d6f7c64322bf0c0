//! GET requests with a raw head on an idle connection, for a proxy that forwards fields without parsing
//! them.
//!
//! This path neither opens connections nor retries.

use std::time::Duration;

use hyper::Response;

use super::{
    Client, Connections, Failure, Lease, OnInterim, Trace,
    http1::{self, Answered},
};
use crate::{Body, Origin, client::Reply};

/// The response to a relayed request.
pub enum Relayed<T> {
    /// A plain response: the result of `read`, and the body.
    Lines(T, Body),
    /// Any other response.
    Response(Response<Body>),
}

impl Client {
    /// Sends a GET without a body on an idle HTTP/1.1 connection to `origin`. Returns `None` if
    /// there is no idle connection, or if it turned out to be closed, which `trace` records.
    ///
    /// # Errors
    /// The request was sent and there is no response.
    pub async fn relay<T>(
        &self,
        origin: &Origin,
        head: &[u8],
        (limit, informed): (Duration, Option<OnInterim>),
        trace: &mut Trace,
        read: impl FnOnce(&Reply<'_>) -> Option<T>,
    ) -> Result<Option<Relayed<T>>, Failure> {
        let pool = match self.inner.connections {
            Connections::Reuse => self.inner.pool.of(origin, trace.started),
            Connections::New | Connections::Resume | Connections::Early => None,
        };
        let Some(mut lease) = pool.and_then(|pool| Lease::of_idle(pool, trace.started)) else {
            return Ok(None);
        };
        match lease.connection().relay(head, (limit, informed), trace, read).await {
            Ok(Answered::Lines(read)) => {
                Ok(Some(Relayed::Lines(read, http1::stamped(lease, trace.stamps()))))
            }
            Ok(Answered::Head(head)) => {
                self.inner.connector.learn(origin, head.headers());
                let response = head.map(|()| http1::stamped(lease, trace.stamps()));
                Ok(Some(Relayed::Response(response)))
            }
            Err(failure) if trace.is_lost_in_silence(failure) => {
                trace.retry();
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }
}
