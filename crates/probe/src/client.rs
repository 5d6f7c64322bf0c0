//! One HTTP request, measured: every phase and stamp of it as a [`Sample`].
//!
//! | phase | from | to |
//! | --- | --- | --- |
//! | `dns` | the resolver is asked | it has answered |
//! | `connect` | the first SYN | established |
//! | `tls` | ClientHello | the handshake is finished |
//! | `quic` | the first datagram of QUIC | the handshake is finished, TLS included |
//! | `send` | first request byte | the last is handed to the kernel |
//! | `wait` | that | first byte of the final response's header |
//! | `load` | first body byte | last byte of the response |
//!
//! HTTP/1.1's stamps are exact to the read or write that carried the byte: of a write the moment before it, as the other end may have
//! the byte before it returns. On an HTTP/2 connection, which
//! requests share, `send` lasts from handing the request over to the connection's first flush after its last
//! part, and incoming data is stamped with the connection's latest read when it is found; a header comes as a
//! whole, so its stamp is that of its last byte. HTTP/3 is stamped alike, with datagrams in the place of reads and flushes.
//! A request that met the server's limit of concurrent streams
//! carries the label `queued`: some of its `wait` was spent here.
//!
//! A phase that did not happen is absent: `dns` of a literal address or a remembered name, all phases before `send` on a reused connection, `load` without a body. Some time belongs to no phase: a wait for
//! a shared connection, this program's own time.
//!
//! A failure is a sample with `error` and without latency. TCP_NODELAY is on; bodies are read to their end
//! and discarded.

mod config;
mod failure;
mod field;
mod head;
mod measured;
mod prepared;
mod redirect;
mod scribe;
mod target;

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use http::{
    Body, Scheme,
    client::{Relayed, Reply, Trace},
};
use recording::Sample;

pub use self::{
    config::{Config, Connections, Known, Lookups, Protocol, Redirects, Trust},
    field::Field,
    target::Target,
};
pub(crate) use self::{failure::Failure, measured::Measured, prepared::Prepared, scribe::Scribe};
use self::{head::Head, redirect::Redirect};
use crate::{Error, Stop, clock::Clock, limits};

/// Makes requests according to its configuration. Clones share connections and remembered names.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    http: http::Client,
    stop: Stop,
    chains: Arc<AtomicU64>,
}

impl Client {
    /// A client whose samples count time from now.
    ///
    /// After one request to stop, it still finishes what has begun; after a second one, it gives that up ([`Stop`]).
    ///
    /// # Errors
    /// When the file of trusted certificates cannot be used.
    pub fn new(config: &Config, stop: &Stop) -> Result<Self, Error> {
        let inner = Inner {
            http: http::Client::new(&config.http)?,
            config: config.clone(),
            stop: stop.clone(),
            chains: Arc::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Another client of the same configuration that has no connections yet.
    pub(crate) fn fresh(&self) -> Self {
        let Inner { config, http, stop, chains } = &*self.inner;
        let (config, stop, chains) = (config.clone(), stop.clone(), Arc::clone(chains));
        Self { inner: Arc::new(Inner { config, http: http.fresh(), stop, chains }) }
    }

    /// Makes one request: one sample, or one for each hop if redirects are followed. Needs a tokio runtime
    /// with I/O and time.
    pub async fn fetch(&self, target: &Target) -> Vec<Sample> {
        let insisted = pin!(self.insisted());
        let Chain { redirects, last } = self.measure(&Prepared::of(target), insisted).await;
        redirects.into_iter().chain([last]).map(Sample::from).collect()
    }

    /// The same without a sample yet, and given up when `insisted` is over: [`Client::insisted`], which may serve one request after
    /// the other.
    pub(crate) async fn measure(
        &self,
        prepared: &Prepared<'_>,
        mut insisted: Pin<&mut impl Future<Output = ()>>,
    ) -> Chain {
        let (mut last, mut next) = self.inner.measure(prepared, insisted.as_mut()).await;
        let mut redirects = Vec::new();
        while let Some(target) = next.take() {
            if redirects.len() >= limits::REDIRECTS {
                last.failure = Some(Failure::Redirects);
                break;
            }
            if redirects.is_empty() {
                last.url = Some(prepared.target.to_string());
            }
            redirects.push(last);
            let url = target.to_string();
            (last, next) = self.inner.measure(&Prepared::of(target), insisted.as_mut()).await;
            last.url = Some(url);
        }
        if !redirects.is_empty() {
            let chain = self.inner.chains.fetch_add(1, Relaxed);
            redirects.iter_mut().chain([&mut last]).for_each(|measured| measured.chain = Some(chain));
        }
        Chain { redirects, last }
    }

    /// Is over when requests in flight are to be given up.
    pub(crate) async fn insisted(&self) {
        self.inner.stop.insisted().await;
    }

    /// Reads the trusted certificates, if this target or one that it redirects to needs them.
    ///
    /// # Errors
    /// When the system's store cannot be read.
    pub fn prepare(&self, target: &Target) -> Result<(), Error> {
        match (target.origin.scheme, self.inner.config.redirects) {
            (Scheme::Http, Redirects::Stay) => Ok(()),
            (Scheme::Https, _) | (_, Redirects::Follow) => Ok(self.inner.http.prepare()?),
        }
    }

    pub(crate) fn clock(&self) -> Clock {
        self.inner.http.clock()
    }
}

/// A request with those that redirects made of it.
#[derive(Debug)]
pub(crate) struct Chain {
    /// The first ones, each of which was answered with a redirect that was followed.
    pub(crate) redirects: Vec<Measured>,
    pub(crate) last: Measured,
}

impl Inner {
    /// One request, and where it redirects to if redirects are followed.
    async fn measure(
        &self,
        prepared: &Prepared<'_>,
        insisted: Pin<&mut impl Future<Output = ()>>,
    ) -> (Measured, Option<Target>) {
        let mut trace = Trace::start(self.http.clock().now());
        let mut head = Head::default();
        let outcome = tokio::select! {
            biased;
            outcome = self.attempt(prepared, &mut trace, &mut head) => outcome,
            () = insisted => Err(Failure::Abandoned),
        };
        let redirect = match (&outcome, self.config.redirects, head.status, &head.location) {
            (Ok(()), Redirects::Follow, Some(status), Some(location)) => {
                redirect::next(&prepared.target, status, location)
            }
            _ => Redirect::None,
        };
        let (failure, next) = match redirect {
            Redirect::None => (outcome.err(), None),
            Redirect::To(target) => (None, Some(*target)),
            Redirect::Unusable => (Some(Failure::Location), None),
        };
        (Measured::of(&trace, head, failure), next)
    }

    /// Makes the request, and reads the response to its end, discarding the body.
    async fn attempt(
        &self,
        prepared: &Prepared<'_>,
        trace: &mut Trace,
        head: &mut Head,
    ) -> Result<(), Failure> {
        let body = self.on_idle(prepared, trace, head).await?;
        // On a connection that is kept, most responses come as a whole.
        if trace.last_byte().is_some() {
            return Ok(());
        }
        let gone = Duration::from_nanos(self.http.clock().now().saturating_sub(trace.started));
        let rest = async {
            match body {
                Some(body) => read(body).await,
                None => self.anew(&prepared.target, trace, head).await,
            }
        };
        let outcome = tokio::time::timeout(self.config.timeout.saturating_sub(gone), rest).await;
        outcome.unwrap_or_else(|_| Err(Failure::Timeout(trace.step())))
    }

    /// The usual case of many requests, which costs the least: a plain GET on a connection that is idle. `None` of another case.
    async fn on_idle(
        &self,
        prepared: &Prepared<'_>,
        trace: &mut Trace,
        head: &mut Head,
    ) -> Result<Option<Body>, Failure> {
        let Some(lines) = &prepared.lines else { return Ok(None) };
        let (origin, within) = (&prepared.target.origin, (self.config.timeout, None));
        let read = |reply: &Reply<'_>| Head::of_plain(reply, &self.config.record);
        match self.http.relay(origin, lines, within, trace, read).await {
            Ok(None) => Ok(None),
            Ok(Some(Relayed::Lines(said, body))) => {
                *head = said;
                Ok(Some(body))
            }
            Ok(Some(Relayed::Response(response))) => {
                *head = Head::of(response.status(), response.headers(), &self.config.record);
                Ok(Some(response.into_body()))
            }
            Err(http::Failure::Timeout) => Err(Failure::Timeout(trace.step())),
            Err(failure) => Err(failure.into()),
        }
    }

    /// All other cases.
    async fn anew(&self, target: &Target, trace: &mut Trace, head: &mut Head) -> Result<(), Failure> {
        let response = self.http.send(&target.origin, target.request(), trace).await?;
        *head = Head::of(response.status(), response.headers(), &self.config.record);
        read(response.into_body()).await
    }
}

/// Reads a body to its end.
async fn read(mut body: Body) -> Result<(), Failure> {
    while let Some(frame) = body.frame().await {
        frame?;
    }
    Ok(())
}
