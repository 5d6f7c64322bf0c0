//! The emulator's own error: its bound for single samples, and for the duration of a whole
//! measurement.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use claim::{Index, Journal, OwnError, Route, Service, Span, WAITS};
use recording::Sample;
use world::{HostId, Layout, Timed as TimedFault};

#[derive(Debug, Default)]
pub(crate) struct Emulator {
    journal: Index,
    hosts: HashMap<IpAddr, HostId>,
    shortened: Option<Duration>,
    ran: Ran,
}

pub(crate) type Ran = HashMap<PathBuf, [Duration; 2]>;

#[derive(Debug, Default)]
pub(crate) struct Timed {
    samples: Vec<(Exchange, usize)>,
    peers: Vec<Peer>,
    numbers: HashMap<Peer, usize>,
    has_unknown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Peer {
    pub address: Option<IpAddr>,
    pub service: Option<Service>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    pub value_ms: f64,
    pub round_trips: u32,
    pub span_ns: [u64; 2],
    /// Waits for one round trip each, including retransmissions; empty if a wait did not occur.
    pub waits_ns: [[u64; 2]; WAITS],
}

struct Exchanges<'e> {
    route: Route<'e>,
    least_rtt_ns: u64,
}

impl Emulator {
    pub(crate) fn new(layout: &Layout, faults: &[TimedFault], journal: Journal, ran: Ran) -> Self {
        let hosts = layout.addresses().into_iter().map(|(address, port)| (address, layout.ports[port].host));
        let shortened = faults.iter().filter_map(|fault| fault.fault.rtt).min();
        Self { journal: journal.into(), hosts: hosts.collect(), shortened, ran }
    }

    fn exchanges(&self, layout: &Layout, host: &str, peer: Peer) -> Exchanges<'_> {
        let other = peer.address.and_then(|address| self.hosts.get(&address).copied());
        let name = other.map(|other| layout.hosts[other].name.as_str());
        let least_ns = self.shortest_ways(layout, host, other).map(nanoseconds);
        let route = self.journal.route(host, name, peer.service, least_ns);
        Exchanges { route, least_rtt_ns: least_ns.iter().sum() }
    }

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

    /// One-way delays there and back. `None` is any other host.
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
    pub(crate) fn push_unknown(&mut self) {
        self.has_unknown = true;
    }

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
    pub(crate) const ANY: Self = Self { address: None, service: None };

    pub(crate) fn tcp(server: SocketAddr) -> Self {
        Self { address: Some(server.ip()), service: Some(Service::tcp(server.port())) }
    }

    pub(crate) fn ping(address: IpAddr) -> Self {
        Self { address: Some(address), service: Some(Service::PING) }
    }
}

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

/// Quantile of the wake-up time for a long exchange with many wake-ups.
const ORDINARY: f64 = 0.9;

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
pub(crate) fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}
