//! Counts are multinomial, blocks are consecutive.

use rand_core::SeedableRng;

use super::*;
use crate::Bucket;

fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn ramp(n: usize) -> Distribution {
    Distribution::new((0..n).map(as_f64).collect()).unwrap()
}

fn counted(counts: &[u64]) -> Distribution {
    let bucket = |(value, &count): (usize, &u64)| Bucket::exact(as_f64(value), count);
    Distribution::from_counts(counts.iter().enumerate().map(bucket).collect(), 0.01).unwrap()
}

fn independent(side: &Distribution) -> Draw {
    Draw::new(side, &Cells::new(side), Scheme::Independent).unwrap()
}

#[test]
fn the_total_is_n() {
    let exact = [1, 2, 3, 7, 100, 20_000, 200_000].map(ramp);
    let buckets = [vec![1], vec![5, 1 << 40, 3, 100_000], vec![(1 << 53) - 7, 7], vec![16_383, 16_384, 3]];
    for side in exact.iter().chain(&buckets.map(|counts| counted(&counts))) {
        let draw = independent(side);
        let mut counts = vec![77; draw.cells()];
        for seed in 0..50 {
            draw.draw(&mut random(seed), &mut counts);
            assert_eq!(counts.iter().sum::<usize>(), side.n());
        }
    }
}

#[test]
fn one_sample_is_drawn_binomially_often() {
    // Chi-square with 4 degrees of freedom is above 23.5 with chance 1e-4.
    for n in [2, 5, 30, 1000] {
        let draw = independent(&ramp(n));
        let (mut random, mut counts) = (random(n as u64), vec![0; n]);
        let mut found = [[0.0; 5]; 3];
        let resamples = if n == 1000 { 20_000 } else { 100_000 };
        for _ in 0..resamples {
            draw.draw(&mut random, &mut counts);
            for (found, at) in found.iter_mut().zip([0, n / 2, n - 1]) {
                found[counts[at].min(4)] += 1.0;
            }
        }
        let mut expected = [0.0; 5];
        let mut chance = (1.0 - 1.0 / as_f64(n)).powf(as_f64(n));
        for k in 0..=n {
            expected[k.min(4)] += chance * f64::from(resamples);
            chance *= as_f64(n - k) / as_f64(k + 1) / as_f64(n - 1);
        }
        for found in found {
            let classes = found.iter().zip(&expected).filter(|(_, expected)| **expected > 0.0);
            let chi: f64 = classes.map(|(found, expected)| (found - expected).powi(2) / expected).sum();
            assert!(chi < 23.5, "{n}: {found:?} is not {expected:?}");
        }
    }
}

#[test]
fn counts_vary_and_repel_each_other_as_they_should() {
    // Variance n p (1 - p) and covariance -n p q, with cells of every kind of sampler: tables, several
    // tables for one bucket, rejection, and further rounds. 20000 resamples give a variance to within
    // sqrt(2/20000) = 1 %: four of those.
    let sides = [ramp(50_000), counted(&[3, 1000, 12_345, 70_000]), counted(&[1 << 40, 3 << 40, 1 << 41, 5])];
    for side in sides {
        let draw = independent(&side);
        let cells = Cells::new(&side);
        let (n, half) = (as_f64(side.n()), cells.len() / 2);
        let share =
            |range: std::ops::Range<usize>| range.map(|cell| as_f64(cells.size(cell))).sum::<f64>() / n;
        let (p, q) = (share(0..half), share(cells.len() - 1..cells.len()));
        let (mut random, mut counts) = (random(3), vec![0; cells.len()]);
        let resamples = 20_000;
        let (mut mean, mut variance, mut covariance) = (0.0, 0.0, 0.0);
        for _ in 0..resamples {
            draw.draw(&mut random, &mut counts);
            let low = as_f64(counts[..half].iter().sum()) - n * p;
            let last = as_f64(counts[cells.len() - 1]) - n * q;
            mean += low / f64::from(resamples);
            variance += low * low / f64::from(resamples);
            covariance += low * last / f64::from(resamples);
        }
        let deviation = (n * p * (1.0 - p)).sqrt();
        assert!(mean.abs() < 4.0 * deviation / f64::from(resamples).sqrt(), "{mean}");
        assert!((variance / deviation.powi(2) - 1.0).abs() < 0.04, "{variance}");
        let noise = deviation * (n * q * (1.0 - q)).sqrt() / f64::from(resamples).sqrt();
        assert!((covariance + n * p * q).abs() < 4.0 * noise, "{covariance}");
    }
}

#[test]
fn blocks_are_consecutive_and_join_the_ends() {
    let in_time = [5.0, 1.0, 1.0, 9.0, 7.0];
    let side = Distribution::new(in_time.to_vec()).unwrap();
    let cells = Cells::new(&side);
    let draw = |length| Draw::new(&side, &cells, Scheme::Blocks { in_time_ms: &in_time, length });
    let mut counts = vec![0; 5];
    for seed in 0..20 {
        draw(5).unwrap().draw(&mut random(seed), &mut counts);
        assert_eq!(counts, [1; 5]);
        draw(3).unwrap().draw(&mut random(seed), &mut counts);
        let in_time: Vec<usize> = [2, 0, 1, 4, 3].map(|rank| counts[rank]).to_vec();
        let covers = |first: usize, second: usize| {
            (0..5).all(|t| {
                in_time[t] == usize::from((t + 5 - first) % 5 < 3) + usize::from((t + 5 - second) % 5 < 2)
            })
        };
        assert!((0..5).any(|first| (0..5).any(|second| covers(first, second))), "{in_time:?}");
    }
    assert_eq!(draw(2).unwrap().independent_draws(), 2.5);
    for length in [0, 6] {
        assert_eq!(draw(length).unwrap_err(), Error::Blocks { length, values: 5, samples: 5 });
    }
    for in_time in [[5.0, 1.0, 2.0, 9.0, 7.0], [5.0, 1.0, 1.0, 1.0, 9.0], [5.0, 1.0, 1.0, 9.0, 99.0]] {
        assert!(Draw::new(&side, &cells, Scheme::Blocks { in_time_ms: &in_time, length: 2 }).is_err());
    }
    let buckets = counted(&[2, 1]);
    let scheme = Scheme::Blocks { in_time_ms: &[0.0, 0.0, 1.0], length: 1 };
    assert!(Draw::new(&buckets, &Cells::new(&buckets), scheme).is_err());
}

#[test]
fn skewness_of_samples_and_of_blocks() {
    // Squares 6/3 = 2, cubes (1 + 1 - 8)/3 = -2: -2/2^1.5.
    let side = ramp(3);
    let cells = Cells::new(&side);
    assert!((independent(&side).skewness(&[1.0, 1.0, -2.0]) + 2.0 / 2_f64.powf(1.5)).abs() < 1e-14);
    let blocks =
        Draw::new(&side, &cells, Scheme::Blocks { in_time_ms: &[0.0, 1.0, 2.0], length: 2 }).unwrap();
    assert!((blocks.skewness(&[1.0, 1.0, -2.0]) - 2.0 / 2_f64.powf(1.5)).abs() < 1e-14);
    assert_eq!(blocks.skewness(&[0.0; 3]), 0.0);
}
