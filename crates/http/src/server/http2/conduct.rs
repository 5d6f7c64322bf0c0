//! How a client treats its HTTP/2 connection. It may answer pings and want nothing, ask for much and take none of it, or ask and go before
//! there is an answer; h2 lets it have its connection for that, and this does not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::Notify;

/// What is known of a connection's client. Nothing of it reads a clock.
#[derive(Debug, Default)]
pub(super) struct Conduct {
    /// Requests that have no whole response yet.
    open: AtomicUsize,
    /// Of them, those whose client has to make room for the next piece of body.
    held_up: AtomicUsize,
    /// Requests, pieces and ends of responses so far.
    steps: AtomicU64,
    answered: AtomicU64,
    /// Requests that were taken back before they were answered.
    taken_back: AtomicU64,
    abuse: Notify,
}

/// Why a connection ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// There is no request on it.
    Idle,
    /// Its client takes nothing of what it asked for.
    Stalled,
    /// Its client takes back most of what it asks for, which costs it nothing and us an answer (CVE-2023-44487).
    Abuse,
    /// Its client does not answer pings.
    Lost,
}

impl Conduct {
    /// A request has come.
    pub(super) fn begin(self: &Arc<Self>) -> Exchange {
        self.open.fetch_add(1, Relaxed);
        self.steps.fetch_add(1, Relaxed);
        Exchange { conduct: Arc::clone(self), is_answered: false, is_held_up: false, body_bytes: 0 }
    }

    /// A request has come, and was answered where it was found.
    pub(super) fn answered_at_once(&self) {
        self.steps.fetch_add(1, Relaxed);
        self.answered.fetch_add(1, Relaxed);
    }

    /// Waits until the connection is to be ended: after `patience` without a step, or twice that, as it looks only so often.
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
                // What is waited for is ours to say.
                _ => {}
            }
        }
    }
}

/// A request from its head to the end of its response.
#[derive(Debug)]
pub(super) struct Exchange {
    conduct: Arc<Conduct>,
    is_answered: bool,
    is_held_up: bool,
    body_bytes: u64,
}

impl Exchange {
    /// There is an answer, or it is ours that there is none.
    pub(super) fn answered(&mut self) {
        self.is_answered = true;
        self.conduct.answered.fetch_add(1, Relaxed);
    }

    /// There is a piece of its response for which the client has made no room.
    pub(super) fn is_held_up(&mut self) {
        self.set_held_up(true);
    }

    /// A piece of its response, of so many bytes, was handed to the connection.
    pub(super) fn moves_on(&mut self, bytes: usize) {
        self.set_held_up(false);
        self.conduct.steps.fetch_add(1, Relaxed);
        self.body_bytes += bytes as u64;
    }

    /// Bytes of its response's body that were handed to the connection.
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

/// So many may be taken back on any connection: those of a page that somebody leaves.
const MOST_TAKEN_BACK: u64 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// How a connection ends in the next hour, if it does.
    async fn ending(conduct: &Arc<Conduct>) -> Option<Ending> {
        tokio::time::timeout(Duration::from_secs(3600), conduct.ending(PATIENCE)).await.ok()
    }

    fn answered(conduct: &Arc<Conduct>) -> Exchange {
        let mut exchange = conduct.begin();
        exchange.answered();
        exchange
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_ends_and_one_that_waits_for_us_does_not() {
        let conduct = Arc::new(Conduct::default());
        assert_eq!(ending(&conduct).await, Some(Ending::Idle));
        let exchange = conduct.begin();
        assert_eq!(ending(&conduct).await, None);
        drop(exchange);
        let mut exchange = answered(&conduct);
        assert_eq!(ending(&conduct).await, None);
        // It was held up, has taken a piece and has room for the next one, which does not come.
        exchange.is_held_up();
        exchange.moves_on(1);
        assert_eq!(ending(&conduct).await, None);
        drop(exchange);
        assert_eq!(ending(&conduct).await, Some(Ending::Idle));
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_no_room_for_what_there_is_is_not_waited_for_unless_something_moves() {
        let conduct = Arc::new(Conduct::default());
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
            let conduct = Arc::new(Conduct::default());
            (0..before).for_each(|_| drop(answered(&conduct)));
            (0..=MOST_TAKEN_BACK).for_each(|_| drop(conduct.begin()));
            assert_eq!(ending(&conduct).await, expected);
        }
    }
}
