//! The two clocks of a run: the monotonic one, in which everything is counted, and the wall clock, in which the kernel stamps packets.

use super::steps::Reading;
use crate::clock::{self, Clock};

/// Both clocks.
#[derive(Clone, Copy)]
pub(super) struct Clocks {
    pub(super) monotonic: Clock,
    /// By how much somebody has set the wall clock until a moment of the monotonic one, both in ns: for tests, which cannot set the machine's.
    set: fn(u64) -> i64,
}

impl Clocks {
    pub(super) fn start(set: fn(u64) -> i64) -> Self {
        Self { monotonic: Clock::start(), set }
    }

    /// Both, as close to each other as can be.
    pub(super) fn read(self) -> Reading {
        let before = self.monotonic.now();
        let wall = clock::wall_ns();
        let after = self.monotonic.now();
        let within = after - before;
        let monotonic = before + within / 2;
        Reading { monotonic, wall: wall.saturating_add((self.set)(monotonic)), within }
    }

    /// What a clock that was so set would have stamped instead.
    pub(super) fn stamp(self, kernel: i64) -> i64 {
        let ahead = clock::wall_ns().saturating_sub_unsigned(self.monotonic.now());
        let at = u64::try_from(kernel.saturating_sub(ahead)).unwrap_or_default();
        kernel.saturating_add((self.set)(at))
    }
}

/// A clock that nobody sets but the machine.
pub(super) fn as_it_is(_: u64) -> i64 {
    0
}
