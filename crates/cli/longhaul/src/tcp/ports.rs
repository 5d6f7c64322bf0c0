//! `longhaul tcp ports`: measures the cost of a source port by strategy and by the number of ports
//! in use.

mod figures;
mod render;

use std::{
    io::{self, IsTerminal},
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    ops::ControlFlow,
    process::ExitCode,
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use tcp::source_port::{Range, Strategy, Transport};
use trafficgen::ports::{Config, Progress, measure};
use units::{Frequency, Probability};

use super::charts::Charts;
use crate::{interrupt::Interrupt, output};

/// Measure the cost of a source port by strategy and by the number of ports in use
///
/// Connects to one destination until 95 % of the source ports are used, separately for each strategy, and
/// measures the latency of connect(). Without a destination it connects to its own listener. It changes no
/// setting and frees all ports at the end. Ctrl-C ends it with the results until then. Exit code 1 if a
/// result is not trustworthy. See docs/tcp-ports.md.
///
/// Examples: longhaul tcp ports, longhaul tcp ports 192.0.2.1:443 --share 20% --strategy full-range --rate
/// 500/s
#[derive(Debug, Args)]
pub(crate) struct Ports {
    /// The destination [default: a listener of this command]
    #[arg(value_name = "HOST:PORT")]
    destination: Option<String>,
    /// Connect UDP sockets, which sends nothing
    #[arg(long)]
    udp: bool,
    /// How to select a port; can be given several times [default: all ways]
    #[arg(long, value_name = "STRATEGY", value_delimiter = ',')]
    strategy: Vec<Name>,
    /// Ports in a random window
    #[arg(long, value_name = "PORTS", default_value_t = Strategy::DEFAULT_WINDOW)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    window: u16,
    /// The share of the ports to use
    #[arg(long, default_value_t = Config::default().share)]
    share: Probability,
    /// Ports to take, inside net.ipv4.ip_local_port_range [default: all of that]
    #[arg(long, value_name = "LOW-HIGH")]
    range: Option<Range>,
    /// The address to connect from
    #[arg(long, value_name = "ADDRESS")]
    source: Option<IpAddr>,
    /// Estimate when ports run out at this rate of connections, such as 500/s
    #[arg(long)]
    rate: Option<Frequency>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// With --json: also print single connects, at most a few thousand per strategy
    #[arg(long, requires = "json")]
    samples: bool,
    #[command(flatten)]
    charts: Charts,
}

/// A way to select a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// The kernel chooses
    KernelDefault,
    /// bind() to a random port, and to another if it is in use
    RandomBind,
    /// The kernel chooses in a random window of the range (Linux 6.3)
    RandomWindow,
    /// The kernel chooses in the whole range, both even and odd ports (Linux 6.8)
    FullRange,
}

impl Ports {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let is_interrupted = Interrupt::listen()?.poll()?;
        let bar = progress_bar()?;
        let measurement = measure(&self.config()?, |Progress { strategy, used, goal }| {
            bar.set_message(format!("{strategy}: {used} of {goal} ports"));
            bar.tick();
            if is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        bar.finish_and_clear();
        let mut measurement = measurement?;
        self.charts.write(|| figures::figures(&measurement))?;
        if self.json {
            if !self.samples {
                measurement.strategies.iter_mut().for_each(|run| run.samples.clear());
            }
            output::print_json(&measurement)?;
        } else {
            output::print(&render::measurement(&measurement))?;
        }
        let is_valid = measurement.strategies.iter().all(|run| run.valid);
        Ok(if is_valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn config(&self) -> anyhow::Result<Config> {
        let destination = self.destination.as_deref().map(|name| look_up(name, self.source)).transpose()?;
        let window = self.window;
        let strategy = |name| match name {
            Name::KernelDefault => Strategy::KernelDefault,
            Name::RandomBind => Strategy::RandomBind,
            Name::RandomWindow => Strategy::RandomWindow { size: window },
            Name::FullRange => Strategy::FullRange,
        };
        Ok(Config {
            transport: if self.udp { Transport::Udp } else { Transport::Tcp },
            destination,
            source: self.source,
            range: self.range.clone(),
            share: self.share,
            strategies: self.strategy.iter().copied().map(strategy).collect(),
            window,
            rate: self.rate,
        })
    }
}

fn look_up(name: &str, source: Option<IpAddr>) -> anyhow::Result<SocketAddr> {
    let context = || format!("cannot find {name}, which should be a host and a port such as 192.0.2.1:443");
    let all: Vec<_> = name.to_socket_addrs().with_context(context)?.collect();
    let suits = |address: &&SocketAddr| source.is_none_or(|source| source.is_ipv4() == address.is_ipv4());
    all.iter().find(suits).or_else(|| all.first()).copied().with_context(context)
}

fn progress_bar() -> anyhow::Result<ProgressBar> {
    if !io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let style = ProgressStyle::with_template("{spinner} {msg}").context("the line of progress")?;
    Ok(ProgressBar::new_spinner().with_style(style))
}
