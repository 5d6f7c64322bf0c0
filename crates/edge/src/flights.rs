//! One request at the origin for many that wait for the same object: the first leads, the others follow.

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

/// What a flight came to, once the response's head is known.
#[derive(Debug, Clone)]
pub(crate) enum Landing {
    /// It was stored: for all requests that it may be reused for. Its body may still be coming.
    Shared(Arc<Object>),
    /// The origin failed, and this may be used because of that.
    Instead(Arc<Object>),
    /// It was stored all along, where only a flight looks: for all whom it matches.
    Found(Arc<Object>),
    /// It is for the one who asked: everybody else asks on their own.
    Alone,
    /// There is no response.
    Failed(Refusal),
}

/// The flights of a data centre.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<Key, Open, Spread>,
    next: u64,
}

/// A flight that requests may join.
#[derive(Debug)]
struct Open {
    number: u64,
    /// The role in which its leader sends a request to another data centre; `None` if it sends it to the origin.
    next: Option<Role>,
    ground: Arc<Ground>,
}

/// Where a flight lands.
#[derive(Debug)]
struct Ground {
    landing: OnceLock<Landing>,
    has_landed: Notify,
    /// For those who have to ask on their own after all.
    turns: Semaphore,
}

impl Default for Ground {
    fn default() -> Self {
        let (landing, has_landed) = (OnceLock::new(), Notify::new());
        Self { landing, has_landed, turns: Semaphore::new(MOST_ASKING) }
    }
}

/// The part of a request in a flight.
pub(crate) enum Part {
    Leads(Flight),
    Follows(Waiting),
}

/// A flight, for the one who leads it. Dropped without a landing, it lets the others ask on their own.
pub(crate) struct Flight {
    flights: Arc<Flights>,
    key: Key,
    number: u64,
    ground: Arc<Ground>,
}

/// A flight, for one who follows.
pub(crate) struct Waiting(Arc<Ground>);

impl Flights {
    /// Joins the flight for a key, or begins one, whose leader sends its request in the role `next`, or to the origin.
    ///
    /// A request follows only a leader whose own request is nearer to the origin. Otherwise data centres that disagree about the upper
    /// tier could wait for each other.
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
        table.open.insert(key.clone(), Open { number, next: next(), ground: Arc::clone(&ground) });
        Part::Leads(Flight { flights: Arc::clone(self), key: key.clone(), number, ground })
    }

    /// A flight that no request joins.
    pub(crate) fn alone(self: &Arc<Self>, key: &Key) -> Flight {
        Flight { flights: Arc::clone(self), key: key.clone(), number: ALONE, ground: Arc::default() }
    }

    /// Lets nobody join the flights that may bring what is purged; those for other URLs go on as they are.
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
    /// Tells all who follow; later requests find what is stored, or begin another flight.
    pub(crate) fn land(self, landing: Landing) {
        // There is no other: this is the only one who lands it.
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
    /// Waits for a turn to ask on its own, which ends with the permit: all that waited would otherwise reach the origin in the
    /// same moment.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.0.turns.acquire().await.ok()
    }

    /// What it came to.
    pub(crate) async fn landing(&self) -> Landing {
        loop {
            // Who waits from here on is woken, so that nothing can happen between the look and the wait.
            let has_landed = self.0.has_landed.notified();
            if let Some(landing) = self.0.landing.get() {
                return landing.clone();
            }
            has_landed.await;
        }
    }
}

/// The number of flights that are not in the table.
const ALONE: u64 = 0;

/// Requests that waited for one response and ask their origin at the same time, because they may not share it.
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
        // The end of the old one does not end the new one.
        drop(old);
        assert!(matches!(to_origin(&flights, "/"), Part::Follows(_)));
    }

    #[tokio::test]
    async fn a_purge_of_something_else_leaves_a_flight_open() {
        let flights = Arc::new(Flights::default());
        let Part::Leads(_flight) = to_origin(&flights, "/a") else { panic!("nobody was there before") };
        flights.close([&Purge::Url("http://a/".to_owned()), &Purge::Prefix("a/b".to_owned())]);
        assert!(matches!(to_origin(&flights, "/a"), Part::Follows(_)));
        // Only the response will say which tags it has.
        flights.close([&Purge::Tag("red".to_owned())]);
        assert!(matches!(to_origin(&flights, "/a"), Part::Leads(_)));
    }
}
