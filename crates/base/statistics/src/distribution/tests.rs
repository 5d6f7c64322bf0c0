//! Distributions against numpy, against closed forms, and under properties.

use proptest::prelude::*;

use super::*;

/// numpy 2.4.6: `numpy.quantile(samples, SHARES)`, `samples.mean()`, `samples.std()`.
struct Numpy {
    samples: &'static [f64],
    quantiles: [f64; 11],
    mean: f64,
    standard_deviation: f64,
}

const SHARES: [f64; 11] = [0.0, 0.01, 0.25, 0.3, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0];

const NUMPY: [Numpy; 6] = [
    Numpy { samples: &[7.25], quantiles: [7.25; 11], mean: 7.25, standard_deviation: 0.0 },
    Numpy {
        samples: &[1.0, 4.0],
        quantiles: [1.0, 1.03, 1.75, 1.9, 2.5, 3.25, 3.7, 3.8499999999999996, 3.9699999999999998, 3.997, 4.0],
        mean: 2.5,
        standard_deviation: 1.5,
    },
    // Ties.
    Numpy {
        samples: &[3.0, 1.0, 3.0, 3.0, 2.0, 1.0, 3.0],
        quantiles: [1.0, 1.0, 1.5, 1.7999999999999998, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0],
        mean: 2.2857142857142856,
        standard_deviation: 0.880630571852711,
    },
    Numpy {
        samples: &[5e-324, 1e-310, 2e-308, 3e-320],
        quantiles: [
            5e-324,
            9.04e-322,
            2.25e-320,
            2.7e-320,
            5.0000000014997e-311,
            5.075e-309,
            1.403e-308,
            1.701499999999999e-308,
            1.9402999999999995e-308,
            1.9940299999999995e-308,
            2e-308,
        ],
        mean: 5.0250000000075e-309,
        standard_deviation: 0.0,
    },
    // A spread of 1e12.
    Numpy {
        samples: &[1e-3, 1e9, 1.5, 2e3, 0.1, 7e6, 3.3, 1e-3],
        quantiles: [
            0.001,
            0.001,
            0.07525000000000001,
            0.24000000000000013,
            2.4,
            1751500.0,
            304899999.9999998,
            652449999.9999995,
            930489999.9999998,
            993049000.0000004,
            1000000000.0,
        ],
        mean: 125875250.61275001,
        standard_deviation: 330396044.5944796,
    },
    Numpy {
        samples: &[12.7, 0.3, 141.9, 129.9, 207.9, 281.8, 71.9, 41.2, 99.01, 17.0, 33.333],
        quantiles: [
            0.3,
            1.54,
            25.1665,
            33.333,
            71.9,
            135.9,
            207.9,
            244.85000000000002,
            274.41,
            281.06100000000004,
            281.8,
        ],
        mean: 94.26754545454547,
        standard_deviation: 85.34672470827309,
    },
];

fn of(samples: &[f64]) -> Distribution {
    Distribution::new(samples.to_vec()).unwrap()
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found:e} is not {expected:e}");
}

#[test]
fn agrees_with_numpy() {
    for case in &NUMPY {
        let side = of(case.samples);
        for (share, expected) in SHARES.into_iter().zip(case.quantiles) {
            // Equal, not close: the interpolation is numpy's, operation by operation.
            assert_eq!(side.quantile(share), expected, "{:?} at {share}", case.samples);
        }
        assert_close(side.mean(), case.mean, 1e-15);
        assert_close(side.standard_deviation(), case.standard_deviation, 1e-14);
        assert_eq!(side.n(), case.samples.len());
        assert_eq!((side.min(), side.max()), (case.quantiles[0], case.quantiles[10]));
    }
}

#[test]
fn the_mean_of_a_million_is_exact() {
    let side = Distribution::new((0..1_000_000).map(|i| f64::from(i % 10 + 1) / 10.0).collect()).unwrap();
    assert_close(side.mean(), 0.55, 2e-16);
    // The variance of 1..=k is (k^2 - 1)/12: 99/12 hundredths.
    assert_close(side.standard_deviation(), (99.0_f64 / 1200.0).sqrt(), 1e-15);
}

#[test]
fn shares_of_samples() {
    let side = of(&[1.0, 2.0, 2.0, 4.0]);
    let shares = [0.5, 1.0, 1.9, 2.0, 3.0, 4.0, 9.0, f64::NAN].map(|latency| side.cdf(latency));
    assert_eq!(shares, [0.0, 0.25, 0.25, 0.75, 0.75, 1.0, 1.0, 0.0]);
}

#[test]
fn what_is_not_a_latency_is_refused() {
    let refused = |samples: &[f64]| Distribution::new(samples.to_vec()).unwrap_err();
    assert_eq!(refused(&[]), Error::Empty);
    assert!(matches!(refused(&[1.0, f64::NAN]), Error::NotFinite { index: 1, .. }));
    assert_eq!(refused(&[f64::INFINITY]), Error::NotFinite { index: 0, value: f64::INFINITY });
    assert_eq!(refused(&[2.0, 1.0, -0.5]), Error::Negative { index: 2, value: -0.5 });
    assert_eq!(refused(&[1e101]), Error::TooLarge { index: 0, value: 1e101 });
    assert_eq!(refused(&[1e101]).to_string(), "sample 0 is 1e101 ms; a latency is at most 1e100 ms");
}

#[test]
fn minus_zero_is_zero() {
    assert_eq!(of(&[0.0, -0.0]).values().iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn shares_beyond_the_ends_are_the_ends() {
    let side = of(&[1.0, 2.0]);
    assert_eq!((side.quantile(-1.0), side.quantile(2.0)), (1.0, 2.0));
    assert!(side.quantile(f64::NAN).is_nan());
}

#[test]
fn the_largest_latencies_overflow_nothing() {
    let side = of(&[LARGEST_MS, 0.0, LARGEST_MS]);
    assert_close(side.mean(), LARGEST_MS / 1.5, 1e-15);
    assert!(side.standard_deviation().is_finite());
}

proptest! {
    #[test]
    fn quantiles_ascend_within_the_samples(
        samples in prop::collection::vec(0.0..1e12, 1..200),
        low in 0.0..=1.0,
        high in 0.0..=1.0,
    ) {
        let side = of(&samples);
        let (low, high) = if low <= high { (low, high) } else { (high, low) };
        prop_assert!(side.min() <= side.quantile(low));
        prop_assert!(side.quantile(low) <= side.quantile(high));
        prop_assert!(side.quantile(high) <= side.max());
        prop_assert!(side.min() <= side.mean() * (1.0 + 1e-15) && side.mean() <= side.max() * (1.0 + 1e-15));
    }

    #[test]
    fn order_does_not_matter(samples in prop::collection::vec(0.0..1e6, 1..100)) {
        let reversed: Vec<f64> = samples.iter().rev().copied().collect();
        prop_assert_eq!(of(&samples), of(&reversed));
    }

    #[test]
    fn cdf_and_quantile_invert_each_other(samples in prop::collection::vec(0.0..1e6, 2..100), share in 0.0..=1.0) {
        let side = of(&samples);
        // At least floor((n - 1) share) + 1 samples are at most the quantile; one rounding may cost
        // a rank.
        let at_most = side.cdf(side.quantile(share)) * samples.len() as f64;
        prop_assert!(at_most + 1.0 >= ((samples.len() - 1) as f64 * share).floor());
    }
}
