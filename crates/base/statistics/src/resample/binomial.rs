//! Binomial counts: from tables for the few sizes that are drawn millions of times, and for any
//! size.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{alias::Alias, normal, poisson};
use crate::distribution::{as_f64, floor};

/// `share` is at most 1/2. `tables` are [`table`]s of that share for sizes 1, 2, 4, ..., up to the
/// highest bit of `size` or [`LARGEST_TABLE`].
pub(crate) fn draw(size: usize, share: f64, tables: &[Alias], random: &mut Xoshiro256PlusPlus) -> usize {
    let power = size.ilog2();
    if size.is_power_of_two() && power <= LARGEST_TABLE {
        return tables[power as usize].draw(random);
    }
    if power > LARGEST_TABLE {
        return large(size, share, random);
    }
    (0..=power).filter(|bit| size >> bit & 1 == 1).map(|bit| tables[bit as usize].draw(random)).sum()
}

pub(crate) fn table(size: usize, share: f64) -> Alias {
    let n = as_f64(size);
    // The probability beyond 13 standard deviations plus 40 is below 1e-32.
    let most = floor(n * share + 13.0 * (n * share).sqrt()).saturating_add(40).min(size);
    let mode = floor((n + 1.0) * share).min(most);
    let mut weights = vec![0.0; most + 1];
    weights[mode] = 1.0;
    let odds = share / (1.0 - share);
    for count in mode..most {
        weights[count + 1] = weights[count] * (n - as_f64(count)) / as_f64(count + 1) * odds;
    }
    for count in (0..mode).rev() {
        weights[count] = weights[count + 1] * as_f64(count + 1) / (n - as_f64(count)) / odds;
    }
    Alias::new(&weights)
}

/// For more than 2^20 things: normal where the skewness is below a hundredth, else Poisson, whose
/// variance is then less than one percent too large.
fn large(size: usize, share: f64, random: &mut Xoshiro256PlusPlus) -> usize {
    let mean = as_f64(size) * share;
    let variance = mean * (1.0 - share);
    if variance < 1e4 {
        return poisson::draw(mean, random).min(size);
    }
    let uniform = (as_f64(usize::try_from(random.next_u64() >> 12).unwrap_or(0)) + 0.5) / 2_f64.powi(52);
    floor((mean + variance.sqrt() * normal::quantile(uniform)).round().max(0.0)).min(size)
}

/// Sizes up to 2^20 have tables.
pub(crate) const LARGEST_TABLE: u32 = 20;

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn means_and_variances() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let draws = 40_000;
        for (size, share) in
            [(1_usize, 0.3), (2, 0.5), (37, 0.02), (1 << 12, 0.4), (5 << 20, 0.0001), (5 << 20, 0.3)]
        {
            let tables: Vec<Alias> =
                (0..=size.ilog2().min(LARGEST_TABLE)).map(|power| table(1 << power, share)).collect();
            let counts: Vec<f64> =
                (0..draws).map(|_| as_f64(draw(size, share, &tables, &mut random))).collect();
            let n = f64::from(draws);
            let mean = counts.iter().sum::<f64>() / n;
            let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / n;
            let expected = as_f64(size) * share * (1.0 - share);
            // Four standard errors: sqrt(v/n), and of the variance sqrt((2 + 1/v)/n) of it.
            assert!(
                (mean - as_f64(size) * share).abs() < 4.0 * (expected / n).sqrt(),
                "{size} {share}: {mean}"
            );
            let off = (variance / expected - 1.0).abs();
            assert!(off < 4.0 * ((2.0 + 1.0 / expected) / n).sqrt(), "{size} {share}: {variance}");
        }
    }
}
