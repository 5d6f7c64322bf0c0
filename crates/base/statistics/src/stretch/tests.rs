//! Series of known dependence, and independent series that must not look dependent.

use super::*;
use crate::synthetic::Synthetic;

#[test]
fn independent_samples_stay_single_whatever_their_tail() {
    // Each series is judged dependent with a chance of about 5 % by its ranks and less by its slow samples.
    // Of 400, 20 by the ranks, with a standard deviation of 4.4: 45 is all of that and as much again, and
    // four standard deviations.
    let mut found = [0, 0];
    for seed in 0..400_u64 {
        let mut random = Synthetic::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let tail: Vec<f64> = (0..500).map(|_| (1.0 - random.uniform()).powf(-0.7)).collect();
        let stretch = independent_stretch(&tail, None);
        found[0] += u32::from(stretch > 1);
        found[1] += u32::from(stretch > 4 * ROOM);
    }
    assert!(found[0] <= 45 && found[1] <= 20, "{found:?}");
}

#[test]
fn stretches_are_some_ten_correlation_times() {
    // (1 + phi)/(1 - phi) = 3, 9 and 39 samples; between 5 and 25 of them, for one series in ten less or
    // more.
    for (phi, time) in [(0.5, 3), (0.8, 9), (0.95, 39)] {
        let fits = |seed: &u64| {
            let mut random = Synthetic::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let series: Vec<f64> = random.autoregression(10_000, phi).into_iter().map(f64::exp).collect();
            let stretch = independent_stretch(&series, None);
            (5 * time..=25 * time).contains(&stretch)
        };
        let fitting = (0..40_u64).filter(fits).count();
        assert!(fitting >= 32, "{phi}: {fitting}");
    }
}

#[test]
fn a_drift_is_seen_through_a_heavy_tail_and_stalls_through_independence() {
    let mut random = Synthetic::new(10);
    let tail: Vec<f64> = (0..20_000).map(|_| (1.0 - random.uniform()).powf(-0.7)).collect();
    let drift = random.autoregression(20_000, 0.95);
    let both: Vec<f64> = tail.iter().zip(&drift).map(|(tail, drift)| tail * drift.exp()).collect();
    assert!(independent_stretch(&both, None) > 100, "{}", independent_stretch(&both, None));
    // Only the slowest 5 % are clustered, in runs of 50 of every 1000; all else is independent.
    let stalls: Vec<f64> =
        (0..20_000).map(|i| random.uniform() + if i % 1000 < 50 { 100.0 } else { 0.0 }).collect();
    assert!(independent_stretch(&stalls, None) > 100, "{}", independent_stretch(&stalls, None));
}

#[test]
fn its_ends() {
    assert_eq!((independent_stretch(&[], None), independent_stretch(&[1.0; 19], None)), (1, 1));
    assert_eq!(independent_stretch(&[3.0; 1000], None), 1);
    let halves: Vec<f64> = (0..100).map(|i| if i < 50 { 1.0 } else { 2.0 }).collect();
    assert!(independent_stretch(&halves, None) > 25, "{}", independent_stretch(&halves, None));
    let alternating: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
    assert_eq!(independent_stretch(&alternating, None), 1);
}

#[test]
fn a_step_that_is_known_is_no_likeness_of_neighbours() {
    // Spread evenly by a hash, with 5 ms more from the 600th on.
    let spread = |i: u32| f64::from(i.wrapping_mul(2_654_435_761)) / f64::from(u32::MAX) * 10.0;
    let series: Vec<f64> = (0..1000).map(|i| spread(i) + if i >= 600 { 5.0 } else { 0.0 }).collect();
    assert!(independent_stretch(&series, None) > 200, "{}", independent_stretch(&series, None));
    assert_eq!(independent_stretch(&series, Some(600)), 1);
    let drift: Vec<f64> = (0..1000).map(|i| spread(i) / 10.0 + f64::from(i)).collect();
    assert!(independent_stretch(&drift, Some(600)) > 200, "{}", independent_stretch(&drift, Some(600)));
}

#[test]
fn a_drift_counts_by_what_it_adds_in_milliseconds() {
    let mut random = Synthetic::new(3);
    let cities = [58.0, 70.0, 98.0, 118.0, 136.0, 146.0];
    let series: Vec<f64> =
        (0..5300).map(|i| cities[floor(random.uniform() * 5.999)] + 0.3 * f64::from(i) / 5300.0).collect();
    assert!(independent_stretch(&series, None) < 20, "{}", independent_stretch(&series, None));
    let city: Vec<f64> = (0..5300).map(|i| 58.0 + 0.3 * f64::from(i) / 5300.0).collect();
    assert!(independent_stretch(&city, None) > 1000);
    let median = slow_above(&series, 0.42);
    let below: Vec<f64> = series.iter().map(|&value| f64::from(u8::from(value <= median))).collect();
    assert!(stretch_of_share(&below, None) > 100, "{}", stretch_of_share(&below, None));
}
