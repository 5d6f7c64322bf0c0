//! E[max of N] against exact fractions, closed forms and the sum that it abbreviates.

use proptest::prelude::*;

use super::*;
use crate::{Distribution, sum::sum};

fn of(samples: impl IntoIterator<Item = f64>) -> Distribution {
    Distribution::new(samples.into_iter().collect()).unwrap()
}

fn term_by_term(side: &Distribution, requests: u32) -> f64 {
    let (sorted, n) = (side.values(), as_f64(side.n()));
    let missed = |rank: usize| -(f64::from(requests) * ln_share(as_f64(rank), n)).exp_m1();
    let terms = (1..side.n()).map(|rank| (sorted[rank] - sorted[rank - 1]) * missed(rank));
    sum(std::iter::once(sorted[0]).chain(terms))
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found:e} is not {expected:e}");
}

#[test]
fn agrees_with_exact_fractions() {
    // Python's fractions.Fraction over the definition; N = 1, 2, 7, 90, 1000.
    let cases: [(&[f64], [f64; 5]); 4] = [
        (&[1.0, 4.0], [2.5, 3.25, 3.9765625, 4.0, 4.0]),
        (
            &[3.0, 1.0, 3.0, 3.0, 2.0, 1.0, 3.0],
            [2.2857142857142856, 2.7346938775510203, 2.997188974953342, 3.0, 3.0],
        ),
        (
            &[1e-3, 1e9, 1.5, 2e3, 0.1, 7e6, 3.3, 1e-3],
            [125875250.61275, 235797219.386, 609118772.9107126, 999994006.5895134, 1000000000.0],
        ),
        (
            &[12.7, 0.3, 141.9, 129.9, 207.9, 281.8, 71.9, 41.2, 99.01, 17.0, 33.333],
            [94.26754545454546, 140.77901652892564, 224.56061416359512, 281.7860898337675, 281.8],
        ),
    ];
    for (samples, expected) in cases {
        let side = of(samples.iter().copied());
        let all = side.expected_experienced_up_to(1000);
        for (requests, expected) in [1_u32, 2, 7, 90, 1000].into_iter().zip(expected) {
            assert_close(side.expected_experienced(requests), expected, 1e-15);
            assert_close(all[requests as usize - 1], expected, 1e-15);
        }
    }
}

#[test]
fn the_exponential_distribution_gives_harmonic_numbers() {
    // Samples at the quantiles (i - 1/2)/n of Exp(1): E[max] is off by at most N (ln(2n) + 1)/(2n).
    let n = 1_000_000;
    let side = of((0..n).map(|i| -(1.0 - (f64::from(i) + 0.5) / f64::from(n)).ln()));
    let all = side.expected_experienced_up_to(42);
    for (requests, harmonic) in [(1_u32, 1.0), (10, 2.928_968), (42, 4.326_743)] {
        let bound = f64::from(requests) * (f64::from(2 * n).ln() + 1.0) / f64::from(2 * n);
        assert!((side.expected_experienced(requests) - harmonic).abs() < bound);
        assert!((all[requests as usize - 1] - harmonic).abs() < bound);
    }
}

#[test]
fn the_uniform_distribution_gives_n_over_n_plus_one() {
    // Samples at (i - 1/2)/n: the N-th power of the distribution function is within N/(2n).
    let n = 100_000;
    let side = of((0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n)));
    for requests in [1_u32, 2, 10, 90, 400] {
        let expected = f64::from(requests) / f64::from(requests + 1);
        let bound = f64::from(requests) / f64::from(2 * n);
        assert!((side.expected_experienced(requests) - expected).abs() < bound, "{requests}");
    }
}

#[test]
fn one_slow_sample_in_ten_million() {
    // E = 1e9 (1 - (1 - 1/n)^N), whose direct evaluation cancels badly.
    let n = 10_000_000;
    let mut samples = vec![0.0; n];
    samples[12_345] = 1e9;
    let side = of(samples);
    for requests in [1_u32, 90, 1_000_000] {
        let exact = 1e9 * -(f64::from(requests) * (-1e-7_f64).ln_1p()).exp_m1();
        assert_close(side.expected_experienced(requests), exact, 1e-14);
    }
    assert_close(side.expected_experienced(1), side.mean(), 1e-15);
}

#[test]
fn large_samples_agree_with_the_plain_sum() {
    // A Pareto tail (x = u^-1/2, infinite variance) and an exponential body.
    for n in [2_000, 90_000, 1_000_000_u32] {
        let share = |i: u32| (f64::from(i) + 0.5) / f64::from(n);
        for side in [of((0..n).map(|i| share(i).powf(-0.5))), of((0..n).map(|i| -share(i).ln()))] {
            let all = side.expected_experienced_up_to(400);
            for requests in [1_u32, 2, 14, 15, 16, 90, 399, 400] {
                let plain = term_by_term(&side, requests);
                assert_close(all[requests as usize - 1], plain, 1e-14);
                assert_close(side.expected_experienced(requests), plain, 1e-14);
            }
            for requests in [10_000, 1_000_000] {
                assert_close(side.expected_experienced(requests), term_by_term(&side, requests), 1e-14);
            }
        }
    }
}

#[test]
fn a_single_sample_is_all_there_is() {
    let side = of([7.25]);
    assert_eq!(side.expected_experienced(1), 7.25);
    assert_eq!(side.expected_experienced(0), 7.25);
    assert_eq!(side.expected_experienced_up_to(3), [7.25; 3]);
    assert!(side.expected_experienced_up_to(0).is_empty());
    assert_eq!(side.experienced_quantile(90, 0.5), 7.25);
}

#[test]
fn experienced_quantiles_are_request_quantiles_further_out() {
    let side = of((0..=10_000).map(f64::from));
    // 0.5^(1/70) = 0.9901468 of 10000.
    assert!((side.experienced_quantile(70, 0.5) - 9901.468).abs() < 0.001);
    assert_eq!(side.experienced_quantile(1, 0.25), 2500.0);
    assert_eq!(side.experienced_quantile(0, 0.25), 2500.0);
}

proptest! {
    #[test]
    fn blocks_agree_with_the_plain_sum(
        exponents in prop::collection::vec(-6.0..6.0, 1..3000),
        requests in 1_u32..2000,
        widest in 1_u32..2000,
    ) {
        let side = of(exponents.into_iter().map(|exponent: f64| 10_f64.powf(exponent)));
        let plain = term_by_term(&side, requests);
        prop_assert!((side.expected_experienced(requests) - plain).abs() <= 1e-14 * plain);
        let among = Blocks::new(&side, 1..=widest.max(requests)).expected_maximum(requests);
        prop_assert!((among - plain).abs() <= 1e-14 * plain);
    }

    #[test]
    fn more_requests_wait_longer_but_never_beyond_the_slowest(
        samples in prop::collection::vec(0.0..1e6, 1..300),
        most in 1_u32..500,
    ) {
        let side = of(samples);
        let all = side.expected_experienced_up_to(most);
        prop_assert!((all[0] - side.mean()).abs() <= 1e-14 * side.mean());
        prop_assert!(all.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-14)));
        prop_assert!(all[all.len() - 1] <= side.max() * (1.0 + 1e-14));
    }
}
