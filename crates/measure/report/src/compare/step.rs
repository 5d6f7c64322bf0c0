//! The moments at which the level of a side changed, and the single step that dependence in time is measured without.
//!
//! A step makes every sample resemble the others of its half, as if no stretch of time were independent of the next. But a
//! single step is not random variation: something was deployed or rerouted. Two steps may be an outage, which might as
//! well not have occurred, so they stay.

use statistics::{Error, Shift, time_shifts};

use super::SideInput;

/// The shifts of a side that has times.
pub(super) fn shifts(side: &SideInput) -> Result<Vec<Shift>, Error> {
    match side.in_time() {
        Some((started_s, values_ms)) => time_shifts(started_s, values_ms, SEED),
        None => Ok(Vec::new()),
    }
}

/// The first sample of a side after its step, if it has exactly one.
pub(super) fn first_after(side: &SideInput, shifts: &[Shift]) -> Option<usize> {
    let ((started_s, _), [shift]) = (side.in_time()?, shifts) else { return None };
    Some(started_s.partition_point(|&at| at < shift.at_s))
}

/// The permutations that test a shift need a seed; any seed will do.
const SEED: u64 = 1;
