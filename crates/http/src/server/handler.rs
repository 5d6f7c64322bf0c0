//! The interface of a handler, which answers requests, and what it gets to know about the client.

use std::net::SocketAddr;

use hyper::{Request, Response};

use crate::{Body, Failure, Scheme};

/// Answers requests; all connections of a server share it.
///
/// The request's body comes as it is read, and the response's is read as the client takes it: neither is held by the
/// server. A [`Peer`] is among the request's extensions.
///
/// What becomes of an `Err`: the client gets no response, and an HTTP/1 connection is closed, an HTTP/2 stream reset. The
/// same happens to a response whose body fails, after what there was of it: it is never ended as if it were whole.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. Dropped if the client has gone or the server has been stopped for good.
    fn handle(&self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, Failure>> + Send;
}

impl<F, A> Handler for F
where
    F: Fn(Request<Body>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Response<Body>, Failure>> + Send,
{
    fn handle(&self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, Failure>> + Send {
        self(request)
    }
}

/// The other end of a request's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// Whether it came over TLS, which is nowhere in an HTTP/1 request.
    pub scheme: Scheme,
}
