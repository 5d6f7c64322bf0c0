//! Random ranks by Zipf's law: the probability of rank k is proportional to 1 / k^exponent. Uses
//! rejection-inversion (Hörmann and Derflinger 1996), which needs no table and usually one attempt,
//! for any number of ranks.

/// Zipf's law for one exponent and one number of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zipf {
    ranks: f64,
    exponent: f64,
    /// The integral up to half a rank after the first one, minus the probability of the first rank.
    first: f64,
    /// The integral up to the end.
    all: f64,
    /// A number that is at most this far below a rank is accepted without evaluating the integral.
    sure: f64,
}

impl Zipf {
    /// Ranks from 1 to `ranks`. The exponent is 0 (uniform) or more.
    pub fn new(ranks: u64, exponent: f64) -> Self {
        let ranks = ranks.max(1) as f64;
        let mut law = Self { ranks, exponent: exponent.max(0.0), first: 0.0, all: 0.0, sure: 0.0 };
        law.first = law.area(1.5) - 1.0;
        law.all = law.area(ranks + 0.5);
        law.sure = 2.0 - law.inverse(law.area(2.5) - law.height(2.0));
        law
    }

    /// Draws a rank. `uniform` returns numbers from 0 to 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to the number of ranks")]
    pub fn draw(&self, mut uniform: impl FnMut() -> f64) -> u64 {
        loop {
            let area = self.all + uniform() * (self.first - self.all);
            let x = self.inverse(area);
            let rank = x.round().clamp(1.0, self.ranks);
            if rank - x <= self.sure || area >= self.area(rank + 0.5) - self.height(rank) {
                return rank as u64;
            }
        }
    }

    /// The integral of [`Self::height`], up to a constant.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        expm1_over((1.0 - self.exponent) * log) * log
    }

    fn height(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    fn inverse(&self, area: f64) -> f64 {
        let scaled = (area * (1.0 - self.exponent)).max(-1.0);
        (ln1p_over(scaled) * area).exp()
    }
}

/// Converts random bits to a number in [0, 1), in steps of 2^-53.
pub(crate) fn uniform(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// (e^x - 1) / x, and 1 at 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > TINY { x.exp_m1() / x } else { 1.0 + x / 2.0 }
}

/// ln(1 + x) / x, and 1 at 0.
fn ln1p_over(x: f64) -> f64 {
    if x.abs() > TINY { x.ln_1p() / x } else { 1.0 - x / 2.0 }
}

/// Below this, the first two terms of the series have full double precision.
const TINY: f64 = 1e-8;

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn ranks_come_as_often_as_the_law_says() {
        for exponent in [0.0, 0.7, 1.0, 1.3] {
            let ranks = 50_u32;
            let law = Zipf::new(ranks.into(), exponent);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
            let draws = 200_000;
            let mut counts = [0_u32; 51];
            for _ in 0..draws {
                let rank = law.draw(|| uniform(random.next_u64()));
                counts[usize::try_from(rank).unwrap()] += 1;
            }
            let weight = |rank: u32| f64::from(rank).powf(-exponent);
            let sum: f64 = (1..=ranks).map(weight).sum();
            for (rank, count) in (1..=ranks).zip(&counts[1..]) {
                let share = weight(rank) / sum;
                let expected = f64::from(draws) * share;
                // Binomial: five standard deviations.
                let bound = 5.0 * (expected * (1.0 - share)).sqrt();
                assert!(
                    (f64::from(*count) - expected).abs() < bound,
                    "{exponent}: {rank} {count} for {expected}"
                );
            }
        }
    }

    #[test]
    fn one_rank_is_always_the_first() {
        let law = Zipf::new(1, 0.9);
        assert_eq!(law.draw(|| 0.3), 1);
        assert_eq!(law.draw(|| 0.999_999), 1);
    }
}
