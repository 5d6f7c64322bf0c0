//! CoDel: controlled delay (RFC 8289).

use std::time::Duration;

use super::{Grant, Judgement};
use crate::time::picoseconds;

#[derive(Debug)]
pub(crate) struct Codel {
    target_ps: u64,
    interval_ps: u64,
    /// A queue of at most the largest segment is not a standing queue.
    largest: u64,
    above_until_ps: Option<u64>,
    dropping: bool,
    next_ps: u64,
    count: u32,
    last_count: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaving {
    pub(crate) now_ps: u64,
    pub(crate) arrival_ps: u64,
    pub(crate) bytes: u64,
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

    /// A pass is valid until the control law could decide differently.
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

    pub(crate) fn rest(&mut self) {
        self.above_until_ps = None;
    }

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

    /// If the last dropping state ended recently, it continues near the rate needed then.
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

    fn calm_until_ps(&self, leaving: Leaving) -> u64 {
        match self.above_until_ps {
            Some(_) if self.dropping => self.next_ps,
            Some(until_ps) => until_ps,
            // Only the delay of the waiting segments can exceed the target.
            None => leaving.arrival_ps.saturating_add(self.target_ps),
        }
    }
}
