//! Correction for multiple comparisons: of twenty, one is "sure" by chance.
//!
//! Holm (A simple sequentially rejective multiple test procedure, Scandinavian Journal of
//! Statistics 6, 1979): of m chances in ascending order the i-th counts m - i + 1 times, and none
//! less than the one before it.

use crate::{Certainty, Difference, Settings};

/// The corrected chances, in the same order; at most 1 each.
pub fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&a, &b| chances[a].total_cmp(&chances[b]));
    let mut adjusted = vec![0.0; chances.len()];
    let (mut least, mut count) = (0.0_f64, 0.0);
    chances.iter().for_each(|_| count += 1.0);
    for place in order {
        least = least.max(chances[place] * count).min(1.0);
        adjusted[place] = least;
        count -= 1.0;
    }
    adjusted
}

/// Differences with their certainty corrected for the number of comparisons ([`holm`]). Intervals
/// do not change. `settings` produced the differences.
pub fn together(differences: &[Difference], settings: &Settings) -> Vec<Difference> {
    let [_, _, ..] = differences else { return differences.to_vec() };
    let chances: Vec<f64> = differences.iter().map(|difference| chance(difference, settings)).collect();
    let enough = f64::midpoint(1.0, settings.level);
    let one = |((difference, chance), corrected): ((&Difference, f64), f64)| {
        let sure = (1.0 - corrected).max(0.5);
        // The uncertainty from the finite number of permutations, scaled like the chance.
        let noise = corrected / chance * (chance * (1.0 - chance) / f64::from(settings.resamples)).sqrt();
        Difference { sure, certainty: Certainty::new(sure, enough, noise), ..*difference }
    };
    differences.iter().zip(chances.iter().copied()).zip(holm(&chances)).map(one).collect()
}

/// The p-value of a difference. If hardly any permutation was as far apart, the number of permutations does
/// not determine it. Then it is derived from the interval: its end towards 0 is at the distance that a share
/// of (1 - level)/2 of all permutations exceeds. A distribution with a concave logarithm decreases from there
/// at least as fast as from its middle: by a factor of (1 - level) for each such distance, starting from 1/2.
/// The result is never below the minimum that this number of samples allows.
fn chance(difference: &Difference, settings: &Settings) -> f64 {
    let (found, fewest) = (1.0 - difference.sure, 1.0 / (f64::from(settings.resamples) + 1.0));
    let towards_zero =
        if difference.difference_ms > 0.0 { difference.interval.low } else { difference.interval.high };
    let reach = towards_zero.map_or(0.0, |end| (difference.difference_ms - end).abs());
    if found > fewest * (1.0 + 1e-9) || reach <= 0.0 {
        return found.max(f64::MIN_POSITIVE);
    }
    let distances = difference.difference_ms.abs() / reach;
    let beyond = 0.5 * (1.0 - settings.level).powf(distances);
    beyond.min(found).max(1.0 - difference.surest).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_by_hand() {
        // Sorted 0.01, 0.02, 0.03, 0.5: 4 x 0.01, 3 x 0.02, 2 x 0.03 and 0.5.
        let found = holm(&[0.03, 0.01, 0.5, 0.02]);
        for (found, expected) in found.into_iter().zip([0.06, 0.04, 0.5, 0.06]) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert_eq!((holm(&[0.2]), holm(&[0.6, 0.7]), holm(&[])), (vec![0.2], vec![1.0, 1.0], vec![]));
        assert_eq!(holm(&[0.02, 0.021]), [0.04, 0.04]);
    }

    use crate::ConfidenceInterval;

    /// A difference of 10 ms, known to `reach` ms at 95 %.
    fn apart(reach: f64, sure: f64, surest: f64) -> Difference {
        let interval = ConfidenceInterval { low: Some(10.0 - reach), high: Some(10.0 + reach) };
        let certainty = Certainty::new(sure, 0.975, 0.0);
        Difference { difference_ms: 10.0, interval, sure, certainty, samples_needed: None, surest }
    }

    #[test]
    fn many_that_are_hardly_sure_are_not() {
        let settings = Settings::default();
        let one = apart(9.0, 0.98, 1.0);
        assert_eq!(together(&[one], &settings), [one]);
        let all = together(&[one; 5], &settings);
        // 5 x 0.02.
        assert!(all.iter().all(|one| (one.sure - 0.9).abs() < 1e-12), "{all:?}");
        assert!(all.iter().all(|one| one.certainty != Certainty::Sure && one.interval == all[0].interval));
    }

    #[test]
    fn what_no_deal_reaches_stays_sure_among_many() {
        let settings = Settings::default();
        let most = 1.0 - 1.0 / 1001.0;
        // 0.05^5/2 = 1.6e-7.
        let all = together(&[apart(2.0, most, 1.0); 100], &settings);
        assert!(all.iter().all(|one| one.certainty == Certainty::Sure), "{:?}", all[0]);
        // Seven against seven give 1/3432 at best, and a hundred times that proves nothing.
        let few = together(&[apart(2.0, most, 1.0 - 1.0 / 3432.0); 100], &settings);
        assert!((few[0].sure - (1.0 - 100.0 / 3432.0)).abs() < 1e-9, "{:?}", few[0]);
        assert_ne!(few[0].certainty, Certainty::Sure);
    }
}
