//! Executes a plan: sizes increase until larger requests would not change the result.

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::plan::{Direction, Larger, Plan, Step};

/// The position in a plan. Given the durations of each set, it returns the next step.
#[derive(Debug, Clone)]
pub struct SizeRamp<'p> {
    plan: &'p Plan,
    largest: u64,
    next: usize,
    is_enough: [bool; 2],
    /// The latest set of a direction, if it was too short for the line.
    short: [Option<Short>; 2],
}

/// A set that does not predict the rate of larger ones.
#[derive(Debug, Clone, Copy)]
struct Short {
    bytes: u64,
    fastest: Duration,
}

impl<'p> SizeRamp<'p> {
    /// The start of a plan, with the server's limit of body sizes.
    pub fn new(plan: &'p Plan, largest: u64) -> Self {
        Self { plan, largest, next: 0, is_enough: [false; 2], short: [None; 2] }
    }

    /// The next step, and the number of remaining steps including it. Skips the sets of a finished
    /// direction, and latency steps between skipped sets.
    pub fn next_step(&mut self) -> Option<(Step, usize)> {
        loop {
            let left = &self.plan.steps[self.next..];
            if matches!(left, [] | [Step::Latency { .. }])
                && let Some(step) = self.larger()
            {
                return Some((step, left.len() + 1));
            }
            let step = *left.first()?;
            self.next += 1;
            let is_worth_it = match step {
                Step::Transfer { direction, .. } => !self.is_enough(direction),
                Step::Latency { .. } => self.is_anything_left() || self.next == self.plan.steps.len(),
                Step::WarmUp { .. } | Step::Loss { .. } => true,
            };
            if is_worth_it {
                return Some((step, left.len()));
            }
        }
    }

    /// Reports a completed set with the durations of its requests, and the line's round-trip time
    /// if known. A set is final only if its fastest request took the plan's number of round trips:
    /// before, the sender's window may not have opened.
    pub fn finished(
        &mut self,
        (direction, bytes): (Direction, u64),
        requests: &[Duration],
        round_trip: Option<Duration>,
    ) {
        let limits = self.plan.limits;
        let opened = round_trip.unwrap_or_default().saturating_mul(limits.stop_after_round_trips);
        let Some(fastest) = requests.iter().min().copied() else { return };
        if fastest > limits.stop_after.max(opened) {
            self.is_enough[direction as usize] = true;
        }
        self.short[direction as usize] = (fastest <= opened).then_some(Short { bytes, fastest });
    }

    /// Whether a set that has lasted for `set_lasted` starts another request.
    pub fn goes_on(&self, set_lasted: Duration) -> bool {
        set_lasted < self.plan.limits.longest_set
    }

    /// Takes the direction with the smaller bodies first, so that both grow alternately.
    fn larger(&mut self) -> Option<Step> {
        let Larger { by, up_to, count, within } = self.plan.larger?;
        let larger = |direction: Direction| {
            let Short { bytes, fastest } = self.short[direction as usize]?;
            let next = bytes.saturating_mul(u64::from(by)).min(up_to).min(self.largest);
            let is_quick = u128::from(next) * fastest.as_nanos() <= u128::from(bytes) * within.as_nanos();
            (next > bytes && is_quick).then_some((next, direction))
        };
        let (bytes, direction) = Direction::BOTH.into_iter().filter_map(larger).min()?;
        self.short[direction as usize] = None;
        Some(Step::Transfer { direction, bytes, count })
    }

    fn is_enough(&self, direction: Direction) -> bool {
        self.is_enough[direction as usize]
    }

    fn is_anything_left(&self) -> bool {
        self.plan.steps[self.next..].iter().any(|step| match *step {
            Step::Transfer { direction, .. } => !self.is_enough(direction),
            Step::Loss { .. } => true,
            Step::WarmUp { .. } | Step::Latency { .. } => false,
        })
    }
}

/// Round trips in which a window of 10 segments of 1460 bytes (RFC 6928) that doubles each time
/// passes 15 MB. A smaller body that takes longer has reached its limit before.
pub const ROUNDS: u32 = 10;
