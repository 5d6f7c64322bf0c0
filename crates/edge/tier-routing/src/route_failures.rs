//! Failed routes to an origin. They are retried by the 5th, 25th, 125th, 625th and 3125th request,
//! and then by every 3125th.
//!
//! A connect without a request clears faults of the connection only. For other faults it lets the
//! next request test the route, but only once: the origin may accept connections but never respond.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use crate::{DataCentreId, Fault, Renumbering};

/// A route to an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Route {
    /// A direct connection.
    Direct,
    /// Through another data centre, which makes the connection.
    Through(DataCentreId),
}

/// The state of a route for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// No failure is known.
    Clear,
    /// The route failed; this request avoids it.
    Failed,
    /// The route failed; this request tests it.
    Test,
}

/// A remembered failure, for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// The address of the origin.
    pub address: SocketAddr,
    /// The route.
    pub route: Route,
    /// The fault.
    pub fault: Fault,
    /// When the fault first occurred.
    pub since: Duration,
    /// The number of requests that have met it.
    pub requests: u64,
    /// Whether the next request tests the route, because a connection was made since.
    pub is_due: bool,
}

impl Listed {
    /// The number of the request that will test the route.
    pub fn next_test_at(&self) -> u64 {
        if self.is_due {
            return self.requests + 1;
        }
        let early = [5, 25, 125, 625].into_iter().find(|number| *number > self.requests);
        early.unwrap_or((self.requests / LAST + 1) * LAST)
    }
}

/// The routes that failed within the last ten minutes, by origin address.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    entries: BTreeMap<(SocketAddr, Route, Fault), Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    since: Duration,
    at: Duration,
    requests: u64,
    hint: Hint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    None,
    Due,
    /// Further connects have no effect.
    Used,
}

impl Failures {
    /// The state of a route for a request, which is counted.
    pub fn meet(&mut self, now: Duration, address: SocketAddr, route: Route) -> Met {
        let mut met = Met::Clear;
        for entry in self.of(address, route).filter(|entry| !entry.is_over(now)) {
            entry.requests += 1;
            let is_due = entry.hint == Hint::Due;
            if is_due {
                entry.hint = Hint::Used;
            }
            if is_due || is_test(entry.requests) {
                met = Met::Test;
            } else if met == Met::Clear {
                met = Met::Failed;
            }
        }
        met
    }

    /// When a route last failed, if this is still remembered.
    pub fn last(&self, now: Duration, address: SocketAddr, route: Route) -> Option<Duration> {
        let entries = self.entries.range(span(address, route)).map(|(_, entry)| entry);
        entries.filter(|entry| !entry.is_over(now)).map(|entry| entry.at).max()
    }

    /// Records the failure of a request, or of a connect as its fault states.
    pub fn failed(&mut self, now: Duration, address: SocketAddr, route: Route, fault: Fault) {
        if fault.is_of_connection() && route == Route::Direct {
            self.of(address, route).for_each(|entry| entry.hint = Hint::None);
        }
        let key = (address, route, fault);
        if let Some(entry) = self.entries.get_mut(&key) {
            if entry.is_over(now) {
                (entry.since, entry.requests, entry.hint) = (now, 0, Hint::None);
            }
            entry.at = now;
            return;
        }
        if self.entries.len() >= MOST {
            self.make_room(now);
        }
        self.entries.insert(key, Entry { since: now, at: now, requests: 0, hint: Hint::None });
    }

    /// Records that a route returned a response, and removes its failures.
    pub fn worked(&mut self, address: SocketAddr, route: Route) {
        let keys: Vec<_> = self.entries.range(span(address, route)).map(|(&key, _)| key).collect();
        for key in keys {
            self.entries.remove(&key);
        }
    }

    /// Records a connect without a request: removes faults of the connection; the next request
    /// tests whether the others persist.
    pub fn connected(&mut self, address: SocketAddr, route: Route) {
        for fault in Fault::ALL.into_iter().filter(|fault| fault.is_of_connection()) {
            self.entries.remove(&(address, route, fault));
        }
        for entry in self.of(address, route).filter(|entry| entry.hint == Hint::None) {
            entry.hint = Hint::Due;
        }
    }

    /// Another data centre reported a connect to the origin at this time: one request tests the
    /// route through it.
    pub fn told(&mut self, at: Duration, address: SocketAddr, centre: DataCentreId) {
        let is_news = |entry: &&mut Entry| entry.hint == Hint::None && entry.at < at;
        for entry in self.of(address, Route::Through(centre)).filter(is_news) {
            entry.hint = Hint::Due;
        }
    }

    pub(crate) fn renumbered(&self, to: &Renumbering) -> Self {
        let renumber = |(&(address, route, fault), &entry): (&(SocketAddr, Route, Fault), &Entry)| {
            let route = match route {
                Route::Direct => Route::Direct,
                Route::Through(id) => Route::Through(to.of(id)?),
            };
            Some(((address, route, fault), entry))
        };
        Self { entries: self.entries.iter().filter_map(renumber).collect() }
    }

    /// The current failures, for the operator.
    pub fn listed(&self, now: Duration) -> impl Iterator<Item = Listed> + '_ {
        let kept = self.entries.iter().filter(move |(_, entry)| !entry.is_over(now));
        kept.map(|(&(address, route, fault), &Entry { since, requests, hint, .. })| Listed {
            address,
            route,
            fault,
            since,
            requests,
            is_due: hint == Hint::Due,
        })
    }

    fn of(&mut self, address: SocketAddr, route: Route) -> impl Iterator<Item = &mut Entry> {
        self.entries.range_mut(span(address, route)).map(|(_, entry)| entry)
    }

    fn make_room(&mut self, now: Duration) {
        self.entries.retain(|_, entry| !entry.is_over(now));
        if self.entries.len() >= MOST {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.at).map(|(&key, _)| key);
            oldest.map(|key| self.entries.remove(&key));
        }
    }
}

impl Entry {
    fn is_over(&self, now: Duration) -> bool {
        now.saturating_sub(self.at) >= LIFETIME
    }
}

fn span(address: SocketAddr, route: Route) -> std::ops::RangeInclusive<(SocketAddr, Route, Fault)> {
    (address, route, Fault::ALL[0])..=(address, route, Fault::ALL[Fault::ALL.len() - 1])
}

fn is_test(number: u64) -> bool {
    matches!(number, 5 | 25 | 125 | 625) || number > 0 && number.is_multiple_of(LAST)
}

const LAST: u64 = 3125;

const LIFETIME: Duration = Duration::from_secs(600);

/// 1 MB; more failed routes than a data centre has origins and neighbours.
const MOST: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    const DIRECT: Route = Route::Direct;

    fn origin() -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], 443))
    }

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_operator_sees_when_a_route_is_tried_again() {
        let mut failures = Failures::default();
        failures.failed(s(1), origin(), DIRECT, Fault::ConnectionRefused);
        let listed = |failures: &Failures| failures.listed(s(9)).next().unwrap();
        assert_eq!(listed(&failures).next_test_at(), 5);
        for (requests, next) in [(5, 25), (124, 125), (625, 3125), (3125, 6250), (6249, 6250)] {
            assert_eq!(Listed { requests, ..listed(&failures) }.next_test_at(), next, "after {requests}");
        }
        failures.failed(s(8), origin(), DIRECT, Fault::ConnectionRefused);
        assert_eq!(listed(&failures).since, s(1));
    }

    #[test]
    fn a_connection_says_nothing_of_what_comes_after_it() {
        let mut failures = Failures::default();
        for fault in Fault::ALL {
            failures.failed(s(1), origin(), DIRECT, fault);
        }
        failures.connected(origin(), DIRECT);
        let left: Vec<_> = failures.listed(s(2)).map(|listed| listed.fault).collect();
        assert_eq!(left, Fault::ALL[2..]);
    }

    #[test]
    fn the_next_request_after_a_connection_finds_out_and_no_other_for_that() {
        let mut failures = Failures::default();
        failures.failed(s(0), origin(), DIRECT, Fault::HttpResponseTimeout);
        let meet = |failures: &mut Failures, at| failures.meet(s(at), origin(), DIRECT);
        assert_eq!(meet(&mut failures, 1), Met::Failed);
        failures.connected(origin(), DIRECT);
        let next = |failures: &Failures| failures.listed(s(10)).next().map(|listed| listed.next_test_at());
        assert_eq!(next(&failures), Some(2));
        assert_eq!([10, 10].map(|at| meet(&mut failures, at)), [Met::Test, Met::Failed]);
        // An origin that connects but never responds: further connects are not relevant.
        failures.failed(s(12), origin(), DIRECT, Fault::HttpResponseTimeout);
        failures.connected(origin(), DIRECT);
        assert_eq!(next(&failures), Some(5));
        assert_eq!([20, 20, 20].map(|at| meet(&mut failures, at)), [Met::Failed, Met::Test, Met::Failed]);
        failures.failed(s(30), origin(), DIRECT, Fault::ConnectionTimeout);
        failures.connected(origin(), DIRECT);
        assert_eq!(meet(&mut failures, 40), Met::Test);
    }

    #[test]
    fn what_another_data_centre_tells_is_found_out_once() {
        let mut failures = Failures::default();
        let through = Route::Through(DataCentreId(7));
        failures.failed(s(10), origin(), through, Fault::ConnectionRefused);
        failures.told(s(10), origin(), DataCentreId(7));
        failures.told(s(11), origin(), DataCentreId(6));
        assert_eq!(failures.meet(s(11), origin(), through), Met::Failed, "that was before, and another one");
        failures.told(s(11), origin(), DataCentreId(7));
        assert_eq!([12, 12].map(|at| failures.meet(s(at), origin(), through)), [Met::Test, Met::Failed]);
        failures.failed(s(12), origin(), through, Fault::ConnectionRefused);
        failures.told(s(20), origin(), DataCentreId(7));
        assert_eq!(failures.meet(s(20), origin(), through), Met::Failed, "it connects, and is no help");
    }

    #[test]
    fn a_failed_route_is_tried_by_powers_of_five_and_then_regularly() {
        let mut failures = Failures::default();
        failures.failed(s(0), origin(), DIRECT, Fault::ConnectionRefused);
        let tests: Vec<_> = (1..=13_000_u64)
            .filter(|_| match failures.meet(s(1), origin(), DIRECT) {
                Met::Clear => panic!("it failed a second ago"),
                Met::Failed => false,
                Met::Test => {
                    failures.failed(s(1), origin(), DIRECT, Fault::ConnectionRefused);
                    true
                }
            })
            .collect();
        assert_eq!(tests, [5, 25, 125, 625, 3125, 6250, 9375, 12_500]);
    }

    #[test]
    fn success_and_ten_minutes_remove_an_entry() {
        for (when, worked, expected) in
            [(s(599), false, Met::Failed), (s(600), false, Met::Clear), (s(1), true, Met::Clear)]
        {
            let mut failures = Failures::default();
            failures.failed(s(0), origin(), DIRECT, Fault::ConnectionTimeout);
            if worked {
                failures.worked(origin(), DIRECT);
            }
            assert_eq!(failures.meet(when, origin(), DIRECT), expected, "{when:?} {worked}");
        }
    }

    #[test]
    fn a_test_that_fails_makes_it_younger_and_goes_on_counting() {
        let mut failures = Failures::default();
        failures.failed(s(0), origin(), DIRECT, Fault::ConnectionRefused);
        for _ in 0..4 {
            assert_eq!(failures.meet(s(1), origin(), DIRECT), Met::Failed);
        }
        assert_eq!(failures.meet(s(500), origin(), DIRECT), Met::Test);
        failures.failed(s(500), origin(), DIRECT, Fault::ConnectionRefused);
        assert_eq!(failures.meet(s(1099), origin(), DIRECT), Met::Failed);
        assert_eq!(failures.listed(s(1099)).next().map(|listed| listed.requests), Some(6));
        assert_eq!(failures.listed(s(1100)).next(), None);
    }

    #[test]
    fn routes_addresses_and_faults_are_counted_apart() {
        let mut failures = Failures::default();
        let (through, other) = (Route::Through(DataCentreId(7)), SocketAddr::from(([192, 0, 2, 2], 443)));
        failures.failed(s(0), origin(), DIRECT, Fault::ConnectionRefused);
        for (address, route) in [(origin(), through), (other, DIRECT)] {
            assert_eq!(failures.meet(s(1), address, route), Met::Clear);
            failures.worked(address, route);
        }
        for _ in 0..4 {
            failures.meet(s(1), origin(), DIRECT);
        }
        failures.failed(s(2), origin(), DIRECT, Fault::TlsProtocolError);
        assert_eq!(failures.meet(s(2), origin(), DIRECT), Met::Test);
        assert_eq!(failures.listed(s(2)).count(), 2);
        failures.worked(origin(), DIRECT);
        assert_eq!(failures.listed(s(2)).count(), 0);
    }

    #[test]
    fn the_table_is_bounded() {
        let mut failures = Failures::default();
        for number in 0..12_000_u32 {
            let address = SocketAddr::from((number.to_be_bytes(), 443));
            failures.failed(s(u64::from(number) / 100), address, DIRECT, Fault::ConnectionTimeout);
        }
        assert_eq!(failures.listed(s(120)).count(), MOST);
        assert_eq!(
            failures.meet(s(120), SocketAddr::from((1999_u32.to_be_bytes(), 443)), DIRECT),
            Met::Clear
        );
        assert_eq!(
            failures.meet(s(120), SocketAddr::from((2000_u32.to_be_bytes(), 443)), DIRECT),
            Met::Failed
        );
    }
}
