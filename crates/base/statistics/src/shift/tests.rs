//! Shifts at known moments, and series without any.

use super::*;
use crate::synthetic::Synthetic;

/// `n` exponential samples over 600 s, with the mean that `level` gives for their time.
fn recorded(seed: u64, n: usize, level: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Synthetic::new(seed);
    let times: Vec<f64> = (0..n).map(|i| as_f64(i) * 600.0 / as_f64(n)).collect();
    let values = times.iter().map(|&time| level(time) * random.exponential()).collect();
    (times, values)
}

#[test]
fn nothing_is_found_where_nothing_is() {
    // 200 series: at a level of 0.001, 0.2 false alarms are expected and more than 2 have a chance of 0.1 %.
    let alarmed = |seed: &u64| {
        let (times, values) = recorded(1000 + seed, 4000, |_| 10.0);
        !time_shifts(&times, &values, *seed).unwrap().is_empty()
    };
    let alarms = (0..200).filter(alarmed).count();
    assert!(alarms <= 2, "{alarms}");
}

#[test]
fn a_step_is_found_where_it_is() {
    // 12 000 samples make 200 intervals of 3 s. From 402 s, which begins one, all takes 1.5 times as long.
    // The sample medians are off by up to 3/sqrt(4000) = 5 %.
    let (times, values) = recorded(1, 12_000, |time| if time < 402.0 { 10.0 } else { 15.0 });
    let found = time_shifts(&times, &values, 1).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].at_s - 402.0).abs() <= 3.0, "{found:?}");
    assert!((found[0].before_ms / (10.0 * 2_f64.ln()) - 1.0).abs() < 0.05, "{found:?}");
    assert!((found[0].after_ms / (15.0 * 2_f64.ln()) - 1.0).abs() < 0.05, "{found:?}");
    assert_eq!(found[0].sure, SURE);
    let reversed = |column: &[f64]| column.iter().rev().copied().collect::<Vec<f64>>();
    assert_eq!(time_shifts(&reversed(&times), &reversed(&values), 1).unwrap(), found);
}

#[test]
fn an_outage_comes_and_goes() {
    // Ten seconds of 600, from 301 s to 311 s, in which all takes 20 times as long: intervals of 3 s from
    // 300 s on are slow, three of them wholly (303..=312 except for a second).
    let (times, values) =
        recorded(2, 12_000, |time| if (301.0..311.0).contains(&time) { 200.0 } else { 10.0 });
    let found = time_shifts(&times, &values, 1).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!((found[0].at_s - 301.0).abs() <= 3.0 && (found[1].at_s - 311.0).abs() <= 3.0, "{found:?}");
    assert!(found[0].after_ms > 5.0 * found[0].before_ms && found[1].after_ms < 8.0, "{found:?}");
    assert_eq!(found[0].after_ms, found[1].before_ms);
}

#[test]
fn an_outage_of_two_intervals_is_not_told_from_chance() {
    // Two intervals are neighbours by chance in one order of 100.
    let (times, values) =
        recorded(3, 12_000, |time| if (300.0..306.0).contains(&time) { 200.0 } else { 10.0 });
    assert!(time_shifts(&times, &values, 1).unwrap().is_empty());
}

#[test]
fn three_levels_are_two_shifts() {
    let level = |time| {
        if time < 150.0 {
            10.0
        } else if time < 450.0 {
            13.0
        } else {
            20.0
        }
    };
    let (times, values) = recorded(4, 12_000, level);
    let found = time_shifts(&times, &values, 1).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!((found[0].at_s - 150.0).abs() <= 6.0 && (found[1].at_s - 450.0).abs() <= 6.0, "{found:?}");
}

#[test]
fn a_drift_is_no_three_shifts() {
    // The level follows exp(0.3 y), where y is an autoregression with factor 0.9.
    let mut counts = [0; 4];
    for seed in 0..40 {
        let mut random = Synthetic::new(seed);
        let scale = (12.0 * (1.0 - 0.81_f64)).sqrt();
        let drift: Vec<f64> =
            random.autoregression(300, 0.9)[100..].iter().map(|y| (0.3 * scale * y).exp()).collect();
        let (times, values) = recorded(seed + 50, 12_000, |time| 10.0 * drift[floor(time / 3.0)]);
        counts[time_shifts(&times, &values, seed).unwrap().len()] += 1;
    }
    assert_eq!(counts[3], 0, "{counts:?}");
}

#[test]
fn few_samples_say_nothing() {
    assert!(time_shifts(&[0.0], &[1.0], 1).unwrap().is_empty());
    assert!(time_shifts(&[5.0; 2000], &[1.0; 2000], 1).unwrap().is_empty());
    let (times, values) = recorded(5, 300, |time| if time < 300.0 { 1.0 } else { 100.0 });
    assert!(time_shifts(&times, &values, 1).unwrap().is_empty());
    assert_eq!(time_shifts(&[0.0], &[], 1), Err(Error::Unpaired { times: 1, values: 0 }));
    assert_eq!(time_shifts(&[], &[], 1), Err(Error::Empty));
}

#[test]
fn intervals_hold_enough_samples() {
    // 1000 samples in 100 s make 20 intervals of 5 s; the three of the last 40 s are merged with the
    // samples before them.
    let times: Vec<f64> = (0..997).map(|i| f64::from(i) * 0.06).chain([70.0, 80.0, 100.0]).collect();
    let cut = Cut::new(&times, 0.0, 100.0);
    assert_eq!(cut.starts_s, (0..12).map(|i| f64::from(i) * 5.0).collect::<Vec<f64>>());
    assert_eq!(cut.of_sample[999], 11);
    let medians = cut.medians(&(0..1000).map(f64::from).collect::<Vec<f64>>(), &[0, 6, 12]);
    // 30 s hold 500 samples, 0..=499: 249.5; the rest 500..=999: 749.5.
    assert_eq!(medians, [249.5, 749.5]);
}
