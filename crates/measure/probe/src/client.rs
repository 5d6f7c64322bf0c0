//! One HTTP request, measured: its phases and timestamps as a [`Sample`].
//!
//! | phase | from | to |
//! | --- | --- | --- |
//! | `dns` | the query to the resolver | its response |
//! | `connect` | the first SYN | established |
//! | `tls` | ClientHello | the handshake is finished |
//! | `quic` | the first datagram of QUIC | the handshake is finished, TLS included |
//! | `send` | first request byte | last request byte written to the kernel |
//! | `wait` | last request byte written to the kernel | first byte of the final response's header |
//! | `load` | first body byte | last byte of the response |
//!
//! With HTTP/1.1, a timestamp is exact to the read or write of the byte: for a write, the time before the system call,
//! because the peer may receive the byte before the call returns. On an HTTP/2 connection, which requests share, `send`
//! lasts from passing the request to the connection until the connection's first flush after the last part of the
//! request. Incoming data has the timestamp of the connection's latest read when the data is parsed. A header is parsed as
//! a whole, so its timestamp is that of its last byte. HTTP/3 uses datagrams instead of reads and flushes. A request that
//! was delayed by the server's limit of concurrent streams has the label `queued`: its `wait` includes this delay.
//!
//! A phase that did not happen is absent: `dns` of an IP address or a cached name, all phases before `send` on a reused
//! connection, `load` without a body. Some time belongs to no phase: waiting for a shared connection, and this program's
//! own processing.
//!
//! A failure is a sample with `error` and without latency. TCP_NODELAY is on; bodies are read completely and discarded.

mod config;
mod failure;
mod field;
mod head;
mod measured;
mod prepared;
mod redirect;
mod sample_builder;
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

use http_stack::{
    Body, Scheme,
    client::{Relayed, Reply, Trace},
};
use recording::Sample;

pub use self::{
    config::{Config, Connections, Known, Lookups, Protocol, Redirects, Trust},
    field::Field,
    target::Target,
};
pub(crate) use self::{
    failure::Failure, measured::Measured, prepared::Prepared, sample_builder::SampleBuilder,
};
use self::{head::Head, redirect::Redirect};
use crate::{Error, ShutdownSignal, clock::Clock, limits};

/// Makes requests according to its configuration. Clones share connections and cached names.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    http: http_stack::Client,
    stop: ShutdownSignal,
    chains: Arc<AtomicU64>,
}

impl Client {
    /// Creates a client whose samples count time from now.
    ///
    /// After one request to stop, the client finishes requests that have started; after a second one, it
    /// aborts them ([`Stop`]).
    ///
    /// # Errors
    /// When the file of trusted certificates cannot be used.
    pub fn new(config: &Config, stop: &ShutdownSignal) -> Result<Self, Error> {
        let inner = Inner {
            http: http_stack::Client::new(&config.http)?,
            config: config.clone(),
            stop: stop.clone(),
            chains: Arc::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Another client with the same configuration and without connections.
    pub(crate) fn fresh(&self) -> Self {
        let Inner { config, http, stop, chains } = &*self.inner;
        let (config, stop, chains) = (config.clone(), stop.clone(), Arc::clone(chains));
        Self { inner: Arc::new(Inner { config, http: http.fresh(), stop, chains }) }
    }

    /// Makes one request. Returns one sample, or one for each hop if redirects are followed. Needs a tokio
    /// runtime with I/O and time.
    pub async fn fetch(&self, target: &Target) -> Vec<Sample> {
        let insisted = pin!(self.insisted());
        let Chain { redirects, last } = self.measure(&Prepared::of(target), insisted).await;
        redirects.into_iter().chain([last]).map(Sample::from).collect()
    }

    /// Like [`Client::fetch`], without conversion to samples. Aborts the request when `insisted` completes: a
    /// future of [`Client::insisted`], which the caller may reuse for the next request.
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

    /// Completes when requests in flight must be aborted.
    pub(crate) async fn insisted(&self) {
        self.inner.stop.insisted().await;
    }

    /// Reads the trusted certificates if this target, or a redirect, may need them.
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

/// A request with its redirects.
#[derive(Debug)]
pub(crate) struct Chain {
    /// The hops before the last one; each response was a redirect that was followed.
    pub(crate) redirects: Vec<Measured>,
    pub(crate) last: Measured,
}

impl Inner {
    /// Makes one request; returns the target of its redirect if redirects are followed.
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

    /// Makes the request, and reads and discards the body.
    async fn attempt(
        &self,
        prepared: &Prepared<'_>,
        trace: &mut Trace,
        head: &mut Head,
    ) -> Result<(), Failure> {
        let body = self.on_idle(prepared, trace, head).await?;
        // On a reused connection, most responses arrive in one read.
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

    /// The fast path: a plain GET on an idle connection. Returns `None` if it does not apply.
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
            Err(http_stack::Failure::Timeout) => Err(Failure::Timeout(trace.step())),
            Err(failure) => Err(failure.into()),
        }
    }

    /// The general path.
    async fn anew(&self, target: &Target, trace: &mut Trace, head: &mut Head) -> Result<(), Failure> {
        let response = self.http.send(&target.origin, target.request(), trace).await?;
        *head = Head::of(response.status(), response.headers(), &self.config.record);
        read(response.into_body()).await
    }
}

async fn read(mut body: Body) -> Result<(), Failure> {
    while let Some(frame) = body.frame().await {
        frame?;
    }
    Ok(())
}
