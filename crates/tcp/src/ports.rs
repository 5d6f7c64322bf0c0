//! What a source port costs: connects towards one destination, timed while a share of the ports gets used.
//!
//! [`measure`] does it for each strategy of [`crate::source_port`], one after the other, with all ports free in between. A
//! connect is timed from a socket that is there to a connection: options, `bind()`, `connect()`, and all of them again where
//! a port did not do. So a strategy pays for what it tries.
//!
//! Inside: `fill` takes ports and times it, `acceptor` is what it connects to where nobody names a destination, `table`
//! gives a thread descriptors of its own, `occupied` sees whether ports are free again. The others are pure: `summary` makes
//! numbers of it, `finding` a sentence, `forecast` says when the ports run out.

mod acceptor;
mod fill;
mod finding;
mod forecast;
mod occupied;
mod summary;
mod table;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    ops::ControlFlow,
    sync::Arc,
    time::Duration,
};

use schemars::JsonSchema;
use serde::Serialize;
use units::{Frequency, Probability};

pub use self::forecast::Forecast;
use self::{
    acceptor::Acceptor,
    fill::{Ending, Sharing, Task, fill},
};
use crate::{
    clock::Clock,
    error::Error,
    kernel::Version,
    source_port::{Chooser, Range, Strategy, Transport},
};

/// What to measure.
#[derive(Debug, Clone)]
pub struct Config {
    /// TCP connections, or UDP sockets that are connected.
    pub transport: Transport,
    /// Where to connect to. Without one, TCP connects to a listener that is started for it on loopback, or on `source`. UDP
    /// sends nothing, so nobody has to be there.
    pub destination: Option<SocketAddr>,
    /// Where to connect from; none: the kernel chooses.
    pub source: Option<IpAddr>,
    /// Which ports to take, all of them in the range of the network namespace; none: that range.
    pub range: Option<Range>,
    /// The share of the ports to use.
    pub share: Probability,
    /// How to get a port; empty: all ways that there are for the transport.
    pub strategies: Vec<Strategy>,
    /// The window of [`Strategy::RandomWindow`] where `strategies` is empty.
    pub window: u16,
    /// For the forecast: how many connections a second there will be.
    pub rate: Option<Frequency>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            transport: Transport::Tcp,
            destination: None,
            source: None,
            range: None,
            share: Probability::new(0.95).expect("a share"),
            strategies: Vec::new(),
            window: Strategy::DEFAULT_WINDOW,
            rate: None,
        }
    }
}

/// How far a measurement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The strategy at work.
    pub strategy: Strategy,
    /// Ports that it uses now.
    pub used: usize,
    /// Ports that it is to use.
    pub goal: usize,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Measurement {
    /// The schema of this object.
    pub schema: &'static str,
    /// The version of the kernel.
    pub kernel: Version,
    /// `tcp` or `udp`.
    pub transport: Transport,
    /// Where the connections went.
    pub destination: SocketAddr,
    /// Whether a listener of our own was there, which closes each connection at once: its FIN is part of the load.
    pub is_own_listener: bool,
    /// Where they came from, if that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// The first port that could be taken.
    pub port_low: u16,
    /// The last port that could be taken.
    pub port_high: u16,
    /// How many ports could be taken: all of them but reserved ones.
    pub ports: usize,
    /// The share of them that was to be used.
    pub share: f64,
    /// When the ports run out at the rate that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// The result of each strategy.
    pub strategies: Vec<Run>,
    /// Strategies that could not be measured, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// The result of a strategy.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Run {
    /// `kernel-default`, `random-bind`, `random-window` or `full-range`.
    pub strategy: String,
    /// How many ports a window has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u16>,
    /// Whether the sockets had `SO_REUSEADDR`, with which UDP may get a port twice.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reuse_address: bool,
    /// Whether the numbers can be believed.
    pub valid: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// Whether it ended before the share was reached, because somebody wanted it to.
    pub is_partial: bool,
    /// What the numbers show.
    pub finding: String,
    /// The share of the ports that was used in the end.
    pub reached_share: f64,
    /// Connections made in one second by a thread that does nothing else. Absent: none was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connects_per_s: Option<f64>,
    /// Connects that failed for good, by the system's name of the error.
    pub errors: BTreeMap<String, u64>,
    /// Ports, or windows, that were tried in vain and followed by another try.
    pub retries: u64,
    /// UDP: sockets that have the port of an earlier one too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// While up to half of the ports were used.
    pub first_half: Fill,
    /// While more were used.
    pub second_half: Fill,
    /// During the last 5 % of the ports that were used.
    pub last: Fill,
    /// In steps of 5 % of the ports; those without a connect are absent.
    pub by_fill: Vec<Fill>,
    /// When the ports run out if it goes on like this; only for TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Single connects, evenly chosen, and failed ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
}

/// The connects during which the used share of the ports was in an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Fill {
    /// The end of the interval, a share of the ports.
    pub used_share: f64,
    /// Connections made.
    pub n: usize,
    /// Mean latency, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// Median latency, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    /// 99th percentile of latency, us. Absent where fewer than 10 connections lie beyond it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// The share of odd ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd_share: Option<f64>,
    /// Ports or windows that a connection took on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_tries: Option<f64>,
    /// Connects that failed.
    pub errors: u64,
}

/// One connect.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sample {
    /// The share of the ports that was used before it.
    pub used_share: f64,
    /// How long it took, us.
    pub latency_us: f64,
    /// Whether its port is odd. Absent: it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd: Option<bool>,
    /// Why it failed, by the system's name of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A strategy that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// Its name.
    pub strategy: String,
    /// Why not.
    pub why: String,
}

/// Measures. `watch` is told several times a second how far it is; when it breaks, what was measured until then is the
/// result. No setting is changed. It takes threads that copy the calling thread's descriptors, so it is not for programs that
/// hold many.
///
/// Fails where the destination cannot be reached, the source is not an address of this host, or no strategy is there.
pub fn measure(
    config: &Config,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Measurement, Error> {
    let range = config.ports()?;
    let (plans, mut skipped) = config.possible_plans()?;
    let target = Target::open(config)?;
    let goal = config.goal(range.len());
    let before = occupied::count(config.transport, target.destination)?;
    let mut strategies = Vec::new();
    let mut plans = plans.into_iter();
    for plan in plans.by_ref() {
        let chooser = Chooser::within(plan.strategy, range.clone());
        let task = target.task(config, plan.sharing, goal);
        let filled = fill(&task, chooser, |used| watch(Progress { strategy: plan.strategy, used, goal }));
        strategies.push(plan.summary(&filled, range.len(), config.transport));
        if filled.ending == Ending::Stopped {
            break;
        } else if !is_free_again(config.transport, target.destination, before)? {
            let why = "the ports of the one before it did not become free again".to_owned();
            skipped
                .extend(plans.map(|plan| Skipped { strategy: plan.strategy.to_string(), why: why.clone() }));
            break;
        }
    }
    Ok(Measurement {
        schema: "longhaul.tcp.ports/1",
        kernel: Version::running()?,
        transport: config.transport,
        destination: target.destination,
        is_own_listener: target.acceptor.is_some(),
        source: config.source,
        port_low: range.low(),
        port_high: range.high(),
        ports: range.len(),
        share: config.share.get(),
        forecast: config.rate.map(|rate| Forecast::at(rate.per_second(), range.len())),
        strategies,
        skipped,
    })
}

/// One strategy, and with which sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    strategy: Strategy,
    sharing: Sharing,
}

impl Config {
    /// What is asked for: the strategies, or all that make sense for the transport.
    fn plans(&self) -> Vec<Plan> {
        let plan = |sharing| move |strategy| Plan { strategy, sharing };
        if !self.strategies.is_empty() {
            return self.strategies.iter().copied().map(plan(Sharing::No)).collect();
        }
        let window = Strategy::RandomWindow { size: self.window };
        let alone = [Strategy::KernelDefault, Strategy::RandomBind, window].map(plan(Sharing::No));
        // What the full range cures does not exist in UDP.
        let last = match self.transport {
            Transport::Tcp => plan(Sharing::No)(Strategy::FullRange),
            Transport::Udp => plan(Sharing::Yes)(Strategy::KernelDefault),
        };
        [alone.as_slice(), &[last]].concat()
    }

    /// Those of the plans that this kernel can do, and why not the others. Fails if it can do none.
    fn possible_plans(&self) -> Result<(Vec<Plan>, Vec<Skipped>), Error> {
        let (mut possible, mut skipped, mut first_error) = (Vec::new(), Vec::new(), None);
        for plan in self.plans() {
            match self.check(plan.strategy) {
                Ok(()) => possible.push(plan),
                Err(error) => {
                    skipped.push(Skipped { strategy: plan.strategy.to_string(), why: error.to_string() });
                    first_error.get_or_insert(error);
                }
            }
        }
        first_error.filter(|_| possible.is_empty()).map_or(Ok((possible, skipped)), Err)
    }

    fn check(&self, strategy: Strategy) -> Result<(), Error> {
        if strategy == Strategy::KernelDefault && self.range.is_some() {
            return Err(Error::Input {
                what: "the kernel's default takes the range of the network namespace, no other".to_owned(),
                remedy: "leave the range out, or the strategy".to_owned(),
            });
        }
        strategy.check()
    }

    /// The ports to take.
    fn ports(&self) -> Result<Range, Error> {
        let all = Range::of_namespace()?;
        let range = self.range.as_ref().map_or(Ok(all.clone()), |range| all.narrowed(range))?;
        if range.len() < FEWEST {
            return Err(Error::Input {
                what: format!("the range {range} has {} ports; that is too few to see anything", range.len()),
                remedy: format!("take at least {FEWEST} ports that are not reserved"),
            });
        }
        Ok(range)
    }

    /// How many of so many ports to use; at least one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most as many as there are"
    )]
    fn goal(&self, ports: usize) -> usize {
        ((summary::as_f64(ports) * self.share.get()).round() as usize).max(1)
    }
}

/// Where the connections go.
#[derive(Debug)]
struct Target {
    destination: SocketAddr,
    acceptor: Option<Acceptor>,
}

impl Target {
    /// Makes sure that somebody is there.
    fn open(config: &Config) -> Result<Self, Error> {
        let here = config.source.unwrap_or(Ipv4Addr::LOCALHOST.into());
        let target = match (config.transport, config.destination) {
            (Transport::Tcp, None) => {
                let acceptor = Acceptor::start(here)?;
                return Ok(Self { destination: acceptor.address(), acceptor: Some(acceptor) });
            }
            (Transport::Udp, None) => Self { destination: SocketAddr::new(here, DISCARD), acceptor: None },
            (_, Some(destination)) => Self { destination, acceptor: None },
        };
        target.try_once(config)?;
        Ok(target)
    }

    fn task(&self, config: &Config, sharing: Sharing, goal: usize) -> Task {
        Task {
            transport: config.transport,
            sharing,
            destination: self.destination,
            source: config.source,
            goal,
            accepted: self.acceptor.as_ref().map(|acceptor| Arc::clone(acceptor.accepted())),
        }
    }

    /// One connection, so that a mistake is told before anything is measured.
    fn try_once(&self, config: &Config) -> Result<(), Error> {
        let Self { destination, .. } = *self;
        let source = config.source;
        if let Some(source) = source.filter(|source| source.is_ipv4() != destination.is_ipv4()) {
            return Err(Error::Input {
                what: format!("there is no way from {source} to {destination}: one is IPv4, the other IPv6"),
                remedy: "name a source of the destination's kind".to_owned(),
            });
        }
        if let Some(source) = source {
            let refused =
                |error| Error::Address { operation: "bind to", address: source.to_string(), source: error };
            UdpSocket::bind((source, 0)).map_err(refused)?;
        }
        fill::try_once(config.transport, destination, source).map_err(|errno| Error::Address {
            operation: "connect to",
            address: destination.to_string(),
            source: errno.into(),
        })
    }
}

/// Waits until no more sockets have a port towards the destination than `before`; whether that came about.
fn is_free_again(transport: Transport, destination: SocketAddr, before: usize) -> Result<bool, Error> {
    let clock = Clock::start();
    while occupied::count(transport, destination)? > before {
        let now = clock.now();
        if now > PATIENCE {
            return Ok(false);
        }
        clock.wait_until(now + BREATH);
    }
    Ok(true)
}

/// A step of 5 % of the range is one port.
const FEWEST: usize = 20;

/// RFC 863. Nothing is sent there.
const DISCARD: u16 = 9;

/// Sockets are closed with a reset, which takes effect at once. So long we wait for that all the same.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks.
const BREATH: Duration = Duration::from_millis(10);
