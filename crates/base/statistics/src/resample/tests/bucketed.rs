//! Sides given as percentiles or as buckets: the distance between two points is not evidence.

use super::*;
use crate::{Bucket, distribution::as_f64, synthetic::Synthetic};

/// A value, and how many samples are at most that.
fn percentile_rows(samples: &[f64], shares: &[f64]) -> Distribution {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (mut buckets, mut before) = (vec![Bucket::exact(sorted[0], 1)], 1);
    for share in shares {
        let rank = floor((share * as_f64(sorted.len())).ceil()).max(1);
        if rank > before {
            let (low, high) = (buckets[buckets.len() - 1].value_ms, sorted[rank - 1]);
            buckets.push(Bucket::between(low, high, (rank - before - 1) as u64));
            buckets.push(Bucket::exact(high, 1));
            before = rank;
        }
    }
    Distribution::from_counts(buckets, 0.5).unwrap()
}

#[test]
fn percentiles_of_one_source_are_not_different_and_those_of_others_are() {
    let python: Vec<f64> = std::iter::successors(Some(0.1_f64), |share| Some(share + (1.0 - share) / 10.0))
        .take_while(|share| *share < 0.9999)
        .chain([1.0])
        .collect();
    let halves = |per_half: u32| {
        let row = move |row: u32| {
            let (half, part) = (row / per_half, f64::from(row % per_half) / f64::from(per_half));
            1.0 - 0.5_f64.powi(half.cast_signed()) * (1.0 - part / 2.0)
        };
        (1..12 * per_half).map(row).chain([1.0]).collect::<Vec<f64>>()
    };
    for shares in [python, halves(5)] {
        let (mut wrong, mut crossed) = (0, 0);
        for seed in 0..PAIRS {
            let draw = |salt: u64, factor: f64| {
                let mut random = Synthetic::new(2 * seed + salt);
                let mut sample = || factor * (2.6 + 0.8 * random.normal()).exp();
                let samples: Vec<f64> = (0..3000).map(|_| sample()).collect();
                percentile_rows(&samples, &shares)
            };
            let (first, second, slower) = (draw(0, 1.0), draw(1, 1.0), draw(1, 1.5));
            let judged = |second: &Distribution, of: &dyn Fn(&Pair<'_>) -> bool| {
                let sides = [(&first, Scheme::Independent), (second, Scheme::Independent)];
                let settings = Settings { resamples: 200, seed, level: 0.95 };
                of(&resample(&sides, 10, &settings).unwrap().pair(0, 1).unwrap())
            };
            let is_sure = |difference: Difference| difference.certainty == Certainty::Sure;
            wrong += usize::from(judged(&second, &|pair| is_sure(pair.quantile(0.5))));
            wrong += usize::from(judged(&second, &|pair| is_sure(pair.mean())));
            wrong += usize::from(judged(&second, &|pair| is_sure(pair.expected_experienced())));
            crossed += usize::from(judged(&second, &|pair| !pair.crossovers().is_empty()));
            assert!(judged(&slower, &|pair| is_sure(pair.quantile(0.5)) && is_sure(pair.mean())), "{seed}");
        }
        assert!(wrong <= 5 && crossed == 0, "{wrong}, {crossed} of {PAIRS}");
    }
}

const PAIRS: u64 = 20;
