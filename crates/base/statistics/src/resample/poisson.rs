//! Poisson counts: from tables for the few means that are drawn millions of times, and for any
//! mean.
//!
//! Probabilities are Loader's ("Fast and accurate computation of binomial probabilities", 2000).
//! Means of 10 and more use Hörmann's transformed rejection ("The transformed rejection method for
//! generating Poisson random variables", 1993, algorithm PTRS).

use std::f64::consts::TAU;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::alias::Alias;
use crate::distribution::{as_f64, floor};

#[derive(Debug)]
pub(crate) struct Table {
    alias: Alias,
    least: usize,
}

impl Table {
    pub(crate) fn new(mean: f64) -> Self {
        let reach = 13.0 * mean.sqrt();
        let (least, most) = (floor(mean - reach), floor(mean + reach) + 40);
        let weights: Vec<f64> = (least..=most).map(|count| ln_chance(as_f64(count), mean).exp()).collect();
        Self { alias: Alias::new(&weights), least }
    }

    #[inline]
    pub(crate) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> usize {
        self.least + self.alias.draw(random)
    }
}

/// `mean` is 0 to 2^53.
pub(crate) fn draw(mean: f64, random: &mut Xoshiro256PlusPlus) -> usize {
    if mean < 10.0 { draw_small(mean, random) } else { draw_large(mean, random) }
}

fn draw_small(mean: f64, random: &mut Xoshiro256PlusPlus) -> usize {
    let (mut count, mut time) = (0, -uniform(random).ln());
    while time < mean {
        count += 1;
        time -= uniform(random).ln();
    }
    count
}

/// PTRS; the constants are Hörmann's, right for means of 10 and more.
fn draw_large(mean: f64, random: &mut Xoshiro256PlusPlus) -> usize {
    let b = 0.931 + 2.53 * mean.sqrt();
    let a = -0.059 + 0.024_83 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    loop {
        let u = uniform(random) - 0.5;
        let v = uniform(random);
        let slack = 0.5 - u.abs();
        let count = ((2.0 * a / slack + b) * u + mean + 0.43).floor();
        if count < 0.0 || (slack < 0.013 && v > slack) {
            continue;
        }
        let quick = slack >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0);
        if quick || (v * inverse_alpha / (a / (slack * slack) + b)).ln() <= ln_chance(count, mean) {
            return floor(count);
        }
    }
}

/// Above 0 and at most 1.
pub(crate) fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// `count` is an integer.
pub(crate) fn ln_chance(count: f64, mean: f64) -> f64 {
    if mean <= 0.0 {
        return if count == 0.0 { 0.0 } else { f64::NEG_INFINITY };
    }
    if count == 0.0 {
        return -mean;
    }
    -stirling_error(count) - deviance(count, mean) - 0.5 * (TAU * count).ln()
}

pub(crate) fn at_least(count: f64, mean: f64) -> f64 {
    if count <= mean {
        // Terms fall below 1e-20 of the largest within 12 standard deviations plus 40.
        let least = floor((mean - 40.0 - 12.0 * mean.sqrt()).max(0.0));
        let below = (least..floor(count.ceil())).map(|count| ln_chance(as_f64(count), mean).exp());
        return (1.0 - below.sum::<f64>()).clamp(0.0, 1.0);
    }
    let terms = floor(40.0 + 12.0 * count.sqrt());
    (0..terms).map(|more| ln_chance(count + as_f64(more), mean).exp()).sum::<f64>().min(1.0)
}

/// ln k! - ln(sqrt(2 pi k) (k/e)^k).
fn stirling_error(k: f64) -> f64 {
    if k < 16.0 {
        // k! is exact up to 18!.
        let factorial: f64 = (1..=floor(k)).map(as_f64).product();
        return factorial.ln() - (k + 0.5) * k.ln() + k - 0.5 * TAU.ln();
    }
    // The next term, 1/(1188 k^9), is below 2e-14.
    let square = k * k;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / k
}

/// Without cancellation: with v = (k - mean)/(k + mean) it is (k - mean) v + 2 k (v^3/3 + v^5/5 +
/// ...).
fn deviance(k: f64, mean: f64) -> f64 {
    let difference = k - mean;
    let v = difference / (k + mean);
    if v.abs() >= 0.1 {
        return k * (k / mean).ln() - difference;
    }
    let square = v * v;
    let (mut power, mut sum) = (2.0 * k * v, difference * v);
    // 0.1^17/17 is below the precision of the sum.
    for odd in (3..=17).step_by(2) {
        power *= square;
        sum += power / f64::from(odd);
    }
    sum
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn chances_add_up_and_have_the_moments() {
        for mean in [0.3, 1.0, 7.5, 16.0, 1000.0, 8192.0] {
            let most = floor(mean + 14.0 * f64::sqrt(mean)) + 60;
            let moment = |power: i32| -> f64 {
                let term = |k: usize| ln_chance(as_f64(k), mean).exp() * (as_f64(k) - mean).powi(power);
                (0..=most).map(term).sum()
            };
            assert!((moment(0) - 1.0).abs() < 1e-12, "{mean}: {}", moment(0));
            assert!(moment(1).abs() < 1e-11 * mean.max(1.0), "{mean}");
            assert!((moment(2) / mean - 1.0).abs() < 1e-11, "{mean}");
            assert!((moment(3) / mean - 1.0).abs() < 1e-8, "{mean}");
        }
        // Three or more where two are expected: 1 - e^-2 (1 + 2 + 2); one or more.
        assert!((at_least(3.0, 2.0) - (1.0 - 5.0 * (-2.0_f64).exp())).abs() < 1e-12);
        assert!((at_least(1.0, 2.0) - (1.0 - (-2.0_f64).exp())).abs() < 1e-12);
        assert_eq!((at_least(0.0, 2.0), at_least(0.0, 0.0)), (1.0, 1.0));
        // e^-2 2^3/3!.
        assert!((ln_chance(3.0, 2.0) - (8.0_f64 / 6.0).ln() + 2.0).abs() < 1e-14);
        assert_eq!((ln_chance(0.0, 0.0), ln_chance(1.0, 0.0)), (0.0, f64::NEG_INFINITY));
    }

    fn chi_square(mean: f64, draws: u32, mut draw: impl FnMut() -> usize) -> f64 {
        let mut counts = vec![0_u32; floor(mean + 14.0 * mean.sqrt()) + 60];
        for _ in 0..draws {
            counts[draw()] += 1;
        }
        let (mut sum, mut classes, mut rest) = (0.0, 0.0, (0.0, 0.0));
        let mut class = |found: f64, expected: f64| {
            sum += (found - expected).powi(2) / expected;
            classes += 1.0;
        };
        for (k, &count) in counts.iter().enumerate() {
            let expected = f64::from(draws) * ln_chance(as_f64(k), mean).exp();
            if expected >= 20.0 {
                class(f64::from(count), expected);
            } else {
                rest = (rest.0 + f64::from(count), rest.1 + expected);
            }
        }
        class(rest.0, rest.1);
        (sum - (classes - 1.0)) / f64::sqrt(2.0 * (classes - 1.0))
    }

    #[test]
    fn draws_have_the_chances() {
        // Each test is beyond 4 standard deviations with a chance of about 1e-4.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for mean in [0.3, 0.99, 1.98, 15.9, 300.0, 8000.0] {
            let table = Table::new(mean);
            let found = chi_square(mean, 400_000, || table.draw(&mut random));
            assert!(found.abs() < 4.0, "table {mean}: {found}");
        }
        for mean in [0.3, 5.0, 9.99, 10.0, 33.3, 300.0, 8000.0] {
            let found = chi_square(mean, 400_000, || draw(mean, &mut random));
            assert!(found.abs() < 4.0, "rejection {mean}: {found}");
        }
    }

    #[test]
    fn the_largest_means() {
        let (mut random, mean) = (Xoshiro256PlusPlus::seed_from_u64(8), 2_f64.powi(52));
        let draws = 20_000;
        let scaled = (0..draws).map(|_| (as_f64(draw(mean, &mut random)) - mean) / mean.sqrt());
        let (sum, squares) = scaled.fold((0.0, 0.0), |(sum, squares), z| (sum + z, squares + z * z));
        // Standard errors 1/sqrt(20000) = 0.0071 and sqrt(2/20000) = 0.01: four of each.
        assert!((sum / f64::from(draws)).abs() < 0.029, "{sum}");
        assert!((squares / f64::from(draws) - 1.0).abs() < 0.04, "{squares}");
    }
}
