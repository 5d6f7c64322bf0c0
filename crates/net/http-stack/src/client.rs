//! An HTTP client: pooled or new connections, a time stamp for each phase, and streamed bodies.
//!
//! [`Client::send`] returns once the response's head has arrived. A [`Trace`] records the time
//! stamps during the exchange and until the body has been read.
//!
//! Requests have no timeout except the kernel's TCP timeouts. To cancel, the caller drops the
//! future or the body.

mod alternatives;
mod byte_counter;
mod config;
mod connect;
mod dns;
mod download;
mod early_data;
mod early_data_stream;
mod happy_eyeballs;
mod http1;
mod http2;
mod http3;
mod interims;
mod io;
mod multiplexed;
mod mux_state;
mod on_interim;
#[cfg(test)]
mod outcome;
mod over_stream;
mod phase;
mod pool;
mod prepare;
mod quic;
mod raw_request;
mod raw_response;
mod resolve;
mod send_error;
mod socket;
mod timestamps;
mod tls;
mod trace;
mod trust;
mod zero_rtt;

use std::{pin::Pin, sync::Arc};

use hyper::{Request, Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;

#[doc(hidden)]
pub use self::over_stream::over;
pub use self::{
    byte_counter::WireBytes,
    config::{Config, Connections, Known, KnownError, Limits, Lookups, Protocol, Trust, Windows},
    early_data::Early,
    on_interim::OnInterim,
    phase::Phase,
    raw_request::Relayed,
    raw_response::Reply,
    send_error::Once,
    trace::Trace,
};
use self::{
    connect::{Connector, Fresh},
    early_data::EarlyData,
    http1::Http1,
    http2::Http2,
    multiplexed::Multiplexed,
    pool::{Checkout, Lease, NegotiatedProtocol, OriginPool, Pool},
    send_error::{SendError, again},
};
use crate::{Body, Error, Failure, Origin, clock::Clock};

/// Sends requests according to its configuration.
///
/// Its connections live in the tokio runtime of the request that opened them. That runtime needs
/// I/O and time enabled.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    connections: Connections,
    connector: Arc<Connector>,
    within: Option<Client>,
    pool: Pool,
    clock: Clock,
}

impl Client {
    /// Creates a client whose traces count time from now.
    ///
    /// # Errors
    /// The file of trusted certificates cannot be used.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let clock = Clock::start();
        let inner = Inner {
            connections: config.connections,
            connector: Arc::new(Connector::new(config, clock)?),
            within: None,
            pool: Pool::new(config.limits, clock),
            clock,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns a client with the same configuration, clock, resolved names, certificates and
    /// alternatives, but without connections: another browser in the same household.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let Inner { connections, ref connector, ref within, ref pool, clock } = *self.inner;
        let (connector, within, pool) = (Arc::clone(connector), within.clone(), pool.fresh());
        Self { inner: Arc::new(Inner { connections, connector, within, pool, clock }) }
    }

    /// Returns a client that sends HTTP/1.1 requests on streams of this client's open connections:
    /// at most `streams` per origin, each reused for consecutive requests. Only servers of members
    /// offer such streams.
    #[must_use]
    pub fn nested(&self, streams: usize) -> Self {
        let Inner { connections, ref connector, ref pool, clock, .. } = *self.inner;
        let (connector, pool) = (Arc::clone(connector), pool.with_connections(streams));
        Self { inner: Arc::new(Inner { connections, connector, within: Some(self.clone()), pool, clock }) }
    }

    /// Whether an open connection to this origin supports streams of a [nested](Self::nested) client.
    pub fn is_nesting(&self, origin: &Origin) -> bool {
        self.inner.shared_http2(origin).is_some_and(|connection| connection.is_nesting())
    }

    /// Loads the trusted certificates now, instead of at the first handshake.
    ///
    /// # Errors
    /// The system's certificate store cannot be read.
    pub fn prepare(&self) -> Result<(), Error> {
        self.inner.connector.prepare()
    }

    /// Returns the number of connections to an origin, including idle ones and those being opened.
    pub fn connections(&self, origin: &Origin) -> usize {
        self.inner.pool.connections(origin)
    }

    /// Whether there is a shared connection to an origin that is not known to be closed.
    pub fn is_open(&self, origin: &Origin) -> bool {
        self.inner.pool.has(origin).is_some_and(|pool| pool.shared().is_some())
    }

    /// Opens a shared connection to an origin, unless there is one. A connection that cannot be shared
    /// is closed.
    ///
    /// # Errors
    /// The connection cannot be opened.
    pub async fn open(&self, origin: &Origin) -> Result<(), Failure> {
        let mut trace = Trace::start(self.inner.clock.now());
        let Some(pool) = self.inner.pool.of(origin, trace.started) else { return Err(Failure::Busy) };
        if let Checkout::New { permit, opening } =
            pool.place(self.inner.may_share(origin), &mut trace).await?
            && let Fresh::Shared(connection) =
                self.inner.connector.open(origin, EarlyData::Forbidden, &mut trace).await?
        {
            pool.share(&connection, permit);
            drop(opening);
        }
        Ok(())
    }

    /// Sends later requests to an origin on a new connection. Requests in flight stay on theirs.
    pub fn leave(&self, origin: &Origin) {
        if let Some(pool) = self.inner.pool.has(origin) {
            pool.leave();
        }
    }

    /// Returns the clock of the traces' time stamps.
    pub fn clock(&self) -> Clock {
        self.inner.clock
    }

    /// Sends a request and returns the final response once its head is complete. `trace` must be
    /// new.
    ///
    /// If a kept connection turns out to be closed, the request is retried once on another
    /// connection, but only if none of it was written, or if it is idempotent, its body is in
    /// memory, and no response had begun.
    ///
    /// # Errors
    /// There is no response.
    pub async fn send(
        &self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        let pool = match self.inner.connections {
            Connections::New | Connections::Resume | Connections::Early => None,
            Connections::Reuse => self.inner.pool.of(origin, trace.started),
        };
        let response = match pool {
            None => Box::pin(self.inner.alone(origin, request, trace)).await?,
            Some(pool) => self.inner.pooled(&pool, origin, request, trace).await?,
        };
        self.inner.connector.learn(origin, response.headers());
        Ok(response)
    }

    fn send_boxed<'s>(
        &'s self,
        origin: &'s Origin,
        request: Request<Body>,
        trace: &'s mut Trace,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Body>, Failure>> + Send + 's>> {
        Box::pin(self.send(origin, request, trace))
    }
}

impl Inner {
    fn may_share(&self, origin: &Origin) -> bool {
        self.within.is_none() && self.connector.may_share(origin)
    }

    async fn nest(&self, origin: &Origin) -> Option<Box<Http1>> {
        let connection = self.shared_http2(origin).filter(Http2::is_nesting)?;
        let stream = connection.nest(origin).await.ok()?;
        Some(Http1::start(Box::new(stream), Arc::default(), connection.life().remote(), self.clock))
    }

    fn shared_http2(&self, origin: &Origin) -> Option<Http2> {
        match self.pool.has(origin)?.shared()? {
            Multiplexed::Http2(connection) => Some(connection),
            Multiplexed::Http3(_) => None,
        }
    }

    async fn alone(
        &self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        if self.connections == Connections::Early && EarlyData::of(&request) == EarlyData::Allowed {
            return self.ahead(origin, request, trace).await;
        }
        let fresh = self.connector.open(origin, EarlyData::Forbidden, trace).await?;
        on_fresh(fresh, origin, request, trace).await
    }

    /// After a 425 response (RFC 8470 section 5.2), or if ALPN selects another HTTP version than
    /// the early data was written for, it is sent again after a full handshake.
    async fn ahead(
        &self,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        let spare = again(&request);
        let fresh = self.connector.open(origin, EarlyData::Allowed, trace).await?;
        let outcome = on_fresh(fresh, origin, request, trace).await;
        trace.settle();
        let early = match (&outcome, trace.early) {
            (Ok(response), Some(Early::Accepted)) if response.status() == StatusCode::TOO_EARLY => {
                Early::TooEarly
            }
            (Err(failure), Some(Early::Rejected)) if *failure == early_data::IN_ANOTHER_VERSION => {
                Early::Rejected
            }
            _ => return outcome,
        };
        let Some(request) = spare else { return outcome };
        drop(outcome);
        trace.start_over(early);
        let fresh = self.connector.open(origin, EarlyData::Forbidden, trace).await?;
        on_fresh(fresh, origin, request, trace).await
    }

    async fn pooled(
        &self,
        pool: &Arc<OriginPool>,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        let (spare, loss) = match pool.place(self.may_share(origin), trace).await? {
            Checkout::New { permit, opening } => {
                return Box::pin(self.on_new(pool, permit, opening, origin, request, trace)).await;
            }
            Checkout::Shared(connection) => {
                let spare = again(&request);
                match Box::pin(on_shared(&connection, origin, request, trace)).await {
                    Ok(response) => return Ok(response),
                    Err(loss) => {
                        if loss.refusal.failure.is_lost_connection() {
                            pool.unshare(&connection);
                        }
                        (spare, loss)
                    }
                }
            }
            Checkout::Idle(connection, permit) => {
                let lease = Lease::of_pool(connection, Arc::clone(pool), permit);
                match on_lease(lease, origin, request, trace).await {
                    Ok(response) => return Ok(response),
                    Err(loss) => (None, loss),
                }
            }
        };
        let Loss { refusal, permit } = loss;
        let Some(request) = refusal.again.or(spare).filter(|_| trace.is_lost_in_silence(refusal.failure))
        else {
            return Err(refusal.failure);
        };
        trace.retry();
        Box::pin(self.elsewhere(pool, permit, origin, request, trace)).await
    }

    async fn elsewhere(
        &self,
        pool: &Arc<OriginPool>,
        permit: Option<OwnedSemaphorePermit>,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        if let Some(permit) = permit {
            return self.on_new(pool, permit, None, origin, request, trace).await;
        }
        match pool.place(self.may_share(origin), trace).await? {
            Checkout::New { permit, opening } => {
                self.on_new(pool, permit, opening, origin, request, trace).await
            }
            Checkout::Shared(connection) => {
                on_shared(&connection, origin, request, trace).await.map_err(Failure::from)
            }
            Checkout::Idle(connection, permit) => {
                let lease = Lease::of_pool(connection, Arc::clone(pool), permit);
                on_lease(lease, origin, request, trace).await.map_err(Failure::from)
            }
        }
    }

    async fn on_new(
        &self,
        pool: &Arc<OriginPool>,
        permit: OwnedSemaphorePermit,
        opening: Option<tokio::sync::MutexGuard<'_, NegotiatedProtocol>>,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        let fresh = match &self.within {
            None => self.connector.open(origin, EarlyData::Forbidden, trace).await?,
            Some(within) => match within.inner.nest(origin).await {
                Some(stream) => Fresh::Http1(stream),
                None => {
                    drop(permit);
                    return within.send_boxed(origin, request, trace).await;
                }
            },
        };
        let outcome = match fresh {
            Fresh::Unconfirmed(connection) => return connection.exchange(origin, request, trace).await,
            Fresh::Http1(connection) => {
                if let Some(mut speaks) = opening {
                    *speaks = NegotiatedProtocol::Http1;
                }
                let lease = Lease::of_pool(connection, Arc::clone(pool), permit);
                on_lease(lease, origin, request, trace).await
            }
            Fresh::Shared(connection) => {
                pool.share(&connection, permit);
                drop(opening);
                on_shared(&connection, origin, request, trace).await
            }
        };
        outcome.map_err(Failure::from)
    }
}

struct Loss {
    refusal: SendError,
    permit: Option<OwnedSemaphorePermit>,
}

impl From<Loss> for Failure {
    fn from(loss: Loss) -> Self {
        loss.refusal.failure
    }
}

async fn on_fresh(
    fresh: Fresh,
    origin: &Origin,
    request: Request<Body>,
    trace: &mut Trace,
) -> Result<Response<Body>, Failure> {
    let outcome = match fresh {
        Fresh::Http1(connection) => on_lease(Lease::once(connection), origin, request, trace).await,
        Fresh::Shared(connection) => on_shared(&connection, origin, request, trace).await,
        Fresh::Unconfirmed(connection) => return connection.exchange(origin, request, trace).await,
    };
    outcome.map_err(Failure::from)
}

async fn on_lease(
    mut lease: Lease,
    origin: &Origin,
    request: Request<Body>,
    trace: &mut Trace,
) -> Result<Response<Body>, Loss> {
    match lease.connection().exchange(origin, request, trace).await {
        Ok(response) if response.status() == StatusCode::SWITCHING_PROTOCOLS => {
            Ok(http1::switched(response, lease))
        }
        Ok(response) => Ok(response.map(|()| http1::stamped(lease, trace.stamps()))),
        Err(refusal) => Err(Loss { refusal, permit: lease.into_permit() }),
    }
}

async fn on_shared(
    connection: &Multiplexed,
    origin: &Origin,
    request: Request<Body>,
    trace: &mut Trace,
) -> Result<Response<Body>, Loss> {
    let recorder = connection.life().recorder();
    let stamps = trace.stamps();
    let response = match connection {
        Multiplexed::Http2(http2) => http2
            .exchange(origin, request, trace)
            .await
            .map(|response| download::stamped(response, stamps, recorder)),
        Multiplexed::Http3(http3) => http3
            .exchange(origin, request, trace)
            .await
            .map(|response| download::stamped(response, stamps, recorder)),
    };
    response.map_err(|refusal| Loss { refusal, permit: None })
}
