//! Detects dead peers of HTTP/2 connections with pings: a machine that is switched off closes nothing.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use h2::{Ping, PingPong};
use tokio::time::{Instant, Sleep};

pub(super) struct Keepalive {
    pings: PingPong,
    patience: Duration,
    timer: Pin<Box<Sleep>>,
    waits: bool,
}

impl Keepalive {
    /// Sends a ping every `patience`, which is also the timeout for its response.
    pub(super) fn new(pings: PingPong, patience: Duration) -> Self {
        Self { pings, patience, timer: Box::pin(tokio::time::sleep(patience)), waits: false }
    }

    pub(super) async fn lost(mut self) {
        poll_fn(|cx| self.poll(cx)).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            // A response does not reset the timer; the state is checked when it fires.
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
