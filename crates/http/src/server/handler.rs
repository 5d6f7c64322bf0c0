//! The interface of a handler, which answers requests.

use bytes::Bytes;
use hyper::{Request, Response, body::Body as _};

use super::{at_once::Glance, delivery::Delivery, interim::Interim, methods, peer::Peer, relay::Relaying};
use crate::{Body, Failure, Whole};

/// Answers requests; all connections of a server share it.
///
/// The request's body comes as it is read, and the response's is read as the client takes it: neither is held by the
/// server. A [`Peer`](super::Peer) is among the request's extensions.
///
/// TRACE and OPTIONS for the server as a whole (`*`) do not reach the handler.
///
/// What becomes of an `Err`: the client gets no response, and an HTTP/1 connection is closed, an HTTP/2 stream reset. The
/// same happens to a response whose body fails, after what there was of it: it is never ended as if it were whole.
pub trait Handler: Send + Sync + 'static {
    /// What a handler notes of a request while its response is on the way: [`Handler::sent`] gets it back. It is among the extensions of a
    /// response that [`Handler::handle`] made; without one there nobody is told.
    type Note: Clone + Send + Sync + 'static;

    /// Whether [`Handler::at_once`] or [`Handler::fields_at_once`] answers anything, or [`Handler::relay`] passes anything on.
    const ANSWERS_AT_ONCE: bool = false;

    /// Answers a plain HTTP/1.1 request from memory: writes the response's status line and fields, Content-Length among them, to the
    /// end of `head`, without the empty line behind them, and returns the body that follows, with what is noted of it. `None` if it takes
    /// more than a look; then [`Handler::handle`] is asked.
    fn at_once(&self, _request: &Glance<'_>, _head: &mut Vec<u8>) -> Option<(Whole, Option<Self::Note>)> {
        None
    }

    /// The same over HTTP/2 and HTTP/3, where a response's fields are no text, and none is about a connection.
    fn fields_at_once(&self, _request: &Glance<'_>) -> Option<(Response<Bytes>, Option<Self::Note>)> {
        None
    }

    /// Passes on a plain HTTP/1.1 request without a map being made of its lines, if that is an HTTP/1.1 GET that has no answer at once; its
    /// interim responses go to `interim`. `None` if it takes more than a look; then [`Handler::handle`] is asked.
    fn relay<'h>(
        &'h self,
        _request: &Glance<'_>,
        _interim: impl FnOnce() -> Interim,
    ) -> Option<Relaying<'h, Self::Note>> {
        None
    }

    /// Answers one request. Dropped if the client has gone or the server has been stopped for good.
    fn handle(&self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, Failure>> + Send;

    /// Told when a response was handed to its connection, or broke off.
    fn sent(&self, _note: Self::Note, _delivery: Delivery) {}
}

impl<F, A> Handler for F
where
    F: Fn(Request<Body>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Response<Body>, Failure>> + Send,
{
    type Note = ();

    fn handle(&self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, Failure>> + Send {
        self(request)
    }
}

/// Has a request over HTTP/3 answered, at once if the handler can.
pub(super) async fn answered<H: Handler>(
    handler: &H,
    request: Request<Body>,
    peer: Peer,
) -> Result<Response<Body>, Failure> {
    if H::ANSWERS_AT_ONCE
        && request.body().is_end_stream()
        && let Some(glance) =
            Glance::of_fields(request.method(), request.uri(), request.headers(), (peer, None))
        && let Some((response, note)) = handler.fields_at_once(&glance)
    {
        let mut response = response.map(Body::whole);
        if let Some(note) = note {
            response.extensions_mut().insert(note);
        }
        return Ok(response);
    }
    handled(handler, request).await
}

/// Passes a request to the handler, unless the server handles it without one.
pub(super) async fn handled<H: Handler>(
    handler: &H,
    request: Request<Body>,
) -> Result<Response<Body>, Failure> {
    match methods::own_response(&request) {
        Some(response) => Ok(response),
        None => handler.handle(request).await,
    }
}
