//! The way through a plan: sizes grow until a request takes so long that a larger one would tell the same.

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::plan::{Direction, Larger, Plan, Step};

/// Where a test is in its plan. Given what each set took, it says what comes next.
#[derive(Debug, Clone)]
pub struct Course<'p> {
    plan: &'p Plan,
    /// Of a body, in bytes, that the server gives and takes.
    largest: u64,
    next: usize,
    is_enough: [bool; 2],
    /// The latest set of a direction, if it was too short for the length of the line.
    short: [Option<Short>; 2],
}

/// A set that says nothing of larger ones.
#[derive(Debug, Clone, Copy)]
struct Short {
    bytes: u64,
    fastest: Duration,
}

impl<'p> Course<'p> {
    /// At the beginning, with a server that gives and takes bodies of so many bytes.
    pub fn new(plan: &'p Plan, largest: u64) -> Self {
        Self { plan, largest, next: 0, is_enough: [false; 2], short: [None; 2] }
    }

    /// The next step, and how many there are from it on, itself included. Sets of a direction that has seen enough are passed over, and
    /// so are latencies that would stand between two of them. Larger sets than those of the plan come before the latency at its end.
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
                // The last one is at the end of the line's work, wherever that is.
                Step::Latency { .. } => self.is_anything_left() || self.next == self.plan.steps.len(),
                Step::WarmUp { .. } | Step::Loss { .. } => true,
            };
            if is_worth_it {
                return Some((step, left.len()));
            }
        }
    }

    /// A set of bodies of this size is over whose requests took so long, on a line with this round trip, if it is known.
    ///
    /// On a long line a request takes more than a second because the sender's window has not opened yet, and larger ones would not tell
    /// the same. So a set says nothing of larger ones before its fastest request took as many round trips as the plan says.
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

    /// Whether a set that has lasted for so long begins another request.
    pub fn goes_on(&self, set_lasted: Duration) -> bool {
        set_lasted < self.plan.limits.longest_set
    }

    /// A set of larger bodies than those that were too short: of both directions the one of the smaller, so that they grow side by side.
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

/// A window that begins with 10 segments of 1460 bytes (RFC 6928) and doubles each round trip has let 15 MB through after ten of them. A
/// smaller body that takes longer has met its limit before. Lines of up to 100 ms reach this within the second of the plans.
pub const ROUNDS: u32 = 10;
