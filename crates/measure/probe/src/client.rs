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
//! HTTP/1.1 timestamps are those of the read, or of the time before the write. On HTTP/2, `send`
//! lasts until the first flush after the last part of the request, and incoming data has the time
//! of the latest read. HTTP/3 uses datagrams instead. The label `queued` marks a request that
//! waited for a stream: its `wait` includes that time.
//!
//! A phase that did not happen is absent. Waiting for a shared connection belongs to no phase. A
//! failure is a sample with `error` and without latency.

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
    /// Creates a client whose samples count time from now. A first request to stop lets started
    /// requests finish; a second one aborts them ([`Stop`]).
    ///
    /// # Errors
    ///
    /// The file of trusted certificates cannot be used.
    pub fn new(config: &Config, stop: &ShutdownSignal) -> Result<Self, Error> {
        let inner = Inner {
            http: http_stack::Client::new(&config.http)?,
            config: config.clone(),
            stop: stop.clone(),
            chains: Arc::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) fn fresh(&self) -> Self {
        let Inner { config, http, stop, chains } = &*self.inner;
        let (config, stop, chains) = (config.clone(), stop.clone(), Arc::clone(chains));
        Self { inner: Arc::new(Inner { config, http: http.fresh(), stop, chains }) }
    }

    /// Makes one request. Returns one sample, or one for each hop if redirects are followed. Needs
    /// a tokio runtime with I/O and time.
    pub async fn fetch(&self, target: &Target) -> Vec<Sample> {
        let insisted = pin!(self.insisted());
        let Chain { redirects, last } = self.measure(&Prepared::of(target), insisted).await;
        redirects.into_iter().chain([last]).map(Sample::from).collect()
    }

    /// Aborts when `insisted` completes: a future of [`Client::insisted`], which may be reused.
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

#[derive(Debug)]
pub(crate) struct Chain {
    /// Without the last hop.
    pub(crate) redirects: Vec<Measured>,
    pub(crate) last: Measured,
}

impl Inner {
    /// Returns the target of the redirect if redirects are followed.
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

    /// The fast path: a plain GET on an idle connection. `None` if it does not apply.
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
