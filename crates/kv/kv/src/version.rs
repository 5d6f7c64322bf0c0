//! Versions of values, by hybrid logical clocks (Kulkarni et al. 2014); the store's name breaks
//! ties.
//!
//! A clock that is set back does not make older versions: the counter continues from the last
//! version that was made or received.

use std::{fmt, str::FromStr, sync::Arc};

use crate::Millis;

/// The name of a store: letters, digits, `-`, `_` and `.`, up to 64 of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreName(Arc<str>);

impl StoreName {
    /// Validates a name; `None` if it is invalid.
    pub fn new(name: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_one = (1..=64).contains(&name.len()) && name.bytes().all(is_plain);
        is_one.then(|| Self(name.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// When a value was written, and to which store. The greater version is newer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Milliseconds since 1970, times 2^16, plus a counter.
    stamp: u64,
    store: StoreName,
}

/// Why a text is not a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a version such as 0199a3f0c2b1-0000-lhr, as KV-Version gives it")]
pub struct ParseVersionError;

impl Version {
    /// A version from the parts that [`Self::stamp`] and [`Self::store`] return.
    pub fn from_parts(stamp: u64, store: StoreName) -> Self {
        Self { stamp, store }
    }

    /// The time and the counter in one number that grows with both.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// The store to which the value was written.
    pub fn store(&self) -> &StoreName {
        &self.store
    }

    /// The version of the key at this index in the same write, if `self` belongs to the first key.
    #[must_use]
    pub fn nth(&self, number: usize) -> Self {
        Self { stamp: self.stamp.saturating_add(number as u64), store: self.store.clone() }
    }

    /// When the version was made, by the clock of its store.
    pub fn made(&self) -> Millis {
        Millis(self.stamp >> COUNT_BITS)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (millis, count) = (self.stamp >> COUNT_BITS, self.stamp & MOST_COUNT);
        write!(f, "{millis:012x}-{count:04x}-{}", self.store.0)
    }
}

impl FromStr for Version {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, ParseVersionError> {
        let mut parts = text.splitn(3, '-');
        let mut number = |digits: usize| {
            let part = parts.next().filter(|part| part.len() == digits).ok_or(ParseVersionError)?;
            let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            let is_number = part.bytes().all(is_digit);
            u64::from_str_radix(part, 16).ok().filter(|_| is_number).ok_or(ParseVersionError)
        };
        let stamp = number(12)? << COUNT_BITS | number(4)?;
        let store = parts.next().and_then(StoreName::new).ok_or(ParseVersionError)?;
        Ok(Self { stamp, store })
    }
}

/// Makes the versions of one store.
#[derive(Debug, Clone)]
pub struct HybridClock {
    store: StoreName,
    last: u64,
    /// The counter of the first version in each millisecond.
    salt: u16,
}

impl HybridClock {
    /// A clock of a store whose last version had this stamp; 0 for a new store.
    pub fn resume(store: StoreName, last: u64) -> Self {
        Self { store, last, salt: 0 }
    }

    /// A clock of a store whose last version is unknown. `salt` is a random number, so that two
    /// processes do not make the same version.
    pub fn anew(store: StoreName, salt: u64) -> Self {
        let [low, high, ..] = salt.to_le_bytes();
        Self { store, last: 0, salt: u16::from_le_bytes([low, high]) }
    }

    /// The stamp of the last version.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The store in whose name the versions are made.
    pub fn store(&self) -> &StoreName {
        &self.store
    }

    /// Makes a version newer than any version that was made or received by this clock.
    pub fn next(&mut self, now: Millis) -> Version {
        // 48 bits of milliseconds last until the year 10889. Later times are clamped.
        let now = now.0.min(u64::MAX >> COUNT_BITS) << COUNT_BITS | u64::from(self.salt);
        self.last = now.max(self.last.saturating_add(1));
        Version { stamp: self.last, store: self.store.clone() }
    }

    /// Makes `count` consecutive versions for the keys of one write and returns the first
    /// ([`Version::nth`]).
    pub fn next_several(&mut self, now: Millis, count: usize) -> Version {
        let first = self.next(now);
        self.last = self.last.saturating_add(count.saturating_sub(1) as u64);
        first
    }

    /// Receives the version of another store, so that the next version of this clock is newer.
    pub fn hear(&mut self, version: &Version) {
        self.last = self.last.max(version.stamp);
    }
}

const COUNT_BITS: u32 = 16;
const MOST_COUNT: u64 = (1 << COUNT_BITS) - 1;

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn version(stamp: u64, store: &str) -> Version {
        Version::from_parts(stamp, StoreName::new(store).unwrap())
    }

    proptest! {
        #[test]
        fn versions_only_grow_whatever_the_clock_does(
            steps in prop::collection::vec((-40_000_000_i64..40_000_000, any::<bool>()), 1..50),
        ) {
            let mut clocks = ["a", "b"].map(|name| HybridClock::resume(StoreName::new(name).unwrap(), 0));
            let mut now = 1_700_000_000_000_i64;
            let mut newest: Option<Version> = None;
            for (step, at_a) in steps {
                now += step;
                let clock = &mut clocks[usize::from(at_a)];
                if let Some(newest) = &newest {
                    clock.hear(newest);
                }
                let next = clock.next(Millis(now.unsigned_abs()));
                prop_assert!(newest.is_none_or(|newest| newest < next));
                newest = Some(next);
            }
        }

        #[test]
        fn a_version_comes_back_from_its_text_which_sorts_as_it_does(a in any::<u64>(), b in any::<u64>()) {
            let (a, b) = (version(a, "lhr"), version(b, "fra.2"));
            prop_assert_eq!(a.to_string().parse(), Ok(a.clone()));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }
    }

    #[test]
    fn two_processes_of_one_name_make_different_versions() {
        let first = |salt| HybridClock::anew(StoreName::new("a").unwrap(), salt).next(Millis(7));
        assert!(first(0x1_0002).stamp() == 7 << COUNT_BITS | 2 && first(1) != first(2));
    }

    #[test]
    fn keys_of_one_write_have_versions_in_a_row() {
        let mut clock = HybridClock::resume(StoreName::new("a").unwrap(), 0);
        let first = clock.next_several(Millis(1), 3);
        assert_eq!((first.stamp(), first.nth(2).stamp()), (1 << COUNT_BITS, (1 << COUNT_BITS) + 2));
        assert!(clock.next(Millis(1)) > first.nth(2));
    }

    #[test]
    fn the_stores_name_decides_where_times_are_equal() {
        assert!(version(7, "a") < version(7, "b") && version(8, "a") > version(7, "b"));
        assert_eq!(version(0x0199_a3f0_c2b1_0002, "lhr").to_string(), "0199a3f0c2b1-0002-lhr");
        for wrong in [
            "",
            "0199a3f0c2b1-0002",
            "0199a3f0c2b1-0002-",
            "0199A3F0C2B1-0002-lhr",
            "+199a3f0c2b1-0002-lhr",
            "0199a3f0c2b1-0002-l r",
        ] {
            assert_eq!(wrong.parse::<Version>(), Err(ParseVersionError), "{wrong}");
        }
    }
}
