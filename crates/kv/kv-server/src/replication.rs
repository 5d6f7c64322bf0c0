//! A service in a network of several data centres: its requests to other data centres, and its
//! responses to theirs.
//!
//! Reads are served from copies (`local_copy.rs`), or are requested from the key's upper tiers
//! (`upstream_read.rs`). All other requests are forwarded to the store (`write_forwarding.rs`), which notifies the
//! key's tiers of each write (`invalidation.rs`). `wire.rs` has the messages and `peer_api.rs` the
//! handlers.
//!
//! With two stores, reads request both (`dual_read.rs`), and either store accepts a write
//! (`failover_write.rs`) and replicates it to the other one (`hinted_handoff.rs`). Anti-entropy compares the two
//! stores (`anti_entropy.rs`).

mod anti_entropy;
mod copy_report;
mod dual_read;
mod failover_write;
mod hinted_handoff;
mod invalidation;
mod local_copy;
mod peer_api;
mod read_collapse;
mod record_stream;
mod upstream_read;
mod wire;
mod write_forwarding;

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher as _, RandomState},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http_stack::{Body, Request, Response};
use kv::{HybridClock, LatencyEstimate, StoreName, Tier};
use tier_routing::{DataCentreId, KeyHash};
use tokio::{
    sync::{Notify, Semaphore},
    time::sleep,
};

pub use self::{
    copy_report::{CopyReport, WouldAnswer},
    wire::is_read_as_written,
};
pub(crate) use self::{hinted_handoff::filling, upstream_read::ReadQuery, write_forwarding::in_binding};
use self::{invalidation::Invalidation, read_collapse::Flights, upstream_read::ReadOutcome};

/// The links to the other data centres of a network, for the service of one data centre.
pub trait PeerLinks: Send + Sync {
    /// The next data centre from which to request a key, and its tier; `None` if the store is here.
    fn next(&self, key: KeyHash, asked_as: Tier) -> Option<(DataCentreId, Tier)>;

    /// The data centre with the store, or the first available one of two; `None` if this data
    /// centre has a store.
    fn store(&self) -> Option<DataCentreId>;

    /// All data centres with a store, in the order of the network's file.
    fn stores(&self) -> Vec<DataCentreId>;

    /// Whether a data centre is considered available: its link has not failed.
    fn is_up(&self, centre: DataCentreId) -> bool;

    /// The data centres to notify of a write to this key, possibly including this one.
    fn subscribers(&self, key: KeyHash) -> Vec<DataCentreId>;

    /// This data centre.
    fn local(&self) -> DataCentreId;

    /// All data centres of the network, including this one.
    fn all(&self) -> Vec<DataCentreId>;

    /// The name of a data centre.
    fn name(&self, centre: DataCentreId) -> String;

    /// Sends a request to another data centre. There is no timeout, except that the request fails
    /// when the data centre is known to be unavailable.
    fn send(&self, centre: DataCentreId, request: Request<Body>) -> Sending<'_>;
}

/// A request to another data centre in progress.
pub type Sending<'l> = Pin<Box<dyn Future<Output = Result<Response<Body>, PeerError>> + Send + 'l>>;

/// The reason why another data centre has not responded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerError {
    /// The request was not sent.
    NotAsked(String),
    /// The request was sent and may have been processed.
    NotHeard(String),
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotAsked(why) | Self::NotHeard(why)) = self;
        f.write_str(why)
    }
}

pub(crate) struct Replication {
    pub(crate) links: Arc<dyn PeerLinks>,
    flights: Flights<ReadOutcome>,
    telling: Invalidation,
    usual: Mutex<HashMap<DataCentreId, LatencyEstimate>>,
    clock: Mutex<HybridClock>,
    /// Notified when keys are marked for replication.
    pub(crate) noted: Notify,
    checks: Arc<Semaphore>,
}

impl Replication {
    /// `name` is that of this data centre.
    pub(crate) fn by(links: Arc<dyn PeerLinks>, name: StoreName) -> Self {
        Self {
            links,
            flights: Flights::default(),
            telling: Invalidation::default(),
            usual: Mutex::default(),
            clock: Mutex::new(HybridClock::anew(name, RandomState::new().hash_one(0))),
            noted: Notify::new(),
            checks: Arc::new(Semaphore::new(MOST_CHECKS)),
        }
    }

    fn pair(&self) -> Option<[DataCentreId; 2]> {
        self.links.stores().try_into().ok()
    }

    /// `None` unless there are two stores and one is here.
    pub(crate) fn other_store(&self) -> Option<DataCentreId> {
        let [one, other] = self.pair()?;
        match self.links.local() {
            here if here == one => Some(other),
            here if here == other => Some(one),
            _ => None,
        }
    }

    fn usual(&self) -> MutexGuard<'_, HashMap<DataCentreId, LatencyEstimate>> {
        self.usual.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn late_after(&self, centre: DataCentreId) -> Duration {
        self.usual().entry(centre).or_default().late_after()
    }

    fn clock(&self) -> MutexGuard<'_, HybridClock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Retries as [`Replication::send`] does if the body is in memory.
    async fn send_with(
        &self,
        centre: DataCentreId,
        head: Request<()>,
        body: Body,
    ) -> Result<Response<Body>, PeerError> {
        let again = body.again();
        let mut first = Some(body);
        let request = move || {
            let body = first.take().or_else(|| again.as_ref()?.again())?;
            Some(head.clone().map(|()| body))
        };
        self.send(centre, request).await
    }

    /// Retries while the other data centre's process is being replaced, if the request can be
    /// repeated.
    async fn send(
        &self,
        centre: DataCentreId,
        mut request: impl FnMut() -> Option<Request<Body>> + Send,
    ) -> Result<Response<Body>, PeerError> {
        let mut tries = 0;
        let mut next = request();
        loop {
            let Some(now) = next else { return Err(PeerError::NotAsked(LEFT.to_owned())) };
            let response = self.links.send(centre, now).await?;
            next = request();
            if !response.headers().contains_key(wire::AGAIN) || tries == MOST_AGAIN || next.is_none() {
                return Ok(response);
            }
            tries += 1;
            sleep(BEFORE_AGAIN).await;
        }
    }
}

/// Further reads are not compared.
const MOST_CHECKS: usize = 64;
const LEFT: &str = "another process is taking over: try again in a moment";
/// Ten seconds in total, for the other process to open the file.
const MOST_AGAIN: u32 = 200;
const BEFORE_AGAIN: Duration = Duration::from_millis(50);
