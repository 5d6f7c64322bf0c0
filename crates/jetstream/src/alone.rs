//! Follows a stream without a consumer while this process is the only one that writes to it.
//!
//! A consumer sends a data centre its own writes too: about a sixth of what a write costs the server and the edge together. The numbers
//! that the server stores our messages with tell the same for nothing: while they have no gap, nobody else writes. A missing number is
//! somebody else's message, or one whose answer was lost: then the stream is read again, from there on.

use std::{
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::time::Instant;

/// Whether it is worth while to do without a consumer, by the messages that one sends.
#[derive(Debug, Default)]
pub(crate) struct Streak {
    /// Messages in a row that were written here.
    ours: usize,
    since: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    No,
    /// Numbers are to be gathered, so that the first ones are known when they are needed.
    Soon,
    Yes,
}

impl Streak {
    /// After one more message.
    pub(crate) fn after(&mut self, is_ours: bool, now: Instant) -> Worth {
        let began = *self.since.get_or_insert(now);
        if !is_ours || now.duration_since(began) > LONGEST_STREAK {
            *self = Self::default();
            return Worth::No;
        }
        self.ours += 1;
        match self.ours {
            ENOUGH.. => Worth::Yes,
            NEARLY.. => Worth::Soon,
            _ => Worth::No,
        }
    }
}

/// Numbers of messages that were written here and are in the index, if they are wanted.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    are_wanted: AtomicBool,
    gathered: Mutex<Vec<u64>>,
}

impl Numbers {
    /// A message was stored with this number.
    pub(crate) fn add(&self, number: u64) {
        if self.are_wanted.load(SeqCst) {
            let mut gathered = self.gathered();
            // One that is left out is a gap.
            if gathered.len() < MOST_GATHERED {
                gathered.push(number);
            }
        }
    }

    /// Begins to gather them, or ends that.
    pub(crate) fn want(&self, are_wanted: bool) {
        if self.are_wanted.swap(are_wanted, SeqCst) != are_wanted {
            self.take();
        }
    }

    /// Those that came since this was asked for the last time, in any order.
    pub(crate) fn take(&self) -> Vec<u64> {
        mem::take(&mut *self.gathered())
    }

    fn gathered(&self) -> MutexGuard<'_, Vec<u64>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Up to which message of a stream all is known, by the numbers of those that were written here.
#[derive(Debug)]
pub(crate) struct Gapless {
    /// All up to this one is known.
    pub(crate) last: u64,
    /// Numbers behind a gap, in order.
    ahead: Vec<u64>,
    /// The greatest one when it was looked at for the last time.
    newest: u64,
}

impl Gapless {
    pub(crate) fn behind(last: u64) -> Self {
        Self { last, ahead: Vec::new(), newest: last }
    }

    /// Takes the numbers of a while. Says whether this can go on: they are many, and there is no gap that was there a while ago already.
    pub(crate) fn look(&mut self, mut gathered: Vec<u64>) -> bool {
        // A consumer may have sent what is told late. In a stream that was made anew all numbers are so.
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

/// Between two looks at the numbers. What others write is heard two of these later at most.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Of a while; who writes fewer is better served by a consumer.
const FEWEST: usize = 10;
/// Messages after which a consumer is given up, and after which numbers are gathered. What is under way at a time is less than lies between.
const ENOUGH: usize = 1000;
const NEARLY: usize = 500;
const LONGEST_STREAK: Duration = Duration::from_secs(2);
/// Of 8 bytes each.
const MOST_GATHERED: usize = 100_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn who_alone_writes_much_does_without_a_consumer() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let all = |n: u32, every: Duration, other: u32| {
            let mut streak = Streak::default();
            let step = |number| streak.after(number != other, start + every * number);
            (1..=n).map(step).collect::<Vec<_>>()
        };
        let told = all(1000, second / 2000, 0);
        assert_eq!(
            (told[498], told[499], told[998], told[999]),
            (Worth::No, Worth::Soon, Worth::Soon, Worth::Yes)
        );
        // Somebody else's message, and then too slow.
        assert!(all(1998, second / 5000, 999).iter().all(|worth| *worth != Worth::Yes));
        assert!(all(5000, second / 450, 0).iter().all(|worth| *worth != Worth::Yes));
    }

    #[test]
    fn a_gap_that_stays_and_a_lull_end_it() {
        let mut gapless = Gapless::behind(100);
        // Answers come in any order, and late ones of messages that a consumer has sent.
        assert!(gapless.look((90..=125).rev().collect()));
        assert_eq!(gapless.last, 125);
        assert!(gapless.look((127..=160).collect()), "126 may be under way");
        assert_eq!(gapless.last, 125);
        assert!(gapless.look([126].into_iter().chain(162..=200).collect()));
        assert_eq!(gapless.last, 160);
        assert!(!gapless.look((201..=240).collect()), "161 is somebody else's");
        assert_eq!(gapless.last, 160);
        assert!(!Gapless::behind(100).look((101..=109).collect()), "few");
        // A stream that was made anew begins at 1.
        assert!(!Gapless::behind(1000).look((1..=40).collect()));
    }

    #[test]
    fn numbers_are_gathered_when_they_are_wanted() {
        let numbers = Numbers::default();
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
        /// However answers are late, nothing is taken for known that is not, and another's message is found out two looks after an answer behind it.
        #[test]
        fn only_what_was_written_here_is_known(
            others in prop::collection::btree_set(1_u64..=4000, 0..3),
            late in prop::collection::vec(any::<bool>(), 4000),
        ) {
            let mut gapless = Gapless::behind(0);
            let foreign = others.first().copied().unwrap_or(u64::MAX);
            // Each look's numbers, of which some are told one look later.
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
