//! The state of one peer: whether it responds, its round-trip time, and counters of requests.

use std::{
    net::SocketAddr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use http_stack::{Origin, Scheme};
use tokio::sync::watch;

use super::{liveness::PeerDown, tcp_stats::Connections};

#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) address: SocketAddr,
    /// Limits exchanges of purges to two, so that a purge need not wait for an exchange that
    /// started before it.
    pub(crate) sync_permits: tokio::sync::Semaphore,
    pub(super) connections: Connections,
    is_lost: watch::Sender<bool>,
    state: Mutex<State>,
    /// Smoothed, in ns; 0 before the first measurement.
    round_trip: AtomicU64,
    last_received: AtomicU64,
    requests: AtomicU64,
    failures: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    since: u64,
    why: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PeerSnapshot {
    pub(crate) is_lost: bool,
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
            origin: Origin {
                scheme: Scheme::Https,
                host: name.clone(),
                port: address.port(),
                server_name: None,
            },
            name,
            address,
            sync_permits: tokio::sync::Semaphore::new(2),
            connections: Connections::default(),
            is_lost: watch::channel(false).0,
            state: Mutex::default(),
            round_trip: AtomicU64::new(0),
            last_received: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        }
    }

    pub(super) fn mark_up(&self, now: u64) -> bool {
        self.last_received.store(now, Relaxed);
        let is_news = self.is_lost.send_if_modified(std::mem::take);
        if is_news {
            *self.state() = State { since: now, why: String::new() };
        }
        is_news
    }

    pub(super) fn mark_down(&self, now: u64, why: &str) -> bool {
        let is_news = self.is_lost.send_if_modified(|is_lost| !std::mem::replace(is_lost, true));
        let mut state = self.state();
        if is_news {
            state.since = now;
        }
        why.clone_into(&mut state.why);
        is_news
    }

    pub(super) fn is_silent_since(&self, then: u64) -> bool {
        *self.is_lost.borrow() || self.last_received.load(Relaxed) < then
    }

    pub(super) fn record_round_trip(&self, took: Duration) {
        let took = http_stack::clock::nanos(took).max(1);
        let previous = self.round_trip.load(Relaxed);
        let smoothed = if previous == 0 { took } else { (previous / 8).saturating_mul(7) + took / 8 };
        self.round_trip.store(smoothed, Relaxed);
    }

    pub(crate) fn round_trip(&self) -> Option<Duration> {
        let round_trip = self.round_trip.load(Relaxed);
        (round_trip > 0).then(|| Duration::from_nanos(round_trip))
    }

    pub(crate) fn down_reason(&self) -> Option<String> {
        let is_lost = *self.is_lost.borrow();
        is_lost.then(|| self.state().why.clone())
    }

    pub(crate) fn down(&self) -> PeerDown {
        let mut is_lost = self.is_lost.subscribe();
        Box::pin(async move {
            if is_lost.wait_for(|is_lost| *is_lost).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    pub(crate) fn count_request(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_failure(&self) {
        self.failures.fetch_add(1, Relaxed);
    }

    pub(crate) fn snapshot(&self) -> PeerSnapshot {
        let is_lost = *self.is_lost.borrow();
        let has_answered = self.last_received.load(Relaxed) > 0;
        let state = self.state();
        PeerSnapshot {
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
    async fn waiter_is_woken_when_the_peer_goes_down() {
        let peer = peer();
        let gone = tokio::spawn(peer.down());
        assert!(peer.mark_down(1, "refused") && !peer.mark_down(2, "refused again"));
        gone.await.unwrap();
        assert_eq!(peer.snapshot().why.as_deref(), Some("refused again"));
        assert_eq!(peer.snapshot().since, 1);
        assert!(peer.mark_up(3) && !peer.mark_up(4));
        assert_eq!((peer.snapshot().why, peer.snapshot().since), (None, 3));
        assert!(peer.is_silent_since(5) && !peer.is_silent_since(4));
    }

    #[test]
    fn round_trips_are_smoothed() {
        let peer = peer();
        assert_eq!(peer.round_trip(), None);
        peer.record_round_trip(Duration::from_millis(80));
        peer.record_round_trip(Duration::from_millis(160));
        assert_eq!(peer.round_trip(), Some(Duration::from_millis(90)));
    }
}
