//! The interface of a request handler.

use bytes::Bytes;
use hyper::{Request, Response, body::Body as _};

use super::{
    delivery::Delivery, fast_path::RequestView, interim::Interim, methods, peer::Peer, relay::Relaying,
};
use crate::{Body, CompleteBody, Failure};

/// Handles requests; all connections of a server share it.
///
/// After an `Err` the client gets no response: an HTTP/1 connection is closed, an HTTP/2 stream
/// reset.
pub trait Handler: Send + Sync + 'static {
    /// The handler's record of a request, returned to it by [`Handler::sent`]. [`Handler::handle`] adds
    /// it to a response's extensions; without it, `sent` is not called.
    type Observer: Clone + Send + Sync + 'static;

    /// Whether [`Handler::at_once`], [`Handler::try_respond`] or [`Handler::relay`] is implemented.
    const HAS_FAST_PATH: bool = false;

    /// Serves a plain HTTP/1.1 request from memory: appends the response's status line and fields,
    /// including Content-Length, to `head`, without the final empty line, and returns the body and the
    /// note. `None` if this is not possible; then [`Handler::handle`] is called.
    fn try_respond_h1(
        &self,
        _request: &RequestView<'_>,
        _head: &mut Vec<u8>,
    ) -> Option<(CompleteBody, Option<Self::Observer>)> {
        None
    }

    /// Like [`Self::at_once`], over HTTP/2 and HTTP/3, where the response's fields are not text and none
    /// is connection-specific.
    fn try_respond(&self, _request: &RequestView<'_>) -> Option<(Response<Bytes>, Option<Self::Observer>)> {
        None
    }

    /// Forwards a plain HTTP/1.1 GET that [`Self::at_once`] did not serve, without building a header
    /// map; interim responses are sent through `interim`. `None` if this is not possible; then
    /// [`Handler::handle`] is called.
    fn relay<'h>(
        &'h self,
        _request: &RequestView<'_>,
        _interim: impl FnOnce() -> Interim,
    ) -> Option<Relaying<'h, Self::Observer>> {
        None
    }

    /// Handles one request. The future is dropped if the client has disconnected or the server has been
    /// stopped finally.
    fn handle(&self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, Failure>> + Send;

    /// Called when a response was passed to its connection, or ended early.
    fn on_delivered(&self, _note: Self::Observer, _delivery: Delivery) {}
}

impl<F, A> Handler for F
where
    F: Fn(Request<Body>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Response<Body>, Failure>> + Send,
{
    type Observer = ();

    fn handle(&self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, Failure>> + Send {
        self(request)
    }
}

pub(super) async fn answered<H: Handler>(
    handler: &H,
    request: Request<Body>,
    peer: Peer,
) -> Result<Response<Body>, Failure> {
    if H::HAS_FAST_PATH
        && request.body().is_end_stream()
        && let Some(glance) =
            RequestView::of_fields(request.method(), request.uri(), request.headers(), (peer, None))
        && let Some((response, note)) = handler.try_respond(&glance)
    {
        let mut response = response.map(Body::whole);
        if let Some(note) = note {
            response.extensions_mut().insert(note);
        }
        return Ok(response);
    }
    handled(handler, request).await
}

pub(super) async fn handled<H: Handler>(
    handler: &H,
    request: Request<Body>,
) -> Result<Response<Body>, Failure> {
    match methods::own_response(&request) {
        Some(response) => Ok(response),
        None => handler.handle(request).await,
    }
}
