//! A transmitter that sends when a [`Trace`] has an opportunity, by mahimahi's rules.
//!
//! An opportunity that finds nothing waiting is wasted, and so is the rest of one that has sent the last of what
//! waited. A segment may need several, and leaves at the one that sends its last byte. What arrives at the very time
//! of an opportunity has missed it.

use std::sync::Arc;

use crate::{Trace, trace::OPPORTUNITY_BYTES};

/// The position in a trace.
#[derive(Debug)]
pub(crate) struct Replay {
    trace: Arc<Trace>,
    began_ps: u64,
    /// Bytes of an opportunity on the link: the link's framing is carried on top, so that a full IP packet takes exactly
    /// one.
    size: u64,
    /// The opportunity that sends next, through all repetitions.
    next: u64,
    /// Bytes of it that are used up.
    used: u64,
}

impl Replay {
    pub(crate) fn new(trace: Arc<Trace>, began_ps: u64, overhead: u32) -> Self {
        Self { trace, began_ps, size: size(overhead), next: 0, used: 0 }
    }

    /// Changes the framing from here on.
    pub(crate) fn frame(&mut self, overhead: u32) {
        self.size = size(overhead);
        self.used = self.used.min(self.size - 1);
    }

    /// When the first of what waits since `since_ps` begins to leave.
    pub(crate) fn start_ps(&self, since_ps: u64) -> u64 {
        self.time_ps(self.opportunity(since_ps).0)
    }

    /// How many bytes, from `start_ps` on, leave at one time with the first `segment` bytes.
    pub(crate) fn together(&self, start_ps: u64, segment: u64) -> u64 {
        let (next, used) = self.at(start_ps);
        let last = next + (used + segment - 1) / self.size;
        (last + self.trace.alike(last) - next).saturating_mul(self.size).saturating_sub(used)
    }

    /// How many bytes, from `start_ps` on, leave before `until_ps`.
    pub(crate) fn begun_by(&self, start_ps: u64, until_ps: u64) -> u64 {
        let (next, used) = self.at(start_ps);
        let end = self.first_after(until_ps.saturating_sub(1));
        (end.saturating_sub(next)).saturating_mul(self.size).saturating_sub(used)
    }

    /// Sends `bytes` from `start_ps` on, a time that [`Replay::start_ps`] gave; returns when the last one leaves.
    pub(crate) fn send(&mut self, start_ps: u64, bytes: u64) -> u64 {
        let (next, used) = self.at(start_ps);
        let end = used + bytes;
        (self.next, self.used) = (next + end / self.size, end % self.size);
        self.time_ps(next + end.saturating_sub(1) / self.size)
    }

    /// The opportunity that is at `start_ps`, and how much of it is used up.
    fn at(&self, start_ps: u64) -> (u64, u64) {
        self.opportunity(start_ps.saturating_sub(1))
    }

    /// The first opportunity after `since_ps` that is not used up, and how much of it is.
    fn opportunity(&self, since_ps: u64) -> (u64, u64) {
        if self.time_ps(self.next) > since_ps {
            (self.next, self.used)
        } else {
            (self.first_after(since_ps), 0)
        }
    }

    fn first_after(&self, time_ps: u64) -> u64 {
        match time_ps.checked_sub(self.began_ps) {
            Some(elapsed_ps) => self.trace.first_after(elapsed_ps / MILLISECOND_PS),
            None => 0,
        }
    }

    fn time_ps(&self, opportunity: u64) -> u64 {
        self.began_ps.saturating_add(self.trace.time_ms(opportunity).saturating_mul(MILLISECOND_PS))
    }
}

fn size(overhead: u32) -> u64 {
    OPPORTUNITY_BYTES + u64::from(overhead)
}

const MILLISECOND_PS: u64 = 1_000_000_000;
