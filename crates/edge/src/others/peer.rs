//! The state of one peer: whether it responds, its round-trip time, and counters of requests.

use std::{
    net::SocketAddr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use http::{Origin, Scheme};
use tokio::sync::watch;

use super::{carried::Connections, gone::Gone};

#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: String,
    /// Its name as host, with the port of its link.
    pub(crate) origin: Origin,
    pub(crate) address: SocketAddr,
    /// Limits concurrent exchanges of purges to two, so that a purge need not wait for an exchange that
    /// started before it.
    pub(crate) turns: tokio::sync::Semaphore,
    /// Connections that it has opened to this data centre.
    pub(super) connections: Connections,
    is_lost: watch::Sender<bool>,
    state: Mutex<State>,
    /// The smoothed round-trip time, ns; 0 before the first measurement.
    round_trip: AtomicU64,
    heard: AtomicU64,
    requests: AtomicU64,
    failures: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// The time of the last change of `is_lost`, ns.
    since: u64,
    why: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) is_lost: bool,
    /// Whether it has responded and is not lost.
    pub(crate) is_up: bool,
    pub(crate) since: u64,
    pub(crate) why: Option<String>,
    pub(crate) round_trip: Option<Duration>,
    pub(crate) requests: u64,
    pub(crate) failures: u64,
}

impl Peer {
    pub(crate) fn new(name: String, address: SocketAddr) -> Self {
        Self {
            origin: Origin { scheme: Scheme::Https, host: name.clone(), port: address.port() },
            name,
            address,
            turns: tokio::sync::Semaphore::new(2),
            connections: Connections::default(),
            is_lost: watch::channel(false).0,
            state: Mutex::default(),
            round_trip: AtomicU64::new(0),
            heard: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        }
    }

    /// Records a response. Returns whether the peer was lost before.
    pub(super) fn heard(&self, now: u64) -> bool {
        self.heard.store(now, Relaxed);
        let is_news = self.is_lost.send_if_modified(std::mem::take);
        if is_news {
            *self.state() = State { since: now, why: String::new() };
        }
        is_news
    }

    /// Records a failure. Returns whether the peer was reachable before.
    pub(super) fn lost(&self, now: u64, why: &str) -> bool {
        let is_news = self.is_lost.send_if_modified(|is_lost| !std::mem::replace(is_lost, true));
        let mut state = self.state();
        if is_news {
            state.since = now;
        }
        why.clone_into(&mut state.why);
        is_news
    }

    pub(super) fn is_silent_since(&self, then: u64) -> bool {
        *self.is_lost.borrow() || self.heard.load(Relaxed) < then
    }

    pub(super) fn measured(&self, took: Duration) {
        let took = http::clock::nanos(took).max(1);
        let before = self.round_trip.load(Relaxed);
        let smoothed = if before == 0 { took } else { (before / 8).saturating_mul(7) + took / 8 };
        self.round_trip.store(smoothed, Relaxed);
    }

    pub(crate) fn round_trip(&self) -> Option<Duration> {
        let round_trip = self.round_trip.load(Relaxed);
        (round_trip > 0).then(|| Duration::from_nanos(round_trip))
    }

    pub(crate) fn why_lost(&self) -> Option<String> {
        let is_lost = *self.is_lost.borrow();
        is_lost.then(|| self.state().why.clone())
    }

    /// Completes when the peer becomes unreachable.
    pub(crate) fn is_gone(&self) -> Gone {
        let mut is_lost = self.is_lost.subscribe();
        Box::pin(async move {
            // If the peer is dropped, nothing needs this result.
            if is_lost.wait_for(|is_lost| *is_lost).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    pub(crate) fn asked(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    /// Counts a request without a response.
    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Relaxed);
    }

    pub(crate) fn seen(&self) -> Seen {
        let is_lost = *self.is_lost.borrow();
        let has_answered = self.heard.load(Relaxed) > 0;
        let state = self.state();
        Seen {
            is_lost,
            is_up: has_answered && !is_lost,
            since: state.since,
            why: match (is_lost, has_answered) {
                (true, _) => Some(state.why.clone()),
                (false, false) => Some("it has not responded yet".to_owned()),
                (false, true) => None,
            },
            round_trip: self.round_trip(),
            requests: self.requests.load(Relaxed),
            failures: self.failures.load(Relaxed),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer() -> Peer {
        Peer::new("fra".into(), "192.0.2.1:4400".parse().unwrap())
    }

    #[tokio::test]
    async fn who_waits_learns_that_it_is_gone() {
        let peer = peer();
        let gone = tokio::spawn(peer.is_gone());
        assert!(peer.lost(1, "refused") && !peer.lost(2, "refused again"));
        gone.await.unwrap();
        assert_eq!(peer.seen().why.as_deref(), Some("refused again"));
        assert_eq!(peer.seen().since, 1);
        assert!(peer.heard(3) && !peer.heard(4));
        assert_eq!((peer.seen().why, peer.seen().since), (None, 3));
        assert!(peer.is_silent_since(5) && !peer.is_silent_since(4));
    }

    #[test]
    fn round_trips_are_smoothed() {
        let peer = peer();
        assert_eq!(peer.round_trip(), None);
        peer.measured(Duration::from_millis(80));
        peer.measured(Duration::from_millis(160));
        assert_eq!(peer.round_trip(), Some(Duration::from_millis(90)));
    }
}
