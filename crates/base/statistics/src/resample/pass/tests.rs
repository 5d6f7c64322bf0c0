//! The walk over cells gives what the drawn samples, one by one, would give.

use super::*;
use crate::{Bucket, resample::draw::Draw, resample::generator};

fn skewed(n: usize) -> Distribution {
    let latency = |i: usize| -(1.0 - (as_f64(i) + 0.5) / as_f64(n)).ln() * 40.0 + 10.0;
    Distribution::new((0..n).map(latency).collect()).unwrap()
}

fn row(pass: &Pass<'_>, counts: &[usize]) -> Vec<f64> {
    let mut row = vec![0.0; pass.width()];
    pass.fill(counts, &mut Vec::new(), &mut row);
    row
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
}

#[test]
fn a_resample_of_single_samples_is_the_distribution_of_its_draws() {
    for n in [1, 2, 37, 5000] {
        let side = skewed(n);
        let cells = Cells::new(&side);
        let grid = Grid::new(&[&side], 90);
        let pass = Pass::new(&side, &cells, &grid, 90, Scheme::Independent);
        let draw = Draw::new(&side, &cells, Scheme::Independent).unwrap();
        let mut counts = vec![0; n];
        for resample in 0..20 {
            draw.draw(&mut generator(1, 0, resample), &mut counts);
            let drawn = (0..n).flat_map(|rank| std::iter::repeat_n(side.at_rank(rank), counts[rank]));
            let drawn = Distribution::new(drawn.collect()).unwrap();
            let row = row(&pass, &counts);
            assert_close(row[MEAN], drawn.mean(), 1e-12);
            assert_close(row[EXPECTED], drawn.expected_experienced(90), 1e-12);
            for (share, &found) in grid.shares.iter().zip(&row[QUANTILES..]) {
                assert_eq!(found, drawn.quantile(*share), "{n}: {share}");
            }
            for (&cut, &found) in grid.cuts.iter().zip(&row[pass.cuts()..]) {
                assert_eq!(found, drawn.cdf(cut), "{n}: {cut}");
            }
        }
    }
}

#[test]
fn each_sample_once_is_the_side_itself() {
    let exact = skewed(300_000);
    let buckets = (1..500_u64).map(|value| Bucket::exact(value as f64, value * 97 % 1000)).collect();
    let counted = Distribution::from_counts(buckets, 0.01).unwrap();
    for side in [&exact, &counted] {
        let cells = Cells::new(side);
        let grid = Grid::new(&[side], 90);
        let scheme = Scheme::Blocks { in_time_ms: &[], length: 1 };
        let pass = Pass::new(side, &cells, &grid, 90, scheme);
        let sizes: Vec<usize> = (0..cells.len()).map(|cell| cells.size(cell)).collect();
        let row = row(&pass, &sizes);
        assert_close(row[MEAN], side.mean(), 1e-12);
        assert_close(row[EXPECTED], side.expected_experienced(90), 1e-6);
        for (share, &found) in grid.shares.iter().zip(&row[QUANTILES..]) {
            assert_close(found, side.quantile(*share), 1e-12);
        }
        for (&cut, &found) in grid.cuts.iter().zip(&row[pass.cuts()..]) {
            assert_close(found, side.cdf(cut), 1e-12);
        }
        for (&share, &found) in grid.shares.iter().zip(&row[pass.own()..]) {
            assert_close(found, share, 1e-12);
        }
    }
}

#[test]
fn powers_of_shares() {
    for exponent in [1, 2, 7, 90, 1_000_000] {
        let found = powers([0.0, 0.1, 0.5, 0.9, 0.999, 0.999_999, 1.0, 1.0], exponent);
        assert_close(found[5], 0.999_999_f64.powf(f64::from(exponent)), 1e-9);
        assert_close(found[2], 0.5_f64.powf(f64::from(exponent)), 1e-12);
        assert_eq!(found[6], 1.0);
    }
}
