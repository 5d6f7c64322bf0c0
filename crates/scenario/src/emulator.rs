//! The emulator's own error: how much of a sample, and of what a measurement took in all, may be the planet's doing.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use claim::{Index, Journal, OwnError, Route, Service, Span, WAITS};
use recording::Sample;
use world::{HostId, Layout, Timed as TimedFault};

/// What a planet held up while something was measured, and when each measurement ran.
#[derive(Debug, Default)]
pub(crate) struct Emulator {
    journal: Index,
    hosts: HashMap<IpAddr, HostId>,
    /// The shortest round trip that a fault gave a link.
    shortened: Option<Duration>,
    ran: Ran,
}

/// By the log of a measurement: when it began and ended, on the machine's monotonic clock.
pub(crate) type Ran = HashMap<PathBuf, [Duration; 2]>;

/// Samples of one host with the times at which they were measured.
#[derive(Debug, Default)]
pub(crate) struct Timed {
    samples: Vec<(Exchange, usize)>,
    peers: Vec<Peer>,
    numbers: HashMap<Peer, usize>,
    has_unknown: bool,
}

/// With whom a sample was exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Peer {
    /// Its address; absent: anybody.
    pub address: Option<IpAddr>,
    /// What for; absent: anything.
    pub service: Option<Service>,
}

/// What a sample was, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    pub value_ms: f64,
    /// At least so many are in the value.
    pub round_trips: u32,
    /// When it was measured, since the recording's start.
    pub span_ns: [u64; 2],
    /// Times in it in which one round trip was waited for, be it sent again after a loss. One that did not happen is empty.
    pub waits_ns: [[u64; 2]; WAITS],
}

/// What is known of exchanges between a host and a peer.
struct Exchanges<'e> {
    route: Route<'e>,
    /// The shortest round trip that they can take.
    least_rtt_ns: u64,
}

impl Emulator {
    /// `faults` are those that happened while it was measured.
    pub(crate) fn new(layout: &Layout, faults: &[TimedFault], journal: Journal, ran: Ran) -> Self {
        let hosts = layout.addresses().into_iter().map(|(address, port)| (address, layout.ports[port].host));
        let shortened = faults.iter().filter_map(|fault| fault.fault.rtt).min();
        Self { journal: journal.into(), hosts: hosts.collect(), shortened, ran }
    }

    /// What is known of exchanges between a host and a peer.
    fn exchanges(&self, layout: &Layout, host: &str, peer: Peer) -> Exchanges<'_> {
        let other = peer.address.and_then(|address| self.hosts.get(&address).copied());
        let name = other.map(|other| layout.hosts[other].name.as_str());
        let least_ns = self.shortest_ways(layout, host, other).map(nanoseconds);
        let route = self.journal.route(host, name, peer.service, least_ns);
        Exchanges { route, least_rtt_ns: least_ns.iter().sum() }
    }

    /// How much of each sample may be the emulator's, in ms; `None` if it is not known when each was measured.
    pub(crate) fn errors(
        &self,
        layout: &Layout,
        host: &str,
        timed: &Timed,
        origin_ns: Option<u64>,
    ) -> Option<Vec<f64>> {
        let origin_ns = origin_ns.filter(|_| !timed.has_unknown)?;
        let at = |since_start: u64| origin_ns.saturating_add(since_start);
        let mut errors = vec![0.0; timed.samples.len()];
        let mut places = vec![Vec::new(); timed.peers.len()];
        timed.samples.iter().enumerate().for_each(|(place, sample)| places[sample.1].push(place));
        for (&peer, places) in timed.peers.iter().zip(&places) {
            let exchanges = self.exchanges(layout, host, peer);
            let span = |&place: &usize| {
                let (sample, _) = &timed.samples[place];
                let least_ms = milliseconds(exchanges.least_rtt_ns) * f64::from(sample.round_trips);
                let waits_ns = sample.waits_ns.map(|wait| wait.map(at));
                Span { value_ms: sample.value_ms, least_ms, whole_ns: sample.span_ns.map(at), waits_ns }
            };
            let spans: Vec<Span> = places.iter().map(span).collect();
            let bounds = exchanges.route.bounds_ms(&spans);
            places.iter().zip(bounds).for_each(|(&place, bound)| errors[place] = bound);
        }
        Some(errors)
    }

    /// The shortest way from a host to another, or to any other, and the shortest way back.
    fn shortest_ways(&self, layout: &Layout, host: &str, other: Option<HostId>) -> [Duration; 2] {
        let Some(host) = layout.host(host) else { return [Duration::ZERO; 2] };
        let others = match other {
            Some(other) => other..other + 1,
            None => 0..layout.hosts.len(),
        };
        let shortened = self.shortened.map(|rtt| [rtt / 2; 2]);
        let ways = others
            .filter(|&other| other != host)
            .map(|other| [layout.least_one_way(host, other), layout.least_one_way(other, host)])
            .chain(shortened);
        ways.reduce(|[a, b], [there, back]| [a.min(there), b.min(back)]).unwrap_or_default()
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
        let span = Span::whole(took_ms, [from_ns, until_ns]);
        let error_ms = self.exchanges(layout, host, peer).route.bound_ms(&span, ORDINARY);
        Some(OwnError { error_ms, took_ms })
    }
}

impl Timed {
    /// A sample of which it is not known when it was measured.
    pub(crate) fn push_unknown(&mut self) {
        self.has_unknown = true;
    }

    /// A sample that was exchanged with a peer.
    pub(crate) fn push(&mut self, sample: Exchange, peer: Peer) {
        let peers = &mut self.peers;
        let peer = *self.numbers.entry(peer).or_insert_with(|| {
            peers.push(peer);
            peers.len() - 1
        });
        self.samples.push((sample, peer));
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

/// Writes into a recording how much of each of its values may be the emulator's. `has_value` tells which samples have one.
pub(crate) fn note(
    path: &Path,
    errors_ms: &[f64],
    has_value: impl Fn(&Sample) -> bool,
) -> Result<(), recording::Error> {
    let mut errors = errors_ms.iter();
    recording::annotate(path, |sample| {
        if has_value(sample) {
            errors.next().into_iter().for_each(|&ms| sample.set_own_error(ms));
        }
    })
}

/// Of a long exchange with many wake-ups few take longer than in this share of the cases.
const ORDINARY: f64 = 0.9;

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
pub(crate) fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}
