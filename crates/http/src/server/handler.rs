//! The interface of a handler, which answers requests.

use bytes::Bytes;
use hyper::{Request, Response};

use super::at_once::Glance;
use crate::{Body, Failure};

/// Answers requests; all connections of a server share it.
///
/// The request's body comes as it is read, and the response's is read as the client takes it: neither is held by the
/// server. A [`Peer`](super::Peer) is among the request's extensions.
///
/// What becomes of an `Err`: the client gets no response, and an HTTP/1 connection is closed, an HTTP/2 stream reset. The
/// same happens to a response whose body fails, after what there was of it: it is never ended as if it were whole.
pub trait Handler: Send + Sync + 'static {
    /// Whether [`Handler::at_once`] answers anything.
    const ANSWERS_AT_ONCE: bool = false;

    /// Answers a plain HTTP/1.1 request from memory: writes the response's status line and fields, Content-Length among them, to the
    /// end of `head`, without the empty line behind them, and returns the body that follows. `None` if it takes more than a look; then
    /// [`Handler::handle`] is asked.
    fn at_once(&self, _request: &Glance<'_>, _head: &mut Vec<u8>) -> Option<Bytes> {
        None
    }

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
