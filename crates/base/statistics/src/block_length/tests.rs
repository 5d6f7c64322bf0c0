//! Block lengths against the authors' program as the Python package arch has it.

use super::*;
use crate::autocorrelation::slow_above;
use crate::synthetic::Synthetic;

fn centred_series(mut series: Vec<f64>) -> Vec<f64> {
    centred(&mut series);
    series
}

#[test]
fn agrees_with_arch() {
    // arch 8.0.0, arch.bootstrap.optimal_block_length(...)["circular"], of
    // Synthetic::new(seed).autoregression(n, phi): y = phi y + u - 1/2 from 0, u = (state >> 11)/2^53,
    // state = state x 6364136223846793005 + 1442695040888963407 from the seed.
    let cases = [
        (2, 1000, 0.5, 17.737_417_263_470_387),
        (3, 5000, 0.9, 107.151_489_271_256_66),
        (4, 20_000, 0.3, 25.889_107_864_606_85),
        (5, 500, -0.6, 15.508_581_950_105_608),
        (6, 300, 0.99, 31.716_989_349_344_466),
        (7, 2000, 0.95, 74.292_040_474_408),
    ];
    for (seed, n, phi, expected) in cases {
        let series = centred_series(Synthetic::new(seed).autoregression(n, phi));
        let found = needed(&series, WORK);
        assert!((found - expected).abs() < 1e-9 * expected, "{seed}: {found} is not {expected}");
    }
    // arch uses a bandwidth of 2 here; the paper's is 0.
    let series = centred_series(Synthetic::new(1).autoregression(1000, 0.0));
    assert_eq!(reach(&series, WORK), Reach::First);
    assert!((optimal(&series, 2) - 1.858_530_918_545_043_6).abs() < 1e-9);
    assert_eq!(needed(&series, WORK), 1.0);
    let series = Synthetic::new(8).autoregression(5000, 0.8);
    let threshold = slow_above(&series, 4500.0 / 4999.0);
    let slow = series.iter().map(|&value| f64::from(u8::from(value > threshold))).collect();
    assert!((needed(&centred_series(slow), WORK) - 42.007_401_935_087_02).abs() < 1e-9);
}

#[test]
fn a_series_too_long_for_its_lags_is_grouped() {
    // Work for 32 lags only: an autoregression with 0.97, whose correlation is above 2 sqrt(4.6/40000) =
    // 0.02 up to lag 128, is grouped at least three times. The formula's own value is 2 G^2/D = 3/2 (G/S)^2
    // with G = 2 phi/(1-phi)^2 and S = (1+phi)/(1-phi), up to the variance: G/S = 2 x 0.97/(0.03 x 1.97) =
    // 32.8; (1.5 x 32.8^2 x 40000)^(1/3) = 401.
    let series = centred_series(Synthetic::new(9).autoregression(40_000, 0.97));
    let (whole, grouped) = (needed(&series, WORK), needed(&series, 1));
    assert!((whole / 401.0 - 1.0).abs() < 0.25, "{whole}");
    assert!((grouped / whole - 1.0).abs() < 0.25, "{grouped} is not {whole}");
}

#[test]
fn its_ends() {
    assert_eq!((residual_block_length(&[]), residual_block_length(&[1.0; 19])), (1, 1));
    assert_eq!(residual_block_length(&[3.0; 1000]), 1);
    // The longest block of n/3 = 33.3, limited by 3 sqrt(n) = 30.
    let halves: Vec<f64> = (0..100).map(|i| if i < 50 { 1.0 } else { 2.0 }).collect();
    let length = residual_block_length(&halves);
    assert!((10..=30).contains(&length), "{length}");
    let alternating: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
    assert!((1..=95).contains(&residual_block_length(&alternating)));
}
