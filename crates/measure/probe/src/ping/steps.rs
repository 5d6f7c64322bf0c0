//! Converts the kernel's wall clock timestamps to monotonic time, and detects when that clock is
//! set.
//!
//! Slewing changes the offset of the clocks by 0.05 % at most on Linux (adjtimex(2)). A faster
//! change is a step.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// In ns.
    pub(super) monotonic: u64,
    /// In ns since 1970.
    pub(super) wall: i64,
    /// Duration of the reading, in ns.
    pub(super) within: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Pings started until then.
    pub(super) after: u64,
    /// In ns; negative: the clock was set back.
    pub(super) by: i64,
}

#[derive(Debug, Default)]
pub(super) struct Steps {
    last: Option<Reading>,
    /// The offset before the last step, for timestamps from before the step.
    before: Option<i64>,
    found: Vec<Step>,
}

impl Reading {
    fn ahead(self) -> i64 {
        self.wall.saturating_sub_unsigned(self.monotonic)
    }
}

impl Steps {
    pub(super) fn look(&mut self, now: Reading, begun: u64) {
        if let Some(last) = self.last {
            let by = now.ahead().saturating_sub(last.ahead());
            let slewed = now.monotonic.saturating_sub(last.monotonic) / SLEWING;
            if by.unsigned_abs() > last.within + now.within + slewed + NOISE_NS {
                self.before = Some(last.ahead());
                // A clock that is set constantly must not fill the memory.
                if self.found.len() < MOST {
                    self.found.push(Step { after: begun, by });
                }
            }
        }
        self.last = Some(now);
    }

    /// By the kernel's timestamp if it is plausible.
    pub(super) fn arrival(&self, stamp: Option<i64>, sent: u64) -> Option<u64> {
        let (stamp, last) = (stamp?, self.last?);
        let at = |ahead: i64| u64::try_from(stamp.saturating_sub(ahead)).ok();
        let is_possible = |&at: &u64| at >= sent && at <= last.monotonic.saturating_add(last.within);
        let candidates = [Some(last.ahead()), self.before];
        let found = candidates.into_iter().flatten().filter_map(at).find(is_possible)?;
        Some(found.min(last.monotonic))
    }

    pub(super) fn found(&self) -> &[Step] {
        &self.found
    }
}

/// A clock is slewed by at most one part in this number: twice as fast as Linux does.
const SLEWING: u64 = 1000;

/// A smaller difference between two readings is not a step.
const NOISE_NS: u64 = 20_000;

const MOST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const S: i64 = 1_000_000_000;

    fn reading(at_ms: u64, ahead: i64) -> Reading {
        let monotonic = at_ms * MS;
        Reading { monotonic, wall: ahead.saturating_add_unsigned(monotonic), within: 200 }
    }

    #[test]
    fn a_step_is_told_from_slewing() {
        let mut steps = Steps::default();
        steps.look(reading(0, 100 * S), 1);
        steps.look(reading(1000, 100 * S + 500_000), 2);
        steps.look(reading(2000, 100 * S), 3);
        assert_eq!(steps.found(), []);
        steps.look(reading(3000, 103 * S + 200_000_000), 4);
        steps.look(reading(4000, 98 * S), 9);
        assert_eq!(
            steps.found(),
            [Step { after: 4, by: 3_200_000_000 }, Step { after: 9, by: -5_200_000_000 }]
        );
    }

    #[test]
    fn a_stamp_counts_in_the_time_in_which_it_was_made() {
        let mut steps = Steps::default();
        let stamp = |at_ms: i64, ahead: i64| Some(ahead + at_ms * 1_000_000);
        assert_eq!(steps.arrival(stamp(3, S), 0), None, "nobody has looked at a clock");
        steps.look(reading(5, S), 1);
        assert_eq!(steps.arrival(stamp(3, S), MS), Some(3 * MS));
        assert_eq!(steps.arrival(None, MS), None, "the kernel made none");
        // The clock was set after the timestamp was taken, and before it is read.
        steps.look(reading(8, 40 * S), 1);
        assert_eq!(steps.arrival(stamp(6, S), 5 * MS), Some(6 * MS));
        assert_eq!(steps.arrival(stamp(7, 40 * S), 5 * MS), Some(7 * MS));
        // It was set twice in between: timestamps before the sending or after now are rejected.
        assert_eq!(steps.arrival(stamp(6, 20 * S), 5 * MS), None);
        assert_eq!(steps.arrival(stamp(6, 60 * S), 5 * MS), None);
        assert_eq!(steps.arrival(stamp(4, 40 * S), 5 * MS), None);
        // A timestamp slightly after the last reading is moved to that reading.
        assert_eq!(steps.arrival(Some(40 * S + 8_000_100), 5 * MS), Some(8 * MS));
    }

    #[test]
    fn a_clock_that_never_rests_takes_no_memory() {
        let mut steps = Steps::default();
        for at in 0..5000 {
            steps.look(reading(at, if at % 2 == 0 { S } else { 2 * S }), at);
        }
        assert_eq!(steps.found().len(), MOST);
    }
}
