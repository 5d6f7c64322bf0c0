//! Whether a copy of what a store knows may be the answer, and when it is asked for again.
//!
//! Two periods say so. The *refresh period* is how old an answer may be while the one above can be asked: before a copy is so old it
//! is asked for again beside a request that it answers, so that a key in use never waits. A *cacheTtl* says how old an answer may be
//! while nobody above can be asked; one that is shorter than the refresh period shortens that too. A key that nobody has read for an hour
//! is asked for before it is the answer again, whatever its cacheTtl: else an answer could be as old as that.
//!
//! Ages are counted over all places that an answer went through, so that a copy of a copy is not younger than that one. Who asks for
//! something again therefore wants a younger answer than the period allows, or it would get what it has ([`Terms::worthwhile`]).
//!
//! Each copy draws when it is asked for again, so that those that were made at once are not asked for at once.

use std::time::Duration;

/// How old copies may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The refresh period.
    pub refresh: Duration,
    /// The same for a copy that says that there is no value.
    pub negative: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        Self { refresh: Duration::from_secs(60), negative: Duration::from_secs(20) }
    }
}

impl Terms {
    /// How old an answer may be at most if it is asked for again: half of a period. So what is in use everywhere is asked for at most twice
    /// a period by each place that has a copy.
    pub fn worthwhile(&self, is_negative: bool, cache_ttl: Option<Duration>) -> Duration {
        self.period(is_negative, cache_ttl) / 2
    }

    /// How old an answer may be.
    pub fn period(&self, is_negative: bool, cache_ttl: Option<Duration>) -> Duration {
        let period = if is_negative { self.negative } else { self.refresh };
        cache_ttl.map_or(period, |ttl| ttl.min(period))
    }
}

/// What a request wants of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// How old it may be at most although the terms allow more; for who asks for another place, which has its own copy.
    pub within: Option<Duration>,
    /// How old it may be if nobody else answers. If that is less than the terms allow, it is the most.
    pub cache_ttl: Option<Duration>,
}

/// A copy's times, since any beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// When it was read from a store: so much before the answer came as that said, and as it took.
    asked: Duration,
    /// Whether it says that there is no value.
    is_negative: bool,
    /// From 0 to 255: when it is asked for again.
    draw: u8,
    /// When somebody began to.
    refreshed_since: Option<Duration>,
}

/// What to do with a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is the answer.
    AtOnce,
    /// It is, and is to be asked for again beside that.
    AtOnceAndRefresh,
    /// It is asked for, and is the answer only if nobody answers.
    UnlessAnswered,
    /// It is asked for, and is too old to be the answer.
    Never,
}

impl Copy {
    /// Of what was read from a store at this time, or after it. `draw` is any number, another one for each copy.
    pub fn of_value(asked: Duration, draw: u64) -> Self {
        Self { asked, is_negative: false, draw: draw.to_le_bytes()[0], refreshed_since: None }
    }

    /// The same of the answer that there is no value.
    pub fn of_absence(asked: Duration, draw: u64) -> Self {
        Self { is_negative: true, ..Self::of_value(asked, draw) }
    }

    /// How old it is at most: it was current when it was asked for.
    pub fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.asked)
    }

    /// What to do with it for a request. Says only once that it is to be asked for, unless that takes too long.
    pub fn judge(&mut self, terms: &Terms, wanted: Wanted, now: Duration) -> Use {
        let Wanted { within, cache_ttl } = wanted;
        let period = terms.period(self.is_negative, cache_ttl);
        let age = self.age(now);
        if age >= within.map_or(period, |within| within.min(period)) {
            let stands_in = age < cache_ttl.unwrap_or(period);
            return if stands_in { Use::UnlessAnswered } else { Use::Never };
        }
        if age < self.early(period) || self.is_being_refreshed(now) {
            return Use::AtOnce;
        }
        self.refreshed_since = Some(now);
        Use::AtOnceAndRefresh
    }

    /// What it would be for a request, of which it is not told.
    pub fn look(&self, terms: &Terms, wanted: Wanted, now: Duration) -> Use {
        { *self }.judge(terms, wanted, now)
    }

    /// When the one above was asked, or would have been if it had read it from a store itself.
    pub fn asked(&self) -> Duration {
        self.asked
    }

    /// Whether it says that there is no value.
    pub fn is_negative(&self) -> bool {
        self.is_negative
    }

    /// When it is asked for again, if it may be this old.
    fn early(&self, period: Duration) -> Duration {
        // From 7/10 to 9/10 of it.
        period * (7 * 256 + 2 * u32::from(self.draw)) / (10 * 256)
    }

    fn is_being_refreshed(&self, now: Duration) -> bool {
        self.refreshed_since.is_some_and(|since| now.saturating_sub(since) < PATIENCE)
    }
}

/// Who has not answered after this will not.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn ttl_only(cache_ttl: Option<Duration>) -> Wanted {
        Wanted { within: None, cache_ttl }
    }

    /// A store's value at each time, and copies of copies of it, in virtual time.
    struct Chain {
        copies: Vec<Option<Copy>>,
        asked: usize,
    }

    impl Chain {
        /// What a place answers: when it was read from the store.
        fn ask(&mut self, place: usize, wanted: Wanted, now: Duration, draw: u64) -> Duration {
            let terms = Terms::default();
            let Some(copy) = self.copies.get_mut(place) else {
                self.asked += 1;
                return now;
            };
            let period = terms.period(false, wanted.cache_ttl);
            let within = match copy.as_mut().map_or(Use::Never, |copy| copy.judge(&terms, wanted, now)) {
                Use::AtOnce => return copy.unwrap().asked(),
                Use::AtOnceAndRefresh => {
                    let answer = copy.unwrap().asked();
                    let within = Some(terms.worthwhile(false, wanted.cache_ttl));
                    self.refill(place, Wanted { within, cache_ttl: wanted.cache_ttl }, now, draw);
                    return answer;
                }
                Use::UnlessAnswered | Use::Never => wanted.within.map_or(period, |within| within.min(period)),
            };
            self.refill(place, Wanted { within: Some(within), ..wanted }, now, draw);
            self.copies[place].unwrap().asked()
        }

        fn refill(&mut self, place: usize, wanted: Wanted, now: Duration, draw: u64) {
            let asked = self.ask(place + 1, wanted, now, draw / 3);
            self.copies[place] = Some(Copy::of_value(asked, draw));
        }
    }

    /// Requests for one key of one data centre in virtual time, where asking takes `delay`. Returns how many waited for an answer from
    /// above, and how often that was asked.
    fn run(gaps: &[u32], delay: Duration, ttl: Option<Duration>) -> (usize, usize, Duration) {
        let (terms, mut now) = (Terms::default(), Duration::ZERO);
        let mut copy: Option<Copy> = None;
        let mut under_way: Option<Duration> = None;
        let (mut waited, mut asked, mut oldest) = (0, 0, Duration::ZERO);
        for &gap in gaps {
            now += Duration::from_millis(u64::from(gap));
            if let Some(began) = under_way.filter(|&began| began + delay <= now) {
                copy = Some(Copy::of_value(began, u64::try_from(began.as_nanos()).unwrap() / 7));
                under_way = None;
            }
            match copy.as_mut().map_or(Use::Never, |copy| copy.judge(&terms, ttl_only(ttl), now)) {
                Use::AtOnce => {}
                Use::AtOnceAndRefresh => {
                    asked += 1;
                    under_way = Some(now);
                }
                Use::UnlessAnswered | Use::Never => {
                    (waited, asked) = (waited + 1, asked + 1);
                    let began = now;
                    now += delay;
                    copy = Some(Copy::of_value(began, 0));
                    under_way = None;
                }
            }
            oldest = oldest.max(copy.map_or(Duration::ZERO, |copy| copy.age(now)));
        }
        (waited, asked, oldest)
    }

    proptest! {
        /// Lower, regional and upper tier: the last one in the list asks the store.
        #[test]
        fn a_copy_of_a_copy_is_never_older_than_the_refresh_period(
            gaps in prop::collection::vec((0..30_000_u32, any::<u64>()), 1..200),
            ttl in prop::option::of(30..100_000_u64),
        ) {
            let wanted = ttl_only(ttl.map(Duration::from_secs));
            let mut chain = Chain { copies: vec![None; 3], asked: 0 };
            let mut now = Duration::ZERO;
            for (gap, draw) in gaps {
                now += Duration::from_millis(u64::from(gap));
                let read = chain.ask(0, wanted, now, draw);
                prop_assert!(now - read < Terms::default().period(false, wanted.cache_ttl));
            }
            // At most once in half a period: each time the store is asked, the copy next to it was older than that.
            let half = Terms::default().worthwhile(false, wanted.cache_ttl).as_millis();
            prop_assert!(chain.asked as u128 <= 1 + now.as_millis() / half);
        }

        #[test]
        fn an_answer_is_never_older_than_the_refresh_period(
            gaps in prop::collection::vec(0..200_000_u32, 1..200),
            ttl in prop::option::of(30..100_000_u64),
            delay in 0..2000_u64,
        ) {
            let ttl = ttl.map(Duration::from_secs);
            let (.., oldest) = run(&gaps, Duration::from_millis(delay), ttl);
            prop_assert!(oldest < ttl.unwrap_or(60 * SECOND).min(60 * SECOND));
        }

        /// Asked for at 90 % at the latest, it is there again before its time is up if requests come each second and asking takes less
        /// than five.
        #[test]
        fn a_key_in_use_waits_once(
            gaps in prop::collection::vec(0..1000_u32, 1000),
            delay in 0..4900_u64,
            ttl in prop::option::of(60..100_000_u64),
        ) {
            let (waited, asked, _) = run(&gaps, Duration::from_millis(delay), ttl.map(Duration::from_secs));
            prop_assert_eq!(waited, 1);
            // A thousand seconds at most, and 42 between two at least.
            prop_assert!(asked <= 1 + 1000 / 42 + 1);
        }
    }

    #[test]
    fn an_old_copy_stands_in_for_as_long_as_its_ttl_says() {
        let terms = Terms::default();
        let use_at = |seconds: u32, ttl: Option<u64>| {
            Copy::of_value(Duration::ZERO, 0).judge(
                &terms,
                ttl_only(ttl.map(Duration::from_secs)),
                seconds * SECOND,
            )
        };
        assert_eq!(use_at(41, None), Use::AtOnce);
        assert_eq!(use_at(42, None), Use::AtOnceAndRefresh);
        assert_eq!(use_at(60, None), Use::Never);
        assert_eq!(use_at(60, Some(3600)), Use::UnlessAnswered);
        assert_eq!(use_at(3599, Some(3600)), Use::UnlessAnswered);
        assert_eq!(use_at(3600, Some(3600)), Use::Never);
        assert_eq!(use_at(30, Some(30)), Use::Never);
        let mut absent = Copy::of_absence(Duration::ZERO, 0);
        assert_eq!(absent.judge(&terms, Wanted::default(), 13 * SECOND), Use::AtOnce);
        assert_eq!(absent.judge(&terms, Wanted::default(), 20 * SECOND), Use::Never);
    }

    #[test]
    fn it_is_asked_for_once_and_again_if_that_takes_too_long() {
        let (terms, mut copy) = (Terms::default(), Copy::of_value(Duration::ZERO, 0));
        assert_eq!(copy.judge(&terms, Wanted::default(), 43 * SECOND), Use::AtOnceAndRefresh);
        assert_eq!(copy.judge(&terms, Wanted::default(), 52 * SECOND), Use::AtOnce);
        assert_eq!(copy.judge(&terms, Wanted::default(), 53 * SECOND), Use::AtOnceAndRefresh);
    }

    #[test]
    fn copies_made_at_once_are_not_asked_for_at_once() {
        let due = |draw| Copy::of_value(Duration::ZERO, draw).early(60 * SECOND).as_millis();
        assert_eq!((due(0), due(255)), (42_000, 53_953));
    }
}
