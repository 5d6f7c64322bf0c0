//! Computes statistics of connects. Pure.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use claim::{Caveat, Doubt};
use tcp::source_port::{Strategy, Transport};

use super::{
    Fill, Forecast, Run, Sample,
    config::Plan,
    fill::{Connect, Ending, Filled, Outcome, Sharing},
    finding,
    number::as_f64,
};

#[derive(Debug, Clone, Copy)]
pub(super) struct Ports {
    pub all: usize,
    pub taken: usize,
}

impl Ports {
    fn share(self, held: usize) -> f64 {
        as_f64(self.taken + held) / as_f64(self.all)
    }

    pub(super) fn doubt(self, waiting: usize) -> Option<Doubt> {
        let [taken, all, waiting] = [self.taken, self.all, waiting].map(|ports| ports as u64);
        (taken > 0).then_some(Doubt::PortsTaken { taken, all, waiting })
    }
}

impl Plan {
    pub(super) fn summary(&self, filled: &Filled, ports: Ports, transport: Transport) -> Run {
        let connects = &filled.connects;
        let made = connects.iter().filter(|connect| connect.is_made()).count();
        let share = |held: usize| ports.share(held);
        let within = |from: f64, to: f64| -> Fill {
            // A connect counts for the share that it reaches: the first one is at 1 / ports, not at
            // 0.
            let of: Vec<_> = connects.iter().filter(|one| (from..to).contains(&share(one.held))).collect();
            Fill::of(&of, to)
        };
        let reached_share = share(made);
        let connects_per_s = (made > 0).then(|| as_f64(made) / filled.busy.as_secs_f64());
        let forecast = connects_per_s.filter(|_| transport == Transport::Tcp);
        let waited_for_cpu_share = filled.waited.map(|waited| part(waited, filled.busy));
        let doubts: Vec<Caveat> =
            invalid(filled).into_iter().chain(slowed_down(waited_for_cpu_share)).map(Caveat::from).collect();
        let bins = (0..BINS).map(|bin| within(as_f64(bin) / as_f64(BINS), as_f64(bin + 1) / as_f64(BINS)));
        let window = if let Strategy::RandomWindow { size } = self.strategy { Some(size) } else { None };
        let mut run = Run {
            strategy: self.strategy.to_string(),
            window,
            reuse_address: self.sharing == Sharing::Yes,
            valid: claim::is_valid(&doubts),
            invalid: claim::reasons(&doubts).pop(),
            doubts,
            is_partial: filled.ending == Ending::Stopped,
            finding: String::new(),
            reached_share,
            connects_per_s,
            waited_for_cpu_share,
            errors: errors(connects),
            retries: connects.iter().map(|connect| u64::from(connect.tries - 1)).sum(),
            duplicates: (transport == Transport::Udp).then(|| duplicates(connects)),
            first_half: within(0.0, 0.5),
            second_half: within(0.5, f64::INFINITY),
            last: within(reached_share - 0.05, f64::INFINITY),
            by_fill: bins.filter(|fill| fill.n > 0 || fill.errors > 0).collect(),
            forecast: forecast.map(|rate| Forecast::at(rate, ports.all)),
            samples: samples(connects, ports),
        };
        for fill in [&mut run.second_half, &mut run.last] {
            fill.used_share = reached_share;
        }
        run.finding = finding::of(&run, self.strategy);
        run
    }
}

impl Fill {
    fn of(connects: &[&Connect], used_share: f64) -> Self {
        let made: Vec<_> = connects.iter().filter(|connect| connect.is_made()).collect();
        let mut latencies: Vec<Duration> = made.iter().map(|connect| connect.latency).collect();
        latencies.sort_unstable();
        let ports: Vec<_> = made.iter().filter_map(|connect| connect.port()).collect();
        let odd = ports.iter().filter(|port| *port % 2 == 1).count();
        let n = made.len();
        let mean = |sum: f64, n: usize| (n > 0).then(|| sum / as_f64(n));
        Self {
            used_share,
            n,
            mean_us: mean(latencies.iter().copied().map(micros).sum(), n),
            p50_us: percentile(&latencies, 50),
            p99_us: percentile(&latencies, 99).filter(|_| n - rank(n, 99) >= FEW),
            odd_share: mean(as_f64(odd), ports.len()),
            mean_tries: mean(made.iter().map(|connect| f64::from(connect.tries)).sum(), n),
            errors: (connects.len() - n).try_into().unwrap_or(u64::MAX),
        }
    }
}

impl Connect {
    fn is_made(&self) -> bool {
        matches!(self.outcome, Outcome::Port(_))
    }

    fn port(&self) -> Option<u16> {
        if let Outcome::Port(port) = self.outcome { port } else { None }
    }

    fn error(&self) -> Option<String> {
        if let Outcome::Error(errno) = self.outcome { Some(format!("{errno:?}")) } else { None }
    }
}

fn invalid(filled: &Filled) -> Option<Doubt> {
    let connects = &filled.connects;
    let reset = connects.iter().filter(|connect| connect.outcome == Outcome::Port(None)).count();
    let slowest = connects.iter().map(|connect| connect.latency).max().unwrap_or_default();
    match filled.ending {
        Ending::Deaf => Some(Doubt::NotAccepted),
        Ending::NoSocket(errno) => Some(Doubt::NoSocket { why: errno.desc().to_owned() }),
        _ if slowest >= RETRANSMISSION => Some(Doubt::ConnectSentAgain { took: slowest }),
        _ if reset > 0 => Some(Doubt::ResetConnections { reset: reset as u64, all: connects.len() as u64 }),
        _ => None,
    }
}

fn slowed_down(waited_for_cpu_share: Option<f64>) -> Option<Doubt> {
    let share = waited_for_cpu_share.filter(|share| *share >= BUSY)?;
    Some(Doubt::SlowedDown { share })
}

fn errors(connects: &[Connect]) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for error in connects.iter().filter_map(Connect::error) {
        *errors.entry(error).or_default() += 1;
    }
    errors
}

fn duplicates(connects: &[Connect]) -> u64 {
    let mut seen = HashSet::new();
    let again = connects.iter().filter_map(Connect::port).filter(|port| !seen.insert(*port)).count();
    again.try_into().unwrap_or(u64::MAX)
}

/// Every n-th connect, and all failed ones.
fn samples(connects: &[Connect], ports: Ports) -> Vec<Sample> {
    let every = connects.len().div_ceil(SAMPLES).max(1);
    let mut failed = 0;
    let is_shown = |(index, connect): &(usize, &Connect)| {
        failed += usize::from(!connect.is_made());
        index % every == 0 || (!connect.is_made() && failed <= SAMPLES)
    };
    let sample = |(_, connect): (usize, &Connect)| Sample {
        used_share: ports.share(connect.held),
        latency_us: micros(connect.latency),
        odd: connect.port().map(|port| port % 2 == 1),
        error: connect.error(),
    };
    connects.iter().enumerate().filter(is_shown).map(sample).collect()
}

fn percentile(sorted: &[Duration], percentage: usize) -> Option<f64> {
    sorted.get(rank(sorted.len(), percentage).checked_sub(1)?).copied().map(micros)
}

fn rank(n: usize, percentage: usize) -> usize {
    (n * percentage).div_ceil(100)
}

fn part(of: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { (of.as_secs_f64() / whole.as_secs_f64()).min(1.0) }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

const BUSY: f64 = 0.1;

const BINS: usize = 20;

const SAMPLES: usize = 2000;

const FEW: usize = 10;

/// The SYN is retransmitted after this time (RFC 6298, section 2).
const RETRANSMISSION: Duration = Duration::from_secs(1);
