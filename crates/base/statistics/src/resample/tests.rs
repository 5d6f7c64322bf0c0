//! Resampling as a whole: its inputs, and how often its intervals contain the truth.

use super::*;
use crate::distribution::floor;

mod bucketed;
mod coverage;

fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    move || poisson::uniform(&mut random)
}

fn exponential(n: usize, seed: u64) -> Distribution {
    let mut uniform = uniform(seed);
    Distribution::new((0..n).map(|_| -uniform().ln()).collect()).unwrap()
}

fn settings(resamples: u32, seed: u64) -> Settings {
    Settings { resamples, seed, level: 0.95 }
}

#[test]
fn the_seed_alone_decides() {
    let (first, second) = (exponential(5000, 1), exponential(3000, 2));
    let sides = [(&first, Scheme::Independent), (&second, Scheme::Independent)];
    let on = |threads, seed| resample_on(threads, &sides, 90, &settings(101, seed)).unwrap();
    let said = |resamples: &Resamples<'_>| {
        let pair = resamples.pair(0, 1).unwrap();
        format!(
            "{:?} {:?} {:?}",
            resamples.sides()[1].mean(),
            pair.expected_experienced(),
            pair.share_faster(90)
        )
    };
    let one = said(&on(1, 7));
    for threads in [2, 3, 64, 1000] {
        assert_eq!(said(&on(threads, 7)), one);
    }
    assert_ne!(said(&on(1, 8)), one);
    let alike = resample(&[(&first, Scheme::Independent); 2], 1, &settings(100, 7)).unwrap();
    assert_ne!(alike.sides()[0].mean(), alike.sides()[1].mean());
    assert!(alike.pair(0, 2).is_none());
}

#[test]
fn settings_have_ranges() {
    let side = exponential(10, 1);
    let refused = |resamples, level| {
        resample(&[(&side, Scheme::Independent)], 1, &Settings { resamples, seed: 1, level }).unwrap_err()
    };
    assert_eq!(refused(99, 0.95), Error::Resamples { resamples: 99, level: 0.95 });
    assert_eq!(refused(20_001, 0.95), Error::Resamples { resamples: 20_001, level: 0.95 });
    assert_eq!(refused(100, 0.4), Error::Resamples { resamples: 100, level: 0.4 });
    assert!(matches!(refused(100, f64::NAN), Error::Resamples { .. }));
}

#[test]
fn few_samples_make_open_intervals() {
    for n in 1..=12 {
        let side = exponential(n, 5);
        let resamples = resample(&[(&side, Scheme::Independent)], 3, &settings(100, 1)).unwrap();
        let side = &resamples.sides()[0];
        // 0.5^n against 0.025.
        assert_eq!(side.mean().high.is_some(), n >= 6, "{n}");
        assert_eq!(side.expected_experienced().high, None);
        assert_eq!(side.quantile(0.5).high.is_some(), n >= 6, "{n}");
        assert!(side.band().iter().all(|point| point.low_ms <= point.latency_ms && point.latency_ms >= 0.0));
    }
}

#[test]
fn cells_vary_as_samples_do() {
    // 200 000 samples in about 8600 cells against draws of single samples. 8000 resamples give a standard
    // deviation to within 1/sqrt(2 x 8000) = 0.8 %, 500 to 3.2 %: with three of those the two differ by up
    // to 10 %.
    let side = exponential(200_000, 11);
    let cells = resample(&[(&side, Scheme::Independent)], 90, &settings(8000, 3)).unwrap();
    let cells = &cells.sides()[0];
    let mut random = generator(99, 0, 0);
    let plain = |random: &mut Xoshiro256PlusPlus| {
        let draw = |_| side.at_rank(floor(poisson::uniform(random) * 200_000.0));
        Distribution::new((0..200_000).map(draw).collect()).unwrap()
    };
    let plain: Vec<Distribution> = (0..500).map(|_| plain(&mut random)).collect();
    let deviation = |values: Vec<f64>| resampled::variance(&values).sqrt();
    let ratio = |cells: Vec<f64>, statistic: &dyn Fn(&Distribution) -> f64| {
        deviation(cells) / deviation(plain.iter().map(statistic).collect())
    };
    for (name, ratio) in [
        ("mean", ratio(cells.means().collect(), &Distribution::mean)),
        ("E[max of 90]", ratio(cells.expected().collect(), &|side| side.expected_experienced(90))),
        ("median", ratio(cells.quantiles(0.5).collect(), &|side| side.quantile(0.5))),
        ("p99", ratio(cells.quantiles(0.99).collect(), &|side| side.quantile(0.99))),
        ("p99.99", ratio(cells.quantiles(0.9999).collect(), &|side| side.quantile(0.9999))),
    ] {
        assert!((ratio - 1.0).abs() < 0.10, "{name}: {ratio}");
    }
    let ratio = deviation(cells.means().collect()) / (side.standard_deviation() / 200_000_f64.sqrt());
    assert!((ratio - 1.0).abs() < 0.032, "{ratio}");
}

#[test]
fn a_histogram_is_as_sure_as_its_samples() {
    // Samples rounded to 1 % of a unit, as samples and as counts: intervals from order statistics are
    // equal, the others differ by chance. An end of 4000 resamples is known to 0.06 standard errors, a
    // difference of two to 0.08; four of those are a tenth of an interval of 3.9 standard errors.
    let side = exponential(4000, 21);
    let rounded: Vec<f64> = (0..4000).map(|rank| (side.at_rank(rank) * 100.0).round() / 100.0).collect();
    let buckets = rounded.iter().map(|&value_ms| crate::Bucket::exact(value_ms, 1)).collect();
    let (samples, counts) =
        (Distribution::new(rounded).unwrap(), Distribution::from_counts(buckets, 0.005).unwrap());
    let resamples = [&samples, &counts]
        .map(|side| resample(&[(side, Scheme::Independent)], 20, &settings(4000, 2)).unwrap());
    let [samples, counts] = resamples.each_ref().map(|resamples| &resamples.sides()[0]);
    assert_eq!(samples.quantile(0.99), counts.quantile(0.99));
    assert_eq!(samples.band(), counts.band());
    for (a, b) in
        [(samples.mean(), counts.mean()), (samples.expected_experienced(), counts.expected_experienced())]
    {
        let ends = |interval: ConfidenceInterval| (interval.low.unwrap(), interval.high.unwrap());
        let ((low, high), (other_low, other_high)) = (ends(a), ends(b));
        assert!((low - other_low).abs().max((high - other_high).abs()) < 0.1 * (high - low), "{a:?} {b:?}");
    }
}

#[test]
fn a_verdict_that_flips_between_requests_and_pages() {
    // 10 - 50 ln(1 - p) has the mean 60 and E[max of 90] = 10 + 50 H_90 = 264; 50 + 100 p has 100 and 149.
    // Crossing at 0.93013 (see the tests of `crossover`). Both are sure, and the crossing is bounded around
    // its place.
    let n = 20_000;
    let side = |latency: &dyn Fn(f64) -> f64, seed| {
        let mut uniform = uniform(seed);
        Distribution::new((0..n).map(|_| latency(uniform())).collect()).unwrap()
    };
    let (swift, steady) = (side(&|u| 10.0 - 50.0 * u.ln(), 1), side(&|u| 50.0 + 100.0 * u, 2));
    let sides = [(&swift, Scheme::Independent), (&steady, Scheme::Independent)];
    let resamples = resample(&sides, 90, &settings(1000, 1)).unwrap();
    let pair = resamples.pair(0, 1).unwrap();
    let (mean, page) = (pair.mean(), pair.expected_experienced());
    assert!(mean.interval.low.unwrap() > 38.0 && mean.interval.high.unwrap() < 42.0, "{mean:?}");
    assert!(page.interval.low.unwrap() < -100.0 && page.interval.high.unwrap() < -90.0, "{page:?}");
    assert_eq!((mean.sure, page.sure), (1.0 - 1.0 / 1001.0, 1.0 - 1.0 / 1001.0));
    let (requests, pages) = (pair.share_faster(1), pair.share_faster(90));
    assert!(requests.1.low.unwrap() > 0.5 && pages.1.high.unwrap() < 0.1, "{requests:?} {pages:?}");
    let crossovers = pair.crossovers();
    assert_eq!(crossovers.len(), 1);
    assert!(crossovers[0].share.contains(0.930_13), "{crossovers:?}");
    assert!(
        crossovers[0].share.low.unwrap() > 0.92 && crossovers[0].share.high.unwrap() < 0.94,
        "{crossovers:?}"
    );
    let band = resamples.sides()[0].band();
    assert!((150..=180).contains(&band.len()));
    assert_eq!((band[0].high_ms.is_some(), band[band.len() - 1].high_ms), (true, None));
    // 20 000 samples bound p while p^20000 <= 0.025: 1 - p >= 1.84e-4.
    assert!(band.iter().all(|point| point.high_ms.is_some() == (1.0 - point.share > 1.844e-4)));
}

#[test]
fn one_side_that_always_wins_is_not_certain() {
    let (low, high) = (exponential(50, 1), Distribution::new(vec![1000.0; 80]).unwrap());
    let sides = [(&low, Scheme::Independent), (&high, Scheme::Independent)];
    let resamples = resample(&sides, 5, &settings(200, 1)).unwrap();
    let (share, interval) = resamples.pair(0, 1).unwrap().share_faster(1);
    // None of 50 the other way: 0.025^(1/50) = 0.9289; of 10 pages of 5, 0.025^(1/10) = 0.6915.
    assert_eq!((share, interval.high), (1.0, Some(1.0)));
    assert!((interval.low.unwrap() - 0.9289).abs() < 1e-4);
    let pages = resamples.pair(0, 1).unwrap().share_faster(5).1;
    assert!((pages.low.unwrap() - 0.6915).abs() < 1e-4, "{pages:?}");
}
