//! Requests side by side on one HTTP/3 connection.
//!
//! The stamps are those of HTTP/2, with datagrams in the place of reads and flushes: a request is "first byte sent" when it is
//! handed to the connection, and "last byte sent" when the connection's next datagram after its last part has gone out. Data
//! that comes in is stamped with the connection's latest datagram at the moment the frame is found.

use std::{
    future::poll_fn,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use h3::{
    client,
    error::{Code, StreamError},
};
use hyper::{Method, Request, Response, StatusCode, Version};
use tokio::task::AbortHandle;

use super::{
    interims::Interims,
    io::Recorder,
    life::{Count, Life},
    prepare::prepared,
    refusal::Refusal,
    stamps::Stamps,
    trace::Trace,
};
use crate::{
    Body, Failure, Origin, Stage,
    clock::Clock,
    http3::{Connection, Incoming, OpenStreams, Outgoing, RecvStream, announced},
    limits,
};

type Sender = client::SendRequest<OpenStreams, Bytes>;
type Upstream = client::RequestStream<h3_quinn::SendStream<Bytes>, Bytes>;
type Downstream = client::RequestStream<RecvStream, Bytes>;

/// A connection that carries any number of requests. Clones share it, and the last one to go closes it.
#[derive(Clone)]
pub(crate) struct Http3 {
    sender: Sender,
    life: Arc<Life>,
    /// Requests that wait because the server allows no more streams.
    waiting: Arc<AtomicUsize>,
}

/// A response's body, and what else is of this exchange: when it is dropped, the exchange is over.
pub(crate) type Download = Incoming<Downstream, Exchange>;

/// What lives as long as an exchange.
pub(crate) struct Exchange {
    /// The upload that is still in progress. A server that has finished its answer does not need the rest.
    _upload: Option<Upload>,
    _counted: Count,
    _connection: Http3,
}

/// A body that is being sent; dropped, it is sent no further.
struct Upload(AbortHandle);

impl Drop for Upload {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Listens to what the server says of a connection as a whole.
pub(crate) struct Driver {
    driver: client::Connection<Connection, Bytes>,
    life: Arc<Life>,
}

impl Driver {
    /// What ends a connection is told to each request that is on it.
    pub(crate) fn start(self) {
        let Self { mut driver, life } = self;
        tokio::spawn(async move {
            poll_fn(|cx| driver.poll_close(cx)).await;
            life.end();
        });
    }
}

impl Http3 {
    /// Speaks HTTP/3 over a connection to `remote`: sends its settings with the first request, and waits for no answer to them. Its
    /// handshake is over.
    pub(crate) async fn start(
        connection: quinn::Connection,
        recorder: Arc<Recorder>,
        remote: SocketAddr,
        clock: Clock,
    ) -> Result<Self, Failure> {
        let (http3, driver) = Self::begin(connection, recorder, remote, clock).await?;
        driver.start();
        Ok(http3)
    }

    /// The same, of a connection whose handshake may come to another end: what the server says of the connection as a whole is not
    /// listened to until the driver is started.
    pub(crate) async fn begin(
        connection: quinn::Connection,
        recorder: Arc<Recorder>,
        remote: SocketAddr,
        clock: Clock,
    ) -> Result<(Self, Driver), Failure> {
        let (driver, sender) = client::builder()
            .max_field_section_size(limits::HEADER_BYTES as u64)
            .send_grease(false)
            .build(Connection::new(connection))
            .await
            .map_err(|error| Failure::from_h3_connection(&error, Stage::Head))?;
        let life = Life::new(recorder, Some(remote), clock);
        let driver = Driver { driver, life: Arc::clone(&life) };
        Ok((Self { sender, life, waiting: Arc::default() }, driver))
    }

    pub(crate) fn life(&self) -> &Arc<Life> {
        &self.life
    }

    /// How many requests wait here because the server allows no more streams; `None` if one more would not have to.
    pub(crate) fn queue(&self) -> Option<usize> {
        Some(self.waiting.load(Relaxed)).filter(|&waiting| waiting > 0)
    }

    /// Makes a request and waits for the final response's head.
    pub(crate) async fn exchange(
        &self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Download>, Refusal> {
        trace.protocol = Some("h3");
        self.life.introduce(trace);
        if self.life.is_closed() {
            return Err(Refusal::unsent(Failure::Closed(Stage::Head), request));
        }
        let (counted, others) = self.life.count();
        let stamps = trace.stamps();
        stamps.mark(self.life.recorder().wire().begin(others == 0));
        stamps.began(self.life.clock().now());
        let method = request.method().clone();
        let interims = Interims::to(request.extensions());
        let (head, body) = prepared(origin, request, Version::HTTP_3)?;
        // A server that is about to stop takes no more requests, which is found out before any of this one is written.
        let spare = head.clone();
        let (up, mut down) = match self.open(head, trace).await {
            Ok(halves) => halves,
            Err(StreamError::RemoteClosing { .. }) => {
                return Err(Refusal::unsent(Failure::Closed(Stage::Head), spare.map(|()| body)));
            }
            Err(error) => return Err(Failure::from_h3(&error, Stage::Head).into()),
        };
        let upload = self.upload(up, body, &stamps).await;
        let response = self.head(&mut down, interims, trace, &stamps).await?;
        let length = announced(response.headers())?.filter(|_| has_body(&method, response.status()));
        let exchange = Exchange { _upload: upload, _counted: counted, _connection: self.clone() };
        Ok(response.map(|()| Incoming::new(down, length, exchange)))
    }

    /// Opens a stream with a request's head; waits for the server to allow one more if need be.
    async fn open(
        &self,
        head: Request<()>,
        trace: &mut Trace,
    ) -> Result<(Upstream, Downstream), StreamError> {
        struct Waiting(Arc<AtomicUsize>);
        impl Drop for Waiting {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Relaxed);
            }
        }
        let mut sender = self.sender.clone();
        let mut opening = std::pin::pin!(sender.send_request(head));
        let mut waiting = None;
        let stream = poll_fn(|cx| {
            let polled = opening.as_mut().poll(cx);
            if polled.is_pending() && waiting.is_none() {
                self.waiting.fetch_add(1, Relaxed);
                waiting = Some(Waiting(Arc::clone(&self.waiting)));
            }
            polled
        });
        let stream = stream.await?;
        trace.queued = waiting.is_some();
        Ok(stream.split())
    }

    /// Sends the body at the same time as the response comes in; returns once it is sent if there is none.
    async fn upload(&self, up: Upstream, body: Body, stamps: &Arc<Stamps>) -> Option<Upload> {
        let mut outgoing = Outgoing::new(up, Code::H3_REQUEST_CANCELLED, Duration::MAX);
        let recorder = self.life.recorder();
        let stamps = Arc::clone(stamps);
        let send = async move {
            match outgoing.send(body).await {
                Ok(()) => recorder.when_flushed(stamps),
                Err(_) => stamps.set_broken_off(),
            }
        };
        let mut send = Box::pin(send);
        // A request without a body, or with a small one, is sent at once.
        match poll_fn(|cx| Poll::Ready(send.as_mut().poll(cx))).await {
            Poll::Ready(()) => None,
            Poll::Pending => Some(Upload(tokio::spawn(send).abort_handle())),
        }
    }

    /// Waits for the final response's header, and stamps the first interim response on the way.
    async fn head(
        &self,
        down: &mut Downstream,
        mut interims: Interims,
        trace: &mut Trace,
        stamps: &Stamps,
    ) -> Result<Response<()>, Failure> {
        loop {
            let response = down.recv_response().await.map_err(|error| {
                // A stream whose body broke off was reset by ourselves.
                if stamps.is_broken_off() { Failure::Source } else { Failure::from_h3(&error, Stage::Head) }
            })?;
            let at = self.life.last_read();
            if !response.status().is_informational() {
                trace.final_headers = at;
                return Ok(response);
            }
            interims.take(response.status(), response.headers())?;
            if let Some(at) = at {
                stamps.interim_at(at);
            }
        }
    }
}

/// Whether a response has the body whose length it announces (RFC 9110 section 8.6).
fn has_body(method: &Method, status: StatusCode) -> bool {
    method != Method::HEAD && status != StatusCode::NOT_MODIFIED && status != StatusCode::NO_CONTENT
}
