//! One HTTP request, measured: every phase and stamp of it as a [`Sample`].
//!
//! | phase | from | to |
//! | --- | --- | --- |
//! | `dns` | the resolver is asked | it has answered |
//! | `connect` | the first SYN | established |
//! | `tls` | ClientHello | the handshake is finished |
//! | `send` | first request byte | the kernel has accepted the last |
//! | `wait` | that | first byte of the final response's header |
//! | `load` | first body byte | last byte of the response |
//!
//! HTTP/1.1's stamps are exact to the read or write that carried the byte. On an HTTP/2 connection, which
//! requests share, `send` lasts from handing the request over to the connection's first flush after its last
//! part, and what comes in is stamped with the connection's latest read when it is found; a header comes as a
//! whole, so its stamp is that of its last byte. A request that met the server's limit of concurrent streams
//! carries the label `queued`: some of its `wait` was spent here.
//!
//! A phase that did not happen is absent: `dns` of a literal address or a remembered name, all three first
//! phases on a reused connection, `load` without a body. Between phases lies what belongs to none: a wait for
//! a shared connection, this program's own time.
//!
//! A failure is a sample with `error` and without latency. TCP_NODELAY is on; bodies are read to their end
//! and discarded.

mod config;
mod connect;
mod failure;
mod http1;
mod http2;
mod pool;
mod redirect;
mod resolve;
mod target;
mod tls;
mod trace;
mod trust;
mod wire;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use recording::Sample;

pub(crate) use self::failure::Failure;
pub use self::{
    config::{Config, Connections, Lookups, Protocol, Redirects, Trust},
    target::Target,
};
use self::{
    connect::{Connector, Fresh},
    pool::{Kept, Pool, Speaks},
    trace::Trace,
};
use crate::{Error, Stop, clock::Clock, limits};

/// Makes requests as its configuration says. Clones share connections and remembered names.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    connector: Connector,
    pool: Pool,
    clock: Clock,
    stop: Stop,
    chains: AtomicU64,
}

impl Client {
    /// A client whose samples count time from now.
    ///
    /// Asked once to stop, it still finishes what was begun; asked twice, it gives that up ([`Stop`]).
    ///
    /// # Errors
    /// When the file of trusted certificates cannot be used.
    pub fn new(config: &Config, stop: &Stop) -> Result<Self, Error> {
        let clock = Clock::start();
        let inner = Inner {
            connector: Connector::new(config, clock)?,
            config: config.clone(),
            pool: Pool::default(),
            clock,
            stop: stop.clone(),
            chains: AtomicU64::new(0),
        };
        Ok(Self { inner: Arc::new(inner) })
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

    /// Reads whose certificates count, if this target or one that it redirects to needs to know.
    ///
    /// # Errors
    /// When the system's store cannot be read.
    pub fn prepare(&self, target: &Target) -> Result<(), Error> {
        self.inner.connector.prepare(&target.origin, self.inner.config.redirects)
    }

    pub(crate) fn clock(&self) -> Clock {
        self.inner.clock
    }
}

impl Inner {
    /// One request, and where it redirects to if that shall be followed.
    async fn measure(&self, target: &Target) -> (Sample, Option<Target>) {
        let mut trace = Trace::start(self.clock.now());
        let outcome = tokio::select! {
            biased;
            outcome = tokio::time::timeout(self.config.timeout, self.attempt(target, &mut trace)) => {
                outcome.unwrap_or(Err(Failure::Timeout))
            }
            () = self.stop.insisted() => Err(Failure::Abandoned),
        };
        let next = match (outcome, self.config.redirects, trace.status) {
            (Ok(()), Redirects::Follow, Some(status)) => {
                trace.location.as_deref().and_then(|location| redirect::next(target, status, location))
            }
            _ => None,
        };
        (trace.finish(outcome.err()), next)
    }

    async fn attempt(&self, target: &Target, trace: &mut Trace) -> Result<(), Failure> {
        let kept = match self.config.connections {
            Connections::New => None,
            Connections::Reuse => self.pool.of(&target.origin),
        };
        let Some(kept) = kept else {
            return match self.connector.open(&target.origin, trace).await? {
                Fresh::Http1(mut connection) => connection.exchange(target, trace).await,
                Fresh::Http2(connection) => connection.exchange(target, trace).await,
            };
        };
        // Once on a connection that was there before, and if that is lost once more on a new one.
        if let Some(outcome) = on_kept(&kept, target, trace).await {
            match outcome {
                Err(failure) if trace.may_retry(failure, &target.method) => trace.retry(),
                other => return other,
            }
        }
        self.on_fresh(&kept, target, trace).await
    }

    /// Opens a connection for one request and keeps it for the next ones.
    async fn on_fresh(&self, kept: &Kept, target: &Target, trace: &mut Trace) -> Result<(), Failure> {
        let fresh = if self.connector.may_share(&target.origin) {
            let mut speaks = kept.opening.lock().await;
            if *speaks == Speaks::Http1 {
                drop(speaks);
                self.connector.open(&target.origin, trace).await?
            } else if let Some(connection) = kept.shared() {
                Fresh::Http2(connection)
            } else {
                let fresh = self.connector.open(&target.origin, trace).await?;
                match &fresh {
                    Fresh::Http1(_) => *speaks = Speaks::Http1,
                    Fresh::Http2(connection) => kept.share(connection.clone()),
                }
                fresh
            }
        } else {
            self.connector.open(&target.origin, trace).await?
        };
        match fresh {
            Fresh::Http1(mut connection) => {
                let outcome = connection.exchange(target, trace).await;
                if outcome.is_ok() {
                    kept.keep_idle(connection);
                }
                outcome
            }
            Fresh::Http2(connection) => connection.exchange(target, trace).await,
        }
    }
}

/// Makes the request on a connection that was kept; `None` if there is none.
async fn on_kept(kept: &Kept, target: &Target, trace: &mut Trace) -> Option<Result<(), Failure>> {
    if let Some(connection) = kept.shared() {
        let outcome = connection.exchange(target, trace).await;
        if outcome.is_err_and(Failure::is_lost_connection) {
            kept.unshare(&connection);
        }
        return Some(outcome);
    }
    let mut connection = kept.take_idle()?;
    let outcome = connection.exchange(target, trace).await;
    if outcome.is_ok() {
        kept.keep_idle(connection);
    }
    Some(outcome)
}
