//! Whether a copy of a store's record may be served, and when it is refreshed.
//!
//! The *refresh period* limits the age of a served value while the upper tier is reachable. A
//! *cacheTtl* limits the age while it is unreachable, and replaces the refresh period if it is
//! shorter.
//!
//! The age counts from the read of the store, across all tiers. A refresh requests a lower age than
//! the period, otherwise the upper tier would return the same copy ([`FreshnessPolicy::worthwhile`]).
//!
//! The time of the refresh is randomised per copy.

use std::time::Duration;

/// The maximum age of copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreshnessPolicy {
    /// The refresh period.
    pub refresh: Duration,
    /// The refresh period of a copy without a value (negative caching).
    pub negative: Duration,
}

impl Default for FreshnessPolicy {
    fn default() -> Self {
        Self { refresh: Duration::from_secs(60), negative: Duration::from_secs(20) }
    }
}

impl FreshnessPolicy {
    /// The maximum age that a refresh requests: half of the period.
    pub fn worthwhile(&self, is_negative: bool, cache_ttl: Option<Duration>) -> Duration {
        self.period(is_negative, cache_ttl) / 2
    }

    /// The maximum age of a served value.
    pub fn period(&self, is_negative: bool, cache_ttl: Option<Duration>) -> Duration {
        let period = if is_negative { self.negative } else { self.refresh };
        cache_ttl.map_or(period, |ttl| ttl.min(period))
    }
}

/// The constraints of a request on a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// A maximum age below that of [`FreshnessPolicy`]; set by a data centre that fills its own copy.
    pub within: Option<Duration>,
    /// The maximum age while the upper tier does not respond. It replaces a longer period of
    /// [`FreshnessPolicy`].
    pub cache_ttl: Option<Duration>,
}

/// The times of a copy, since an arbitrary start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyAge {
    /// When the value was read from a store: the arrival of the response, minus its reported age
    /// and the duration of the request.
    asked: Duration,
    is_negative: bool,
    draw: u8,
    refreshed_since: Option<Duration>,
}

/// How a copy is used for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyUse {
    /// Serve the copy.
    AtOnce,
    /// Serve the copy and refresh it in the background.
    AtOnceAndRefresh,
    /// Request a newer value. Serve the copy only if that fails.
    UnlessAnswered,
    /// Request a newer value. The copy is too old to be served.
    Never,
}

impl CopyAge {
    /// A copy of a value that was read from a store at this time or later. `draw` is a random
    /// number per copy.
    pub fn of_value(asked: Duration, draw: u64) -> Self {
        Self { asked, is_negative: false, draw: draw.to_le_bytes()[0], refreshed_since: None }
    }

    /// The same for the response that there is no value.
    pub fn of_absence(asked: Duration, draw: u64) -> Self {
        Self { is_negative: true, ..Self::of_value(asked, draw) }
    }

    /// The maximum age: the value was current when it was requested.
    pub fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.asked)
    }

    /// How the copy is used for a request. Returns [`CopyUse::AtOnceAndRefresh`] once, and again if the
    /// refresh takes longer than 10 s.
    pub fn judge(&mut self, terms: &FreshnessPolicy, wanted: ReadOptions, now: Duration) -> CopyUse {
        let ReadOptions { within, cache_ttl } = wanted;
        let period = terms.period(self.is_negative, cache_ttl);
        let age = self.age(now);
        if age >= within.map_or(period, |within| within.min(period)) {
            let stands_in = age < cache_ttl.unwrap_or(period);
            return if stands_in { CopyUse::UnlessAnswered } else { CopyUse::Never };
        }
        if age < self.early(period) || self.is_being_refreshed(now) {
            return CopyUse::AtOnce;
        }
        self.refreshed_since = Some(now);
        CopyUse::AtOnceAndRefresh
    }

    /// The result of [`Self::judge`], without starting a refresh.
    pub fn look(&self, terms: &FreshnessPolicy, wanted: ReadOptions, now: Duration) -> CopyUse {
        { *self }.judge(terms, wanted, now)
    }

    /// When the value was read from a store, across all tiers that it passed.
    pub fn asked(&self) -> Duration {
        self.asked
    }

    /// Whether the response was that there is no value.
    pub fn is_negative(&self) -> bool {
        self.is_negative
    }

    /// From 7/10 to 9/10 of the period.
    fn early(&self, period: Duration) -> Duration {
        period * (7 * 256 + 2 * u32::from(self.draw)) / (10 * 256)
    }

    fn is_being_refreshed(&self, now: Duration) -> bool {
        self.refreshed_since.is_some_and(|since| now.saturating_sub(since) < PATIENCE)
    }
}

/// A refresh without a response after this time has failed.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn ttl_only(cache_ttl: Option<Duration>) -> ReadOptions {
        ReadOptions { within: None, cache_ttl }
    }

    struct Chain {
        copies: Vec<Option<CopyAge>>,
        asked: usize,
    }

    impl Chain {
        fn ask(&mut self, place: usize, wanted: ReadOptions, now: Duration, draw: u64) -> Duration {
            let terms = FreshnessPolicy::default();
            let Some(copy) = self.copies.get_mut(place) else {
                self.asked += 1;
                return now;
            };
            let period = terms.period(false, wanted.cache_ttl);
            let within = match copy.as_mut().map_or(CopyUse::Never, |copy| copy.judge(&terms, wanted, now)) {
                CopyUse::AtOnce => return copy.unwrap().asked(),
                CopyUse::AtOnceAndRefresh => {
                    let answer = copy.unwrap().asked();
                    let within = Some(terms.worthwhile(false, wanted.cache_ttl));
                    self.refill(place, ReadOptions { within, cache_ttl: wanted.cache_ttl }, now, draw);
                    return answer;
                }
                CopyUse::UnlessAnswered | CopyUse::Never => {
                    wanted.within.map_or(period, |within| within.min(period))
                }
            };
            self.refill(place, ReadOptions { within: Some(within), ..wanted }, now, draw);
            self.copies[place].unwrap().asked()
        }

        fn refill(&mut self, place: usize, wanted: ReadOptions, now: Duration, draw: u64) {
            let asked = self.ask(place + 1, wanted, now, draw / 3);
            self.copies[place] = Some(CopyAge::of_value(asked, draw));
        }
    }

    /// A request to the upper tier takes `delay`. Returns the number of requests that waited, the
    /// number of requests to the upper tier, and the largest age of a served copy.
    fn run(gaps: &[u32], delay: Duration, ttl: Option<Duration>) -> (usize, usize, Duration) {
        let (terms, mut now) = (FreshnessPolicy::default(), Duration::ZERO);
        let mut copy: Option<CopyAge> = None;
        let mut under_way: Option<Duration> = None;
        let (mut waited, mut asked, mut oldest) = (0, 0, Duration::ZERO);
        for &gap in gaps {
            now += Duration::from_millis(u64::from(gap));
            if let Some(began) = under_way.filter(|&began| began + delay <= now) {
                copy = Some(CopyAge::of_value(began, u64::try_from(began.as_nanos()).unwrap() / 7));
                under_way = None;
            }
            match copy.as_mut().map_or(CopyUse::Never, |copy| copy.judge(&terms, ttl_only(ttl), now)) {
                CopyUse::AtOnce => {}
                CopyUse::AtOnceAndRefresh => {
                    asked += 1;
                    under_way = Some(now);
                }
                CopyUse::UnlessAnswered | CopyUse::Never => {
                    (waited, asked) = (waited + 1, asked + 1);
                    let began = now;
                    now += delay;
                    copy = Some(CopyAge::of_value(began, 0));
                    under_way = None;
                }
            }
            oldest = oldest.max(copy.map_or(Duration::ZERO, |copy| copy.age(now)));
        }
        (waited, asked, oldest)
    }

    proptest! {
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
                prop_assert!(now - read < FreshnessPolicy::default().period(false, wanted.cache_ttl));
            }
            let half = FreshnessPolicy::default().worthwhile(false, wanted.cache_ttl).as_millis();
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

        /// The copy is refreshed at 90 % of its period at the latest. It is replaced before the end of the
        /// period if a request arrives each second and the refresh takes less than 5 s.
        #[test]
        fn a_key_in_use_waits_once(
            gaps in prop::collection::vec(0..1000_u32, 1000),
            delay in 0..4900_u64,
            ttl in prop::option::of(60..100_000_u64),
        ) {
            let (waited, asked, _) = run(&gaps, Duration::from_millis(delay), ttl.map(Duration::from_secs));
            prop_assert_eq!(waited, 1);
            // At most 1000 s, and at least 42 s between two refreshes.
            prop_assert!(asked <= 1 + 1000 / 42 + 1);
        }
    }

    #[test]
    fn an_old_copy_stands_in_for_as_long_as_its_ttl_says() {
        let terms = FreshnessPolicy::default();
        let use_at = |seconds: u32, ttl: Option<u64>| {
            CopyAge::of_value(Duration::ZERO, 0).judge(
                &terms,
                ttl_only(ttl.map(Duration::from_secs)),
                seconds * SECOND,
            )
        };
        assert_eq!(use_at(41, None), CopyUse::AtOnce);
        assert_eq!(use_at(42, None), CopyUse::AtOnceAndRefresh);
        assert_eq!(use_at(60, None), CopyUse::Never);
        assert_eq!(use_at(60, Some(3600)), CopyUse::UnlessAnswered);
        assert_eq!(use_at(3599, Some(3600)), CopyUse::UnlessAnswered);
        assert_eq!(use_at(3600, Some(3600)), CopyUse::Never);
        assert_eq!(use_at(30, Some(30)), CopyUse::Never);
        let mut absent = CopyAge::of_absence(Duration::ZERO, 0);
        assert_eq!(absent.judge(&terms, ReadOptions::default(), 13 * SECOND), CopyUse::AtOnce);
        assert_eq!(absent.judge(&terms, ReadOptions::default(), 20 * SECOND), CopyUse::Never);
    }

    #[test]
    fn it_is_asked_for_once_and_again_if_that_takes_too_long() {
        let (terms, mut copy) = (FreshnessPolicy::default(), CopyAge::of_value(Duration::ZERO, 0));
        assert_eq!(copy.judge(&terms, ReadOptions::default(), 43 * SECOND), CopyUse::AtOnceAndRefresh);
        assert_eq!(copy.judge(&terms, ReadOptions::default(), 52 * SECOND), CopyUse::AtOnce);
        assert_eq!(copy.judge(&terms, ReadOptions::default(), 53 * SECOND), CopyUse::AtOnceAndRefresh);
    }

    #[test]
    fn copies_made_at_once_are_not_asked_for_at_once() {
        let due = |draw| CopyAge::of_value(Duration::ZERO, draw).early(60 * SECOND).as_millis();
        assert_eq!((due(0), due(255)), (42_000, 53_953));
    }
}
