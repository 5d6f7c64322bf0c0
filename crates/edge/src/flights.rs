//! Collapsed forwarding (RFC 9211 "collapsed"): the leader sends one upstream request per key, and followers
//! wait for its result.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use cache::{
    Key, Spread,
    purge::{self, Purge},
};
use tiers::Role;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use crate::{store::Object, visit::Refusal};

/// The result of the leader's request, available when the response header has arrived.
#[derive(Debug, Clone)]
pub(crate) enum Landing {
    /// Stored, for all requests that may reuse it. The body may still be arriving.
    Shared(Arc<Object>),
    /// The origin failed, and this stale object may be served (stale-if-error).
    Instead(Arc<Object>),
    /// Already stored where only the leader looks it up, for example on disk.
    Found(Arc<Object>),
    /// Not shareable: each follower sends a separate request.
    Alone,
    Failed(Refusal),
}

#[derive(Debug, Default)]
pub(crate) struct Flights {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<Key, OpenFlight, Spread>,
    next: u64,
}

#[derive(Debug)]
struct OpenFlight {
    number: u64,
    /// The role in which the leader requests from a peer data centre; `None` if it requests from the origin.
    next: Option<Role>,
    ground: Arc<Ground>,
}

#[derive(Debug)]
struct Ground {
    landing: OnceLock<Landing>,
    has_landed: Notify,
    /// Permits for followers that may not share the response and send separate requests.
    turns: Semaphore,
}

impl Default for Ground {
    fn default() -> Self {
        let (landing, has_landed) = (OnceLock::new(), Notify::new());
        Self { landing, has_landed, turns: Semaphore::new(MOST_ASKING) }
    }
}

pub(crate) enum Part {
    Leads(Flight),
    Follows(Waiting),
}

/// Held by the leader. If it is dropped without a result, the followers send separate requests.
pub(crate) struct Flight {
    flights: Arc<Flights>,
    key: Key,
    number: u64,
    ground: Arc<Ground>,
}

pub(crate) struct Waiting(Arc<Ground>);

impl Flights {
    /// Joins the request in flight for a key as a follower, or becomes its leader. `next` returns the role in
    /// which the leader requests from a peer data centre, or `None` for the origin.
    ///
    /// A request follows only a leader whose upstream request is nearer to the origin. Otherwise data centres
    /// with different views of the upper tier could wait for each other.
    pub(crate) fn join(self: &Arc<Self>, key: &Key, role: Role, next: impl FnOnce() -> Option<Role>) -> Part {
        let mut table = self.lock();
        if let Some(open) = table.open.get(key) {
            let is_nearer = open.next.is_none_or(|next| role < next);
            let ground = Arc::clone(&open.ground);
            drop(table);
            return if is_nearer { Part::Follows(Waiting(ground)) } else { Part::Leads(self.alone(key)) };
        }
        table.next += 1;
        let number = table.next;
        let ground = Arc::<Ground>::default();
        table.open.insert(key.clone(), OpenFlight { number, next: next(), ground: Arc::clone(&ground) });
        Part::Leads(Flight { flights: Arc::clone(self), key: key.clone(), number, ground })
    }

    /// A leader without followers.
    pub(crate) fn alone(self: &Arc<Self>, key: &Key) -> Flight {
        Flight { flights: Arc::clone(self), key: key.clone(), number: ALONE, ground: Arc::default() }
    }

    /// Prevents new followers for the keys that these purges may match. Other keys are not affected.
    pub(crate) fn close<'p>(&self, purges: impl IntoIterator<Item = &'p Purge>) {
        let purges: Vec<_> = purges.into_iter().cloned().map(Purge::normal).collect();
        self.lock().open.retain(|key, _| {
            let url = purge::url(key.url());
            !purges.iter().any(|purge| purge.may_name(&url))
        });
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    /// Publishes the result to the followers. Later requests find the stored object, or start a new request.
    pub(crate) fn land(self, landing: Landing) {
        // Never set before: `self` is the only leader, and it is consumed.
        let _ = self.ground.landing.set(landing);
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut table = self.flights.lock();
        if table.open.get(&self.key).is_some_and(|open| open.number == self.number) {
            table.open.remove(&self.key);
        }
        drop(table);
        self.ground.landing.get_or_init(|| Landing::Alone);
        self.ground.has_landed.notify_waiters();
    }
}

impl Waiting {
    /// Waits for a permit to send a separate request. Without the limit all followers would reach the origin
    /// concurrently.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.0.turns.acquire().await.ok()
    }

    pub(crate) async fn landing(&self) -> Landing {
        loop {
            // Registered before the check, so that no notification is missed.
            let has_landed = self.0.has_landed.notified();
            if let Some(landing) = self.0.landing.get() {
                return landing.clone();
            }
            has_landed.await;
        }
    }
}

/// The number of leaders that are not in the table.
const ALONE: u64 = 0;

/// Concurrent upstream requests of followers that may not share one response.
const MOST_ASKING: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> Key {
        Key::of(
            &format!("http://a{path}").parse().unwrap(),
            &http::HeaderMap::new(),
            &cache::KeyRule::default(),
        )
    }

    fn to_origin(flights: &Arc<Flights>, path: &str) -> Part {
        flights.join(&key(path), Role::Lower, || None)
    }

    #[test]
    fn a_request_follows_only_a_leader_that_is_nearer_to_the_origin() {
        let next =
            [Some(Role::Regional), Some(Role::Upper(1)), Some(Role::Upper(2)), Some(Role::Former), None];
        let roles = [Role::Lower, Role::Regional, Role::Upper(1), Role::Upper(2), Role::Former, Role::Detour];
        for (next, followers) in next.into_iter().zip([1, 2, 3, 4, 6]) {
            let flights = Arc::new(Flights::default());
            let Part::Leads(_flight) = flights.join(&key("/"), Role::Lower, || next) else { panic!() };
            let follows = |role: &Role| matches!(flights.join(&key("/"), *role, || None), Part::Follows(_));
            assert_eq!(roles.iter().take_while(|role| follows(role)).count(), followers, "{next:?}");
            assert_eq!(roles.iter().filter(|role| follows(role)).count(), followers, "{next:?}");
        }
    }

    #[tokio::test]
    async fn the_first_leads_and_the_others_learn_what_it_came_to() {
        let flights = Arc::new(Flights::default());
        let Part::Leads(flight) = to_origin(&flights, "/") else { panic!("nobody was there before") };
        let Part::Follows(waiting) = to_origin(&flights, "/") else { panic!("somebody was") };
        assert!(matches!(to_origin(&flights, "/other"), Part::Leads(_)));
        flight.land(Landing::Alone);
        assert!(matches!(waiting.landing().await, Landing::Alone));
        assert!(matches!(to_origin(&flights, "/"), Part::Leads(_)));
    }

    #[tokio::test]
    async fn a_flight_that_is_given_up_holds_nobody_back() {
        let flights = Arc::new(Flights::default());
        let Part::Leads(flight) = to_origin(&flights, "/") else { panic!("nobody was there before") };
        let Part::Follows(waiting) = to_origin(&flights, "/") else { panic!("somebody was") };
        drop(flight);
        assert!(matches!(waiting.landing().await, Landing::Alone));
    }

    #[tokio::test]
    async fn nobody_joins_a_flight_after_a_purge() {
        let flights = Arc::new(Flights::default());
        let Part::Leads(old) = to_origin(&flights, "/") else { panic!("nobody was there before") };
        flights.close([&Purge::Url("http://a/".to_owned())]);
        let Part::Leads(_new) = to_origin(&flights, "/") else { panic!("the old one is closed") };
        // Dropping the old leader does not close the new entry.
        drop(old);
        assert!(matches!(to_origin(&flights, "/"), Part::Follows(_)));
    }

    #[tokio::test]
    async fn a_purge_of_something_else_leaves_a_flight_open() {
        let flights = Arc::new(Flights::default());
        let Part::Leads(_flight) = to_origin(&flights, "/a") else { panic!("nobody was there before") };
        flights.close([&Purge::Url("http://a/".to_owned()), &Purge::Prefix("a/b".to_owned())]);
        assert!(matches!(to_origin(&flights, "/a"), Part::Follows(_)));
        // Tags are unknown until the response arrives, so a purge by tag closes all entries.
        flights.close([&Purge::Tag("red".to_owned())]);
        assert!(matches!(to_origin(&flights, "/a"), Part::Leads(_)));
    }
}
