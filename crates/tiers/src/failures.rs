//! Routes to an origin that failed: not tried again by every request, but by the 5th, the 25th, the 125th, the 625th, the 3125th, and from
//! then on by every 3125th. Each of these is saved by another route if it fails.
//!
//! A connection that was made without a request says that the way there is open, and not whether an answer comes. So it ends what was wrong with
//! connections, and of what came after them it has the next request find out, once: an origin that takes connections and never answers
//! would else have a request wait for it after each of them.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use crate::{CentreId, Fault, Renumbering};

/// A way to an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Route {
    /// From here.
    Direct,
    /// By another data centre, which makes the connection.
    Through(CentreId),
}

/// What a request meets on a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// Nothing is known against it.
    Clear,
    /// It failed, and this request leaves it alone.
    Failed,
    /// It failed, and this request finds out whether it still does.
    Test,
}

/// A failure that is remembered, for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Of the origin.
    pub address: SocketAddr,
    /// Which way.
    pub route: Route,
    /// What went wrong.
    pub fault: Fault,
    /// Since when it is remembered.
    pub since: Duration,
    /// How many requests have met it.
    pub requests: u64,
    /// Whether a connection was made since, so that the next request tries the route.
    pub is_due: bool,
}

impl Listed {
    /// The number of the request that tries the route again.
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
    /// When it failed first, and last.
    since: Duration,
    at: Duration,
    /// How many requests have met it since it was new.
    requests: u64,
    /// What a connection without a request has said of it.
    hint: Hint,
}

/// What is known of a route by a connection without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    /// Nothing new.
    None,
    /// It can be connected to again: the next request finds out more.
    Due,
    /// A request has found out, or is about to: to be connected to is no news.
    Used,
}

impl Failures {
    /// A request is about to choose a route: what is known of this one? Counts the request.
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

    /// When a route failed last, if it is still remembered. Counts nothing.
    pub fn last(&self, now: Duration, address: SocketAddr, route: Route) -> Option<Duration> {
        let entries = self.entries.range(span(address, route)).map(|(_, entry)| entry);
        entries.filter(|entry| !entry.is_over(now)).map(|entry| entry.at).max()
    }

    /// A route failed, on which a request was made or, as its fault says, not even a connection.
    pub fn failed(&mut self, now: Duration, address: SocketAddr, route: Route, fault: Fault) {
        if fault.is_of_connection() && route == Route::Direct {
            // When there is a connection again, that is news of all that was wrong.
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

    /// A route led to a response: nothing is left of its failures. Those of other routes to the same origin stay, whatever this one says.
    pub fn worked(&mut self, address: SocketAddr, route: Route) {
        let keys: Vec<_> = self.entries.range(span(address, route)).map(|(&key, _)| key).collect();
        for key in keys {
            self.entries.remove(&key);
        }
    }

    /// A route led to a connection, of which more is not known: what was wrong with the connection before is over, and whether what came after
    /// it is over too, the next request finds out.
    pub fn connected(&mut self, address: SocketAddr, route: Route) {
        for fault in Fault::ALL.into_iter().filter(|fault| fault.is_of_connection()) {
            self.entries.remove(&(address, route, fault));
        }
        for entry in self.of(address, route).filter(|entry| entry.hint == Hint::None) {
            entry.hint = Hint::Due;
        }
    }

    /// Another data centre has told that it connected to the origin at that time: a request finds out whether the way through it leads there again,
    /// once.
    pub fn told(&mut self, at: Duration, address: SocketAddr, centre: CentreId) {
        let is_news = |entry: &&mut Entry| entry.hint == Hint::None && entry.at < at;
        for entry in self.of(address, Route::Through(centre)).filter(is_news) {
            entry.hint = Hint::Due;
        }
    }

    /// The same under the numbers of another network.
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

    /// What is remembered now, for the operator.
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

    /// Forgets what is over, and if nothing is, what failed first.
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

/// Whether the request with this number tries the route again.
fn is_test(number: u64) -> bool {
    matches!(number, 5 | 25 | 125 | 625) || number > 0 && number.is_multiple_of(LAST)
}

/// From here on each request whose number is a multiple of this.
const LAST: u64 = 3125;

/// After this a route is as good as new.
const LIFETIME: Duration = Duration::from_secs(600);

/// Entries: more broken routes than a data centre has origins and neighbours; 1 MB.
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
        // It takes connections, and never answers: that it does is no news.
        failures.failed(s(12), origin(), DIRECT, Fault::HttpResponseTimeout);
        failures.connected(origin(), DIRECT);
        assert_eq!(next(&failures), Some(5));
        assert_eq!([20, 20, 20].map(|at| meet(&mut failures, at)), [Met::Failed, Met::Test, Met::Failed]);
        // But that it does again is.
        failures.failed(s(30), origin(), DIRECT, Fault::ConnectionTimeout);
        failures.connected(origin(), DIRECT);
        assert_eq!(meet(&mut failures, 40), Met::Test);
    }

    #[test]
    fn what_another_data_centre_tells_is_found_out_once() {
        let mut failures = Failures::default();
        let through = Route::Through(CentreId(7));
        failures.failed(s(10), origin(), through, Fault::ConnectionRefused);
        failures.told(s(10), origin(), CentreId(7));
        failures.told(s(11), origin(), CentreId(6));
        assert_eq!(failures.meet(s(11), origin(), through), Met::Failed, "that was before, and another one");
        failures.told(s(11), origin(), CentreId(7));
        assert_eq!([12, 12].map(|at| failures.meet(s(at), origin(), through)), [Met::Test, Met::Failed]);
        failures.failed(s(12), origin(), through, Fault::ConnectionRefused);
        failures.told(s(20), origin(), CentreId(7));
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
        let (through, other) = (Route::Through(CentreId(7)), SocketAddr::from(([192, 0, 2, 2], 443)));
        failures.failed(s(0), origin(), DIRECT, Fault::ConnectionRefused);
        for (address, route) in [(origin(), through), (other, DIRECT)] {
            assert_eq!(failures.meet(s(1), address, route), Met::Clear);
            failures.worked(address, route);
        }
        // That a detour works says nothing about the direct route.
        for _ in 0..4 {
            failures.meet(s(1), origin(), DIRECT);
        }
        // A second fault counts from its own beginning: now it is the 5th request for one and the first for the other.
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
        // The first 2000 had to go.
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
