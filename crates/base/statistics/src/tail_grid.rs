//! Few points that draw a whole distribution: thin in the middle, complete in the tail.

use crate::distribution::{as_f64, floor};

/// Selects ranks of `n` sorted samples so that straight lines between them draw
/// [`crate::Distribution::quantile`].
pub fn tail_ranks(n: usize) -> Vec<usize> {
    if n <= ALL {
        return (0..n).collect();
    }
    let end = n - SLOWEST;
    let mut ranks = Vec::with_capacity(ALL);
    let mut rank = 0;
    while rank < end {
        ranks.push(rank);
        let step = floor(as_f64(n) / MIDDLE).min((n - rank) / 50);
        rank += step.max(1);
    }
    ranks.extend(end..n);
    ranks
}

/// The share at which [`crate::Distribution::quantile`] of `n` samples is the sample of `rank`:
/// rank/(n - 1).
pub fn share_of_rank(rank: usize, n: usize) -> f64 {
    if n > 1 { as_f64(rank) / as_f64(n - 1) } else { 0.0 }
}

/// How many of the slowest samples are always kept: the 99.99th percentile of 5 million, sample by
/// sample.
pub const SLOWEST: usize = 500;

/// Up to here nothing is thinned.
const ALL: usize = 2000;

const MIDDLE: f64 = 1000.0;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Distribution, distribution::between};

    #[test]
    fn small_sets_are_whole() {
        assert_eq!(tail_ranks(1), [0]);
        assert_eq!(tail_ranks(3), [0, 1, 2]);
        assert_eq!(tail_ranks(2000).len(), 2000);
        assert_eq!((share_of_rank(0, 1), share_of_rank(2, 3)), (0.0, 1.0));
    }

    #[test]
    fn large_sets_stay_small_and_keep_the_tail() {
        for n in [2001, 10_000, 90_000, 1_000_000, 10_000_000, 1_000_000_000] {
            let ranks = tail_ranks(n);
            assert!((1200..2100).contains(&ranks.len()), "{n}: {}", ranks.len());
            assert_eq!((ranks[0], ranks[ranks.len() - 1]), (0, n - 1));
            assert!(ranks.windows(2).all(|pair| pair[0] < pair[1] && pair[1] - pair[0] <= n / 500), "{n}");
            assert!(ranks.ends_with(&(n - SLOWEST..n).collect::<Vec<_>>()), "{n}");
        }
    }

    proptest! {
        #[test]
        fn lines_between_tail_points_are_the_quantile(
            samples in prop::collection::vec(0.0..1e6, 2001..6000),
            back in 0.0..499.0_f64,
        ) {
            let side = Distribution::new(samples).unwrap();
            let n = side.n();
            let position = (n - 1) as f64 - back;
            let (share, below) = (position / (n - 1) as f64, floor(position));
            let ranks = tail_ranks(n);
            let at = ranks.iter().position(|&rank| rank == below).expect("every rank of the tail is kept");
            let above = ranks[(at + 1).min(ranks.len() - 1)];
            let drawn = between(side.at_rank(below), side.at_rank(above), position - position.floor());
            prop_assert!((side.quantile(share) - drawn).abs() < 1e-5);
        }
    }
}
