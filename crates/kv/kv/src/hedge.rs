//! Hedged requests to two stores: the second store is requested when the first one fails or takes
//! longer than usual.
//!
//! The usual duration is estimated as the TCP retransmission timeout (RFC 6298).

use std::time::Duration;

use crate::Side;

/// One request.
#[derive(Debug, Clone, Copy)]
pub struct Hedge {
    first: Side,
    is_other_asked: bool,
    is_failed: bool,
}

/// What follows from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Send the request to this store now.
    Ask(Side),
    /// Wait for the other store, which may still respond.
    Wait,
    /// Both stores failed.
    Nobody,
}

impl Hedge {
    /// A request that is sent to this store first.
    pub fn asking(first: Side) -> Self {
        Self { first, is_other_asked: false, is_failed: false }
    }

    /// The first store has not responded in its usual time. Returns the store to request
    /// additionally, once.
    pub fn late(&mut self) -> Option<Side> {
        (!std::mem::replace(&mut self.is_other_asked, true)).then(|| self.first.other())
    }

    /// A request to one of the stores has failed.
    pub fn failed(&mut self) -> Next {
        match (self.late(), std::mem::replace(&mut self.is_failed, true)) {
            (Some(other), _) => Next::Ask(other),
            (None, false) => Next::Wait,
            (None, true) => Next::Nobody,
        }
    }
}

/// The usual response time of a store.
#[derive(Debug, Clone, Copy, Default)]
pub struct LatencyEstimate {
    learned: Option<Learned>,
    /// When the store was last late, if it has not responded since.
    late_at: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
struct Learned {
    smoothed: Duration,
    differs: Duration,
}

impl LatencyEstimate {
    /// Records the duration of a response.
    pub fn hear(&mut self, took: Duration) {
        self.late_at = None;
        let Some(Learned { smoothed, differs }) = &mut self.learned else {
            self.learned = Some(Learned { smoothed: took, differs: took / 2 });
            return;
        };
        *differs = (*differs * 3 + smoothed.abs_diff(took)) / 4;
        *smoothed = (*smoothed * 7 + took) / 8;
    }

    /// Records that the store has not responded in its usual time.
    pub fn late(&mut self, now: Duration) {
        self.late_at = Some(now);
    }

    /// The sort key of the stores: recently late ones are last, then the faster one is first.
    /// Unmeasured stores precede the others.
    pub fn rank(&self, now: Duration) -> (bool, Option<Duration>) {
        let is_late = self.late_at.is_some_and(|at| now.saturating_sub(at) < PASSED_OVER);
        (is_late, self.learned.map(|learned| learned.smoothed))
    }

    /// How long to wait before the other store is requested.
    pub fn late_after(&self) -> Duration {
        let after = self.learned.map_or(UNKNOWN, |learned| learned.smoothed + 4 * learned.differs);
        after.clamp(SHORTEST, LONGEST)
    }
}

/// Before the first response: longer than most round trips around the world.
const UNKNOWN: Duration = Duration::from_millis(500);
/// Longer than failure detection takes.
const PASSED_OVER: Duration = Duration::from_secs(10);
/// Disk writes occasionally take this long.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_store_is_asked_once(events in prop::collection::vec(any::<bool>(), 0..6)) {
            let mut hedge = Hedge::asking(Side::Left);
            let (mut asked, mut failed) = (vec![Side::Left], 0);
            for is_late in events {
                if is_late {
                    asked.extend(hedge.late());
                    continue;
                }
                if failed == asked.len() {
                    continue;
                }
                failed += 1;
                match hedge.failed() {
                    Next::Ask(side) => asked.push(side),
                    Next::Wait => prop_assert!(failed < asked.len()),
                    Next::Nobody => prop_assert_eq!(failed, 2),
                }
            }
            prop_assert!(asked == [Side::Left] || asked == [Side::Left, Side::Right]);
        }

        #[test]
        fn nobody_waits_long(took in prop::collection::vec(0..100_000_u64, 0..20)) {
            let mut usual = LatencyEstimate::default();
            for ms in took {
                usual.hear(Duration::from_millis(ms));
                prop_assert!((SHORTEST..=LONGEST).contains(&usual.late_after()));
            }
        }
    }

    #[test]
    fn what_is_usual_is_learned() {
        let (mut usual, second) = (LatencyEstimate::default(), Duration::from_secs(1));
        assert_eq!((usual.rank(second), usual.late_after()), ((false, None), UNKNOWN));
        usual.hear(Duration::from_millis(80));
        assert_eq!(usual.late_after(), Duration::from_millis(80 + 4 * 40));
        for _ in 0..40 {
            usual.hear(Duration::from_millis(80));
        }
        assert_eq!(usual.rank(second), (false, Some(Duration::from_millis(80))));
        assert_eq!(usual.late_after().as_millis(), 80);
        usual.hear(Duration::from_millis(160));
        assert!((169..=171).contains(&usual.late_after().as_millis()), "90 + 4 * 20");
        usual.late(second);
        assert_eq!((usual.rank(2 * second).0, usual.rank(11 * second).0), (true, false));
        usual.hear(Duration::from_millis(90));
        assert!(!usual.rank(2 * second).0);
    }
}
