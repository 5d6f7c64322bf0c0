//! A transmitter that sends at the opportunities of a [`Trace`], by mahimahi's rules.
//!
//! A segment may need several opportunities, and leaves with its last byte. A packet that arrives
//! exactly at an opportunity has missed it.

use std::sync::Arc;

use crate::{Trace, trace::OPPORTUNITY_BYTES};

#[derive(Debug)]
pub(crate) struct Replay {
    trace: Arc<Trace>,
    began_ps: u64,
    size: u64,
    next: u64,
    used: u64,
}

impl Replay {
    pub(crate) fn new(trace: Arc<Trace>, began_ps: u64, overhead: u32) -> Self {
        Self { trace, began_ps, size: size(overhead), next: 0, used: 0 }
    }

    pub(crate) fn frame(&mut self, overhead: u32) {
        self.size = size(overhead);
        self.used = self.used.min(self.size - 1);
    }

    pub(crate) fn start_ps(&self, since_ps: u64) -> u64 {
        self.time_ps(self.opportunity(since_ps).0)
    }

    pub(crate) fn together(&self, start_ps: u64, segment: u64) -> u64 {
        let (next, used) = self.at(start_ps);
        let last = next + (used + segment - 1) / self.size;
        (last + self.trace.alike(last) - next).saturating_mul(self.size).saturating_sub(used)
    }

    pub(crate) fn begun_by(&self, start_ps: u64, until_ps: u64) -> u64 {
        let (next, used) = self.at(start_ps);
        let end = self.first_after(until_ps.saturating_sub(1));
        (end.saturating_sub(next)).saturating_mul(self.size).saturating_sub(used)
    }

    /// `start_ps` is a result of [`Replay::start_ps`]. Returns when the last byte leaves.
    pub(crate) fn send(&mut self, start_ps: u64, bytes: u64) -> u64 {
        let (next, used) = self.at(start_ps);
        let end = used + bytes;
        (self.next, self.used) = (next + end / self.size, end % self.size);
        self.time_ps(next + end.saturating_sub(1) / self.size)
    }

    fn at(&self, start_ps: u64) -> (u64, u64) {
        self.opportunity(start_ps.saturating_sub(1))
    }

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
