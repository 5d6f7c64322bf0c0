//! The emulator's own error: how much of a sample, and of what a measurement took in all, may be the planet's doing.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use claim::{Index, Journal, OwnError, Route, Service, Span};
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
    /// Lengths of it in which one round trip was waited for, be it sent again after a loss.
    pub waits_ns: [u64; WAITS],
}

/// Handshakes of TCP, TLS and QUIC, and the wait for an answer.
pub(crate) const WAITS: usize = 4;

impl Exchange {
    /// How many round trips can have followed each other in it. A packet that is lost is sent again after a round trip at the
    /// soonest, and then each time after twice as long as before.
    fn most_turns(&self, rtt_ns: u64) -> u64 {
        let [from, until] = self.span_ns;
        let waited: u64 = self.waits_ns.iter().sum();
        let rest = until.saturating_sub(from).saturating_sub(waited);
        let rtt_ns = rtt_ns.max(1);
        let tries = |wait: u64| 1 + u64::from((wait / rtt_ns + 1).ilog2());
        let waits: u64 = self.waits_ns.iter().filter(|&&wait| wait > 0).map(|&wait| tries(wait)).sum();
        waits + rest.div_ceil(rtt_ns) + 1
    }
}

/// What is known of exchanges between a host and a peer.
struct Exchanges<'e> {
    route: Route<'e>,
    /// The shortest round trip that they can take.
    rtt_ns: u64,
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
        let rtt_ns = self.shortest_rtt(layout, host, other);
        Exchanges { route: self.journal.route(host, name, peer.service, rtt_ns), rtt_ns }
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
                let [from_ns, until_ns] = sample.span_ns.map(at);
                let least_ms = milliseconds(exchanges.rtt_ns) * f64::from(sample.round_trips);
                let most_turns = sample.most_turns(exchanges.rtt_ns);
                Span { value_ms: sample.value_ms, least_ms, most_turns, from_ns, until_ns }
            };
            let spans: Vec<Span> = places.iter().map(span).collect();
            let bounds = exchanges.route.bounds_ms(&spans);
            places.iter().zip(bounds).for_each(|(&place, bound)| errors[place] = bound);
        }
        Some(errors)
    }

    /// The shortest round trip from a host to another, or to any other.
    fn shortest_rtt(&self, layout: &Layout, host: &str, other: Option<HostId>) -> u64 {
        let Some(host) = layout.host(host) else { return 0 };
        let others = match other {
            Some(other) => other..other + 1,
            None => 0..layout.hosts.len(),
        };
        let round_trips = others.filter(|&other| other != host).map(|other| layout.least_rtt(host, other));
        round_trips.chain(self.shortened).min().map_or(0, nanoseconds)
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
        let error_ms = milliseconds(self.exchanges(layout, host, peer).route.bound_ns(
            from_ns,
            until_ns,
            u64::MAX,
            ORDINARY,
        ));
        Some(OwnError { error_ms: error_ms.min(took_ms), took_ms })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_takes_its_time_is_not_round_trips() {
        let ms = |ms: u64| ms * 1_000_000;
        let exchange = |until: u64, waits: [u64; WAITS]| Exchange {
            value_ms: 0.0,
            round_trips: 2,
            span_ns: [ms(100), ms(100 + until)],
            waits_ns: waits.map(ms),
        };
        // A connection in a round trip, an answer after 63, and a byte or two afterwards: two tries of the first, seven of the
        // second, where packets might have been lost, and one for the end.
        assert_eq!(exchange(640, [10, 0, 0, 630]).most_turns(ms(10)), 2 + 7 + 1);
        // Nothing is known of what happened: as many as have room.
        assert_eq!(exchange(640, [0; WAITS]).most_turns(ms(10)), 65);
        assert_eq!(exchange(0, [0; WAITS]).most_turns(0), 1);
    }
}
