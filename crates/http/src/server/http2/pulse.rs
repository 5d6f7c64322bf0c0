//! Whether the client of an HTTP/2 connection is still there: a machine that is switched off ends nothing.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use h2::{Ping, PingPong};
use tokio::time::{Instant, Sleep};

/// Pings a client now and then.
pub(super) struct Pulse {
    pings: PingPong,
    patience: Duration,
    /// Until the next ping, or until the answer to the last one has to be there.
    timer: Pin<Box<Sleep>>,
    waits: bool,
}

impl Pulse {
    /// One that pings each time that `patience` has passed, and waits no longer than that for an answer.
    pub(super) fn new(pings: PingPong, patience: Duration) -> Self {
        Self { pings, patience, timer: Box::pin(tokio::time::sleep(patience)), waits: false }
    }

    /// Waits until a ping is not answered in time.
    pub(super) async fn lost(mut self) {
        poll_fn(|cx| self.poll(cx)).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            // An answer moves no timer: what it goes off for is looked at then.
            if self.waits && self.pings.poll_pong(cx).is_ready() {
                self.waits = false;
            }
            ready!(self.timer.as_mut().poll(cx));
            if self.waits || self.pings.send_ping(Ping::opaque()).is_err() {
                return Poll::Ready(());
            }
            self.waits = true;
            self.timer.as_mut().reset(Instant::now() + self.patience);
        }
    }
}
