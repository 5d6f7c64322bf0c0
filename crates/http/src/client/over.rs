//! One request over a stream that is there already: for the fuzz target, which has bytes in the place of a server.

use hyper::{Request, Response};

use super::{
    config::Protocol, connect::Fresh, http1::Http1, http2::Http2, on_fresh, shared::Shared, trace::Trace,
};
use crate::{Body, Failure, Origin, clock::Clock, tunnel::Bytestream};

/// Makes a request over `stream`, as [`Client::send`](super::Client::send) does over a connection of its own: by HTTP/2 if that is
/// the protocol, and else by HTTP/1.1. The stamps are of `clock`.
///
/// # Errors
/// When there is no response.
pub async fn over(
    stream: impl Bytestream + 'static,
    protocol: Protocol,
    clock: Clock,
    origin: &Origin,
    request: Request<Body>,
    trace: &mut Trace,
) -> Result<Response<Body>, Failure> {
    let (stream, wire, nowhere) = (Box::new(stream), Default::default(), None);
    let fresh = if protocol == Protocol::Http2 {
        Fresh::Shared(Shared::Http2(
            Http2::start(stream, wire, nowhere, super::Windows::default(), clock).await?,
        ))
    } else {
        Fresh::Http1(Http1::start(stream, wire, nowhere, clock))
    };
    on_fresh(fresh, origin, request, trace).await
}
