//! Sends one request over an existing stream, for the fuzz target whose server is a byte string.

use hyper::{Request, Response};

use super::{
    config::Protocol, connect::Fresh, http1::Http1, http2::Http2, multiplexed::Multiplexed, on_fresh,
    trace::Trace,
};
use crate::{Body, Failure, Origin, clock::Clock, tunnel::Bytestream};

/// Sends a request over `stream` as [`Client::send`](super::Client::send) does over a new connection:
/// HTTP/2 if that is the protocol, otherwise HTTP/1.1. Time stamps are taken from `clock`.
///
/// # Errors
/// There is no response.
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
        Fresh::Shared(Multiplexed::Http2(
            Http2::start(stream, wire, nowhere, super::Windows::default(), clock).await?,
        ))
    } else {
        Fresh::Http1(Http1::start(stream, wire, nowhere, clock))
    };
    on_fresh(fresh, origin, request, trace).await
}
