//! One HTTP/2 connection of a server, which hyper drives.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    task::{Context as Task, Poll, ready},
};

use bytes::Bytes;
use hyper::{
    Request, Response,
    body::{Body as Frames, Frame, Incoming, SizeHint},
    header::{ALT_SVC, HeaderValue},
    server::conn::http2,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tracing::debug;

use super::{
    conduct::{Conduct, Ending, Exchange},
    context::Context,
    gathered::gathered,
    handler::{Handler, answered},
    peer::Peer,
    upload::patient,
    watched::watched,
    wire::Wire,
};
use crate::{Body, Failure, Stage, limits};

impl<H: Handler> Context<H> {
    /// Serves requests until the connection ends; `alternative` tells of another protocol.
    pub(super) async fn serve_http2(&self, stream: impl Wire, peer: Peer, alternative: Option<HeaderValue>) {
        let (handler, patience) = (Arc::clone(&self.handler), self.config.read_timeout);
        let conduct = Arc::new(Conduct::default());
        let observed = Arc::clone(&conduct);
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| patient(Received(body), patience));
            request.extensions_mut().insert(peer);
            exchange(Arc::clone(&handler), request, observed.begin(), alternative.clone())
        });
        let (stream, sender) = gathered(stream);
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(patience)
            .keep_alive_timeout(patience)
            .max_header_list_size(u32::try_from(limits::HEADER_BYTES).unwrap_or(u32::MAX))
            .max_concurrent_streams(self.config.streams)
            .serve_connection(TokioIo::new(stream), service);
        let to_its_end = async {
            let mut connection = pin!(connection);
            tokio::select! {
                _ = connection.as_mut() => {}
                ending = conduct.ending(patience) => match ending {
                    Ending::Idle => {
                        connection.as_mut().graceful_shutdown();
                        // What was answered may still wait for a client that takes nothing.
                        let _ = tokio::time::timeout(patience, connection).await;
                    }
                    Ending::Stalled | Ending::Abuse => debug!(client = %peer.address, ?ending, "a connection is cut"),
                },
                () = self.stop.asked() => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
        };
        sender.drive(to_its_end).await;
    }
}

/// One request and its response.
async fn exchange<H: Handler>(
    handler: Arc<H>,
    request: Request<Body>,
    mut exchange: Exchange,
    alternative: Option<HeaderValue>,
) -> Result<Response<Body>, Failure> {
    let response = answered(&*handler, request).await;
    exchange.answered();
    let mut response = response?;
    if let Some(alternative) = alternative {
        response.headers_mut().entry(ALT_SVC).or_insert(alternative);
    }
    Ok(exchange.follow(watched(response, &handler)))
}

/// A request's body as hyper receives it, with our reasons why it breaks off.
struct Received(Incoming);

impl Frames for Received {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Task<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = ready!(Pin::new(&mut self.0).poll_frame(cx));
        Poll::Ready(frame.map(|frame| frame.map_err(|error| Failure::from_hyper(&error, Stage::Body))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
