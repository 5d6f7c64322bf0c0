//! CoDel: controlled delay (RFC 8289).
//!
//! A queue that stays above its target for a whole interval is a standing queue and not a burst. From then
//! on segments are signalled - dropped, or marked - at intervals that shrink with the square root of their
//! number, which corresponds to the response of TCP throughput to loss.

use std::time::Duration;

use super::{Grant, Judgement};
use crate::time::picoseconds;

#[derive(Debug)]
pub(crate) struct Codel {
    target_ps: u64,
    interval_ps: u64,
    /// The largest segment so far. A queue of at most this size is not a standing queue.
    largest: u64,
    /// When the delay will have been above the target for an interval; `None` while it is below.
    above_until_ps: Option<u64>,
    dropping: bool,
    /// When the next segment signals.
    next_ps: u64,
    /// Signals since the start of the dropping state, and their number at its start.
    count: u32,
    last_count: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaving {
    pub(crate) now_ps: u64,
    pub(crate) arrival_ps: u64,
    pub(crate) bytes: u64,
    /// The backlog after it, in bytes.
    pub(crate) behind: u64,
}

impl Codel {
    pub(crate) fn new(target: Duration, interval: Duration) -> Self {
        Self {
            target_ps: picoseconds(target),
            interval_ps: picoseconds(interval),
            largest: 0,
            above_until_ps: None,
            dropping: false,
            next_ps: 0,
            count: 0,
            last_count: 0,
        }
    }

    /// Decides whether a segment is sent or signals congestion. A pass is valid until the control law could
    /// decide differently.
    pub(crate) fn judge(&mut self, leaving: Leaving) -> Judgement {
        let may_drop = self.may_drop(leaving);
        let now_ps = leaving.now_ps;
        if self.dropping && may_drop && now_ps >= self.next_ps {
            self.count = self.count.saturating_add(1);
            self.next_ps = self.after(self.next_ps);
            return Judgement::Signal;
        }
        if !self.dropping && may_drop {
            self.begin(now_ps);
            return Judgement::Signal;
        }
        self.dropping &= may_drop;
        Judgement::Pass(Grant { until_ps: self.calm_until_ps(leaving), ..Grant::ALL })
    }

    /// The queue is empty.
    pub(crate) fn rest(&mut self) {
        self.above_until_ps = None;
    }

    /// RFC 8289, `dodequeue`: whether the delay has been above the target for an interval.
    fn may_drop(&mut self, leaving: Leaving) -> bool {
        self.largest = self.largest.max(leaving.bytes);
        let delay_ps = leaving.now_ps.saturating_sub(leaving.arrival_ps);
        if delay_ps < self.target_ps || leaving.behind <= self.largest {
            self.above_until_ps = None;
            return false;
        }
        match self.above_until_ps {
            Some(until_ps) => leaving.now_ps >= until_ps,
            None => {
                self.above_until_ps = Some(leaving.now_ps.saturating_add(self.interval_ps));
                false
            }
        }
    }

    /// Enters the dropping state. If the last one ended recently, it continues near the rate needed then.
    fn begin(&mut self, now_ps: u64) {
        let needed = self.count - self.last_count;
        let recently = now_ps.saturating_sub(self.next_ps) < self.interval_ps.saturating_mul(16);
        self.count = if needed > 1 && recently { needed } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.next_ps = self.after(now_ps);
    }

    /// RFC 8289, `control_law`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an interval has fewer than 53 bits of picoseconds up to 2.5 hours"
    )]
    fn after(&self, time_ps: u64) -> u64 {
        time_ps.saturating_add((self.interval_ps as f64 / f64::from(self.count).sqrt()) as u64)
    }

    /// When the segments after a passed one must be judged again.
    fn calm_until_ps(&self, leaving: Leaving) -> u64 {
        match self.above_until_ps {
            Some(_) if self.dropping => self.next_ps,
            Some(until_ps) => until_ps,
            // Only the delay of the waiting segments can exceed the target.
            None => leaving.arrival_ps.saturating_add(self.target_ps),
        }
    }
}
