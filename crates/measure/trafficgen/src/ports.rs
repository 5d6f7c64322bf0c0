//! Measures the latency of connect() to one destination while an increasing share of the source
//! ports is in use.
//!
//! The latency covers the socket options, `bind()`, `connect()` and all retries.

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

/// Progress of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The current strategy.
    pub strategy: Strategy,
    /// Ports in use by it.
    pub used: usize,
    /// Ports to use.
    pub goal: usize,
}

/// The result of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Measurement {
    /// The schema of this object.
    pub schema: &'static str,
    /// The kernel version.
    #[schemars(with = "String")]
    pub kernel: Version,
    /// `tcp` or `udp`.
    pub transport: Transport,
    /// The destination address.
    pub destination: SocketAddr,
    /// Whether the destination was a listener of this process. It closes each connection immediately, so
    /// its FINs are part of the load.
    pub is_own_listener: bool,
    /// The source address, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// The first port of the range.
    pub port_low: u16,
    /// The last port of the range.
    pub port_high: u16,
    /// Number of usable ports in the range, without reserved ports.
    pub ports: usize,
    /// Number of these ports that were in use towards the destination before the measurement. They count as
    /// used.
    pub taken_before: usize,
    /// Number of those ports in `TIME_WAIT`.
    pub waiting_before: usize,
    /// The share of the ports to use.
    pub share: f64,
    /// Forecast of port exhaustion at the given rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// The result of each strategy.
    pub strategies: Vec<Run>,
    /// Doubts that concern all results, with a reason identifier for each. Absent if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// Strategies that could not be measured, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// The result of a strategy.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Run {
    /// `kernel-default`, `random-bind`, `random-window` or `full-range`.
    pub strategy: String,
    /// Number of ports in a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u16>,
    /// Whether the sockets used `SO_REUSEADDR`. It permits UDP to assign a port twice.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reuse_address: bool,
    /// Whether the result is valid.
    pub valid: bool,
    /// The reason why the result is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// Reasons and warnings, with a reason identifier for each. Absent if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// Whether the caller stopped the run before the share was reached.
    pub is_partial: bool,
    /// A one-sentence summary.
    pub finding: String,
    /// The share of the ports in use at the end.
    pub reached_share: f64,
    /// Connections per second of one thread that does nothing else. Absent without connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connects_per_s: Option<f64>,
    /// The share of the time in which the measuring thread waited for a CPU. Absent if the kernel does not
    /// report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_for_cpu_share: Option<f64>,
    /// Connects that failed finally, by errno name.
    pub errors: BTreeMap<String, u64>,
    /// Ports, or windows, that were unusable and caused a retry.
    pub retries: u64,
    /// UDP: sockets whose port another socket already had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// While at most half of the ports were in use.
    pub first_half: Fill,
    /// While more than half of the ports were in use.
    pub second_half: Fill,
    /// During the last 5 % of the ports used.
    pub last: Fill,
    /// In steps of 5 % of the ports. Steps without a connect are absent.
    pub by_fill: Vec<Fill>,
    /// Forecast of port exhaustion at the measured rate; only for TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Some connects, evenly selected, and all failed ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
}

/// Statistics of the connects while the used share of the ports was in an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Fill {
    /// The end of the interval, as a share of the ports.
    pub used_share: f64,
    /// Number of connections.
    pub n: usize,
    /// Mean latency, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// Median latency, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    /// 99th percentile of the latency, us. Absent if fewer than 10 connections exceed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// The share of odd ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd_share: Option<f64>,
    /// Mean number of ports or windows tried per connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_tries: Option<f64>,
    /// Connects that failed.
    pub errors: u64,
}

/// One connect.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sample {
    /// The share of the ports in use before it.
    pub used_share: f64,
    /// Latency, us.
    pub latency_us: f64,
    /// Whether its port is odd. Absent without a port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd: Option<bool>,
    /// The errno name if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A strategy that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// The strategy.
    pub strategy: String,
    /// The reason.
    pub why: String,
}

/// If `watch` breaks, the result contains the measurements so far. The threads copy the caller's
/// descriptor table.
///
/// # Errors
/// If the destination is unreachable, the source is not an address of this host, or no strategy is
/// available.
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
