//! Order statistics against closed forms, exact arithmetic and the definition that they abbreviate.

use proptest::prelude::*;

use super::*;
use crate::Distribution;

impl Distribution {
    /// From every sample, without the steps of [`Condensed`].
    fn expected_order_statistic(&self, kth: u32, of: u32) -> f64 {
        let of = of.max(1);
        let kth = kth.clamp(1, of);
        if kth == of {
            return self.expected_experienced(of);
        }
        let values = self.values();
        by_parts(values.len(), self.n(), |step| (self.up_to(step + 1), values[step]), kth, of)
    }
}

fn of(samples: impl IntoIterator<Item = f64>) -> Distribution {
    Distribution::new(samples.into_iter().collect()).unwrap()
}

fn fewer(kth: u32, of: u32, rank: f64, n: f64) -> f64 {
    fewer_than(kth, of, rank / n, (n - rank) / n)
}

#[test]
fn binomial_tails_have_all_their_digits() {
    // mpmath with 50 digits: P(Bin(m, i/n) < k).
    let cases = [
        (5, 10, 1.0, 2.0, 0.376_953_125),
        (90, 180, 48.0, 100.0, 0.678_355_489_106_890_5),
        (900_000, 1_000_000, 9002.0, 10_000.0, 0.251_692_165_832_213_77),
        (900_000, 1_000_000, 8998.0, 10_000.0, 0.746_706_652_457_082),
        (399, 400, 9999.0, 10_000.0, 7.771_383_204_348_224e-4),
        (3, 70, 1.0, 1000.0, 0.999_947_939_360_290_7),
        (90, 180, 99.0, 100.0, 3.716_182_140_831_75e-130),
    ];
    for (kth, of, rank, n, expected) in cases {
        let found = fewer(kth, of, rank, n);
        // (i/n has a relative error of 1e-16, which m = 10^6 requests raise to 1e-10 x the score, about
        // 1e-13.)
        let bound = if of > 1000 { 1e-11 } else { 2e-13 };
        assert!((found - expected).abs() <= bound * expected, "{kth} of {of}: {found:e} is not {expected:e}");
    }
    assert_eq!((fewer(3, 7, 0.0, 5.0), fewer(3, 7, 5.0, 5.0)), (1.0, 0.0));
}

#[test]
fn the_uniform_distribution_gives_k_over_m_plus_one() {
    // Samples at (i - 1/2)/n: F is within 1/(2n) of the true one.
    let n = 20_000;
    let side = of((0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n)));
    for (kth, m) in [(1_u32, 2_u32), (1, 10), (5, 10), (35, 70), (90, 180), (399, 400), (500, 1000)] {
        let expected = f64::from(kth) / f64::from(m + 1);
        let found = side.expected_order_statistic(kth, m);
        assert!((found - expected).abs() <= 0.5 / f64::from(n), "{kth} of {m}: {found} is not {expected}");
        let condensed = Condensed::new(side.values()).expected(kth, m);
        // Steps up to 1/2000 wide: their error is below 1/2000^2.
        assert!((condensed - found).abs() < 2.5e-7, "{kth} of {m}: {condensed} is not {found}");
    }
}

#[test]
fn the_exponential_distribution_gives_sums_of_reciprocals() {
    // E X_(k:m) = 1/m + 1/(m - 1) + ... + 1/(m - k + 1), within m/(2n (m - k)).
    let n = 200_000;
    let side = of((0..n).map(|i| -(1.0 - (f64::from(i) + 0.5) / f64::from(n)).ln()));
    for (kth, m) in [(1_u32, 10_u32), (5, 10), (9, 10), (90, 180), (170, 180), (179, 180)] {
        let expected: f64 = (m - kth + 1..=m).map(|j| 1.0 / f64::from(j)).sum();
        let bound = f64::from(m) / (f64::from(n) * f64::from(m - kth));
        let found = side.expected_order_statistic(kth, m);
        assert!((found - expected).abs() < bound, "{kth} of {m}: {found} is not {expected}");
        let condensed = Condensed::new(side.values()).expected(kth, m);
        // A step is at most 1/100 of its distance from the end: second order in that.
        assert!((condensed - found).abs() < 1e-4, "{kth} of {m}: {condensed} is not {found}");
    }
}

#[test]
fn what_it_means_at_its_ends() {
    let side = of([1.0, 4.0, 10.0]);
    assert_eq!(side.expected_order_statistic(3, 3), side.expected_experienced(3));
    assert!((side.expected_order_statistic(0, 0) - 5.0).abs() < 1e-15);
    assert_eq!(side.expected_order_statistic(9, 3), side.expected_experienced(3));
    // The faster of two: 10 + 4 + 1 are it with chances 1/9, 3/9 and 5/9.
    assert!((side.expected_order_statistic(1, 2) - 27.0 / 9.0).abs() < 1e-14);
    assert_eq!(of([7.0]).expected_order_statistic(2, 5), 7.0);
}

#[test]
fn influence_is_what_one_more_sample_does() {
    let samples: Vec<f64> = (0..20_000).map(|i| (f64::from(i) / 2000.0).exp()).collect();
    let mixture = [(0.25, 7, 7), (0.75, 20, 30)];
    let with = |x: f64| {
        let side = of(samples.iter().copied().chain([x]));
        mixture.iter().map(|&(weight, k, m)| weight * side.expected_order_statistic(k, m)).sum::<f64>()
    };
    let influence = Condensed::new(of(samples.iter().copied()).values()).influence(&mixture);
    let at = |rank: usize| influence[influence.partition_point(|step| step.0 <= rank)].1;
    let done = (with(samples[19_000]) - with(samples[8000])) * 20_000.0;
    let stated = at(19_000) - at(8000);
    // The density is taken at the steps' ends, 1/2000 apart: with m = 30 it changes by up to 3 % from one
    // to the next.
    assert!((done / stated - 1.0).abs() < 0.03, "{done} is not {stated}");
}

proptest! {
    #[test]
    fn it_is_the_definition(
        samples in prop::collection::vec(0.0..100.0, 1..60),
        m in 1_u32..40,
        part in 0_u32..1000,
    ) {
        let kth = 1 + m * part / 1000;
        let side = of(samples);
        let n = side.n();
        let up_to = |rank: usize| 1.0 - fewer(kth, m, as_f64(rank), as_f64(n));
        let plain: f64 = (0..n).map(|i| side.values()[i] * (up_to(i + 1) - up_to(i))).sum();
        let found = side.expected_order_statistic(kth, m);
        prop_assert!((found - plain).abs() < 1e-10, "{} is not {}", found, plain);
        let condensed = Condensed::new(side.values()).expected(kth, m);
        prop_assert!((condensed - found).abs() < 1e-10);
    }

    #[test]
    fn tails_and_terms_agree(m in 1_u32..300, part in 0_u32..1000, p in 1e-6..0.999_999) {
        let kth = 1 + m * part / 1000;
        let q = 1.0 - p;
        let ln_choose = |j: u32| (0..j).map(|i| (f64::from(m - i) / f64::from(i + 1)).ln()).sum::<f64>();
        let term = |j: u32| (ln_choose(j) + f64::from(j) * f64::ln(p) + f64::from(m - j) * f64::ln(q)).exp();
        let plain: f64 = (0..kth).map(term).sum();
        prop_assert!((fewer_than(kth, m, p, q) - plain).abs() < 1e-10);
    }

    #[test]
    fn more_of_fewer_takes_longer(samples in prop::collection::vec(0.0..1e6, 1..200), m in 2_u32..60) {
        let side = of(samples);
        let all: Vec<f64> = (1..=m).map(|k| side.expected_order_statistic(k, m)).collect();
        prop_assert!(all.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-12)));
        let mean = all.iter().sum::<f64>() / f64::from(m);
        prop_assert!((mean - side.mean()).abs() <= 1e-12 * side.mean());
    }
}
