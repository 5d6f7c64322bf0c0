//! How often somebody may leave a result, so that nobody makes those of all others give way. Given the time, it reads no clock.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use crate::household::household;

/// Counts results by household, hour by hour. Its memory is bounded.
#[derive(Debug, Default)]
pub struct Quota {
    since: Duration,
    of: BTreeMap<IpAddr, u32>,
    total: u32,
}

impl Quota {
    /// Whether one more may be kept; if so, it counts.
    pub fn take(&mut self, now: Duration, address: IpAddr) -> bool {
        if now.saturating_sub(self.since) >= HOUR {
            *self = Self { since: now, ..Self::default() };
        }
        let own = self.of.get(&household(address)).copied().unwrap_or(0);
        let may = own < MOST_OF_ONE && self.total < MOST;
        if may {
            self.of.insert(household(address), own + 1);
            self.total += 1;
        }
        may
    }
}

const HOUR: Duration = Duration::from_secs(3600);
/// A household that tests all the time has a result a minute.
const MOST_OF_ONE: u32 = 60;
/// An hour's results of everybody: some megabytes of memory, and a tenth of what is kept at most.
const MOST: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_more_than_a_share_and_an_hour_later_everybody_has_one_again() {
        let mut quota = Quota::default();
        let address = |number: u32| IpAddr::from(std::net::Ipv4Addr::from_bits(number));
        let now = Duration::from_secs(9);
        assert_eq!((0..100).filter(|_| quota.take(now, address(1))).count(), 60);
        assert!(quota.take(now, address(2)));
        // 60 and 1 are taken already.
        assert_eq!((10..20_000).filter(|number| quota.take(now, address(*number))).count(), 10_000 - 61);
        assert_eq!(quota.of.len(), 10_000 - 61 + 2);
        assert!(!quota.take(now, address(3)));
        assert!(quota.take(now + HOUR, address(1)) && quota.of.len() == 1);
    }
}
