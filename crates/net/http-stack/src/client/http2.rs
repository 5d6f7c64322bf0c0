//! Concurrent requests on one HTTP/2 connection.
//!
//! "first byte sent" is when the request is passed to the connection, "last byte sent" is the first
//! flush of the connection after the last part of the request was passed to it. If the server's
//! limit of concurrent streams delays the request, that time counts as waiting for the response and
//! the trace is marked `queued`.

mod download;
mod upload;

use std::{future::poll_fn, net::SocketAddr, pin::Pin, sync::Arc, task::Poll};

use bytes::Bytes;
use h2::{RecvStream, client};
use hyper::{Method, Request, Response, Uri, Version, body::Body as _};

pub(crate) use self::download::Download;
use self::upload::Upload;
use super::{
    byte_counter::ByteCounter,
    config::Windows,
    interims::Interims,
    io::{Connection, Io, Recorder},
    mux_state::{MuxState, StreamCount},
    prepare::prepared,
    send_error::SendError,
    timestamps::Stamps,
    trace::Trace,
};
use crate::{
    Body, Failure, Origin, Stage,
    clock::Clock,
    h1_over_h2::{self, H1OverH2},
    limits,
};

#[derive(Clone)]
pub(crate) struct Http2 {
    sender: client::SendRequest<Bytes>,
    life: Arc<MuxState>,
}

impl Http2 {
    /// Sends the preface and settings, without waiting for the server's.
    pub(crate) async fn start(
        stream: Box<dyn Connection>,
        wire: Arc<ByteCounter>,
        remote: Option<SocketAddr>,
        windows: Windows,
        clock: Clock,
    ) -> Result<Self, Failure> {
        let recorder = Arc::new(Recorder::new(wire, clock));
        let (sender, connection) = client::Builder::new()
            .initial_window_size(windows.stream)
            .initial_connection_window_size(windows.connection)
            .max_header_list_size(u32::try_from(limits::HEADER_BYTES).unwrap_or(u32::MAX))
            .enable_push(false)
            .handshake(Io::new(stream, Arc::clone(&recorder)))
            .await
            .map_err(|error| Failure::from_h2(&error, Stage::Head))?;
        let life = MuxState::new(recorder, remote, clock);
        let ending = Arc::clone(&life);
        tokio::spawn(async move {
            connection.await.ok();
            ending.end();
        });
        Ok(Self { sender, life })
    }

    pub(crate) fn life(&self) -> &Arc<MuxState> {
        &self.life
    }

    /// `None` if a new request would not have to wait.
    pub(crate) fn queue(&self) -> Option<usize> {
        self.life.requests().checked_sub(self.sender.current_max_send_streams())
    }

    pub(crate) async fn exchange(
        &self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Download>, SendError> {
        trace.protocol = Some("h2");
        self.life.introduce(trace);
        let Ok(mut sender) = self.sender.clone().ready().await else {
            return Err(SendError::unsent(Failure::Closed(Stage::Head), request));
        };
        let (counted, others) = self.life.count();
        trace.queued = others >= sender.current_max_send_streams();
        let stamps = trace.stamps();
        stamps.mark(self.life.recorder().wire().begin(others == 0));
        stamps.began(self.life.clock().now());
        let interims = Interims::to(request.extensions());
        let (head, body) = prepared(origin, request, Version::HTTP_2)?;
        let (response, stream) = sender
            .send_request(head, body.is_end_stream())
            .map_err(|error| Failure::from_h2(&error, Stage::Head))?;
        let upload = if body.is_end_stream() {
            self.life.recorder().when_flushed(Arc::clone(&stamps));
            None
        } else {
            Some(Upload::start(body, stream, Arc::clone(&stamps), self.life.recorder()))
        };
        let response = self.head(response, interims, trace, &stamps).await?;
        Ok(response.map(|stream| Download::new(stream, upload, counted)))
    }

    pub(crate) fn is_nesting(&self) -> bool {
        self.sender.is_extended_connect_protocol_enabled()
    }

    /// Waits only for a free stream, not for the response.
    pub(crate) async fn nest(&self, origin: &Origin) -> Result<H1OverH2<StreamCount>, Failure> {
        let failed = |error| Failure::from_h2(&error, Stage::Head);
        let mut sender = self.sender.clone().ready().await.map_err(failed)?;
        let url = Uri::builder().scheme("https").authority(origin.authority()).path_and_query("/");
        let mut request = Request::new(());
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = url.build().map_err(|_| Failure::Garbled)?;
        *request.version_mut() = Version::HTTP_2;
        request.extensions_mut().insert(h1_over_h2::PROTOCOL);
        let (counted, _) = self.life.count();
        let (response, stream) = sender.send_request(request, false).map_err(failed)?;
        Ok(H1OverH2::asked_for(stream, response, counted))
    }

    async fn head(
        &self,
        mut response: client::ResponseFuture,
        mut interims: Interims,
        trace: &mut Trace,
        stamps: &Stamps,
    ) -> Result<Response<RecvStream>, Failure> {
        let head = poll_fn(|cx| {
            // The response future discards interim responses, so they are polled first.
            while let Poll::Ready(Some(Ok(interim))) = response.poll_informational(cx) {
                if let Err(failure) = interims.take(interim.status(), interim.headers()) {
                    return Poll::Ready(Err(failure));
                }
                if let Some(at) = self.life.last_read() {
                    stamps.interim_at(at);
                }
            }
            Future::poll(Pin::new(&mut response), cx).map_err(|error| {
                // If the request body failed, this client reset the stream.
                if stamps.is_broken_off() { Failure::Source } else { Failure::from_h2(&error, Stage::Head) }
            })
        });
        let head = head.await?;
        trace.final_headers = self.life.last_read();
        Ok(head)
    }
}

#[cfg(test)]
mod tests;
