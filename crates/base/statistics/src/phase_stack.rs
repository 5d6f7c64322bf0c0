//! Determines which phase causes the difference, and at which percentile: how the samples around
//! each percentile spent their time.
//!
//! Percentiles of single phases do not add up. Instead the phases of the samples around a
//! percentile are averaged: these means, and an unexplained rest, add up to the mean of the whole.

use std::ops::Range;

use crate::{
    Error,
    distribution::{as_f64, floor},
    inputs::check_values,
    sum::sum,
};

/// How the samples around one percentile spent their time.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseMix {
    /// The percentile, as a share.
    pub share: f64,
    /// The number of samples averaged; at least 1.
    pub samples: usize,
    /// The mean of their values, ms: the sum of all phases and the rest.
    pub mean_ms: f64,
    /// The mean of each phase, ms, in the order given. A phase that did not happen counts as 0.
    pub phases_ms: Vec<f64>,
    /// The unexplained rest of the mean, ms; below 0 if phases overlap.
    pub rest_ms: f64,
}

/// Part of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A phase, by the index of its column.
    Phase(usize),
    /// The part that no phase explains.
    Rest,
}

/// Second minus first, around the same percentile.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseDifference {
    /// The percentile, as a share.
    pub share: f64,
    /// Of the means, ms: above 0 the second side is slower.
    pub mean_ms: f64,
    /// Of each phase, ms.
    pub phases_ms: Vec<f64>,
    /// Of the rest, ms.
    pub rest_ms: f64,
    /// The part that contributes most in the direction of the difference, the first of equals.
    pub decisive: Option<Part>,
}

/// The phases around some 40 percentiles, dense in the tail: see [`phase_mix`] and
/// [`phase_shares`].
///
/// # Errors
/// As [`phase_mix`].
pub fn phase_stack<P: Copy + Into<f64>>(
    values_ms: &[f64],
    phases_ms: &[&[P]],
) -> Result<Vec<PhaseMix>, Error> {
    phase_mix(values_ms, phases_ms, &phase_shares(values_ms.len()))
}

/// The phases of the samples around each of `shares`. `phases_ms` has a column for each phase with
/// an entry for each value; NaN means that the phase did not occur.
///
/// # Errors
/// No values, or a value that [`crate::Distribution`] rejects; a column of another length.
pub fn phase_mix<P: Copy + Into<f64>>(
    values_ms: &[f64],
    phases_ms: &[&[P]],
    shares: &[f64],
) -> Result<Vec<PhaseMix>, Error> {
    check_values(values_ms)?;
    if let Some(column) = phases_ms.iter().find(|column| column.len() != values_ms.len()) {
        return Err(Error::Uneven {
            column: "durations of a phase",
            found: column.len(),
            values: values_ms.len(),
        });
    }
    let mut order: Vec<(f64, usize)> = values_ms.iter().copied().zip(0..).collect();
    // By index too, so that the order of equal values is defined.
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mix = |&share: &f64| {
        let around = &order[window(order.len(), share)];
        let samples = as_f64(around.len());
        let mean_ms = sum(around.iter().map(|sample| sample.0)) / samples;
        let phase = |column: &&[P]| {
            let times =
                around.iter().map(|sample| column[sample.1].into()).filter(|time: &f64| !time.is_nan());
            sum(times) / samples
        };
        let phases_ms: Vec<f64> = phases_ms.iter().map(phase).collect();
        let rest_ms = mean_ms - sum(phases_ms.iter().copied());
        PhaseMix { share, samples: around.len(), mean_ms, phases_ms, rest_ms }
    };
    Ok(shares.iter().map(mix).collect())
}

/// Second minus first, around the same percentile. Both must have the same phases; the first side's
/// share is reported.
///
/// # Errors
/// A different number of phases.
pub fn phase_difference(first: &PhaseMix, second: &PhaseMix) -> Result<PhaseDifference, Error> {
    if first.phases_ms.len() != second.phases_ms.len() {
        let (values, found) = (first.phases_ms.len(), second.phases_ms.len());
        return Err(Error::Uneven { column: "phases of the second side", found, values });
    }
    let mean_ms = second.mean_ms - first.mean_ms;
    let phases_ms: Vec<f64> =
        second.phases_ms.iter().zip(&first.phases_ms).map(|(second, first)| second - first).collect();
    let rest_ms = second.rest_ms - first.rest_ms;
    let parts = phases_ms.iter().enumerate().map(|(index, &phase)| (Part::Phase(index), phase));
    let mut decisive = None;
    let mut largest = 0.0;
    for (part, contribution) in parts.chain([(Part::Rest, rest_ms)]) {
        // A difference of 0 has no direction, and all products are 0.
        if contribution * mean_ms.signum() > largest && mean_ms != 0.0 {
            largest = contribution * mean_ms.signum();
            decisive = Some(part);
        }
    }
    Ok(PhaseDifference { share: first.share, mean_ms, phases_ms, rest_ms, decisive })
}

/// The percentiles of [`phase_stack`], as shares: every fifth up to the 90th, then increasingly
/// dense, while `n` samples have one beyond.
pub fn phase_shares(n: usize) -> Vec<f64> {
    let steps = (0..=18).map(|step| f64::from(step * 5) / 100.0);
    let known = |share: &f64| as_f64(n) * (1.0 - share) >= 1.0 - 1e-9;
    steps.chain(TAIL).filter(known).collect()
}

fn window(n: usize, share: f64) -> Range<usize> {
    let centre = floor((as_f64(n - 1) * share.clamp(0.0, 1.0)).round()).min(n - 1);
    let end = centre.min(n - 1 - centre);
    let half = (n / 200).max(5).min(end.div_ceil(2));
    centre - half..centre + half + 1
}

const TAIL: [f64; 21] = [
    0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.99, 0.992, 0.994, 0.995, 0.996, 0.997,
    0.998, 0.999, 0.9995, 0.9999, 0.99999,
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NONE: f64 = f64::NAN;

    #[test]
    fn the_tail_is_where_connections_are_made() {
        // 1000 samples: i/10 ms of waiting, and among the slowest 50 a connection of 100 ms; 1 ms is
        // unexplained.
        let slow = |i: i32| i >= 950;
        let waits: Vec<f64> = (0..1000).map(|i| f64::from(i) / 10.0).collect();
        let connects: Vec<f64> = (0..1000).map(|i| if slow(i) { 100.0 } else { NONE }).collect();
        let values: Vec<f64> =
            (0..1000).map(|i| f64::from(i) / 10.0 + 1.0 + if slow(i) { 100.0 } else { 0.0 }).collect();
        let mixes = phase_mix(&values, &[&waits, &connects], &[0.5, 0.99]).unwrap();
        // Rank round(999/2) = 500, half = 5: ranks 495..=505 wait 50.0 on average.
        assert_eq!((mixes[0].samples, mixes[0].phases_ms[1]), (11, 0.0));
        assert!((mixes[0].mean_ms - 51.0).abs() < 1e-12 && (mixes[0].rest_ms - 1.0).abs() < 1e-12);
        // Rank round(989.01) = 989, ten from the end: ranks 984..=994 wait 98.9 and connect.
        assert_eq!(mixes[1].samples, 11);
        assert!((mixes[1].phases_ms[0] - 98.9).abs() < 1e-12 && mixes[1].phases_ms[1] == 100.0);
        let difference = phase_difference(&mixes[0], &mixes[1]).unwrap();
        assert!((difference.mean_ms - 148.9).abs() < 1e-12);
        assert_eq!(difference.decisive, Some(Part::Phase(1)));
        let back = phase_difference(&mixes[1], &mixes[0]).unwrap();
        assert_eq!((back.decisive, back.mean_ms), (Some(Part::Phase(1)), -difference.mean_ms));
        assert_eq!(phase_difference(&mixes[0], &mixes[0]).unwrap().decisive, None);
    }

    #[test]
    fn percentiles_end_where_samples_do() {
        let shares = phase_shares(1_000_000);
        assert_eq!(shares.len(), 40);
        for share in [0.5, 0.75, 0.9, 0.95, 0.99, 0.999] {
            assert!(shares.contains(&share), "{share}");
        }
        assert!(shares.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(phase_shares(1000).last(), Some(&0.999));
        assert_eq!(phase_shares(999).last(), Some(&0.998));
        assert_eq!(phase_shares(1), [0.0]);
        // Windows: 1 % of 10 000 in the middle; at the 99.9th percentile rank 9989, ten from the end.
        assert_eq!(window(10_000, 0.5), 4950..5051);
        assert_eq!(window(10_000, 0.999), 9984..9995);
        assert_eq!((window(1, 0.7), window(1000, 1.0)), (0..1, 999..1000));
    }

    #[test]
    fn columns_of_other_lengths_are_refused() {
        let found = phase_stack::<f32>(&[1.0, 2.0], &[&[1.0]]).unwrap_err();
        assert_eq!(found, Error::Uneven { column: "durations of a phase", found: 1, values: 2 });
        let [one, two] = [&[&[1.0_f32][..]][..], &[]].map(|phases| phase_stack(&[1.0], phases).unwrap());
        assert!(matches!(phase_difference(&one[0], &two[0]), Err(Error::Uneven { found: 0, values: 1, .. })));
    }

    proptest! {
        #[test]
        fn phases_and_rest_are_the_mean(
            rows in prop::collection::vec((0.0..1e4, 0.0..1e3_f32, 0.0..1e3_f32, prop::bool::ANY), 1..400),
        ) {
            let values: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let first: Vec<f32> = rows.iter().map(|row| row.1).collect();
            let second: Vec<f32> = rows.iter().map(|row| if row.3 { row.2 } else { f32::NAN }).collect();
            for mix in phase_stack(&values, &[&first, &second]).unwrap() {
                let total = mix.phases_ms.iter().sum::<f64>() + mix.rest_ms;
                // Three sums of numbers up to 1e4, each rounded a few times at 1e-12.
                prop_assert!((total - mix.mean_ms).abs() < 1e-10);
                prop_assert!(values.iter().any(|&value| value <= mix.mean_ms));
            }
        }

        #[test]
        fn the_decisive_part_points_the_way_of_the_difference(
            first in prop::collection::vec(-1e3..1e3, 4),
            second in prop::collection::vec(-1e3..1e3, 4),
        ) {
            let mix = |parts: &[f64]| PhaseMix {
                share: 0.5,
                samples: 1,
                mean_ms: parts.iter().sum(),
                phases_ms: parts[..3].to_vec(),
                rest_ms: parts[3],
            };
            let found = phase_difference(&mix(&first), &mix(&second)).unwrap();
            let decisive = match found.decisive.unwrap() {
                Part::Phase(index) => found.phases_ms[index],
                Part::Rest => found.rest_ms,
            };
            prop_assert!(decisive / found.mean_ms >= 0.25 - 1e-9);
        }
    }
}
