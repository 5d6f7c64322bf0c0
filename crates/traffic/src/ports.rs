//! What a source port costs: connects towards one destination, timed while a share of the ports gets used.
//!
//! [`measure`] does it for each strategy of [`tcp::source_port`], one after the other, with all ports free in between. A
//! connect is timed from a socket that is there to a connection: options, `bind()`, `connect()`, and all of them again where
//! a port did not do: a strategy is charged for each of its tries.
//!
//! Inside: `fill` takes ports and times it, towards a `target`; `acceptor` is the default one. `table`
//! gives a thread descriptors of its own, `occupied` sees whether ports are free again. The others are pure: `config` says
//! what to do, `summary` makes numbers of what was done, `finding` a sentence, `forecast` when the ports run out.

mod acceptor;
mod config;
mod fill;
mod finding;
mod forecast;
mod number;
mod occupied;
mod summary;
mod table;
mod target;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    ops::ControlFlow,
};

use claim::Caveat;
use schemars::JsonSchema;
use serde::Serialize;
use tcp::{
    Error,
    kernel::Version,
    source_port::{Chooser, Strategy, Transport},
};
use units::show;

pub use self::{config::Config, forecast::Forecast};
use self::{
    fill::{Ending, fill},
    summary::Ports,
    target::Target,
};

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
    #[schemars(with = "String")]
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
    /// How many of them were taken towards the destination before it began. They count as used in every share.
    pub taken_before: usize,
    /// How many of those were left by connections that have ended (`TIME_WAIT`).
    pub waiting_before: usize,
    /// The share of them that was to be used.
    pub share: f64,
    /// When the ports run out at the rate that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// The result of each strategy.
    pub strategies: Vec<Run>,
    /// What weakens all of its numbers, with a word for each kind. Absent if there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
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
    /// Why not, and what weakens them, with a word for each kind. Absent if there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// Whether it ended before the share was reached, because somebody wanted it to.
    pub is_partial: bool,
    /// What the numbers show.
    pub finding: String,
    /// The share of the ports that was used in the end.
    pub reached_share: f64,
    /// Connections made in one second by a thread that does nothing else. Absent: none was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connects_per_s: Option<f64>,
    /// The share of the time in which the measuring thread waited for a processor, because other programs had them all.
    /// Absent: the kernel does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_for_cpu_share: Option<f64>,
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
    let before = occupied::count(config.transport, target.destination)?;
    let taken = occupied::taken(config.transport, target.destination, &range)?;
    let goal = config.goal(range.len()).saturating_sub(taken.all);
    if goal == 0 {
        return Err(Error::Input {
            what: format!(
                "{} of the {} ports towards {} are taken already, and --share is to use {} of them",
                taken.all,
                range.len(),
                target.destination,
                show::share(config.share.get())
            ),
            remedy: "wait until they are free (TIME_WAIT keeps a port for 60 s), or name another --range or a larger \
                     --share"
                .to_owned(),
        });
    }
    let ports = Ports { all: range.len(), taken: taken.all };
    let mut strategies = Vec::new();
    let mut plans = plans.into_iter();
    for plan in plans.by_ref() {
        let chooser = Chooser::within(plan.strategy, range.clone());
        let task = target.task(config, plan.sharing, goal);
        let filled = fill(&task, chooser, |used| watch(Progress { strategy: plan.strategy, used, goal }));
        strategies.push(plan.summary(&filled, ports, config.transport));
        if filled.ending == Ending::Stopped {
            break;
        } else if !target.is_free_again(config.transport, before)? {
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
        taken_before: taken.all,
        waiting_before: taken.waiting,
        share: config.share.get(),
        forecast: config.rate.map(|rate| Forecast::at(rate.per_second(), range.len())),
        strategies,
        doubts: ports.doubt(taken.waiting).into_iter().map(Caveat::from).collect(),
        skipped,
    })
}
