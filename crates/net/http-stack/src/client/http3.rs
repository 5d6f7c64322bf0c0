//! Concurrent requests on one HTTP/3 connection.
//!
//! The time stamps are those of HTTP/2, with datagrams instead of reads and flushes.

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
    mux_state::{MuxState, StreamCount},
    prepare::prepared,
    send_error::SendError,
    timestamps::Stamps,
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

#[derive(Clone)]
pub(crate) struct Http3 {
    sender: Sender,
    life: Arc<MuxState>,
    waiting: Arc<AtomicUsize>,
}

pub(crate) type Download = Incoming<Downstream, Exchange>;

pub(crate) struct Exchange {
    /// Once the response is complete, the server does not need the rest.
    _upload: Option<Upload>,
    _counted: StreamCount,
    _connection: Http3,
}

struct Upload(AbortHandle);

impl Drop for Upload {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(crate) struct Driver {
    driver: client::Connection<Connection, Bytes>,
    life: Arc<MuxState>,
}

impl Driver {
    pub(crate) fn start(self) {
        let Self { mut driver, life } = self;
        tokio::spawn(async move {
            poll_fn(|cx| driver.poll_close(cx)).await;
            life.end();
        });
    }
}

impl Http3 {
    /// Settings are sent with the first request, without waiting for the server's.
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

    /// Control streams are not processed until the driver is started.
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
        let life = MuxState::new(recorder, Some(remote), clock);
        let driver = Driver { driver, life: Arc::clone(&life) };
        Ok((Self { sender, life, waiting: Arc::default() }, driver))
    }

    pub(crate) fn life(&self) -> &Arc<MuxState> {
        &self.life
    }

    /// `None` if a new request would not have to wait.
    pub(crate) fn queue(&self) -> Option<usize> {
        Some(self.waiting.load(Relaxed)).filter(|&waiting| waiting > 0)
    }

    pub(crate) async fn exchange(
        &self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Download>, SendError> {
        trace.protocol = Some("h3");
        self.life.introduce(trace);
        if self.life.is_closed() {
            return Err(SendError::unsent(Failure::Closed(Stage::Head), request));
        }
        let (counted, others) = self.life.count();
        let stamps = trace.stamps();
        stamps.mark(self.life.recorder().wire().begin(others == 0));
        stamps.began(self.life.clock().now());
        let method = request.method().clone();
        let interims = Interims::to(request.extensions());
        let (head, body) = prepared(origin, request, Version::HTTP_3)?;
        // After a GOAWAY the server accepts no new requests; this is detected before any part of the
        // request is written.
        let spare = head.clone();
        let (up, mut down) = match self.open(head, trace).await {
            Ok(halves) => halves,
            Err(StreamError::RemoteClosing { .. }) => {
                return Err(SendError::unsent(Failure::Closed(Stage::Head), spare.map(|()| body)));
            }
            Err(error) => return Err(Failure::from_h3(&error, Stage::Head).into()),
        };
        let upload = self.upload(up, body, &stamps).await;
        let response = self.head(&mut down, interims, trace, &stamps).await?;
        let length = announced(response.headers())?.filter(|_| has_body(&method, response.status()));
        let exchange = Exchange { _upload: upload, _counted: counted, _connection: self.clone() };
        Ok(response.map(|()| Incoming::new(down, length, exchange)))
    }

    /// Waits if the server's limit of streams is reached.
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

    /// Returns `None` if the body has been sent completely.
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
        match poll_fn(|cx| Poll::Ready(send.as_mut().poll(cx))).await {
            Poll::Ready(()) => None,
            Poll::Pending => Some(Upload(tokio::spawn(send).abort_handle())),
        }
    }

    async fn head(
        &self,
        down: &mut Downstream,
        mut interims: Interims,
        trace: &mut Trace,
        stamps: &Stamps,
    ) -> Result<Response<()>, Failure> {
        loop {
            let response = down.recv_response().await.map_err(|error| {
                // If the request body failed, this client reset the stream.
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

/// Whether a response has a body of the announced length (RFC 9110 section 8.6).
fn has_body(method: &Method, status: StatusCode) -> bool {
    method != Method::HEAD && status != StatusCode::NOT_MODIFIED && status != StatusCode::NO_CONTENT
}
