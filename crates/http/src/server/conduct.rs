//! How a client treats its HTTP/2 connection. It may answer pings and want nothing, ask for much and take none of it, or ask and go before
//! there is an answer; hyper lets it have its connection for that, and this does not.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use hyper::Response;
use tokio::sync::Notify;

use crate::{
    Body, Failure,
    body::{Frame, Frames, SizeHint},
};

/// What is known of a connection's client. Nothing of it reads a clock.
#[derive(Debug, Default)]
pub(super) struct Conduct {
    /// Requests that have no whole response yet.
    open: AtomicUsize,
    /// Of them, those whose next piece of body the connection has no room for.
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
}

impl Conduct {
    /// A request has come.
    pub(super) fn begin(self: &Arc<Self>) -> Exchange {
        self.open.fetch_add(1, Relaxed);
        self.steps.fetch_add(1, Relaxed);
        Exchange { conduct: Arc::clone(self), is_answered: false, is_held_up: false }
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
}

impl Exchange {
    /// There is an answer, or it is ours that there is none.
    pub(super) fn answered(&mut self) {
        self.is_answered = true;
        self.conduct.answered.fetch_add(1, Relaxed);
    }

    /// Its response, whose body is followed to its end.
    pub(super) fn follow(self, response: Response<Body>) -> Response<Body> {
        // What is whole is taken at once.
        let is_whole = response.body().again().is_some();
        if is_whole { response } else { response.map(|body| Body::stream(Followed { body, exchange: self })) }
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

/// A body of which is known whether the connection has room for more: it is asked for its next piece only then.
struct Followed {
    body: Body,
    exchange: Exchange,
}

impl Frames for Followed {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        self.exchange.set_held_up(false);
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.exchange.conduct.steps.fetch_add(1, Relaxed);
        self.exchange.set_held_up(frame.is_some());
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
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

    fn answered(conduct: &Arc<Conduct>, body: Body) -> Body {
        let mut exchange = conduct.begin();
        exchange.answered();
        exchange.follow(Response::new(body)).into_body()
    }

    fn pieces() -> Body {
        let (sender, body) = Body::channel(2);
        tokio::spawn(async move {
            sender.send("a").await.unwrap();
            std::future::pending::<()>().await;
        });
        body
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_ends_and_one_that_waits_for_us_does_not() {
        let conduct = Arc::new(Conduct::default());
        assert_eq!(ending(&conduct).await, Some(Ending::Idle));
        let exchange = conduct.begin();
        assert_eq!(ending(&conduct).await, None);
        drop(exchange);
        let mut body = answered(&conduct, pieces());
        assert_eq!(ending(&conduct).await, None);
        // It has taken a piece and has room for the next one, which does not come.
        assert!(body.data().await.is_ok());
        assert!(tokio::time::timeout(PATIENCE, body.data()).await.is_err());
        assert_eq!(ending(&conduct).await, None);
        drop(body);
        assert_eq!(ending(&conduct).await, Some(Ending::Idle));
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_no_room_for_what_there_is_is_not_waited_for_unless_something_moves() {
        let conduct = Arc::new(Conduct::default());
        let mut body = answered(&conduct, pieces());
        assert!(body.data().await.is_ok());
        let moving = async {
            for _ in 0..10 {
                tokio::time::sleep(PATIENCE / 2).await;
                drop(answered(&conduct, Body::empty()));
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
            (0..before).for_each(|_| drop(answered(&conduct, Body::empty())));
            (0..=MOST_TAKEN_BACK).for_each(|_| drop(conduct.begin()));
            assert_eq!(ending(&conduct).await, expected);
        }
    }
}
