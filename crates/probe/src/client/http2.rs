//! Requests side by side on one HTTP/2 connection.
//!
//! Where the stamps are taken: a request is "first byte sent" when it is handed to the connection, and "last
//! byte sent" at the first flush of the connection after its last part was handed over. If the server's limit
//! of concurrent streams holds the request back, that time counts as `wait` and the sample is labelled. What comes in is stamped with
//! the connection's latest read at the moment the frame is found, which is at or after the frame's own and
//! never later than now. HEADERS come as a whole block: the stamp of a header is that of its last byte.

use std::{
    future::poll_fn,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::Poll,
};

use bytes::Bytes;
use h2::{RecvStream, SendStream, client};
use http::{HeaderName, Request, Response, header, uri::Uri};

use super::{
    failure::{Failure, Stage},
    target::Target,
    trace::{Sending, Trace},
    wire::{Connection, Tap, Wire},
};
use crate::{clock::Clock, limits};

/// A connection that carries any number of requests. Clones share it.
#[derive(Clone)]
pub(crate) struct Http2 {
    sender: client::SendRequest<Bytes>,
    wire: Arc<Wire>,
    remote: SocketAddr,
    clock: Clock,
    used: Arc<AtomicBool>,
    closed: Arc<AtomicBool>,
    under_way: Arc<AtomicUsize>,
}

/// Counts a request on the connection for as long as this lives, be it finished or given up.
struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    /// Counts one more, and says how many there were before.
    fn add(count: &Arc<AtomicUsize>) -> (Self, usize) {
        let others = count.fetch_add(1, Relaxed);
        (Self(Arc::clone(count)), others)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Http2 {
    /// Speaks HTTP/2 over a connection to `remote`: sends the preface and settings, and waits for no answer to them.
    pub(crate) async fn start(
        stream: Box<dyn Connection>,
        remote: SocketAddr,
        clock: Clock,
    ) -> Result<Self, Failure> {
        let wire = Arc::new(Wire::new(clock));
        let (sender, connection) = client::Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(u32::try_from(limits::HEADER_BYTES).unwrap_or(u32::MAX))
            .enable_push(false)
            .handshake(Tap::new(stream, Arc::clone(&wire)))
            .await
            .map_err(|error| Failure::from_h2(&error, Stage::Head))?;
        let closed = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&closed);
        // What ends a connection is told to each request that is on it.
        tokio::spawn(async move {
            connection.await.ok();
            ended.store(true, Relaxed);
        });
        Ok(Self { sender, wire, remote, clock, used: Arc::default(), closed, under_way: Arc::default() })
    }

    /// Whether it is known that no further request can be made.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// Whether both are the same connection.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.wire, &other.wire)
    }

    /// Makes a request and reads the response to its end, discarding the body.
    pub(crate) async fn exchange(&self, target: &Target, trace: &mut Trace) -> Result<(), Failure> {
        trace.protocol = Some("h2");
        trace.reused = Some(self.used.swap(true, Relaxed));
        trace.remote = Some(self.remote);
        let head_failed = |error| Failure::from_h2(&error, Stage::Head);
        let Ok(mut sender) = self.sender.clone().ready().await else {
            trace.unsent = true;
            return Err(Failure::Closed(Stage::Head));
        };
        let (_under_way, others) = UnderWay::add(&self.under_way);
        trace.queued = others >= sender.current_max_send_streams();
        let written = Arc::new(AtomicU64::new(0));
        trace.sending = Sending::Shared { from: self.clock.now(), written: Arc::clone(&written) };
        let (response, upload) =
            sender.send_request(request(target)?, target.body.is_empty()).map_err(head_failed)?;
        let response = if target.body.is_empty() {
            self.wire.when_flushed(written);
            self.head(response, trace).await?
        } else {
            let mut head = std::pin::pin!(self.head(response, trace));
            tokio::select! {
                // A server may answer before it has the whole body; then it wants no more of it.
                biased;
                head = &mut head => head?,
                sent = self.send(upload, target.body.clone(), written) => {
                    sent.map_err(head_failed)?;
                    head.await?
                }
            }
        };
        trace.answered(response.status(), response.headers());
        self.discard(response.into_body(), trace).await
    }

    /// Waits for the final response's header, and stamps the first interim response on the way.
    async fn head(
        &self,
        mut response: client::ResponseFuture,
        trace: &mut Trace,
    ) -> Result<Response<RecvStream>, Failure> {
        let head = poll_fn(|cx| {
            // The response future throws interim responses away, so they are asked for first.
            while let Poll::Ready(Some(Ok(_))) = response.poll_informational(cx) {
                trace.first_interim = trace.first_interim.or(self.wire.last_read());
            }
            Future::poll(Pin::new(&mut response), cx)
        });
        let head = head.await.map_err(|error| Failure::from_h2(&error, Stage::Head))?;
        trace.final_headers = self.wire.last_read();
        Ok(head)
    }

    /// Sends the body as fast as the server's windows allow.
    async fn send(
        &self,
        mut stream: SendStream<Bytes>,
        mut body: Bytes,
        written: Arc<AtomicU64>,
    ) -> Result<(), h2::Error> {
        while !body.is_empty() {
            stream.reserve_capacity(body.len());
            let Some(capacity) = poll_fn(|cx| stream.poll_capacity(cx)).await else { return Ok(()) };
            let part = body.split_to(capacity?.min(body.len()));
            if body.is_empty() {
                self.wire.when_flushed(Arc::clone(&written));
            }
            stream.send_data(part, body.is_empty())?;
        }
        Ok(())
    }

    async fn discard(&self, mut body: RecvStream, trace: &mut Trace) -> Result<(), Failure> {
        while let Some(data) = body.data().await {
            let data = data.map_err(|error| Failure::from_h2(&error, Stage::Body))?;
            if !data.is_empty() {
                trace.first_body_byte = trace.first_body_byte.or(self.wire.last_read());
                trace.body_bytes += data.len() as u64;
            }
            // Only an overdrawn window is refused, and what is given back here was just taken from it.
            let _ = body.flow_control().release_capacity(data.len());
        }
        trace.last_byte = self.wire.last_read();
        Ok(())
    }
}

fn request(target: &Target) -> Result<Request<()>, Failure> {
    let mut request = Request::new(());
    *request.method_mut() = target.method.clone();
    // A Host header that somebody asked for is `:authority` here (RFC 9113 section 8.3.1).
    let host = target.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    // What was parsed as a URL is one.
    *request.uri_mut() = Uri::builder()
        .scheme(target.origin.scheme.name())
        .authority(host.map_or_else(|| target.origin.authority(), str::to_owned))
        .path_and_query(target.path.clone())
        .build()
        .map_err(|_| Failure::Garbled)?;
    *request.headers_mut() = target.headers.clone();
    for field in CONNECTION_FIELDS {
        request.headers_mut().remove(field);
    }
    if !target.body.is_empty() {
        request.headers_mut().insert(header::CONTENT_LENGTH, target.body.len().into());
    }
    Ok(request)
}

/// Chrome's windows: 6 MiB a stream and 15 MiB a connection, which at a round trip of 300 ms let 160 and 400
/// Mbit/s through. Bodies are discarded as they come, so this is not memory.
const STREAM_WINDOW: u32 = 6 << 20;
const CONNECTION_WINDOW: u32 = 15 << 20;

/// Fields of HTTP/1.1 connections, which HTTP/2 forbids (RFC 9113 section 8.2.2), and Host, which is
/// `:authority` here.
const CONNECTION_FIELDS: [HeaderName; 5] =
    [header::CONNECTION, header::HOST, header::TE, header::TRANSFER_ENCODING, header::UPGRADE];

#[cfg(test)]
mod tests;
