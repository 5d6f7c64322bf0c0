//! Random numbers from a seed.

use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[derive(Debug, Clone)]
pub(super) struct Chance(Xoshiro256PlusPlus);

impl Chance {
    pub(super) fn of(seed: u64, number: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(1000).wrapping_add(number)))
    }

    /// A number less than `end`, which must not be 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    pub(super) fn place(&mut self, of: usize) -> usize {
        usize::try_from(self.below(of as u64)).unwrap_or_default()
    }

    pub(super) fn between(&mut self, from: Duration, to: Duration) -> Duration {
        let nanos = u64::try_from((to - from).as_nanos()).unwrap_or(u64::MAX);
        from + Duration::from_nanos(self.below(nanos.max(1)))
    }
}
