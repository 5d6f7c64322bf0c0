//! Limits the connections per client address, so that one client cannot use all of them.
//!
//! Servers that share the limit, such as those of several threads, count together.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use socket2::SockRef;
use tokio::net::TcpStream;

/// Counts connections per client address, and refuses those beyond the limit.
///
/// An IPv6 address counts as its /64: one subscriber can use all addresses of it.
#[derive(Debug)]
pub struct PerIpLimit {
    shards: [Mutex<HashMap<Client, usize>>; SHARDS],
    hasher: RandomState,
    most: AtomicUsize,
    open: AtomicU64,
    refused: AtomicU64,
}

#[derive(Debug)]
pub(super) struct Counted {
    all: Arc<PerIpLimit>,
    client: Client,
}

/// An IPv4 address, or the first half of an IPv6 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Client {
    V4(u32),
    V6(u64),
}

impl PerIpLimit {
    /// Creates a counter with a limit per address; 0 counts as 1.
    pub fn at_most(most: usize) -> Arc<Self> {
        Arc::new(Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            most: AtomicUsize::new(most.max(1)),
            open: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        })
    }

    /// Returns the limit per address.
    pub fn most(&self) -> usize {
        self.most.load(Relaxed)
    }

    /// Changes the limit per address; 0 counts as 1. Open connections are not closed.
    pub fn allow(&self, most: usize) {
        self.most.store(most.max(1), Relaxed);
    }

    /// Returns the number of open connections of all addresses.
    pub fn open(&self) -> u64 {
        self.open.load(Relaxed)
    }

    /// Returns the number of connections refused since the start.
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    pub(super) fn admit(self: &Arc<Self>, address: SocketAddr) -> Option<Counted> {
        let client = Client::of(address.ip());
        let mut shard = self.shard(client);
        let count = shard.entry(client).or_default();
        if *count >= self.most() {
            self.refused.fetch_add(1, Relaxed);
            return None;
        }
        *count += 1;
        drop(shard);
        self.open.fetch_add(1, Relaxed);
        Some(Counted { all: Arc::clone(self), client })
    }

    /// Beyond half of the limit, spoofed addresses must not be counted.
    pub(super) fn is_half_full(&self, address: SocketAddr) -> bool {
        let client = Client::of(address.ip());
        let count = self.shard(client).get(&client).copied().unwrap_or(0);
        count >= self.most() / 2
    }

    fn shard(&self, client: Client) -> MutexGuard<'_, HashMap<Client, usize>> {
        #[expect(clippy::cast_possible_truncation, reason = "less than the number of shards")]
        let number = (self.hasher.hash_one(client) % SHARDS as u64) as usize;
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    fn of(address: IpAddr) -> Self {
        // An IPv4 address on a dual-stack socket is the same client as on an IPv4 socket.
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.all.open.fetch_sub(1, Relaxed);
        let mut shard = self.all.shard(self.client);
        if let Some(count) = shard.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                shard.remove(&self.client);
            }
        }
    }
}

/// Makes the kernel reset a refused connection when it is dropped, so that no state remains.
pub(super) fn reset(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}

/// Several times the number of cores of most machines.
const SHARDS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_and_a_64_is_one_address() {
        let all = PerIpLimit::at_most(2);
        let from = |ip: &str, port| all.admit(SocketAddr::new(ip.parse().unwrap(), port));
        let first = [from("192.0.2.7", 1), from("::ffff:192.0.2.7", 2)];
        assert!(first.iter().all(Option::is_some));
        assert!(from("192.0.2.7", 3).is_none() && from("192.0.2.8", 3).is_some());
        let v6 = [from("2001:db8::1", 1), from("2001:db8::ffff:1", 2)];
        assert!(v6.iter().all(Option::is_some));
        assert!(from("2001:db8:0:0:9::", 3).is_none() && from("2001:db8:0:1::1", 3).is_some());
        assert_eq!((all.open(), all.refused()), (4, 2));
        drop((first, v6));
        assert!(from("192.0.2.7", 3).is_some());
        assert_eq!(all.open(), 0);
        assert!(all.shards.iter().all(|shard| shard.lock().unwrap().is_empty()));
    }

    #[test]
    fn a_limit_that_is_lowered_cuts_nobody_off() {
        let all = PerIpLimit::at_most(8);
        let address = "192.0.2.7:1".parse().unwrap();
        let connections: Vec<_> = (0..4).map_while(|_| all.admit(address)).collect();
        assert!(all.is_half_full(address));
        all.allow(3);
        assert!(all.admit(address).is_none());
        assert_eq!(all.open(), 4);
        drop(connections);
        assert!(all.admit(address).is_some() && !all.is_half_full(address));
    }
}
