//! What to measure, and what of it this machine can do.

use std::net::{IpAddr, SocketAddr};

use tcp::{
    Error,
    source_port::{Range, Strategy, Transport},
};
use units::{Frequency, Probability};

use super::{Skipped, fill::Sharing, number::as_f64};

/// What to measure.
#[derive(Debug, Clone)]
pub struct Config {
    /// TCP connections, or UDP sockets that are connected.
    pub transport: Transport,
    /// Where to connect to. Without one, TCP connects to a listener that is started for it on loopback, or on `source`. UDP
    /// sends nothing, so that no server has to be there.
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

/// One strategy, and with which sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub strategy: Strategy,
    pub sharing: Sharing,
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

    /// The ports to take.
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

    /// How many of so many ports to use; at least one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most as many as there are"
    )]
    pub(super) fn goal(&self, ports: usize) -> usize {
        ((as_f64(ports) * self.share.get()).round() as usize).max(1)
    }
}

/// A step of 5 % of the range is one port.
const FEWEST: usize = 20;
