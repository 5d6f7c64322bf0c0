//! A GET whose head is there as lines, on a connection that is idle: for a proxy that passes on what it need not understand.
//!
//! Everything that is not plain takes the way of [`Client::send`]: no connection is opened here, and none is tried twice.

use std::time::Duration;

use hyper::Response;

use super::{
    Client, Connections, Failure, Informed, Lease, Trace,
    http1::{self, Answered},
};
use crate::{Body, Origin, client::Reply};

/// What a relayed request got.
pub enum Relayed<T> {
    /// A plain response: what was made of its lines, and its body.
    Lines(T, Body),
    /// Another one.
    Response(Response<Body>),
}

impl Client {
    /// Makes a GET without a body, on an idle HTTP/1.1 connection to `origin`: `head` is all of its head. A plain response is given to
    /// `read`, and is what that makes of it; one of which that makes nothing is returned as [`Client::send`] would. `None` if there is no such
    /// connection, or the one that there was turned out to be closed, which `trace` then says: the request can be made as any other.
    ///
    /// The final response's head has to come within `limit`. `informed` is told of interim responses, if there is one. `trace` is to
    /// be a new one.
    ///
    /// # Errors
    /// When the request was made and there is no response.
    pub async fn relay<T>(
        &self,
        origin: &Origin,
        head: &[u8],
        (limit, informed): (Duration, Option<Informed>),
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
