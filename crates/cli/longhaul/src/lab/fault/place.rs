//! Converts command lines to the `[[fault]]` tables of a world file.

use clap::{Args, ValueEnum};
use units::{Bitrate, Probability, duration};
use world::file::{Down, DownKind, Fault, Transient};

use super::{super::names::Names, When};

/// Take a city down: it forwards no packets, and its hosts announce no prefix
///
/// Example: longhaul lab fault city frankfurt down --for 1min
#[derive(Debug, Args)]
pub(super) struct City {
    /// The city
    city: String,
    /// The fault; a city can only be down
    #[arg(default_value = "down", hide_possible_values = true)]
    how: How,
    #[command(flatten)]
    pub when: When,
}

impl City {
    pub(super) fn fault(&self, names: Names<'_>) -> anyhow::Result<Fault> {
        Ok(Fault { city: Some(names.city(&self.city)?), down: Some(self.how.into()), ..Fault::default() })
    }
}

/// Kill or freeze a host's programs, or disturb its access lines
///
/// Examples:
///   longhaul lab fault host origin killed
///   longhaul lab fault host phone --access lte --down carrier --for 20s
///   longhaul lab fault host visitor --loss 2% --rate 1Mbit
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Host {
    /// The host
    host: String,
    /// One of its access lines instead of all
    #[arg(long, value_name = "LINE")]
    access: Option<String>,
    #[command(flatten)]
    line: Line,
    #[command(flatten)]
    pub when: When,
}

impl Host {
    pub(super) fn fault(&self, names: Names<'_>) -> anyhow::Result<Fault> {
        let access = self.access.as_deref().map(|line| names.access(&self.host, line)).transpose()?;
        Ok(Fault { host: Some(names.host(&self.host)?), access, ..self.line.fault() })
    }
}

/// Partition groups of cities from each other
///
/// The remaining cities form another group.
///
/// Example: longhaul lab fault partition london,paris newyork,tokyo --for 30s
#[derive(Debug, Args)]
pub(super) struct Partition {
    /// Groups of cities, with commas inside a group
    #[arg(required = true, value_name = "CITY,CITY")]
    groups: Vec<String>,
    #[command(flatten)]
    pub when: When,
}

impl Partition {
    pub(super) fn fault(&self, names: Names<'_>) -> anyhow::Result<Fault> {
        let group = |text: &String| text.split(',').map(|name| names.city(name.trim())).collect();
        Ok(Fault {
            partition: Some(self.groups.iter().map(group).collect::<Result<_, _>>()?),
            ..Fault::default()
        })
    }
}

/// Withdraw the announcement of an anycast prefix
///
/// Example: longhaul lab fault withdraw cdn --host pop-fra --transient blackhole
#[derive(Debug, Args)]
pub(super) struct Withdraw {
    /// The prefix or its name
    prefix: String,
    /// The host, if several announce it
    #[arg(long)]
    host: Option<String>,
    /// Fate of packets from cities that have not learned of the withdrawal yet; without it: as in the world
    #[arg(long, value_name = "WHAT")]
    transient: Option<Meanwhile>,
    #[command(flatten)]
    pub when: When,
}

impl Withdraw {
    pub(super) fn fault(&self, names: Names<'_>) -> anyhow::Result<Fault> {
        Ok(Fault {
            withdraw: Some(names.prefix(&self.prefix)?),
            host: self.host.as_deref().map(|host| names.host(host)).transpose()?,
            transient: self.transient.map(Into::into),
            ..Fault::default()
        })
    }
}

// No doc comment: it would replace the command's description.
#[derive(Debug, Args)]
pub(super) struct Line {
    /// The fault
    how: Option<How>,
    /// The same as a flag
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        default_missing_value = "down",
        conflicts_with = "how",
        hide_possible_values = true
    )]
    down: Option<How>,
    /// Probability that a packet is lost, in each direction
    #[arg(long, value_name = "SHARE")]
    loss: Option<Probability>,
    /// Round-trip time without queues
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    rtt: Option<std::time::Duration>,
    /// Line rate
    #[arg(long)]
    rate: Option<Bitrate>,
}

impl Line {
    pub(super) fn is_given(&self) -> bool {
        self.how.is_some()
            || self.down.is_some()
            || self.loss.is_some()
            || self.rtt.is_some()
            || self.rate.is_some()
    }

    pub(super) fn fault(&self) -> Fault {
        Fault {
            down: self.how.or(self.down).map(Into::into),
            loss: self.loss,
            rtt: self.rtt,
            rate: self.rate,
            ..Fault::default()
        }
    }
}

/// The command line form of [`Down`].
#[derive(Debug, Clone, Copy, ValueEnum)]
enum How {
    /// The default: packets vanish; a host's programs are killed
    Down,
    /// Packets vanish
    Silent,
    /// A router replies that the destination is unreachable
    Unreachable,
    /// A host's device loses its carrier, which its kernel detects
    Carrier,
    /// A host's programs are killed
    Killed,
    /// A host's programs are stopped, and continue afterwards
    Frozen,
}

impl From<How> for Down {
    fn from(how: How) -> Self {
        Self::Kind(match how {
            How::Down => return Self::Plain(true),
            How::Silent => DownKind::Silent,
            How::Unreachable => DownKind::Unreachable,
            How::Carrier => DownKind::Carrier,
            How::Killed => DownKind::Killed,
            How::Frozen => DownKind::Frozen,
        })
    }
}

/// The command line form of [`Transient`].
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Meanwhile {
    /// They reach the old site, which still replies
    OldSite,
    /// They vanish
    Blackhole,
    /// Routers forward them in a loop until their TTL expires
    Loop,
}

impl From<Meanwhile> for Transient {
    fn from(meanwhile: Meanwhile) -> Self {
        match meanwhile {
            Meanwhile::OldSite => Self::OldSite,
            Meanwhile::Blackhole => Self::Blackhole,
            Meanwhile::Loop => Self::Loop,
        }
    }
}

#[cfg(test)]
mod tests;
