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

use std::{
    future::poll_fn,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::Poll,
};

use bytes::Bytes;
use h2::{RecvStream, client};
use hyper::{
    Request, Response, Uri, Version,
    body::Body as _,
    header::{self, HeaderName},
};
use tokio::sync::OwnedSemaphorePermit;

pub(crate) use self::download::Download;
use self::upload::Upload;
use super::{
    config::Windows,
    io::{Connection, Io, Recorder},
    refusal::Refusal,
    stamps::Stamps,
    trace::Trace,
};
use crate::{Body, Failure, Origin, Stage, clock::Clock, limits};

/// A connection that carries any number of requests. Clones share it.
#[derive(Clone)]
pub(crate) struct Http2 {
    sender: client::SendRequest<Bytes>,
    recorder: Arc<Recorder>,
    remote: SocketAddr,
    clock: Clock,
    is_used: Arc<AtomicBool>,
    is_closed: Arc<AtomicBool>,
    under_way: Arc<UnderWay>,
    /// Its permit among the connections to its origin, which it returns when it ends.
    permit: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

/// The requests on a connection.
#[derive(Default)]
struct UnderWay {
    number: AtomicUsize,
    /// When the last one ended.
    idle_since: AtomicU64,
}

/// Counts a request on the connection for as long as this lives, be it finished or given up.
struct Count {
    under_way: Arc<UnderWay>,
    clock: Clock,
}

impl Drop for Count {
    fn drop(&mut self) {
        self.under_way.idle_since.store(self.clock.now(), Relaxed);
        self.under_way.number.fetch_sub(1, Relaxed);
    }
}

impl Http2 {
    /// Speaks HTTP/2 over a connection to `remote`: sends the preface and settings, and waits for no answer to them.
    pub(crate) async fn start(
        stream: Box<dyn Connection>,
        remote: SocketAddr,
        windows: Windows,
        clock: Clock,
    ) -> Result<Self, Failure> {
        let recorder = Arc::new(Recorder::new(clock));
        let (sender, connection) = client::Builder::new()
            .initial_window_size(windows.stream)
            .initial_connection_window_size(windows.connection)
            .max_header_list_size(u32::try_from(limits::HEADER_BYTES).unwrap_or(u32::MAX))
            .enable_push(false)
            .handshake(Io::new(stream, Arc::clone(&recorder)))
            .await
            .map_err(|error| Failure::from_h2(&error, Stage::Head))?;
        let under_way = Arc::new(UnderWay::default());
        under_way.idle_since.store(clock.now(), Relaxed);
        let started = Self {
            sender,
            recorder,
            remote,
            clock,
            is_used: Arc::default(),
            is_closed: Arc::default(),
            under_way,
            permit: Arc::default(),
        };
        let (is_closed, permit) = (Arc::clone(&started.is_closed), Arc::clone(&started.permit));
        // What ends a connection is told to each request that is on it.
        tokio::spawn(async move {
            connection.await.ok();
            is_closed.store(true, Relaxed);
            permit.lock().unwrap_or_else(PoisonError::into_inner).take();
        });
        Ok(started)
    }

    /// Keeps `permit` until the connection has ended.
    pub(crate) fn hold(&self, permit: OwnedSemaphorePermit) {
        let mut held = self.permit.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_closed() {
            *held = Some(permit);
        }
    }

    /// Whether it is known that no further request can be made.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Relaxed)
    }

    /// Whether both are the same connection.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.recorder, &other.recorder)
    }

    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }

    /// How many requests wait here because the server allows no more streams; `None` if one more would not have to.
    pub(crate) fn queue(&self) -> Option<usize> {
        self.under_way.number.load(Relaxed).checked_sub(self.sender.current_max_send_streams())
    }

    /// Since when it carries no request; `None` while it does.
    pub(crate) fn idle_since(&self) -> Option<u64> {
        let is_idle = self.under_way.number.load(Relaxed) == 0;
        is_idle.then(|| self.under_way.idle_since.load(Relaxed))
    }

    /// Makes a request and waits for the final response's head.
    pub(crate) async fn exchange(
        &self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Download>, Refusal> {
        trace.protocol = Some("h2");
        trace.reused = Some(self.is_used.swap(true, Relaxed));
        trace.remote = Some(self.remote);
        let Ok(mut sender) = self.sender.clone().ready().await else {
            return Err(Refusal::unsent(Failure::Closed(Stage::Head), request));
        };
        let (counted, others) = self.count();
        trace.queued = others >= sender.current_max_send_streams();
        let stamps = trace.stamps();
        stamps.began(self.clock.now());
        let (head, body) = prepared(origin, request)?;
        let (response, stream) = sender
            .send_request(head, body.is_end_stream())
            .map_err(|error| Failure::from_h2(&error, Stage::Head))?;
        let upload = if body.is_end_stream() {
            self.recorder.when_flushed(Arc::clone(&stamps));
            None
        } else {
            Some(Upload::start(body, stream, Arc::clone(&stamps), self.recorder()))
        };
        let response = self.head(response, trace, &stamps).await?;
        Ok(response.map(|stream| Download::new(stream, upload, counted)))
    }

    /// Counts one more request, and returns how many there were before.
    fn count(&self) -> (Count, usize) {
        let others = self.under_way.number.fetch_add(1, Relaxed);
        (Count { under_way: Arc::clone(&self.under_way), clock: self.clock }, others)
    }

    /// Waits for the final response's header, and stamps the first interim response on the way.
    async fn head(
        &self,
        mut response: client::ResponseFuture,
        trace: &mut Trace,
        stamps: &Stamps,
    ) -> Result<Response<RecvStream>, Failure> {
        let head = poll_fn(|cx| {
            // The response future throws interim responses away, so they are asked for first.
            while let Poll::Ready(Some(Ok(_))) = response.poll_informational(cx) {
                if let Some(at) = self.recorder.last_read() {
                    stamps.interim_at(at);
                }
            }
            Future::poll(Pin::new(&mut response), cx)
        });
        let head = head.await.map_err(|error| {
            // A stream whose body broke off was reset by ourselves.
            if stamps.is_broken_off() { Failure::Source } else { Failure::from_h2(&error, Stage::Head) }
        })?;
        trace.final_headers = self.recorder.last_read();
        Ok(head)
    }
}

/// The request as HTTP/2 has it: its URL whole, and no fields of a connection.
fn prepared(origin: &Origin, request: Request<Body>) -> Result<(Request<()>, Body), Failure> {
    let (mut head, body) = request.into_parts();
    // A Host header that somebody asked for is `:authority` here (RFC 9113 section 8.3.1).
    let host = head.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = match (host, head.uri.authority()) {
        (Some(host), _) => host.to_owned(),
        (None, Some(authority)) => authority.as_str().to_owned(),
        (None, None) => origin.authority(),
    };
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    // It was already parsed as a URL.
    head.uri = Uri::builder()
        .scheme(origin.scheme.name())
        .authority(authority)
        .path_and_query(path)
        .build()
        .map_err(|_| Failure::Garbled)?;
    head.version = Version::HTTP_2;
    for field in CONNECTION_FIELDS {
        head.headers.remove(field);
    }
    if let Some(length) = body.size_hint().exact().filter(|&length| length > 0) {
        head.headers.entry(header::CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    Ok((Request::from_parts(head, ()), body))
}

/// Fields of HTTP/1.1 connections, which HTTP/2 forbids (RFC 9113 section 8.2.2), and Host, which is
/// `:authority` here.
const CONNECTION_FIELDS: [HeaderName; 5] =
    [header::CONNECTION, header::HOST, header::TE, header::TRANSFER_ENCODING, header::UPGRADE];

#[cfg(test)]
mod tests;
