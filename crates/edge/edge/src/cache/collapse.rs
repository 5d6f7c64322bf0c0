//! Collapsed forwarding (RFC 9211 "collapsed"): the leader sends one upstream request per key, and
//! followers wait for its result.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use http_cache::{
    Key, U64Hasher,
    purge::{self, Purge},
};
use tier_routing::Role;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use crate::{request::rejection::Rejection, store::memory::Object};

#[derive(Debug, Clone)]
pub(crate) enum CollapseOutcome {
    /// Stored, for all requests that may reuse it. The body may still be arriving.
    Shared(Arc<Object>),
    StaleOnError(Arc<Object>),
    Found(Arc<Object>),
    NotShared,
    Failed(Rejection),
}

#[derive(Debug, Default)]
pub(crate) struct CollapseTable {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<Key, OpenFlight, U64Hasher>,
    next: u64,
}

#[derive(Debug)]
struct OpenFlight {
    number: u64,
    next: Option<Role>,
    state: Arc<CollapseState>,
}

#[derive(Debug)]
struct CollapseState {
    outcome: OnceLock<CollapseOutcome>,
    completed: Notify,
    fetch_permits: Semaphore,
}

impl Default for CollapseState {
    fn default() -> Self {
        let (outcome, has_landed) = (OnceLock::new(), Notify::new());
        Self { outcome, completed: has_landed, fetch_permits: Semaphore::new(MAX_CONCURRENT_FETCHES) }
    }
}

pub(crate) enum JoinRole {
    Leader(Leader),
    Follower(Follower),
}

/// If it is dropped without a result, the followers send separate requests.
pub(crate) struct Leader {
    table: Arc<CollapseTable>,
    key: Key,
    number: u64,
    state: Arc<CollapseState>,
}

pub(crate) struct Follower(Arc<CollapseState>);

impl CollapseTable {
    /// A request follows only a leader whose upstream request, given by `next`, is nearer to the
    /// origin. Otherwise data centres with different views of the upper tier could wait for each
    /// other.
    pub(crate) fn join(
        self: &Arc<Self>,
        key: &Key,
        role: Role,
        next: impl FnOnce() -> Option<Role>,
    ) -> JoinRole {
        let mut table = self.lock();
        if let Some(open) = table.open.get(key) {
            let is_nearer = open.next.is_none_or(|next| role < next);
            let state = Arc::clone(&open.state);
            drop(table);
            return if is_nearer {
                JoinRole::Follower(Follower(state))
            } else {
                JoinRole::Leader(self.uncollapsed(key))
            };
        }
        table.next += 1;
        let number = table.next;
        let state = Arc::<CollapseState>::default();
        table.open.insert(key.clone(), OpenFlight { number, next: next(), state: Arc::clone(&state) });
        JoinRole::Leader(Leader { table: Arc::clone(self), key: key.clone(), number, state })
    }

    pub(crate) fn uncollapsed(self: &Arc<Self>, key: &Key) -> Leader {
        Leader { table: Arc::clone(self), key: key.clone(), number: UNLISTED, state: Arc::default() }
    }

    pub(crate) fn close_for_purges<'p>(&self, purges: impl IntoIterator<Item = &'p Purge>) {
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

impl Leader {
    pub(crate) fn complete(self, outcome: CollapseOutcome) {
        // `self` is the only leader, and it is consumed.
        let _ = self.state.outcome.set(outcome);
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        let mut table = self.table.lock();
        if table.open.get(&self.key).is_some_and(|open| open.number == self.number) {
            table.open.remove(&self.key);
        }
        drop(table);
        self.state.outcome.get_or_init(|| CollapseOutcome::NotShared);
        self.state.completed.notify_waiters();
    }
}

impl Follower {
    /// Without the limit all followers would reach the origin concurrently.
    pub(crate) async fn fetch_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.0.fetch_permits.acquire().await.ok()
    }

    pub(crate) async fn outcome(&self) -> CollapseOutcome {
        loop {
            // Registered before the check, so that no notification is missed.
            let has_landed = self.0.completed.notified();
            if let Some(outcome) = self.0.outcome.get() {
                return outcome.clone();
            }
            has_landed.await;
        }
    }
}

const UNLISTED: u64 = 0;

const MAX_CONCURRENT_FETCHES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> Key {
        Key::of(
            &format!("http://a{path}").parse().unwrap(),
            &http_stack::HeaderMap::new(),
            &http_cache::KeyRule::default(),
        )
    }

    fn to_origin(collapse: &Arc<CollapseTable>, path: &str) -> JoinRole {
        collapse.join(&key(path), Role::Lower, || None)
    }

    #[test]
    fn request_follows_only_a_leader_nearer_to_the_origin() {
        let next =
            [Some(Role::Regional), Some(Role::Upper(1)), Some(Role::Upper(2)), Some(Role::Former), None];
        let roles = [Role::Lower, Role::Regional, Role::Upper(1), Role::Upper(2), Role::Former, Role::Detour];
        for (next, followers) in next.into_iter().zip([1, 2, 3, 4, 6]) {
            let collapse = Arc::new(CollapseTable::default());
            let JoinRole::Leader(_flight) = collapse.join(&key("/"), Role::Lower, || next) else { panic!() };
            let follows =
                |role: &Role| matches!(collapse.join(&key("/"), *role, || None), JoinRole::Follower(_));
            assert_eq!(roles.iter().take_while(|role| follows(role)).count(), followers, "{next:?}");
            assert_eq!(roles.iter().filter(|role| follows(role)).count(), followers, "{next:?}");
        }
    }

    #[tokio::test]
    async fn first_request_leads_and_followers_get_the_outcome() {
        let collapse = Arc::new(CollapseTable::default());
        let JoinRole::Leader(leader) = to_origin(&collapse, "/") else { panic!("nobody was there before") };
        let JoinRole::Follower(follower) = to_origin(&collapse, "/") else { panic!("somebody was") };
        assert!(matches!(to_origin(&collapse, "/other"), JoinRole::Leader(_)));
        leader.complete(CollapseOutcome::NotShared);
        assert!(matches!(follower.outcome().await, CollapseOutcome::NotShared));
        assert!(matches!(to_origin(&collapse, "/"), JoinRole::Leader(_)));
    }

    #[tokio::test]
    async fn dropped_leader_releases_followers() {
        let collapse = Arc::new(CollapseTable::default());
        let JoinRole::Leader(leader) = to_origin(&collapse, "/") else { panic!("nobody was there before") };
        let JoinRole::Follower(follower) = to_origin(&collapse, "/") else { panic!("somebody was") };
        drop(leader);
        assert!(matches!(follower.outcome().await, CollapseOutcome::NotShared));
    }

    #[tokio::test]
    async fn purge_closes_a_matching_collapse() {
        let collapse = Arc::new(CollapseTable::default());
        let JoinRole::Leader(old) = to_origin(&collapse, "/") else { panic!("nobody was there before") };
        collapse.close_for_purges([&Purge::Url("http://a/".to_owned())]);
        let JoinRole::Leader(_new) = to_origin(&collapse, "/") else { panic!("the old one is closed") };
        drop(old);
        assert!(matches!(to_origin(&collapse, "/"), JoinRole::Follower(_)));
    }

    #[tokio::test]
    async fn unrelated_purge_leaves_a_collapse_open() {
        let collapse = Arc::new(CollapseTable::default());
        let JoinRole::Leader(_flight) = to_origin(&collapse, "/a") else { panic!("nobody was there before") };
        collapse.close_for_purges([&Purge::Url("http://a/".to_owned()), &Purge::Prefix("a/b".to_owned())]);
        assert!(matches!(to_origin(&collapse, "/a"), JoinRole::Follower(_)));
        collapse.close_for_purges([&Purge::Tag("red".to_owned())]);
        assert!(matches!(to_origin(&collapse, "/a"), JoinRole::Leader(_)));
    }
}
