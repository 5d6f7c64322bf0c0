//! Seeded random numbers. Each mechanism has a separate generator, so that changing one does not
//! affect the others.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Probability;

#[derive(Debug)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    /// One stream per use, called `name`.
    pub(crate) fn new(seed: u64, name: [u8; 8]) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed ^ u64::from_be_bytes(name)))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// In (0, 1], with the 53 bits of an f64's mantissa.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// `u64::MAX` if the event never happens. P(failures >= k) = (1 - p)^k, so failures = floor(ln
    /// u / ln(1 - p)).
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, which is meant"
    )]
    pub(crate) fn failures(&mut self, chance: Probability) -> u64 {
        let p = chance.get();
        if p <= 0.0 {
            u64::MAX
        } else if p >= 1.0 {
            0
        } else {
            (self.uniform().ln() / (-p).ln_1p()) as u64
        }
    }
}
