//! A timeout for the peer of a connection.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep};

/// Restarting only reads a clock; the timer is reset only when it fires.
pub(crate) struct StallTimeout {
    limit: Duration,
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl StallTimeout {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, since: Instant::now(), timer: Box::pin(tokio::time::sleep(limit)) }
    }

    pub(crate) fn begin(&mut self) {
        self.since = Instant::now();
    }

    pub(crate) fn begin_within(&mut self, limit: Duration) {
        self.begin();
        if limit != self.limit {
            self.limit = limit;
            self.timer.as_mut().reset(self.since + limit);
        }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.timer.as_mut().poll(cx));
            let end = self.since.checked_add(self.limit);
            match end.filter(|&end| end > Instant::now()) {
                Some(end) => self.timer.as_mut().reset(end),
                None => return Poll::Ready(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_ends_only_after_a_whole_limit_without_a_step() {
        let began = Instant::now();
        let mut patience = StallTimeout::new(Duration::from_secs(10));
        tokio::time::sleep(Duration::from_secs(7)).await;
        patience.begin();
        std::future::poll_fn(|cx| patience.poll(cx)).await;
        assert_eq!(began.elapsed().as_secs(), 17);
        patience.begin_within(Duration::from_secs(2));
        std::future::poll_fn(|cx| patience.poll(cx)).await;
        assert_eq!(began.elapsed().as_secs(), 19);
    }
}
