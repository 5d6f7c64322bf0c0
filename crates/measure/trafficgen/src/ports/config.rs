//! The configuration of a measurement, and which strategies this machine supports.

use std::net::{IpAddr, SocketAddr};

use tcp::{
    Error,
    source_port::{Range, Strategy, Transport},
};
use units::{Frequency, Probability};

use super::{Skipped, fill::Sharing, number::as_f64};

/// Configuration of a measurement.
#[derive(Debug, Clone)]
pub struct Config {
    /// TCP connections, or connected UDP sockets.
    pub transport: Transport,
    /// The destination. `None`: TCP connects to a listener started on loopback, or on `source`. UDP
    /// sends nothing and needs no server.
    pub destination: Option<SocketAddr>,
    /// The source address; `None`: chosen by the kernel.
    pub source: Option<IpAddr>,
    /// The ports to use, within the range of the network namespace; `None`: that range.
    pub range: Option<Range>,
    /// The share of the ports to use.
    pub share: Probability,
    /// The strategies; empty: all strategies of the transport.
    pub strategies: Vec<Strategy>,
    /// The window size of [`Strategy::RandomWindow`] if `strategies` is empty.
    pub window: u16,
    /// For the forecast: connections per second.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub strategy: Strategy,
    pub sharing: Sharing,
}

impl Config {
    fn plans(&self) -> Vec<Plan> {
        let plan = |sharing| move |strategy| Plan { strategy, sharing };
        if !self.strategies.is_empty() {
            return self.strategies.iter().copied().map(plan(Sharing::No)).collect();
        }
        let window = Strategy::RandomWindow { size: self.window };
        let alone = [Strategy::KernelDefault, Strategy::RandomBind, window].map(plan(Sharing::No));
        // UDP does not have the problem that the full range solves.
        let last = match self.transport {
            Transport::Tcp => plan(Sharing::No)(Strategy::FullRange),
            Transport::Udp => plan(Sharing::Yes)(Strategy::KernelDefault),
        };
        [alone.as_slice(), &[last]].concat()
    }

    pub(super) fn possible_plans(&self) -> Result<(Vec<Plan>, Vec<Skipped>), Error> {
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

    pub(super) fn ports(&self) -> Result<Range, Error> {
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

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most as many as there are"
    )]
    pub(super) fn goal(&self, ports: usize) -> usize {
        ((as_f64(ports) * self.share.get()).round() as usize).max(1)
    }
}

const FEWEST: usize = 20;
