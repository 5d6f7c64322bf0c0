//! The moments at which the level of a side changed, and the step that is excluded from dependence.
//!
//! A single step is a deployment or a new route, not random variation, but makes samples look
//! dependent. Two steps may be an outage, which might not occur again, so they stay.

use statistics::{Error, Shift, time_shifts};

use super::SideInput;

pub(super) fn shifts(side: &SideInput) -> Result<Vec<Shift>, Error> {
    match side.in_time() {
        Some((started_s, values_ms)) => time_shifts(started_s, values_ms, SEED),
        None => Ok(Vec::new()),
    }
}

pub(super) fn first_after(side: &SideInput, shifts: &[Shift]) -> Option<usize> {
    let ((started_s, _), [shift]) = (side.in_time()?, shifts) else { return None };
    Some(started_s.partition_point(|&at| at < shift.at_s))
}

/// The permutations that test a shift need a seed; any seed will do.
const SEED: u64 = 1;
