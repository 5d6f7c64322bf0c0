//! Requests side by side on one HTTP/2 connection.
//!
//! Where the stamps are taken: a request is "first byte sent" when it is handed to the connection, and "last
//! byte sent" at the first flush of the connection after its last part was handed over. If the server's limit
//! of concurrent streams holds the request back, that time counts as waiting for the response and the trace is marked
//! `queued`. Incoming data is stamped with the connection's latest read at the moment the frame is found, which is at or
//! after the frame's own and never later than now. HEADERS come as a whole block: the stamp of a header is that of its
//! last byte.

mod download;
mod upload;

use std::{future::poll_fn, net::SocketAddr, pin::Pin, sync::Arc, task::Poll};

use bytes::Bytes;
use h2::{RecvStream, client};
use hyper::{Method, Request, Response, Uri, Version, body::Body as _};

pub(crate) use self::download::Download;
use self::upload::Upload;
use super::{
    config::Windows,
    interims::Interims,
    io::{Connection, Io, Recorder},
    life::{Count, Life},
    prepare::prepared,
    refusal::Refusal,
    stamps::Stamps,
    trace::Trace,
    wire::Wire,
};
use crate::{
    Body, Failure, Origin, Stage,
    clock::Clock,
    limits,
    nested::{self, Nested},
};

/// A connection that carries any number of requests. Clones share it.
#[derive(Clone)]
pub(crate) struct Http2 {
    sender: client::SendRequest<Bytes>,
    life: Arc<Life>,
}

impl Http2 {
    /// Speaks HTTP/2 over a connection to `remote`, if that has an address: sends the preface and settings, and waits for no answer to them.
    pub(crate) async fn start(
        stream: Box<dyn Connection>,
        wire: Arc<Wire>,
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
        let life = Life::new(recorder, remote, clock);
        let ending = Arc::clone(&life);
        // What ends a connection is told to each request that is on it.
        tokio::spawn(async move {
            connection.await.ok();
            ending.end();
        });
        Ok(Self { sender, life })
    }

    pub(crate) fn life(&self) -> &Arc<Life> {
        &self.life
    }

    /// How many requests wait here because the server allows no more streams; `None` if one more would not have to.
    pub(crate) fn queue(&self) -> Option<usize> {
        self.life.requests().checked_sub(self.sender.current_max_send_streams())
    }

    /// Makes a request and waits for the final response's head.
    pub(crate) async fn exchange(
        &self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Download>, Refusal> {
        trace.protocol = Some("h2");
        self.life.introduce(trace);
        let Ok(mut sender) = self.sender.clone().ready().await else {
            return Err(Refusal::unsent(Failure::Closed(Stage::Head), request));
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

    /// Whether its server is known to speak HTTP/1.1 on streams.
    pub(crate) fn is_nesting(&self) -> bool {
        self.sender.is_extended_connect_protocol_enabled()
    }

    /// A stream to speak HTTP/1.1 on. Nothing is waited for but room for it.
    pub(crate) async fn nest(&self, origin: &Origin) -> Result<Nested<Count>, Failure> {
        let failed = |error| Failure::from_h2(&error, Stage::Head);
        let mut sender = self.sender.clone().ready().await.map_err(failed)?;
        let url = Uri::builder().scheme("https").authority(origin.authority()).path_and_query("/");
        let mut request = Request::new(());
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = url.build().map_err(|_| Failure::Garbled)?;
        *request.version_mut() = Version::HTTP_2;
        request.extensions_mut().insert(nested::PROTOCOL);
        let (counted, _) = self.life.count();
        let (response, stream) = sender.send_request(request, false).map_err(failed)?;
        Ok(Nested::asked_for(stream, response, counted))
    }

    /// Waits for the final response's header, and stamps the first interim response on the way.
    async fn head(
        &self,
        mut response: client::ResponseFuture,
        mut interims: Interims,
        trace: &mut Trace,
        stamps: &Stamps,
    ) -> Result<Response<RecvStream>, Failure> {
        let head = poll_fn(|cx| {
            // The response future throws interim responses away, so they are asked for first.
            while let Poll::Ready(Some(Ok(interim))) = response.poll_informational(cx) {
                if let Err(failure) = interims.take(interim.status(), interim.headers()) {
                    return Poll::Ready(Err(failure));
                }
                if let Some(at) = self.life.last_read() {
                    stamps.interim_at(at);
                }
            }
            Future::poll(Pin::new(&mut response), cx).map_err(|error| {
                // A stream whose body broke off was reset by ourselves.
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
