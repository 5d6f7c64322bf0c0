//! Detects abusive or stalled clients of an HTTP/2 connection: clients that are idle and only
//! acknowledge pings, that do not read their responses, or that cancel requests before the response. h2
//! does not close such connections.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(super) struct AbuseGuard {
    open: AtomicUsize,
    held_up: AtomicUsize,
    steps: AtomicU64,
    answered: AtomicU64,
    taken_back: AtomicU64,
    abuse: Notify,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Idle,
    Stalled,
    /// The client cancels most of its requests, which are cheap to send but costly to handle
    /// (CVE-2023-44487).
    Abuse,
    Lost,
}

impl AbuseGuard {
    pub(super) fn begin(self: &Arc<Self>) -> Exchange {
        self.open.fetch_add(1, Relaxed);
        self.steps.fetch_add(1, Relaxed);
        Exchange { conduct: Arc::clone(self), is_answered: false, is_held_up: false, body_bytes: 0 }
    }

    pub(super) fn answered_at_once(&self) {
        self.steps.fetch_add(1, Relaxed);
        self.answered.fetch_add(1, Relaxed);
    }

    /// Waits until the connection should end: after `patience` without progress, or up to twice that,
    /// because it checks only once per `patience`.
    pub(super) async fn ending(&self, patience: Duration) -> Ending {
        loop {
            let before = self.steps.load(Relaxed);
            tokio::select! {
                () = self.abuse.notified() => return Ending::Abuse,
                () = tokio::time::sleep(patience) => {}
            }
            let is_still = self.steps.load(Relaxed) == before;
            match self.open.load(Relaxed) {
                0 if is_still => return Ending::Idle,
                _ if is_still && self.held_up.load(Relaxed) > 0 => return Ending::Stalled,
                _ => {}
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Exchange {
    conduct: Arc<AbuseGuard>,
    is_answered: bool,
    is_held_up: bool,
    body_bytes: u64,
}

impl Exchange {
    /// There is a response, or the server is the cause that there is no response.
    pub(super) fn answered(&mut self) {
        self.is_answered = true;
        self.conduct.answered.fetch_add(1, Relaxed);
    }

    pub(super) fn is_held_up(&mut self) {
        self.set_held_up(true);
    }

    pub(super) fn moves_on(&mut self, bytes: usize) {
        self.set_held_up(false);
        self.conduct.steps.fetch_add(1, Relaxed);
        self.body_bytes += bytes as u64;
    }

    pub(super) fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    fn set_held_up(&mut self, is_held_up: bool) {
        if self.is_held_up != is_held_up {
            self.is_held_up = is_held_up;
            let held_up = &self.conduct.held_up;
            if is_held_up {
                held_up.fetch_add(1, Relaxed)
            } else {
                held_up.fetch_sub(1, Relaxed)
            };
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.set_held_up(false);
        let conduct = &self.conduct;
        conduct.open.fetch_sub(1, Relaxed);
        conduct.steps.fetch_add(1, Relaxed);
        if !self.is_answered {
            let taken_back = conduct.taken_back.fetch_add(1, Relaxed) + 1;
            if taken_back > MOST_TAKEN_BACK && taken_back > conduct.answered.load(Relaxed) {
                conduct.abuse.notify_one();
            }
        }
    }
}

const MOST_TAKEN_BACK: u64 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    async fn ending(conduct: &Arc<AbuseGuard>) -> Option<Ending> {
        tokio::time::timeout(Duration::from_secs(3600), conduct.ending(PATIENCE)).await.ok()
    }

    fn answered(conduct: &Arc<AbuseGuard>) -> Exchange {
        let mut exchange = conduct.begin();
        exchange.answered();
        exchange
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_ends_and_one_that_waits_for_us_does_not() {
        let conduct = Arc::new(AbuseGuard::default());
        assert_eq!(ending(&conduct).await, Some(Ending::Idle));
        let exchange = conduct.begin();
        assert_eq!(ending(&conduct).await, None);
        drop(exchange);
        let mut exchange = answered(&conduct);
        assert_eq!(ending(&conduct).await, None);
        exchange.is_held_up();
        exchange.moves_on(1);
        assert_eq!(ending(&conduct).await, None);
        drop(exchange);
        assert_eq!(ending(&conduct).await, Some(Ending::Idle));
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_no_room_for_what_there_is_is_not_waited_for_unless_something_moves() {
        let conduct = Arc::new(AbuseGuard::default());
        let mut exchange = answered(&conduct);
        exchange.is_held_up();
        let moving = async {
            for number in 0..10 {
                tokio::time::sleep(PATIENCE / 2).await;
                if number % 2 == 0 { drop(answered(&conduct)) } else { conduct.answered_at_once() }
            }
        };
        tokio::select! {
            ending = conduct.ending(PATIENCE) => panic!("{ending:?}"),
            () = moving => {}
        }
        assert_eq!(ending(&conduct).await, Some(Ending::Stalled));
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_back_most_of_what_it_asks_for_is_cut_off() {
        for (before, expected) in [(0, Some(Ending::Abuse)), (2 * MOST_TAKEN_BACK, Some(Ending::Idle))] {
            let conduct = Arc::new(AbuseGuard::default());
            (0..before).for_each(|_| drop(answered(&conduct)));
            (0..=MOST_TAKEN_BACK).for_each(|_| drop(conduct.begin()));
            assert_eq!(ending(&conduct).await, expected);
        }
    }
}
