//! Wakes up slightly early and spins until the deadline, so that a packet leaves on time.
//!
//! Spinning takes a processor from the programs under test, so it has a budget.

use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Alarm {
    lateness: Duration,
    spun: Duration,
}

impl Alarm {
    /// The caller spins for the rest of `remaining`. `now` is the time since the start.
    pub(crate) fn sleep(&self, now: Duration, remaining: Duration) -> Duration {
        let budget = (now / BUDGET_SHARE + BUDGET_START).saturating_sub(self.spun);
        remaining.saturating_sub(self.lateness.min(budget))
    }

    pub(crate) fn woke(&mut self, lateness: Duration) {
        // Nine steps up for a sample above, one down for a sample below: the balance is the 90th
        // percentile.
        self.lateness = if lateness > self.lateness {
            (self.lateness + STEP * 9).min(MOST_EARLY)
        } else {
            self.lateness.saturating_sub(STEP)
        };
    }

    pub(crate) fn spun(&mut self, time: Duration) {
        self.spun += time;
    }
}

/// A twentieth of a processor, and 50 ms for the first estimates.
const BUDGET_SHARE: u32 = 20;
const BUDGET_START: Duration = Duration::from_millis(50);

/// A later wake-up was caused by preemption, which an alarm cannot predict.
const MOST_EARLY: Duration = Duration::from_micros(200);

const STEP: Duration = Duration::from_nanos(500);

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn it_learns_how_late_this_machine_wakes() {
        let mut alarm = Alarm::default();
        assert_eq!(alarm.sleep(SECOND, SECOND), SECOND, "nothing is known yet");
        // Lateness 1 to 100 us, uniformly: the 90th percentile is 90 us.
        for i in 0..100_000_u64 {
            alarm.woke(Duration::from_micros(1 + i * 37 % 100));
        }
        let early = SECOND - alarm.sleep(SECOND, SECOND);
        assert!((80..=100).contains(&early.as_micros()), "{early:?}");
    }

    #[test]
    fn a_stall_is_not_a_habit() {
        let mut alarm = Alarm::default();
        for _ in 0..1000 {
            alarm.woke(SECOND);
        }
        assert_eq!(SECOND - alarm.sleep(SECOND, SECOND), MOST_EARLY);
    }

    #[test]
    fn the_budget_is_a_twentieth_of_the_time() {
        let mut alarm = Alarm::default();
        for _ in 0..1000 {
            alarm.woke(SECOND);
        }
        let (mut now, mut spun) = (Duration::ZERO, Duration::ZERO);
        while now < SECOND * 10 {
            let remaining = Duration::from_micros(300);
            let spin = remaining - alarm.sleep(now, remaining);
            alarm.spun(spin);
            spun += spin;
            now += remaining;
        }
        assert!(spun <= now / 20 + BUDGET_START, "{spun:?} of {now:?}");
        assert!(spun >= now / 20, "the budget is used");
    }
}
