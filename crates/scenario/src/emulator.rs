//! The emulator's own error: how much of a sample, and of what a measurement took in all, may be the planet's doing.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use claim::{Journal, OwnError, Route, Service};
use experience::Distribution;
use world::{HostId, Layout};

/// What a planet held up while something was measured, and when each measurement ran.
#[derive(Debug, Default)]
pub(crate) struct Emulator {
    pub journal: Journal,
    /// By the log of a measurement: when it began and ended, on the machine's monotonic clock.
    pub ran: HashMap<PathBuf, [Duration; 2]>,
}

/// Samples of one host with the times at which they were measured.
#[derive(Debug, Default)]
pub(crate) struct Timed {
    samples: Vec<Sample>,
    peers: Vec<Peer>,
    numbers: HashMap<Peer, usize>,
}

/// With whom a sample was exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Peer {
    /// Its address; absent: anybody.
    pub address: Option<IpAddr>,
    /// What for; absent: anything.
    pub service: Option<Service>,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    value_ms: f64,
    /// Since the recording's start.
    from_ns: u64,
    until_ns: u64,
    peer: usize,
}

impl Emulator {
    /// What is known of exchanges between a host and a peer.
    fn route(&self, layout: &Layout, host: &str, peer: Peer) -> Route {
        let known = layout.addresses();
        let other = peer.address.and_then(|address| known.get(&address)).map(|&port| layout.ports[port].host);
        let name = other.map(|other| layout.hosts[other].name.as_str());
        self.journal.route(host, name, peer.service, shortest_rtt(layout, host, other))
    }

    /// The values less what of each may be the emulator's; `None` if it is not known when the recording started.
    pub(crate) fn without_error(
        &self,
        layout: &Layout,
        host: &str,
        timed: &Timed,
        origin_ns: Option<u64>,
    ) -> Option<Vec<f64>> {
        let origin_ns = origin_ns?;
        let mut values = Vec::with_capacity(timed.samples.len());
        for (number, &peer) in timed.peers.iter().enumerate() {
            let of_peer = timed.samples.iter().filter(|sample| sample.peer == number);
            let at = |since_start: u64| origin_ns.saturating_add(since_start);
            let samples: Vec<(f64, u64, u64)> =
                of_peer.map(|sample| (sample.value_ms, at(sample.from_ns), at(sample.until_ns))).collect();
            let bounds = self.route(layout, host, peer).bounds_ns(&samples);
            let without =
                samples.iter().zip(bounds).map(|((value, ..), bound)| (value - milliseconds(bound)).max(0.0));
            values.extend(without);
        }
        Some(values)
    }

    /// The error of what a measurement says it took, if it is known when it ran.
    pub(crate) fn of_whole(
        &self,
        layout: &Layout,
        host: &str,
        peer: Peer,
        log: &Path,
        took: Option<Duration>,
    ) -> Option<OwnError> {
        let [from, until] = *self.ran.get(log)?;
        let [from_ns, until_ns] = [from, until].map(nanoseconds);
        let took = took.unwrap_or_else(|| until.saturating_sub(from));
        let took_ms = took.as_secs_f64() * 1e3;
        let error_ms = milliseconds(self.route(layout, host, peer).bound_ns(from_ns, until_ns, ORDINARY));
        Some(OwnError { error_ms: error_ms.min(took_ms), took_ms })
    }
}

impl Timed {
    /// A sample that took from one moment to another since the recording's start.
    pub(crate) fn push(&mut self, value_ms: f64, from_ns: u64, until_ns: u64, peer: Peer) {
        let peers = &mut self.peers;
        let peer = *self.numbers.entry(peer).or_insert_with(|| {
            peers.push(peer);
            peers.len() - 1
        });
        self.samples.push(Sample { value_ms, from_ns, until_ns, peer });
    }
}

impl Peer {
    /// Anybody, for anything.
    pub(crate) const ANY: Self = Self { address: None, service: None };

    /// A TCP server.
    pub(crate) fn tcp(server: SocketAddr) -> Self {
        Self { address: Some(server.ip()), service: Some(Service::tcp(server.port())) }
    }

    /// A host that is pinged.
    pub(crate) fn ping(address: IpAddr) -> Self {
        Self { address: Some(address), service: Some(Service::PING) }
    }
}

/// The values of several hosts as a distribution, if they are known of all.
pub(crate) fn distribution(values: Option<Vec<f64>>) -> Option<Arc<Distribution>> {
    Distribution::new(values?).ok().map(Arc::new)
}

/// The world's shortest round trip from a host to another, or to any other.
fn shortest_rtt(layout: &Layout, host: &str, other: Option<HostId>) -> u64 {
    let Some(host) = layout.host(host) else { return 0 };
    let others = match other {
        Some(other) => other..other + 1,
        None => 0..layout.hosts.len(),
    };
    let round_trips = others.filter(|&other| other != host).map(|other| layout.rtt(host, other));
    round_trips.min().map_or(0, nanoseconds)
}

/// Of a long exchange with many wake-ups few take longer than in this share of the cases.
const ORDINARY: f64 = 0.9;

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}
