//! Limits the results and bytes that a household may store. Time is supplied by the caller.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use crate::client_prefix::household;

/// Counts results and their bytes per household and hour, in bounded memory.
#[derive(Debug, Default)]
pub struct Quota {
    since: Duration,
    of: BTreeMap<IpAddr, Left>,
    total: Left,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Left {
    results: u32,
    bytes: u64,
}

impl Left {
    fn and(self, bytes: u64) -> Self {
        Self { results: self.results + 1, bytes: self.bytes.saturating_add(bytes) }
    }

    fn is_within(self, most: Self) -> bool {
        self.results <= most.results && self.bytes <= most.bytes
    }
}

impl Quota {
    /// Whether another result of this size may be stored. If so, it is counted.
    pub fn take(&mut self, now: Duration, address: IpAddr, bytes: u64) -> bool {
        if now.saturating_sub(self.since) >= HOUR {
            *self = Self { since: now, ..Self::default() };
        }
        let own = self.of.get(&household(address)).copied().unwrap_or_default().and(bytes);
        let total = self.total.and(bytes);
        let may = own.is_within(MOST_OF_ONE) && total.is_within(MOST);
        if may {
            self.of.insert(household(address), own);
            self.total = total;
        }
        may
    }
}

const HOUR: Duration = Duration::from_secs(3600);
/// A household that tests continuously has one result per minute, of about 50 KB each.
const MOST_OF_ONE: Left = Left { results: 60, bytes: 3_000_000 };
/// Per hour: some megabytes of memory, and at most a tenth of the store's capacity.
const MOST: Left = Left { results: 10_000, bytes: 100_000_000 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_more_than_a_share_and_an_hour_later_everybody_has_one_again() {
        let mut quota = Quota::default();
        let address = |number: u32| IpAddr::from(std::net::Ipv4Addr::from_bits(number));
        let now = Duration::from_secs(9);
        assert_eq!((0..100).filter(|_| quota.take(now, address(1), 1000)).count(), 60);
        assert!(quota.take(now, address(2), 1000));
        let of_others = (10..20_000).filter(|number| quota.take(now, address(*number), 1000)).count();
        assert_eq!(of_others, 10_000 - 61);
        assert_eq!(quota.of.len(), 10_000 - 61 + 2);
        assert!(!quota.take(now, address(3), 1000));
        assert!(quota.take(now + HOUR, address(1), 1000) && quota.of.len() == 1);
    }

    #[test]
    fn few_that_are_large_are_a_share_as_well() {
        let mut quota = Quota::default();
        let address = |number: u32| IpAddr::from(std::net::Ipv4Addr::from_bits(number));
        let now = Duration::from_secs(9);
        // 11 results of the maximum size are 2.9 MB.
        let large = crate::result::LARGEST as u64;
        assert_eq!((0..60).filter(|_| quota.take(now, address(1), large)).count(), 11);
        assert!(quota.take(now, address(1), 1000), "a small one has room yet");
        // 100 MB are 381 of these, including the 11 counted before.
        let of_others = (10..2000).filter(|number| quota.take(now, address(*number), large)).count();
        assert_eq!(of_others, 381 - 11);
    }
}
