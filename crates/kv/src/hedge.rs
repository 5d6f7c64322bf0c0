//! A request that either of two stores can do: one is asked, and the other one too as soon as the first fails or takes longer than it usually
//! does.
//!
//! How long that is, is learned from each one's answers, as TCP learns when a segment is lost (RFC 6298): the smoothed time, and four times
//! by how much answers differ from it. So a store that dies is not waited for until its silence is noticed.

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
    /// This one is asked now.
    Ask(Side),
    /// The other one may still answer.
    Wait,
    /// Nobody answers.
    Nobody,
}

impl Hedge {
    /// This store is asked first.
    pub fn asking(first: Side) -> Self {
        Self { first, is_other_asked: false, is_failed: false }
    }

    /// It has not answered in its usual time: who is asked besides, once.
    pub fn late(&mut self) -> Option<Side> {
        (!std::mem::replace(&mut self.is_other_asked, true)).then(|| self.first.other())
    }

    /// One that was asked has failed.
    pub fn failed(&mut self) -> Next {
        match (self.late(), std::mem::replace(&mut self.is_failed, true)) {
            (Some(other), _) => Next::Ask(other),
            (None, false) => Next::Wait,
            (None, true) => Next::Nobody,
        }
    }
}

/// How long somebody usually takes to answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usual {
    learned: Option<Learned>,
    /// When it was late, if it has not answered since.
    late_at: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
struct Learned {
    smoothed: Duration,
    differs: Duration,
}

impl Usual {
    /// Takes how long an answer took.
    pub fn hear(&mut self, took: Duration) {
        self.late_at = None;
        let Some(Learned { smoothed, differs }) = &mut self.learned else {
            self.learned = Some(Learned { smoothed: took, differs: took / 2 });
            return;
        };
        *differs = (*differs * 3 + smoothed.abs_diff(took)) / 4;
        *smoothed = (*smoothed * 7 + took) / 8;
    }

    /// It has not answered in its usual time.
    pub fn late(&mut self, now: Duration) {
        self.late_at = Some(now);
    }

    /// By what those that can be asked come in turn: who was not late a while ago, and then who answers faster. Who has never answered comes
    /// before that, so that it is known how fast it is.
    pub fn rank(&self, now: Duration) -> (bool, Option<Duration>) {
        let is_late = self.late_at.is_some_and(|at| now.saturating_sub(at) < PASSED_OVER);
        (is_late, self.learned.map(|learned| learned.smoothed))
    }

    /// After which time another one is asked.
    pub fn late_after(&self) -> Duration {
        let after = self.learned.map_or(UNKNOWN, |learned| learned.smoothed + 4 * learned.differs);
        after.clamp(SHORTEST, LONGEST)
    }
}

/// Before the first answer: longer than half of the way around the world and back.
const UNKNOWN: Duration = Duration::from_millis(500);
/// Longer than until it is known that somebody is gone.
const PASSED_OVER: Duration = Duration::from_secs(10);
/// A disk takes that long now and then.
const SHORTEST: Duration = Duration::from_millis(50);
/// A client that writes waits no longer than this for a store that is gone.
const LONGEST: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever happens in which order, each store is asked once, and nobody answers only if both failed.
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
            let mut usual = Usual::default();
            for ms in took {
                usual.hear(Duration::from_millis(ms));
                prop_assert!((SHORTEST..=LONGEST).contains(&usual.late_after()));
            }
        }
    }

    #[test]
    fn what_is_usual_is_learned() {
        let (mut usual, second) = (Usual::default(), Duration::from_secs(1));
        assert_eq!((usual.rank(second), usual.late_after()), ((false, None), UNKNOWN));
        usual.hear(Duration::from_millis(80));
        assert_eq!(usual.late_after(), Duration::from_millis(80 + 4 * 40));
        // The same again and again: the difference goes down by a quarter each time.
        for _ in 0..40 {
            usual.hear(Duration::from_millis(80));
        }
        assert_eq!(usual.rank(second), (false, Some(Duration::from_millis(80))));
        assert_eq!(usual.late_after().as_millis(), 80);
        usual.hear(Duration::from_millis(160));
        // But for what is left of the difference in the beginning.
        assert!((169..=171).contains(&usual.late_after().as_millis()), "90 + 4 * 20");
        usual.late(second);
        assert_eq!((usual.rank(2 * second).0, usual.rank(11 * second).0), (true, false));
        usual.hear(Duration::from_millis(90));
        assert!(!usual.rank(2 * second).0);
    }
}
