//! A service in a network of several data centres: its requests to other data centres, and its responses to
//! theirs.
//!
//! The store is in one data centre, or in two that replicate each other. Reads are served from copies in
//! memory or on disk (`shelved.rs`), or are requested from the key's upper tiers (`above.rs`). All other
//! requests are forwarded to the store (`to_store.rs`), which notifies the key's tiers of each write
//! (`telling.rs`). The implementation of [`Links`] authenticates the data centres; this module defines the
//! messages (`wire.rs`) and the handlers (`answers.rs`).
//!
//! With two stores, reads request both (`racing.rs`), and either store accepts a write (`either.rs`) and
//! replicates it to the other one (`giving.rs`). Anti-entropy compares the two stores (`comparing.rs`).

mod above;
mod answers;
mod comparing;
mod either;
mod flights;
mod giving;
mod handed;
mod racing;
mod shelved;
mod telling;
mod to_store;
mod whereabouts;
mod wire;

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher as _, RandomState},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http_stack::{Body, Request, Response};
use kv::{Clock, StoreName, Tier, Usual};
use tier_routing::{CentreId, KeyHash};
use tokio::{
    sync::{Notify, Semaphore},
    time::sleep,
};

use self::{above::Came, flights::Flights, telling::Telling};
pub(crate) use self::{above::Question, giving::filling, to_store::in_binding};
pub use self::{
    whereabouts::{Whereabouts, WouldAnswer},
    wire::is_read_as_written,
};

/// The links to the other data centres of a network, for the service of one data centre.
pub trait Links: Send + Sync {
    /// The next data centre from which to request a key, and its tier, for a request that this data centre
    /// received as `asked_as`; `None` if the store is here.
    fn next(&self, key: KeyHash, asked_as: Tier) -> Option<(CentreId, Tier)>;

    /// The data centre with the store, or the first available one of two; `None` if this data centre has a
    /// store.
    fn store(&self) -> Option<CentreId>;

    /// All data centres with a store, in the order of the network's file.
    fn stores(&self) -> Vec<CentreId>;

    /// Whether a data centre is considered available: its link has not failed.
    fn answers(&self, centre: CentreId) -> bool;

    /// The data centres to notify of a write to this key, possibly including this one.
    fn told(&self, key: KeyHash) -> Vec<CentreId>;

    /// This data centre.
    fn here(&self) -> CentreId;

    /// All data centres of the network, including this one.
    fn all(&self) -> Vec<CentreId>;

    /// The name of a data centre.
    fn name(&self, centre: CentreId) -> String;

    /// Sends a request to another data centre. There is no timeout, except that the request fails when the
    /// data centre is known to be unavailable.
    fn send(&self, centre: CentreId, request: Request<Body>) -> Sending<'_>;
}

/// A request to another data centre in progress.
pub type Sending<'l> = Pin<Box<dyn Future<Output = Result<Response<Body>, Unreached>> + Send + 'l>>;

/// The reason why another data centre has not responded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreached {
    /// The request was not sent.
    NotAsked(String),
    /// The request was sent and may have been processed.
    NotHeard(String),
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotAsked(why) | Self::NotHeard(why)) = self;
        f.write_str(why)
    }
}

/// The state that a service keeps for the other data centres.
pub(crate) struct Linked {
    pub(crate) links: Arc<dyn Links>,
    flights: Flights<Came>,
    telling: Telling,
    /// The usual response times of the other data centres.
    usual: Mutex<HashMap<CentreId, Usual>>,
    /// Assigns versions to writes when there are two stores.
    clock: Mutex<Clock>,
    /// Notified when keys are marked for replication.
    pub(crate) noted: Notify,
    /// Slots for comparisons of a read with the other store.
    checks: Arc<Semaphore>,
}

impl Linked {
    /// `name` is the name of this data centre.
    pub(crate) fn by(links: Arc<dyn Links>, name: StoreName) -> Self {
        Self {
            links,
            flights: Flights::default(),
            telling: Telling::default(),
            usual: Mutex::default(),
            clock: Mutex::new(Clock::anew(name, RandomState::new().hash_one(0))),
            noted: Notify::new(),
            checks: Arc::new(Semaphore::new(MOST_CHECKS)),
        }
    }

    /// The two data centres with stores, if there are two.
    fn pair(&self) -> Option<[CentreId; 2]> {
        self.links.stores().try_into().ok()
    }

    /// The data centre with the other store, if there are two stores and one is here.
    pub(crate) fn other_store(&self) -> Option<CentreId> {
        let [one, other] = self.pair()?;
        match self.links.here() {
            here if here == one => Some(other),
            here if here == other => Some(one),
            _ => None,
        }
    }

    fn usual(&self) -> MutexGuard<'_, HashMap<CentreId, Usual>> {
        self.usual.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time after which a request to this data centre is also sent to another one.
    fn late_after(&self, centre: CentreId) -> Duration {
        self.usual().entry(centre).or_default().late_after()
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request with this body. Retries as [`Linked::send`] does if the body is in memory.
    async fn send_with(
        &self,
        centre: CentreId,
        head: Request<()>,
        body: Body,
    ) -> Result<Response<Body>, Unreached> {
        let again = body.again();
        let mut first = Some(body);
        let request = move || {
            let body = first.take().or_else(|| again.as_ref()?.again())?;
            Some(head.clone().map(|()| body))
        };
        self.send(centre, request).await
    }

    /// Sends a request. Retries it while the other data centre's process is being replaced, if the request
    /// can be repeated.
    async fn send(
        &self,
        centre: CentreId,
        mut request: impl FnMut() -> Option<Request<Body>> + Send,
    ) -> Result<Response<Body>, Unreached> {
        let mut tries = 0;
        let mut next = request();
        loop {
            let Some(now) = next else { return Err(Unreached::NotAsked(LEFT.to_owned())) };
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

/// Concurrent comparisons with the other store. Further reads are not compared.
const MOST_CHECKS: usize = 64;
const LEFT: &str = "another process is taking over: try again in a moment";
/// Ten seconds in total, for the other process to open the file.
const MOST_AGAIN: u32 = 200;
const BEFORE_AGAIN: Duration = Duration::from_millis(50);
