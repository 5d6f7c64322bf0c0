//! How many neighbouring samples depend on each other in a recording whose level changed once for good.
//!
//! A step in the middle makes every sample resemble the others of its half, as if no stretch of time were independent
//! of the next. But a single step is not random variation: something was deployed or rerouted. So the step is removed
//! before the similarity of neighbours is measured. Two steps may be an outage, which might as well not have
//! occurred, so they stay.

use experience::{Error, Shift, independent_stretch, time_shifts};

use super::SideInput;

/// The shifts of a side that has times.
pub(super) fn shifts(side: &SideInput) -> Result<Vec<Shift>, Error> {
    match side.in_time() {
        Some((started_s, values_ms)) => time_shifts(started_s, values_ms, SEED),
        None => Ok(Vec::new()),
    }
}

/// The share of a side's samples before its step, if it has exactly one.
pub(super) fn step(side: &SideInput, shifts: &[Shift]) -> Option<f64> {
    let ((started_s, _), [shift]) = (side.in_time()?, shifts) else { return None };
    Some(started_s.partition_point(|&at| at < shift.at_s) as f64 / started_s.len() as f64)
}

/// How many neighbours form a stretch that is independent of the next. `step` is where the level changed, as a share.
pub(super) fn stretch(in_time_ms: &[f64], step: Option<f64>) -> usize {
    let whole = independent_stretch(in_time_ms);
    let Some(step) = step.filter(|_| whole > 1) else { return whole };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
    let place = (step * in_time_ms.len() as f64).round() as usize;
    let (before, after) = in_time_ms.split_at(place.min(in_time_ms.len()));
    let level = |part: &[f64]| {
        let mut sorted = part.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    };
    let without = |part: &[f64]| {
        let level = level(part);
        part.iter().map(move |value| value - level).collect::<Vec<f64>>()
    };
    whole.min(independent_stretch(&[without(before), without(after)].concat()))
}

/// The permutations that test a shift need a seed; any seed will do.
const SEED: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_fact_and_not_a_likeness_of_neighbours() {
        // Spread evenly by a hash, with 5 ms more from the 600th on.
        let spread = |i: u32| f64::from(i.wrapping_mul(2_654_435_761)) / f64::from(u32::MAX) * 10.0;
        let series: Vec<f64> = (0..1000).map(|i| spread(i) + if i >= 600 { 5.0 } else { 0.0 }).collect();
        assert!(stretch(&series, None) > 200, "{}", stretch(&series, None));
        assert_eq!(stretch(&series, Some(0.6)), 1);
        // A drift remains a drift, whatever the position of the step.
        let drift: Vec<f64> = (0..1000).map(|i| spread(i) / 10.0 + f64::from(i)).collect();
        assert!(stretch(&drift, Some(0.6)) > 200, "{}", stretch(&drift, Some(0.6)));
    }
}
