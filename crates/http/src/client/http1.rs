//! One request at a time on an HTTP/1.1 connection.

use std::{
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::{
    Request, Response, Uri, Version,
    body::{Body as Frames, Frame, Incoming, SizeHint},
    client::conn::http1,
    header::{self, HeaderValue},
};
use hyper_util::rt::TokioIo;

use super::{
    io::{Connection, Io, Recorder},
    refusal::Refusal,
    stamps::Stamps,
    trace::Trace,
    wire::Wire,
};
use crate::{Body, Failure, Origin, Stage, clock::Clock, limits};

/// A connection that is idle or carries one request.
pub(crate) struct Http1 {
    sender: http1::SendRequest<Upload>,
    recorder: Arc<Recorder>,
    remote: SocketAddr,
    is_used: bool,
}

impl Http1 {
    /// Speaks HTTP/1.1 over a connection to `remote`; nothing is sent yet.
    pub(crate) async fn start(
        stream: Box<dyn Connection>,
        wire: Arc<Wire>,
        remote: SocketAddr,
        clock: Clock,
    ) -> Result<Self, Failure> {
        let recorder = Arc::new(Recorder::new(wire, clock));
        let (sender, connection) = http1::Builder::new()
            .max_headers(limits::HEADERS)
            .max_buf_size(limits::HEADER_BYTES)
            .handshake(TokioIo::new(Io::new(stream, Arc::clone(&recorder))))
            .await
            .map_err(|error| Failure::from_hyper(&error, Stage::Head))?;
        // What ends a connection is told to the request that is on it; without one, the next finds it closed.
        tokio::spawn(async move { connection.await.ok() });
        Ok(Self { sender, recorder, remote, is_used: false })
    }

    /// Whether it is known that no further request can be made.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }

    /// Makes a request and waits for the final response's head. The connection has to live until the body was read.
    pub(crate) async fn exchange(
        &mut self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Download>, Refusal> {
        trace.protocol = Some("http/1.1");
        trace.reused = Some(self.is_used);
        trace.remote = Some(self.remote);
        if self.sender.ready().await.is_err() {
            return Err(Refusal::unsent(Failure::Closed(Stage::Head), request));
        }
        self.is_used = true;
        let stamps = trace.stamps();
        self.recorder.begin(Arc::clone(&stamps));
        let response = self.sender.try_send_request(prepared(origin, request, &stamps)).await;
        let response = response.map_err(|mut refused| Refusal {
            failure: Failure::from_hyper(refused.error(), Stage::Head),
            unsent: refused.take_message().map(|request| request.map(|upload| upload.body)),
        })?;
        // If the final header came in the same read as the end of an interim response, that read is its first.
        trace.final_headers = stamps.first_read().or(self.recorder.last_read());
        Ok(response.map(Download))
    }
}

/// The request as HTTP/1.1 has it: no more of its URL than path and query, and a Host field.
fn prepared(origin: &Origin, request: Request<Body>, stamps: &Arc<Stamps>) -> Request<Upload> {
    let mut request = request.map(|body| Upload::new(body, Arc::clone(stamps)));
    *request.version_mut() = Version::HTTP_11;
    if request.uri().authority().is_some() {
        *request.uri_mut() = match request.uri().path_and_query() {
            Some(path) => Uri::from(path.clone()),
            None => Uri::from_static("/"),
        };
    }
    if !request.headers().contains_key(header::HOST)
        && let Ok(host) = HeaderValue::try_from(origin.authority())
    {
        request.headers_mut().insert(header::HOST, host);
    }
    let stamps = Arc::clone(stamps);
    hyper::ext::on_informational(&mut request, move |_| stamps.interim());
    request
}

/// A request's body on its way out, which notes when all of it was handed over.
struct Upload {
    body: Body,
    stamps: Arc<Stamps>,
}

impl Upload {
    fn new(body: Body, stamps: Arc<Stamps>) -> Self {
        if body.is_end_stream() {
            stamps.set_sent();
        }
        Self { body, stamps }
    }
}

impl Frames for Upload {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Err(_)) => self.stamps.set_broken_off(),
            None => self.stamps.set_sent(),
            Some(Ok(_)) if self.body.is_end_stream() => self.stamps.set_sent(),
            Some(Ok(_)) => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response's body on its way in: hyper reads on only after a frame was taken.
pub(crate) struct Download(Incoming);

impl Frames for Download {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        Pin::new(&mut self.0).poll_frame(cx).map_err(|error| Failure::from_hyper(&error, Stage::Body))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

#[cfg(test)]
mod tests;
