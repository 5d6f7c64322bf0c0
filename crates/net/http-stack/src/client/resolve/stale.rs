//! Serves stale addresses when a DNS refresh fails (RFC 8767).

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::{Failure, client::dns::NO_SUCH_NAME, clock::nanos};

/// Times are nanoseconds of the client's clock.
#[derive(Debug, Default)]
pub(super) struct Stale(Mutex<HashMap<String, Kept>>);

#[derive(Debug)]
struct Kept {
    addresses: Vec<IpAddr>,
    found_at: u64,
    failed_at: Option<u64>,
}

impl Stale {
    pub(super) fn learn(&self, host: &str, answer: &Result<Vec<IpAddr>, Failure>, now: u64) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(addresses) => {
                if names.len() >= NAMES && !names.contains_key(host) {
                    names.retain(|_, kept| kept.is_usable(now));
                }
                if names.len() < NAMES || names.contains_key(host) {
                    let kept = Kept { addresses: addresses.clone(), found_at: now, failed_at: None };
                    names.insert(host.to_owned(), kept);
                }
            }
            Err(failure) if is_passing(failure) => {
                if let Some(kept) = names.get_mut(host) {
                    kept.failed_at = Some(now);
                }
            }
            Err(_) => drop(names.remove(host)),
        }
    }

    pub(super) fn instead(&self, host: &str, now: u64) -> Option<Vec<IpAddr>> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(host).filter(|kept| kept.is_usable(now)).map(|kept| kept.addresses.clone())
    }

    pub(super) fn without_asking(&self, host: &str, now: u64) -> Option<Vec<IpAddr>> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = names.get(host).filter(|kept| kept.is_usable(now))?;
        let since = now.saturating_sub(kept.failed_at?);
        (since < nanos(FAILURE_RECHECK)).then(|| kept.addresses.clone())
    }
}

impl Kept {
    fn is_usable(&self, now: u64) -> bool {
        now.saturating_sub(self.found_at) < nanos(MOST_STALE)
    }
}

/// NXDOMAIN and an empty result are authoritative, so they do not pass.
pub(super) fn is_passing(failure: &Failure) -> bool {
    matches!(failure, Failure::Dns(why) if *why != NO_SUCH_NAME)
}

/// How long addresses stay usable after the last successful lookup: RFC 8767 section 5 suggests one to three days.
const MOST_STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a connection waits for a lookup if stale addresses exist: the client response timer of RFC 8767 section 5.
pub(super) const CLIENT_RESPONSE: Duration = Duration::from_millis(1800);

/// How long the resolver sends no query after a failure: the failure recheck timer of RFC 8767 section 5.
const FAILURE_RECHECK: Duration = Duration::from_secs(30);

const NAMES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const HOST: &str = "a.example";

    #[test]
    fn addresses_outlive_a_failed_refresh_for_a_day() {
        let (stale, addresses) = (Stale::default(), vec!["192.0.2.1".parse().unwrap()]);
        let silent = Err(Failure::Dns("no answer"));
        stale.learn(HOST, &silent, 1);
        assert_eq!(stale.instead(HOST, 1), None);
        stale.learn(HOST, &Ok(addresses.clone()), SECOND);
        assert_eq!(stale.without_asking(HOST, 2 * SECOND), None);
        stale.learn(HOST, &silent, 3 * SECOND);
        assert_eq!(stale.without_asking(HOST, 32 * SECOND), Some(addresses.clone()));
        assert_eq!(stale.without_asking(HOST, 33 * SECOND), None);
        let day = 24 * 60 * 60 * SECOND;
        assert_eq!(stale.instead(HOST, day), Some(addresses.clone()));
        assert_eq!(stale.instead(HOST, day + SECOND), None);
        stale.learn(HOST, &Ok(addresses.clone()), day);
        assert_eq!(stale.without_asking(HOST, day), None);
        assert_eq!(stale.instead(HOST, day + SECOND), Some(addresses));
    }

    #[test]
    fn an_authority_is_believed() {
        for failure in [Failure::Dns(NO_SUCH_NAME), Failure::NoAddress(crate::Family::Any)] {
            let stale = Stale::default();
            stale.learn(HOST, &Ok(vec!["192.0.2.1".parse().unwrap()]), SECOND);
            stale.learn(HOST, &Err(failure), 2 * SECOND);
            assert_eq!(stale.instead(HOST, 2 * SECOND), None);
        }
    }

    #[test]
    fn the_number_of_names_is_bounded() {
        let stale = Stale::default();
        let address = Ok(vec!["192.0.2.1".parse().unwrap()]);
        for number in 0..=NAMES {
            stale.learn(&number.to_string(), &address, SECOND);
        }
        assert_eq!(stale.instead(&NAMES.to_string(), SECOND), None);
        let later = SECOND + nanos(MOST_STALE);
        stale.learn(HOST, &address, later);
        assert_eq!(stale.0.lock().unwrap().len(), 1);
    }
}
