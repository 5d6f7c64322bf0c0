//! The way through a plan: sizes grow until a request takes so long that a larger one would tell the same.

use std::time::Duration;

use crate::plan::{Direction, Plan, Step};

/// Where a test is in its plan. Given what each set took, it says what comes next.
#[derive(Debug, Clone)]
pub struct Course<'p> {
    plan: &'p Plan,
    next: usize,
    is_enough: [bool; 2],
}

impl<'p> Course<'p> {
    /// At the beginning.
    pub fn new(plan: &'p Plan) -> Self {
        Self { plan, next: 0, is_enough: [false; 2] }
    }

    /// The next step, and how many there are from it on, itself included. Sets of a direction that has seen enough are passed over, and
    /// so are latencies that would stand between two of them.
    pub fn next_step(&mut self) -> Option<(Step, usize)> {
        loop {
            let step = *self.plan.steps.get(self.next)?;
            self.next += 1;
            let is_worth_it = match step {
                Step::Transfer { direction, .. } => !self.is_enough(direction),
                // The last one is at the end of the line's work, wherever that is.
                Step::Latency { .. } => self.is_anything_left() || self.next == self.plan.steps.len(),
                Step::WarmUp { .. } | Step::Loss { .. } => true,
            };
            if is_worth_it {
                return Some((step, self.plan.steps.len() - self.next + 1));
            }
        }
    }

    /// A set is over whose requests took so long, on a line with this round trip, if it is known.
    ///
    /// On a long line a request takes more than a second because the sender's window has not opened yet, and larger ones would not tell
    /// the same. So a set says nothing of larger ones before its fastest request took [`ROUNDS`] round trips.
    pub fn finished(&mut self, direction: Direction, requests: &[Duration], round_trip: Option<Duration>) {
        let opened = round_trip.unwrap_or_default().saturating_mul(ROUNDS);
        let fastest = requests.iter().min();
        if fastest.is_some_and(|fastest| *fastest > self.plan.limits.stop_after.max(opened)) {
            self.is_enough[direction as usize] = true;
        }
    }

    /// Whether a set that has lasted for so long begins another request.
    pub fn goes_on(&self, set_lasted: Duration) -> bool {
        set_lasted < self.plan.limits.longest_set
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks through a plan on a line of so many bits a second each way, in virtual time; the sizes that were moved.
    fn walk(plan: &Plan, rates: [f64; 2]) -> (Vec<(Direction, u64, u32)>, u32, Duration) {
        let mut course = Course::new(plan);
        let (mut sets, mut latencies, mut total) = (Vec::new(), 0, Duration::ZERO);
        while let Some((step, _)) = course.next_step() {
            match step {
                Step::Latency { samples } => latencies += samples,
                Step::Transfer { direction, bytes, count } => {
                    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
                    let took = Duration::from_secs_f64(bytes as f64 * 8.0 / rates[direction as usize]);
                    let mut done = 0;
                    while done < count && course.goes_on(took * done) {
                        done += 1;
                    }
                    course.finished(direction, &vec![took; done as usize], None);
                    total += took * done;
                    sets.push((direction, bytes, done));
                }
                Step::WarmUp { .. } | Step::Loss { .. } => {}
            }
        }
        (sets, latencies, total)
    }

    #[test]
    fn a_slow_line_is_not_asked_for_large_bodies() {
        // 10 Mbit/s: 1 MB takes 0.8 s and 10 MB 8 s, of which two begin within 15 s. Up, 1 Mbit/s: 100 KB take 0.8 s, 1 MB 8 s.
        let (sets, latencies, _) = walk(&Plan::full(), [10e6, 1e6]);
        use Direction::{Download, Upload};
        assert_eq!(
            sets,
            [
                (Download, 100_000, 9),
                (Download, 1_000_000, 8),
                (Upload, 100_000, 8),
                (Upload, 1_000_000, 2),
                (Download, 10_000_000, 2)
            ]
        );
        // 20 at the start, 2 after each set but those that are left out, and the last.
        assert_eq!(latencies, 20 + 2 * 4);
    }

    #[test]
    fn a_fast_line_gets_the_whole_plan() {
        let (sets, latencies, _) = walk(&Plan::full(), [5e9, 5e9]);
        assert_eq!(sets.len(), 11);
        assert_eq!(sets.last(), Some(&(Direction::Download, 250_000_000, 2)));
        assert_eq!(latencies, 20 + 2 * 10);
    }

    #[test]
    fn a_long_line_is_asked_for_larger_bodies_until_its_window_has_opened() {
        let plan = Plan::quick();
        let is_enough = |took_ms, round_trip_ms: Option<u64>| {
            let mut course = Course::new(&plan);
            let ms = Duration::from_millis;
            course.finished(Direction::Download, &[ms(took_ms)], round_trip_ms.map(ms));
            course.is_enough(Direction::Download)
        };
        // 1 MB in seven round trips of 300 ms is the window, and not the line.
        assert!(!is_enough(2100, Some(300)));
        assert!(is_enough(3001, Some(300)));
        // Up to 100 ms the plan's second decides, as without.
        for round_trip_ms in [None, Some(1), Some(100)] {
            assert!(!is_enough(1000, round_trip_ms) && is_enough(1001, round_trip_ms), "{round_trip_ms:?}");
        }
    }

    #[test]
    fn no_line_is_full_for_long() {
        for rate in [1e5, 1e6, 1e7, 1e8, 1e9] {
            let (_, _, quick) = walk(&Plan::quick(), [rate, rate]);
            // Two sets of a direction are the most that can take long: the last, and the one before, whose requests take up to 1 s.
            // A request that has begun is finished: of 100 KB at 100 Kbit/s, 8 s.
            assert!(quick < Duration::from_secs(2 * (2 * 4 + 10)), "{rate}: {quick:?}");
        }
    }
}
