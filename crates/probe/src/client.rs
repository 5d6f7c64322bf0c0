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
mod redirect;
mod sample;
mod target;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use http::{Scheme, client::Trace};
use recording::Sample;

pub(crate) use self::failure::Failure;
use self::sample::{Head, sample};
pub use self::{
    config::{Config, Connections, Known, Lookups, Protocol, Redirects, Trust},
    target::Target,
};
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
        let mut samples = Vec::with_capacity(1);
        let mut hop = target.clone();
        loop {
            let (mut sample, next) = self.inner.measure(&hop).await;
            match next {
                Some(_) if samples.len() >= limits::REDIRECTS => {
                    sample.error = Some(Failure::Redirects.to_string());
                }
                Some(next) => {
                    samples.push(sample);
                    hop = next;
                    continue;
                }
                None => {}
            }
            samples.push(sample);
            break;
        }
        if samples.len() > 1 {
            let chain = self.inner.chains.fetch_add(1, Relaxed);
            for sample in &mut samples {
                sample.chain = Some(chain);
            }
        }
        samples
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

impl Inner {
    /// One request, and where it redirects to if redirects are followed.
    async fn measure(&self, target: &Target) -> (Sample, Option<Target>) {
        let mut trace = Trace::start(self.http.clock().now());
        let mut head = Head::default();
        let outcome = tokio::select! {
            biased;
            outcome = tokio::time::timeout(self.config.timeout, self.attempt(target, &mut trace, &mut head)) => {
                outcome.unwrap_or_else(|_| Err(Failure::Timeout(trace.step())))
            }
            () = self.stop.insisted() => Err(Failure::Abandoned),
        };
        let next = match (outcome, self.config.redirects, head.status) {
            (Ok(()), Redirects::Follow, Some(status)) => {
                head.location.as_deref().and_then(|location| redirect::next(target, status, location))
            }
            _ => None,
        };
        (sample(&trace, head, outcome.err()), next)
    }

    /// Makes the request, and reads the response to its end, discarding the body.
    async fn attempt(&self, target: &Target, trace: &mut Trace, head: &mut Head) -> Result<(), Failure> {
        let response = self.http.send(&target.origin, target.request(), trace).await?;
        *head = Head::of(response.status(), response.headers());
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            frame?;
        }
        Ok(())
    }
}
