//! Random numbers of several distributions, from a generator that the caller has seeded.

use std::f64::consts::TAU;

use rand_core::Rng;

/// Uniform over (0, 1]: never 0, so that its logarithm is finite.
#[expect(clippy::cast_precision_loss, reason = "53 bits are what an f64 holds exactly")]
pub(crate) fn unit(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Mean 1, by inversion of the distribution function.
pub(crate) fn exponential(rng: &mut impl Rng) -> f64 {
    -unit(rng).ln()
}

/// Box and Muller (1958).
pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    (2.0 * exponential(rng)).sqrt() * (TAU * unit(rng)).cos()
}
