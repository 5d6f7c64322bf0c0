//! A request on its way to a server, on a connection that is kept or made for it, and the response as it comes.
//!
//! [`Client::send`] returns with the response's head; the body streams. Meanwhile, and for as long as the body is read, a
//! [`Trace`] has the time stamps: how long the name, the connection and the handshake took, and when which bytes moved.
//!
//! HTTP/1.1's stamps are exact to the read or write that carried the byte. On an HTTP/2 connection, which
//! requests share, sending lasts from handing the request over to the connection's first flush after its last
//! part, and incoming data is stamped with the connection's latest read when it is found; a header comes as a
//! whole, so its stamp is that of its last byte. HTTP/3 is stamped alike, with datagrams in the place of reads and flushes.
//!
//! TCP_NODELAY is on. Nothing has a time limit but waiting for a server that is closed by the kernel: a caller that has
//! had enough drops the future or the body, which closes the stream or connection, and still has the trace.

mod ahead;
mod alternatives;
mod config;
mod connect;
mod download;
mod early;
mod http1;
mod http2;
mod http3;
mod informed;
mod interims;
mod io;
mod life;
mod names;
#[cfg(test)]
mod outcome;
mod over;
mod pool;
mod prepare;
mod quic;
mod race;
mod refusal;
mod relay;
mod reply;
mod resolve;
mod shared;
mod socket;
mod stamps;
mod step;
mod tls;
mod trace;
mod trust;
mod unconfirmed;
mod wire;

use std::{pin::Pin, sync::Arc};

use hyper::{Request, Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;

#[doc(hidden)]
pub use self::over::over;
pub use self::{
    config::{Config, Connections, Known, KnownError, Limits, Lookups, Protocol, Trust, Windows},
    early::Early,
    informed::Informed,
    refusal::Once,
    relay::Relayed,
    reply::Reply,
    step::Step,
    trace::Trace,
    wire::WireBytes,
};
use self::{
    connect::{Connector, Fresh},
    early::EarlyData,
    http1::Http1,
    http2::Http2,
    pool::{Lease, OriginPool, Place, Pool, Speaks},
    refusal::{Refusal, again},
    shared::Shared,
};
use crate::{Body, Error, Failure, Origin, clock::Clock};

/// Makes requests according to its configuration. Clones share connections and remembered names.
///
/// Its connections live in the tokio runtime of the request that opened them, which needs I/O and time.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    connections: Connections,
    connector: Arc<Connector>,
    /// On whose connections this one's are streams.
    within: Option<Client>,
    pool: Pool,
    clock: Clock,
}

impl Client {
    /// A client whose traces count time from now.
    ///
    /// # Errors
    /// When the file of trusted certificates cannot be used.
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

    /// Another client with the same configuration and clock, which knows the same names, certificates and alternatives, and has
    /// no connections yet: another browser of the same household.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let Inner { connections, ref connector, ref within, ref pool, clock } = *self.inner;
        let (connector, within, pool) = (Arc::clone(connector), within.clone(), pool.fresh());
        Self { inner: Arc::new(Inner { connections, connector, within, pool, clock }) }
    }

    /// Another client, which makes requests in HTTP/1.1 on streams of connections that this one has open: so many to each origin at most,
    /// each for one request after another. That takes less of both ends than requests of HTTP/2 do. Only servers of members have such streams;
    /// without a connection to one, requests are made as this client makes them.
    #[must_use]
    pub fn nested(&self, streams: usize) -> Self {
        let Inner { connections, ref connector, ref pool, clock, .. } = *self.inner;
        let (connector, pool) = (Arc::clone(connector), pool.with_connections(streams));
        Self { inner: Arc::new(Inner { connections, connector, within: Some(self.clone()), pool, clock }) }
    }

    /// Whether it has a connection open whose server is known to have streams for a [nested](Self::nested) client.
    pub fn is_nesting(&self, origin: &Origin) -> bool {
        self.inner.shared_http2(origin).is_some_and(|connection| connection.is_nesting())
    }

    /// Reads the trusted certificates now, and not at the first handshake.
    ///
    /// # Errors
    /// When the system's store cannot be read.
    pub fn prepare(&self) -> Result<(), Error> {
        self.inner.connector.prepare()
    }

    /// How many connections to an origin it has, those that are idle or being opened among them.
    pub fn connections(&self, origin: &Origin) -> usize {
        self.inner.pool.connections(origin)
    }

    /// Whether it has a connection to an origin that requests share, which is open as far as is known.
    pub fn is_open(&self, origin: &Origin) -> bool {
        self.inner.pool.has(origin).is_some_and(|pool| pool.shared().is_some())
    }

    /// Opens a connection to an origin that requests will share, unless there is one. Of one that cannot be shared, nothing is kept.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn open(&self, origin: &Origin) -> Result<(), Failure> {
        let mut trace = Trace::start(self.inner.clock.now());
        let Some(pool) = self.inner.pool.of(origin, trace.started) else { return Err(Failure::Busy) };
        if let Place::New { permit, opening } = pool.place(self.inner.may_share(origin), &mut trace).await?
            && let Fresh::Shared(connection) =
                self.inner.connector.open(origin, EarlyData::Forbidden, &mut trace).await?
        {
            pool.share(&connection, permit);
            drop(opening);
        }
        Ok(())
    }

    /// Has the next request to an origin made on another connection than those that there are now. Requests that are on one stay there.
    pub fn leave(&self, origin: &Origin) {
        if let Some(pool) = self.inner.pool.has(origin) {
            pool.leave();
        }
    }

    /// What its traces' stamps are counted on.
    pub fn clock(&self) -> Clock {
        self.inner.clock
    }

    /// Makes a request and returns the final response with its head complete and its body to be read; its connection
    /// serves the next request once that was read to its end. `trace` is to be a new one.
    ///
    /// Of the request's URL only path and query count; a Host field is added where there is none. Fields that concern one
    /// connection only (RFC 9110 section 7.6.1) are the caller's business, but what HTTP/2 forbids is left out there.
    ///
    /// If a connection that was kept turns out to be closed, the request is made once more on another one; but only if
    /// none of it was written, or if it is idempotent and its body in memory, and no response had begun. [`Once`] is for one that
    /// is idempotent by its method and not by what it does.
    ///
    /// # Errors
    /// When there is no response: why, as far as is known. The trace shows how far it got.
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

    /// [`Self::send`] in a box, for a [nested](Self::nested) client that goes on with it: a future cannot hold another one of its own type.
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
    /// Whether a connection to this origin may turn out to be one that requests share.
    fn may_share(&self, origin: &Origin) -> bool {
        self.within.is_none() && self.connector.may_share(origin)
    }

    /// A stream on the connection to an origin that is open, if its server has such streams.
    async fn nest(&self, origin: &Origin) -> Option<Box<Http1>> {
        let connection = self.shared_http2(origin).filter(Http2::is_nesting)?;
        let stream = connection.nest(origin).await.ok()?;
        Some(Http1::start(Box::new(stream), Arc::default(), connection.life().remote(), self.clock))
    }

    /// The connection over HTTP/2 that requests to an origin share, if there is one.
    fn shared_http2(&self, origin: &Origin) -> Option<Http2> {
        match self.pool.has(origin)?.shared()? {
            Shared::Http2(connection) => Some(connection),
            Shared::Http3(_) => None,
        }
    }

    /// On a new connection.
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

    /// The same, ahead of the handshake if that is possible. Who answers that it is too early is asked once more after a handshake (RFC
    /// 8470 section 5.2), and so is who takes it for another version of HTTP than it is in.
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
            (Err(failure), Some(Early::Rejected)) if *failure == early::IN_ANOTHER_VERSION => Early::Rejected,
            _ => return outcome,
        };
        let Some(request) = spare else { return outcome };
        drop(outcome);
        trace.start_over(early);
        let fresh = self.connector.open(origin, EarlyData::Forbidden, trace).await?;
        on_fresh(fresh, origin, request, trace).await
    }

    /// Once on a connection that was there before, and if that is lost once more on another one. The usual way is short; the others
    /// are boxed, so that they take no room in it.
    async fn pooled(
        &self,
        pool: &Arc<OriginPool>,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        let (spare, loss) = match pool.place(self.may_share(origin), trace).await? {
            Place::New { permit, opening } => {
                return Box::pin(self.on_new(pool, permit, opening, origin, request, trace)).await;
            }
            Place::Shared(connection) => {
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
            Place::Idle(connection, permit) => {
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

    /// Once more, as the first connection was lost; its permit is still there if nobody else has one.
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
            Place::New { permit, opening } => {
                self.on_new(pool, permit, opening, origin, request, trace).await
            }
            Place::Shared(connection) => {
                on_shared(&connection, origin, request, trace).await.map_err(Failure::from)
            }
            Place::Idle(connection, permit) => {
                let lease = Lease::of_pool(connection, Arc::clone(pool), permit);
                on_lease(lease, origin, request, trace).await.map_err(Failure::from)
            }
        }
    }

    /// Opens a connection for one request and keeps it for the next ones.
    async fn on_new(
        &self,
        pool: &Arc<OriginPool>,
        permit: OwnedSemaphorePermit,
        opening: Option<tokio::sync::MutexGuard<'_, Speaks>>,
        origin: &Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        let fresh = match &self.within {
            None => self.connector.open(origin, EarlyData::Forbidden, trace).await?,
            Some(within) => match within.inner.nest(origin).await {
                Some(stream) => Fresh::Http1(stream),
                None => {
                    // What it counts is a stream of this client's.
                    drop(permit);
                    return within.send_boxed(origin, request, trace).await;
                }
            },
        };
        let outcome = match fresh {
            Fresh::Unconfirmed(connection) => return connection.exchange(origin, request, trace).await,
            Fresh::Http1(connection) => {
                if let Some(mut speaks) = opening {
                    *speaks = Speaks::Http1;
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

/// A request that failed, and the room that its connection leaves for another one.
struct Loss {
    refusal: Refusal,
    permit: Option<OwnedSemaphorePermit>,
}

impl From<Loss> for Failure {
    fn from(loss: Loss) -> Self {
        loss.refusal.failure
    }
}

/// On a connection that has no other request.
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
    connection: &Shared,
    origin: &Origin,
    request: Request<Body>,
    trace: &mut Trace,
) -> Result<Response<Body>, Loss> {
    let recorder = connection.life().recorder();
    let stamps = trace.stamps();
    let response = match connection {
        Shared::Http2(http2) => http2
            .exchange(origin, request, trace)
            .await
            .map(|response| download::stamped(response, stamps, recorder)),
        Shared::Http3(http3) => http3
            .exchange(origin, request, trace)
            .await
            .map(|response| download::stamped(response, stamps, recorder)),
    };
    response.map_err(|refusal| Loss { refusal, permit: None })
}
