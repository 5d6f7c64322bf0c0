//! The started tests: identifiers, client addresses, and connections. Time is supplied by the
//! caller.
//!
//! Only a client that receives at its address has the identifier. Datagrams are echoed to that
//! address only, with a limit per test.

use std::{
    collections::{BTreeMap, VecDeque},
    net::{IpAddr, SocketAddr},
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use crate::{
    bottleneck::Times,
    client_prefix::household,
    delivery::Delivery,
    wire::{Token, plain},
};

/// Memory is bounded: the oldest test is evicted.
#[derive(Debug, Default)]
pub(crate) struct TestRegistry {
    tests: BTreeMap<Token, Test>,
    begun: VecDeque<(Duration, Token)>,
    of: BTreeMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Test {
    begun: Duration,
    address: IpAddr,
    datagrams_left: u32,
    connections: Vec<Seen>,
    deliveries: BTreeMap<u32, Delivery>,
    received: Arc<AtomicU64>,
    is_kept: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) then: Times,
}

impl TestRegistry {
    /// Evicts the oldest test of a household that exceeds its limit.
    pub(crate) fn begin(&mut self, now: Duration, test: Token, address: IpAddr) {
        while let Some((at, oldest)) = self.begun.front().copied() {
            if now.saturating_sub(at) < LIFE && self.tests.len() < MOST {
                break;
            }
            self.begun.pop_front();
            self.end(oldest);
        }
        let home = household(address);
        if self.of.get(&home).is_some_and(|own| *own >= MOST_OF_ONE) {
            let is_own = |(_, test): &&(Duration, Token)| {
                self.tests.get(test).is_some_and(|test| household(test.address) == home)
            };
            if let Some((_, oldest)) = self.begun.iter().find(is_own).copied() {
                self.begun.retain(|(_, test)| *test != oldest);
                self.end(oldest);
            }
        }
        *self.of.entry(home).or_default() += 1;
        let begins = Test {
            begun: now,
            address: plain(address),
            datagrams_left: DATAGRAMS,
            connections: Vec::new(),
            deliveries: BTreeMap::new(),
            received: Arc::default(),
            is_kept: false,
        };
        self.tests.insert(test, begins);
        self.begun.push_back((now, test));
    }

    pub(crate) fn sends_back(&mut self, now: Duration, test: Token, from: IpAddr) -> bool {
        if !self.is_of(now, test, from) {
            return false;
        }
        let Some(test) = self.tests.get_mut(&test) else { return false };
        let is_left = test.datagrams_left > 0;
        test.datagrams_left = test.datagrams_left.saturating_sub(1);
        is_left
    }

    pub(crate) fn is_of(&self, now: Duration, test: Token, of: IpAddr) -> bool {
        let test = self.tests.get(&test);
        test.is_some_and(|test| test.address == plain(of) && now.saturating_sub(test.begun) < LIFE)
    }

    pub(crate) fn is_new(&self, test: Token, remote: SocketAddr) -> bool {
        self.tests.get(&test).is_some_and(|test| {
            test.address == plain(remote.ip())
                && test.connections.len() < MOST_CONNECTIONS
                && test.connections.iter().all(|seen| seen.remote != remote)
        })
    }

    pub(crate) fn see(&mut self, test: Token, seen: Seen) {
        if let Some(test) = self.tests.get_mut(&test) {
            test.connections.push(seen);
        }
    }

    pub(crate) fn connections(&self, test: Token, of: IpAddr) -> Vec<Seen> {
        let test = self.tests.get(&test).filter(|test| test.address == plain(of));
        test.map(|test| test.connections.clone()).unwrap_or_default()
    }

    pub(crate) fn connection(&self, test: Token, remote: SocketAddr) -> Option<Seen> {
        let test = self.tests.get(&test).filter(|test| test.address == plain(remote.ip()))?;
        test.connections.iter().find(|seen| seen.remote == remote).copied()
    }

    pub(crate) fn delivered(&mut self, test: Token, number: u32, delivery: Delivery) {
        let test = self.tests.get_mut(&test);
        if let Some(test) = test.filter(|test| test.deliveries.len() < MOST_DELIVERIES) {
            test.deliveries.entry(number).or_insert(delivery);
        }
    }

    pub(crate) fn deliveries(&self, test: Token, of: IpAddr) -> BTreeMap<u32, Delivery> {
        let test = self.tests.get(&test).filter(|test| test.address == plain(of));
        test.map(|test| test.deliveries.clone()).unwrap_or_default()
    }

    pub(crate) fn received(&self, test: Token, of: IpAddr) -> Option<Arc<AtomicU64>> {
        let test = self.tests.get(&test).filter(|test| test.address == plain(of))?;
        Some(Arc::clone(&test.received))
    }

    /// True once per test, and only for the client's address.
    pub(crate) fn may_keep(&mut self, now: Duration, test: Token, of: IpAddr) -> bool {
        let is_own = self.is_of(now, test, of);
        let test = self.tests.get_mut(&test).filter(|_| is_own);
        test.is_some_and(|test| !std::mem::replace(&mut test.is_kept, true))
    }

    /// Permits another attempt.
    pub(crate) fn was_not_kept(&mut self, test: Token) {
        if let Some(test) = self.tests.get_mut(&test) {
            test.is_kept = false;
        }
    }

    fn end(&mut self, test: Token) {
        let Some(ended) = self.tests.remove(&test) else { return };
        let home = household(ended.address);
        if let Some(own) = self.of.get_mut(&home) {
            *own -= 1;
            if *own == 0 {
                self.of.remove(&home);
            }
        }
    }
}

/// Upper limit of a test's duration.
const LIFE: Duration = Duration::from_secs(3600);
const MOST: usize = 10_000;
const MOST_OF_ONE: usize = 100;
const MOST_CONNECTIONS: usize = 64;
/// More than the downloads of the page's longest plan.
const MOST_DELIVERIES: usize = 64;
/// The limit of a plan.
const DATAGRAMS: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn token(number: u32) -> Token {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        Token(bytes)
    }

    const NOW: Duration = Duration::from_secs(5);

    #[test]
    fn datagrams_go_back_to_whoever_began_the_test_and_not_for_ever() {
        let mut book = TestRegistry::default();
        let (home, other): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        book.begin(NOW, token(1), home);
        assert!(!book.sends_back(NOW, token(2), home), "no such test");
        assert!(!book.sends_back(NOW, token(1), other), "somebody else's address");
        assert!(book.sends_back(NOW, token(1), "::ffff:192.0.2.1".parse().unwrap()), "the same, mapped");
        assert!(!book.sends_back(NOW + LIFE, token(1), home), "too old");
        let sent_back = (0..2 * DATAGRAMS).filter(|_| book.sends_back(NOW, token(1), home)).count();
        assert_eq!(sent_back, DATAGRAMS as usize - 1);
    }

    #[test]
    fn the_oldest_tests_give_way() {
        let mut book = TestRegistry::default();
        let address = |number: u32| IpAddr::from(std::net::Ipv4Addr::from_bits(number));
        let most = u32::try_from(MOST).unwrap();
        for number in 0..=most {
            book.begin(NOW, token(number), address(number));
        }
        assert_eq!((book.tests.len(), book.begun.len(), book.of.len()), (MOST, MOST, MOST));
        assert!(!book.sends_back(NOW, token(0), address(0)) && book.sends_back(NOW, token(1), address(1)));
        for number in 0..200 {
            book.begin(NOW, token(1_000_000 + number), address(most));
        }
        assert_eq!(book.of[&address(most)], MOST_OF_ONE);
        assert!(book.sends_back(NOW, token(1_000_199), address(most)));
        book.begin(NOW + LIFE, token(7), address(7));
        assert_eq!((book.tests.len(), book.begun.len(), book.of.len()), (1, 1, 1));
    }

    #[test]
    fn a_result_is_kept_once_for_whoever_made_the_test() {
        let mut book = TestRegistry::default();
        let (home, other): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        book.begin(NOW, token(1), home);
        assert!(!book.may_keep(NOW, token(2), home) && !book.may_keep(NOW, token(1), other));
        assert!(!book.may_keep(NOW + LIFE, token(1), home), "too old");
        assert!(book.may_keep(NOW, token(1), home) && !book.may_keep(NOW, token(1), home));
        book.was_not_kept(token(1));
        assert!(book.may_keep(NOW, token(1), home));
    }

    #[test]
    fn deliveries_of_a_test_are_bounded_and_of_its_address() {
        let mut book = TestRegistry::default();
        let (home, other): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        book.begin(NOW, token(1), home);
        let delivery = |bytes| Delivery { size: bytes, bytes, over: NOW, took: NOW, round_trip: None };
        for number in 0..100 {
            book.delivered(token(1), number, delivery(number.into()));
            book.delivered(token(1), number, delivery(1_000_000));
        }
        let found = book.deliveries(token(1), home);
        assert_eq!((found.len(), found[&7].bytes), (MOST_DELIVERIES, 7), "the first of each number counts");
        assert!(book.deliveries(token(1), other).is_empty());
    }

    #[test]
    fn a_connection_is_seen_once() {
        let mut book = TestRegistry::default();
        let (local, remote) = ("192.0.2.9:80".parse().unwrap(), "192.0.2.1:4000".parse().unwrap());
        book.begin(NOW, token(1), "192.0.2.1".parse().unwrap());
        assert!(
            book.is_new(token(1), remote) && !book.is_new(token(1), local) && !book.is_new(token(2), remote)
        );
        book.see(token(1), Seen { local, remote, then: Times::default() });
        assert!(!book.is_new(token(1), remote));
        assert_eq!(book.connections(token(1), remote.ip()).len(), 1);
        assert!(book.connections(token(1), local.ip()).is_empty(), "of somebody else's test nothing is told");
        assert!(book.connection(token(1), remote).is_some() && book.connection(token(2), remote).is_none());
    }
}
