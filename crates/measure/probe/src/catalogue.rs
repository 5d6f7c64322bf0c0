//! A catalogue of objects whose popularity follows Zipf's law, as on the web.

use std::fmt;

use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::random;

/// A number of objects, numbered from 1 by popularity: the k-th is requested in proportion to
/// 1/k^s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    /// The number of objects, up to [`Catalogue::MOST`].
    pub objects: u32,
    /// The exponent s; 0: uniform.
    pub zipf: f64,
}

impl Catalogue {
    /// The placeholder of an object's number in a URL.
    pub const PLACE: &str = "{}";

    /// A draw searches a table with 8 bytes per object.
    pub const MOST: u32 = 10_000_000;

    /// "Web Caching and Zipf-like Distributions" (Breslau and others, 1999) found 0.64 to 0.83 for
    /// web pages.
    pub const ZIPF: f64 = 0.8;

    pub(crate) fn draws(self, rng: Xoshiro256PlusPlus) -> Draws {
        let mut sum = 0.0;
        let weight = |number: u32| f64::from(number).powf(-self.zipf);
        let up_to = (1..=self.objects.max(1)).map(|number| {
            sum += weight(number);
            sum
        });
        Draws { up_to: up_to.collect(), rng }
    }
}

impl fmt::Display for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} objects by Zipf's law with exponent {}", self.objects, self.zipf)
    }
}

#[derive(Debug)]
pub(crate) struct Draws {
    up_to: Vec<f64>,
    rng: Xoshiro256PlusPlus,
}

impl Draws {
    pub(crate) fn draw(&mut self) -> usize {
        let all = self.up_to.last().copied().unwrap_or(1.0);
        let at = random::unit(&mut self.rng) * all;
        // `unit` is in (0, 1], so each object has the interval up to its cumulative weight.
        self.up_to.partition_point(|&sum| sum < at).min(self.up_to.len() - 1) + 1
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn counts(catalogue: Catalogue, draws: usize) -> Vec<f64> {
        let mut counts = vec![0.0; catalogue.objects as usize];
        let mut drawn = catalogue.draws(Xoshiro256PlusPlus::seed_from_u64(7));
        for _ in 0..draws {
            counts[drawn.draw() - 1] += 1.0;
        }
        counts
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "a million is exact")]
    fn the_share_of_each_object_is_that_of_zipfs_law() {
        let n = 1_000_000;
        for zipf in [0.0, 0.8, 1.0, 2.0] {
            let catalogue = Catalogue { objects: 20, zipf };
            let all: f64 = (1..=20).map(|k| f64::from(k).powf(-zipf)).sum();
            for (k, count) in (1..).zip(counts(catalogue, n)) {
                let share = f64::from(k).powf(-zipf) / all;
                // Five standard errors of a share: one of 80 shares is beyond them by chance in 20
                // 000 seeds.
                let error = 5.0 * (share * (1.0 - share) / n as f64).sqrt();
                assert!((count / n as f64 - share).abs() < error, "s = {zipf}, k = {k}");
            }
        }
    }

    #[test]
    fn one_object_is_always_drawn() {
        assert_eq!(counts(Catalogue { objects: 1, zipf: 0.8 }, 100), [100.0]);
    }
}
