//! Which segments are lost.
//!
//! Instead of one draw a segment, one draw says how many segments survive until the next loss (they are geometrically
//! distributed), so a lossless gigabit costs nothing and the outcome does not depend on how segments are grouped.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Probability;

/// Independent (Bernoulli) loss of segments.
#[derive(Debug)]
pub(crate) struct Loss {
    chance: Probability,
    survivors: u64,
    random: Xoshiro256PlusPlus,
}

impl Loss {
    pub(crate) fn new(chance: Probability, seed: u64) -> Self {
        let mut loss = Self { chance, survivors: 0, random: Xoshiro256PlusPlus::seed_from_u64(seed) };
        loss.draw();
        loss
    }

    /// Changes the chance from here on.
    pub(crate) fn set(&mut self, chance: Probability) {
        if chance != self.chance {
            self.chance = chance;
            self.draw();
        }
    }

    /// How many of the next `segments` pass before one is lost; `None` if all do. The lost one is then behind us.
    pub(crate) fn next_within(&mut self, segments: u32) -> Option<u32> {
        match u32::try_from(self.survivors) {
            Ok(survivors) if survivors < segments => {
                self.draw();
                Some(survivors)
            }
            _ => {
                self.survivors = self.survivors.saturating_sub(u64::from(segments));
                None
            }
        }
    }

    /// P(survivors >= k) = (1 - p)^k, so survivors = floor(ln u / ln(1 - p)) for u uniform in (0, 1].
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, which is meant"
    )]
    fn draw(&mut self) {
        let p = self.chance.get();
        self.survivors = if p <= 0.0 {
            u64::MAX
        } else if p >= 1.0 {
            0
        } else {
            (self.uniform().ln() / (-p).ln_1p()) as u64
        };
    }

    /// Uniform in (0, 1], with the 53 bits that an f64 can tell apart.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    fn uniform(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(share: f64) -> Probability {
        Probability::new(share).unwrap()
    }

    /// The indices of the segments lost among `total`, offered in groups of `group`.
    fn lost(p: f64, seed: u64, total: u32, group: u32) -> Vec<u32> {
        let mut loss = Loss::new(chance(p), seed);
        let mut indices = Vec::new();
        for first in (0..total).step_by(group as usize) {
            let mut from = first;
            let end = (first + group).min(total);
            while let Some(pass) = loss.next_within(end - from) {
                indices.push(from + pass);
                from += pass + 1;
            }
        }
        indices
    }

    #[test]
    fn grouping_changes_nothing() {
        let alone = lost(0.01, 7, 100_000, 1);
        assert_eq!(alone, lost(0.01, 7, 100_000, 45));
        assert_eq!(alone, lost(0.01, 7, 100_000, 100_000));
    }

    #[test]
    fn the_share_is_the_chance() {
        // Binomial: n p = 10 000, standard deviation sqrt(n p (1 - p)) = 99.5; four of them are 398.
        let n = lost(0.01, 3, 1_000_000, 45).len();
        assert!((9_602..=10_398).contains(&n), "{n} lost");
    }

    #[test]
    fn gaps_are_geometric() {
        let indices = lost(0.1, 5, 1_000_000, 1);
        let adjacent = indices.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        // A loss follows at once with chance p: 100 000 p = 10 000 +- 4 * 95.
        assert!((9_620..=10_380).contains(&adjacent), "{adjacent} adjacent");
    }

    #[test]
    fn never_and_always() {
        assert!(lost(0.0, 1, 1_000_000, 45).is_empty());
        assert_eq!(lost(1.0, 1, 1000, 45).len(), 1000);
    }
}
