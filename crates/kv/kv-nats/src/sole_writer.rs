//! Follows a stream without a consumer while this process is its only writer.
//!
//! While the sequence numbers in the server's acknowledgements have no gap, there is no other
//! writer. After a gap, the stream is read with a consumer again.

use std::{
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::time::Instant;

#[derive(Debug, Default)]
pub(crate) struct WriteStreak {
    /// Consecutive messages that were written by this process.
    ours: usize,
    since: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FollowMode {
    No,
    /// Collect sequence numbers, so that the first ones are available when the consumer is removed.
    Soon,
    Yes,
}

impl WriteStreak {
    pub(crate) fn after(&mut self, is_ours: bool, now: Instant) -> FollowMode {
        let began = *self.since.get_or_insert(now);
        if !is_ours || now.duration_since(began) > LONGEST_STREAK {
            *self = Self::default();
            return FollowMode::No;
        }
        self.ours += 1;
        match self.ours {
            ENOUGH.. => FollowMode::Yes,
            NEARLY.. => FollowMode::Soon,
            _ => FollowMode::No,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct SequenceBuffer {
    are_wanted: AtomicBool,
    gathered: Mutex<Vec<u64>>,
}

impl SequenceBuffer {
    pub(crate) fn add(&self, number: u64) {
        if self.are_wanted.load(SeqCst) {
            let mut gathered = self.gathered();
            if gathered.len() < MOST_GATHERED {
                gathered.push(number);
            }
        }
    }

    pub(crate) fn want(&self, are_wanted: bool) {
        if self.are_wanted.swap(are_wanted, SeqCst) != are_wanted {
            self.take();
        }
    }

    pub(crate) fn take(&self) -> Vec<u64> {
        mem::take(&mut *self.gathered())
    }

    fn gathered(&self) -> MutexGuard<'_, Vec<u64>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct SequenceTracker {
    pub(crate) last: u64,
    /// Numbers after a gap, sorted.
    ahead: Vec<u64>,
    newest: u64,
}

impl SequenceTracker {
    pub(crate) fn behind(last: u64) -> Self {
        Self { last, ahead: Vec::new(), newest: last }
    }

    /// Returns whether to continue: there are enough numbers, and no gap that already existed at
    /// the last look.
    pub(crate) fn look(&mut self, mut gathered: Vec<u64>) -> bool {
        // A consumer may have delivered messages whose acknowledgements are late. All numbers of a
        // recreated stream are lower.
        gathered.retain(|&number| number > self.last);
        let are_many = gathered.len() >= FEWEST;
        self.ahead.extend(gathered);
        self.ahead.sort_unstable();
        let last = &mut self.last;
        self.ahead.retain(|&number| {
            if number == *last + 1 {
                *last = number;
            }
            number > *last
        });
        let newest = self.ahead.last().copied().unwrap_or(self.last);
        are_many && self.last >= mem::replace(&mut self.newest, newest)
    }
}

/// The message of another writer is noticed at most two intervals later.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// The fewest numbers per look; below that, a consumer is cheaper.
const FEWEST: usize = 10;
/// Consecutive own messages after which the consumer is removed, and after which numbers are
/// collected.
const ENOUGH: usize = 1000;
const NEARLY: usize = 500;
const LONGEST_STREAK: Duration = Duration::from_secs(2);
/// 8 bytes each.
const MOST_GATHERED: usize = 100_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn who_alone_writes_much_does_without_a_consumer() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let all = |n: u32, every: Duration, other: u32| {
            let mut streak = WriteStreak::default();
            let step = |number| streak.after(number != other, start + every * number);
            (1..=n).map(step).collect::<Vec<_>>()
        };
        let told = all(1000, second / 2000, 0);
        assert_eq!(
            (told[498], told[499], told[998], told[999]),
            (FollowMode::No, FollowMode::Soon, FollowMode::Soon, FollowMode::Yes)
        );
        assert!(all(1998, second / 5000, 999).iter().all(|worth| *worth != FollowMode::Yes));
        assert!(all(5000, second / 450, 0).iter().all(|worth| *worth != FollowMode::Yes));
    }

    #[test]
    fn a_gap_that_stays_and_a_lull_end_it() {
        let mut gapless = SequenceTracker::behind(100);
        assert!(gapless.look((90..=125).rev().collect()));
        assert_eq!(gapless.last, 125);
        assert!(gapless.look((127..=160).collect()), "126 may be under way");
        assert_eq!(gapless.last, 125);
        assert!(gapless.look([126].into_iter().chain(162..=200).collect()));
        assert_eq!(gapless.last, 160);
        assert!(!gapless.look((201..=240).collect()), "161 is somebody else's");
        assert_eq!(gapless.last, 160);
        assert!(!SequenceTracker::behind(100).look((101..=109).collect()), "few");
        assert!(!SequenceTracker::behind(1000).look((1..=40).collect()));
    }

    #[test]
    fn numbers_are_gathered_when_they_are_wanted() {
        let numbers = SequenceBuffer::default();
        numbers.add(1);
        numbers.want(true);
        numbers.add(2);
        numbers.want(true);
        numbers.add(3);
        assert_eq!(numbers.take(), [2, 3]);
        numbers.add(4);
        numbers.want(false);
        numbers.want(true);
        assert!(numbers.take().is_empty());
        (0..=MOST_GATHERED as u64).for_each(|number| numbers.add(number));
        assert_eq!(numbers.take().len(), MOST_GATHERED);
    }

    proptest! {
        #[test]
        fn only_what_was_written_here_is_known(
            others in prop::collection::btree_set(1_u64..=4000, 0..3),
            late in prop::collection::vec(any::<bool>(), 4000),
        ) {
            let mut gapless = SequenceTracker::behind(0);
            let foreign = others.first().copied().unwrap_or(u64::MAX);
            let looks = |look: u64| (look * 100 + 1..=look * 100 + 100).filter(|number| !others.contains(number));
            let is_late = |number: &u64| usize::try_from(*number).is_ok_and(|number| late[number - 1]);
            for look in 0_u64..40 {
                let before = look.checked_sub(1).into_iter().flat_map(looks).filter(is_late);
                let goes_on = gapless.look(looks(look).filter(|number| !is_late(number)).chain(before).collect());
                prop_assert!(gapless.last < foreign);
                if !goes_on {
                    prop_assert!(foreign <= look * 100);
                    return Ok(());
                }
                prop_assert!(foreign > look.saturating_sub(1) * 100, "{} is not found out in look {}", foreign, look);
            }
            prop_assert!(foreign > 3800);
        }
    }
}
