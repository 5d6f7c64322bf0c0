//! From which percentile on there are too few samples to believe it.

use crate::distribution::as_f64;

/// The share at and above which fewer than 10 of `n` samples are beyond the request quantile. 0 if that
/// applies everywhere.
///
/// Beyond position (n - 1) p of type 7 are the ranks above its whole part; they are fewer than 10 from
/// position n - 10 on. With 10 samples beyond it, the true share beyond is known to about a third
/// (1/sqrt(10)).
pub fn thin_above(n: usize) -> f64 {
    if n > FEW { as_f64(n - FEW) / as_f64(n - 1) } else { 0.0 }
}

/// The same as a share of visitors who wait for the slowest of `requests` requests (0 counts as 1).
pub fn experienced_thin_above(n: usize, requests: u32) -> f64 {
    thin_above(n).powf(f64::from(requests.max(1)))
}

const FEW: usize = 10;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::distribution::floor;

    #[test]
    fn a_thousand_samples_carry_the_99th_percentile() {
        // Position 999 x 0.99 = 989.01: beyond it lie ranks 990..=999, ten of them. At 990/999 there are
        // nine.
        assert!(0.99 < thin_above(1000));
        assert_eq!(thin_above(1000), 990.0 / 999.0);
        assert_eq!((thin_above(10), thin_above(1), thin_above(11)), (0.0, 0.0, 0.1));
    }

    #[test]
    fn people_reach_the_thin_part_sooner() {
        // 90 000 samples, 90 requests: (89990/89999)^90 = exp(-90 x 1.00006e-4) = 0.99104: the 99th visitor
        // is thick.
        let thin = experienced_thin_above(90_000, 90);
        assert!((thin - 0.991_040).abs() < 1e-6, "{thin}");
        assert_eq!(experienced_thin_above(5, 90), 0.0);
    }

    proptest! {
        #[test]
        fn it_is_where_the_count_falls_below_ten(n in 11_usize..5000, share in 0.0..1.0_f64) {
            let beyond = n - 1 - floor(as_f64(n - 1) * share);
            prop_assume!((share - thin_above(n)).abs() > 1e-12);
            prop_assert_eq!(beyond < FEW, share >= thin_above(n));
        }
    }
}
