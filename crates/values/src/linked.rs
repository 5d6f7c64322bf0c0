//! A service in a network of several data centres: what it asks of the others, what it tells them, and what it answers them.
//!
//! The store is in one of them, or one each in two. Reads are answered from copies, in memory or on disk (`shelved.rs`), or asked for on the key's way to the store (`above.rs`); whatever else there
//! is goes to the store at once (`to_store.rs`), which tells the key's places of a write (`telling.rs`). Who may ask is decided by whoever has
//! the links: here is what is asked over them (`wire.rs`) and answered (`answers.rs`).
//!
//! Of two stores both are read (`racing.rs`), and either takes a write (`either.rs`), which it gives to the other one (`giving.rs`). Beside that they
//! compare what they know (`comparing.rs`).

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

use http::{Body, Request, Response};
use kv::{Clock, StoreName, Tier, Usual};
use tiers::{CentreId, KeyHash};
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

/// The links to the other data centres of a network, for the service of one of them.
pub trait Links: Send + Sync {
    /// Who is asked next for a key, and as what, by this data centre, which was itself asked as `asked_as`; `None` if the store is here.
    fn next(&self, key: KeyHash, asked_as: Tier) -> Option<(CentreId, Tier)>;

    /// The data centre with the store, or the first of two that answers; `None` if this one has one.
    fn store(&self) -> Option<CentreId>;

    /// All data centres with a store, in the order of the network's file.
    fn stores(&self) -> Vec<CentreId>;

    /// Whether a data centre answers, as far as is known.
    fn answers(&self, centre: CentreId) -> bool;

    /// Who is told that a key was written; this data centre may be among them.
    fn told(&self, key: KeyHash) -> Vec<CentreId>;

    /// This data centre.
    fn here(&self) -> CentreId;

    /// All of the network, this one among them.
    fn all(&self) -> Vec<CentreId>;

    /// The name of one.
    fn name(&self, centre: CentreId) -> String;

    /// Makes a request of another one. There is no time limit but that it is known not to answer.
    fn send(&self, centre: CentreId, request: Request<Body>) -> Sending<'_>;
}

/// A request to another data centre, under way.
pub type Sending<'l> = Pin<Box<dyn Future<Output = Result<Response<Body>, Unreached>> + Send + 'l>>;

/// Why another data centre has not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreached {
    /// It cannot be asked, and knows nothing of the request.
    NotAsked(String),
    /// It was asked, and may have done what it was asked to.
    NotHeard(String),
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotAsked(why) | Self::NotHeard(why)) = self;
        f.write_str(why)
    }
}

/// What a service has of the others.
pub(crate) struct Linked {
    pub(crate) links: Arc<dyn Links>,
    flights: Flights<Came>,
    telling: Telling,
    /// How long others usually take to answer.
    usual: Mutex<HashMap<CentreId, Usual>>,
    /// Makes versions of what is written to either of two stores.
    clock: Mutex<Clock>,
    /// Something is noted for the other store.
    pub(crate) noted: Notify,
    /// Keys that were read here and are compared with the other store.
    checks: Arc<Semaphore>,
}

impl Linked {
    /// For the data centre of this name.
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

    /// The data centre with the other store, if there are two and one is here.
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

    /// After which time another one is asked beside this one.
    fn late_after(&self, centre: CentreId) -> Duration {
        self.usual().entry(centre).or_default().late_after()
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a request with this body, as often as [`Linked::send`] makes it if the body is in memory, and once if not.
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

    /// Makes a request, and once more for as long as the other one is just being replaced by another process, if it can be made again.
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

/// Questions to the other store beside reads; what is read while as many are under way is not compared.
const MOST_CHECKS: usize = 64;
const LEFT: &str = "another process takes its place: ask again in a moment";
/// Ten seconds in all, for another process to open the file.
const MOST_AGAIN: u32 = 200;
const BEFORE_AGAIN: Duration = Duration::from_millis(50);
