//! Dependence against series whose dependence is known.

use proptest::prelude::*;

use super::*;
use crate::synthetic::Synthetic;

#[test]
fn ranks_share_ties() {
    assert_eq!(midranks(&[5.0, 1.0, 5.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
    assert_eq!(slow_above(&[4.0, 1.0, 3.0, 2.0, 5.0], 0.5), 3.0);
    assert_eq!((slow_above(&[4.0, 1.0], 0.99), slow_above(&[4.0, 1.0], 7.0)), (1.0, 4.0));
}

#[test]
fn an_autoregression_fades_by_its_factor() {
    // Lag k of an autoregression of 0.8 correlates by 0.8^k; for near-normal values Spearman's is
    // 6/pi asin(0.8^k/2). Its standard error (Bartlett) is below sqrt((1 + 2 sum 0.64^j)/n) = 2.13/sqrt(n)
    // = 0.0048.
    let series: Vec<f64> =
        Synthetic::new(1).autoregression(200_000, 0.8).iter().map(|value| value.exp()).collect();
    let found = rank_autocorrelation(&series, 20).unwrap();
    for (k, found) in (1..).zip(found) {
        let expected = 6.0 / std::f64::consts::PI * (0.8_f64.powi(k) / 2.0).asin();
        assert!((found - expected).abs() < 4.0 * 0.0048, "lag {k}: {found} is not {expected}");
    }
}

#[test]
fn exact_correlations_of_small_series() {
    // Ranks 0 1 2 3, centred -1.5 -0.5 0.5 1.5: sums of products 5, 0.75 - 0.25 + 0.75 = 1.25, -0.75 x 2 =
    // -1.5, -2.25.
    let found = rank_autocorrelation(&[1.0, 10.0, 100.0, 1000.0], 9).unwrap();
    assert_eq!(found, [0.25, -0.3, -0.45]);
    assert_eq!(rank_autocorrelation(&[2.0; 5], 2).unwrap(), [0.0, 0.0]);
    assert!(rank_autocorrelation(&[1.0], 3).unwrap().is_empty());
    let slow = slow_autocorrelation(&[1.0, 5.0, 2.0, 5.0, 1.0], 0.5, 1).unwrap();
    assert!((slow[0] + 0.8).abs() < 1e-12, "{slow:?}");
    assert_eq!(rank_autocorrelation(&[-1.0], 3), Err(Error::Negative { index: 0, value: -1.0 }));
}

#[test]
fn clusters_are_counted_exactly() {
    let series: Vec<f64> = (0..20).map(|i| if i % 5 < 2 { 9.0 } else { 1.0 }).collect();
    let found = slow_clusters(&series, 0.5).unwrap();
    assert_eq!((found.threshold_ms, found.slow, found.slow_after_slow), (1.0, 0.4, 0.5));
    // E J = 8 x 7/20 = 2.8, var J = 8 x 7 x 12 x 13/(400 x 19) = 1.149474: z = 1.2/1.072135 = 1.119262.
    assert!((found.z - 1.119_262).abs() < 1e-6, "{found:?}");
    // Four or more where Poisson expects 2.8: 1 - e^-2.8 (1 + 2.8 + 2.8^2/2 + 2.8^3/6) = 0.308063.
    assert!((found.chance - 0.308_063).abs() < 1e-6, "{found:?}");
    let constant = slow_clusters(&[1.0; 9], 0.9).unwrap();
    assert_eq!((constant.slow, constant.slow_after_slow, constant.z, constant.chance), (0.0, 0.0, 0.0, 1.0));
}

#[test]
fn independent_samples_are_rarely_said_to_come_together() {
    // The level is 5 %: 20 of 400 series, and four standard deviations of 4.4.
    for n in [300, 500, 3000] {
        let accused = (0..400_u64).filter(|&seed| {
            let mut random = Synthetic::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let series: Vec<f64> = (0..n).map(|_| random.exponential()).collect();
            slow_clusters(&series, 0.95).unwrap().chance <= 0.05
        });
        let accused = accused.count();
        assert!(accused <= 38, "{n}: {accused}");
        let series: Vec<f64> = (0..n).map(|i| if i % 40 < 2 { 9.0 } else { 1.0 }).collect();
        assert!(slow_clusters(&series, 0.9).unwrap().chance < 1e-3, "{n}");
    }
}

#[test]
fn mean_and_variance_are_those_of_all_orders() {
    let zs: Vec<f64> = (0_u32..64)
        .filter(|set| set.count_ones() == 3)
        .map(|set| (0..6).map(|bit| f64::from(set >> bit & 1)).collect::<Vec<f64>>())
        .map(|series| slow_clusters(&series, 0.0).unwrap().z)
        .collect();
    assert_eq!(zs.len(), 20);
    assert!(zs.iter().sum::<f64>().abs() < 1e-12);
    assert!((zs.iter().map(|z| z * z).sum::<f64>() / 20.0 - 1.0).abs() < 1e-12);
}

#[test]
fn stalls_make_the_model_pessimistic() {
    // 100 windows of 10: each tenth window is slow as a whole. Observed 0.9 x 10 + 0.1 x 100 = 19;
    // independent: 10 + 90 (1 - 0.9^10) = 68.618940. The 5 samples left over do not count.
    let series: Vec<f64> = (0..1005).map(|i| if i / 10 % 10 == 9 { 100.0 } else { 10.0 }).collect();
    let found = consecutive_maxima(&series, 10).unwrap();
    assert_eq!((found.requests, found.windows), (10, 100));
    assert!((found.slowest.observed_ms - 19.0).abs() < 1e-12);
    assert!((found.slowest.model_ms - 68.618_94).abs() < 1e-5);
    assert!((found.slowest.off - (68.618_94 / 19.0 - 1.0)).abs() < 1e-6);
    assert!(found.slowest.off_low > 0.0);
    assert_eq!(consecutive_maxima(&series, 0), Err(Error::Requests { requests: 0 }));
    let few = Error::TooFew { what: "pages with samples", found: 1, least: 2 };
    assert_eq!(consecutive_maxima(&series, 600), Err(few));
}

proptest! {
    #[test]
    fn batches_are_plain_sums(series in prop::collection::vec(-1.0..1.0, 1..5000), lag in 0_usize..40) {
        let plain: f64 = series.iter().zip(series.iter().skip(lag)).map(|(a, b)| a * b).sum::<f64>();
        let found = autocovariances(&series).at(lag);
        prop_assert!((found - plain / as_f64(series.len())).abs() < 1e-12);
    }
}
