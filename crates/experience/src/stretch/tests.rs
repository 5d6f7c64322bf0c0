//! Series of known dependence, and independent ones that must not look dependent.

use super::*;
use crate::synthetic::Synthetic;

#[test]
fn independent_samples_stay_single_whatever_their_tail() {
    // Each series is judged dependent with a chance of about 5 % by its ranks and less by its slow samples. Of 400, 20
    // by the ranks, with a standard deviation of 4.4: 45 is all of that and as much again, and four standard deviations.
    let mut found = [0, 0];
    for seed in 0..400_u64 {
        let mut random = Synthetic::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let tail: Vec<f64> = (0..500).map(|_| (1.0 - random.uniform()).powf(-0.7)).collect();
        let stretch = independent_stretch(&tail);
        found[0] += u32::from(stretch > 1);
        found[1] += u32::from(stretch > 4 * ROOM);
    }
    assert!(found[0] <= 45 && found[1] <= 20, "{found:?}");
}

#[test]
fn stretches_are_some_ten_correlation_times() {
    // (1 + phi)/(1 - phi) = 3, 9 and 39 samples; between 5 and 25 of them, for one series in ten less or more.
    for (phi, time) in [(0.5, 3), (0.8, 9), (0.95, 39)] {
        let fits = |seed: &u64| {
            let mut random = Synthetic::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let series: Vec<f64> = random.autoregression(10_000, phi).into_iter().map(f64::exp).collect();
            let stretch = independent_stretch(&series);
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
    // A level that follows an autoregression: the values hide it, ranks do not.
    let drift = random.autoregression(20_000, 0.95);
    let both: Vec<f64> = tail.iter().zip(&drift).map(|(tail, drift)| tail * drift.exp()).collect();
    assert!(independent_stretch(&both) > 100, "{}", independent_stretch(&both));
    // Only the slowest 5 % come together, in runs of 50 of every 1000; all else is independent.
    let stalls: Vec<f64> =
        (0..20_000).map(|i| random.uniform() + if i % 1000 < 50 { 100.0 } else { 0.0 }).collect();
    assert!(independent_stretch(&stalls) > 100, "{}", independent_stretch(&stalls));
}

#[test]
fn its_ends() {
    assert_eq!((independent_stretch(&[]), independent_stretch(&[1.0; 19])), (1, 1));
    assert_eq!(independent_stretch(&[3.0; 1000]), 1);
    // Up for good: with so few blocks that resemble each other nothing is independent of anything.
    let halves: Vec<f64> = (0..100).map(|i| if i < 50 { 1.0 } else { 2.0 }).collect();
    assert!(independent_stretch(&halves) > 25, "{}", independent_stretch(&halves));
    // A value that avoids the one before makes a mean surer, not less sure.
    let alternating: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
    assert_eq!(independent_stretch(&alternating), 1);
}
