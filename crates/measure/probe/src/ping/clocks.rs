//! The two clocks of a run: the monotonic clock for all times, and the wall clock of the kernel's
//! packet timestamps.

use super::steps::Reading;
use crate::clock::{self, Clock};

#[derive(Clone, Copy)]
pub(super) struct Clocks {
    pub(super) monotonic: Clock,
    /// The offset of a simulated wall clock, for tests, which cannot set the machine's clock.
    set: fn(u64) -> i64,
}

impl Clocks {
    pub(super) fn start(set: fn(u64) -> i64) -> Self {
        Self { monotonic: Clock::start(), set }
    }

    pub(super) fn read(self) -> Reading {
        let before = self.monotonic.now();
        let wall = clock::wall_ns();
        let after = self.monotonic.now();
        let within = after - before;
        let monotonic = before + within / 2;
        Reading { monotonic, wall: wall.saturating_add((self.set)(monotonic)), within }
    }

    pub(super) fn stamp(self, kernel: i64) -> i64 {
        let ahead = clock::wall_ns().saturating_sub_unsigned(self.monotonic.now());
        let at = u64::try_from(kernel.saturating_sub(ahead)).unwrap_or_default();
        kernel.saturating_add((self.set)(at))
    }
}

pub(super) fn as_it_is(_: u64) -> i64 {
    0
}
