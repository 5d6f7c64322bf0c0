//! Resolved faults with their effects.

use std::{collections::BTreeSet, fmt, time::Duration};

use config_file::suggestion;

use super::{AnycastId, CityId, HostId, Layout, PortId};
use crate::{
    Change, LinkDown,
    file::{Down, DownKind, Fault, Transient},
};

/// A fault with its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// Start time, relative to the start of the planet or of the measurement.
    pub at: Duration,
    /// Duration; `None`: until it is lifted.
    pub lasts: Option<Duration>,
    /// The fault as written.
    pub fault: Fault,
    /// The effect.
    pub effect: Effect,
}

/// The effect of a fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Changes the link between two cities, in both directions.
    Link {
        /// The lower index first.
        between: (CityId, CityId),
        /// The change.
        change: Change,
    },
    /// Changes lines of a host, in both directions.
    Lines {
        /// The devices.
        ports: Vec<PortId>,
        /// The change.
        change: Change,
    },
    /// Drops all packets between cities of different groups. Contains the group of each city.
    Partition(Vec<usize>),
    /// Drops all packets from, to and through the city.
    City(CityId),
    /// The host's programs are killed or stopped.
    Host {
        /// The host.
        host: HostId,
        /// The kind.
        how: HostDown,
    },
    /// Hosts withdraw a prefix.
    Withdraw {
        /// The prefix.
        anycast: AnycastId,
        /// The hosts.
        hosts: Vec<HostId>,
        /// `None`: as configured for the prefix.
        transient: Option<Transient>,
    },
}

/// Kinds of host outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostDown {
    /// Its processes are killed and its devices lose their carrier.
    Killed,
    /// Its processes are stopped until the fault ends.
    Frozen,
}

impl Layout {
    /// The effect of a fault in this world, or an error message.
    pub fn effect(&self, fault: &Fault) -> Result<Effect, String> {
        let places = [
            fault.between.is_some(),
            fault.city.is_some(),
            fault.host.is_some() && fault.withdraw.is_none(),
            fault.partition.is_some(),
            fault.withdraw.is_some(),
        ];
        if places.into_iter().filter(|&is_given| is_given).count() != 1 {
            return Err(
                "a fault has one location: between two cities, a city, a host, a partition, or withdraw"
                    .to_owned(),
            );
        }
        if fault.access.is_some() && fault.host.is_none() {
            return Err("an access line belongs to a host; add host".to_owned());
        }
        if fault.transient.is_some() && fault.withdraw.is_none() {
            return Err("only withdraw has a transient".to_owned());
        }
        if fault.lasts.is_some_and(|lasts| lasts.is_zero()) {
            return Err("this fault lasts for 0 s and would never be seen".to_owned());
        }
        if let Some([a, b]) = &fault.between {
            self.link_effect(fault, a, b)
        } else if let Some(city) = &fault.city {
            only_down(fault, "a city")?;
            Ok(Effect::City(self.known_city(city)?))
        } else if let Some(groups) = &fault.partition {
            only_down(
                &Fault { down: fault.down.or(Some(Down::Plain(true))), ..fault.clone() },
                "a partition",
            )?;
            self.partition(groups)
        } else if let Some(prefix) = &fault.withdraw {
            self.withdrawal(fault, prefix)
        } else {
            let host = self.known_host(fault.host.as_deref().unwrap_or_default())?;
            self.host_effect(fault, host)
        }
    }

    fn link_effect(&self, fault: &Fault, a: &str, b: &str) -> Result<Effect, String> {
        let (a, b) = (self.known_city(a)?, self.known_city(b)?);
        if a == b {
            return Err("a fault is between two different cities".to_owned());
        }
        if self.route(a, b).len() > 2 {
            let via: Vec<_> = self.route(a, b).iter().map(|&city| self.cities[city].name.as_str()).collect();
            return Err(format!(
                "there is no direct link between these two; the path is {}",
                via.join(" - ")
            ));
        }
        let down = match kind(fault.down, DownKind::Silent)? {
            None => None,
            Some(DownKind::Silent) => Some(LinkDown::Silent),
            Some(DownKind::Unreachable) => Some(LinkDown::Unreachable),
            Some(_) => return Err("a link between cities is down in silence or unreachable".to_owned()),
        };
        Ok(Effect::Link { between: (a.min(b), a.max(b)), change: change(fault, down)? })
    }

    fn host_effect(&self, fault: &Fault, host: HostId) -> Result<Effect, String> {
        let all = self.hosts[host].ports.clone();
        let ports: Vec<_> = match &fault.access {
            None => all.collect(),
            Some(name) => {
                let is_it = |port: &PortId| {
                    let line = self.ports[*port].line.as_ref().and_then(|line| line.name.as_ref());
                    line == Some(name) || format!("net{}", self.ports[*port].number) == *name
                };
                let found: Vec<_> = all.filter(is_it).collect();
                if found.is_empty() {
                    return Err(format!("host \"{}\" has no access line \"{name}\"", self.hosts[host].name));
                }
                found
            }
        };
        let has_change = fault.loss.is_some() || fault.rtt.is_some() || fault.rate.is_some();
        let quiet = if fault.access.is_some() || has_change { DownKind::Silent } else { DownKind::Killed };
        let down = match kind(fault.down, quiet)? {
            Some(DownKind::Killed | DownKind::Frozen) if fault.access.is_some() || has_change => {
                return Err("a line is down in silence, unreachable, or without carrier".to_owned());
            }
            Some(DownKind::Killed) => return Ok(Effect::Host { host, how: HostDown::Killed }),
            Some(DownKind::Frozen) => return Ok(Effect::Host { host, how: HostDown::Frozen }),
            Some(DownKind::Silent) => Some(LinkDown::Silent),
            Some(DownKind::Unreachable) => Some(LinkDown::Unreachable),
            Some(DownKind::Carrier) => Some(LinkDown::Carrier),
            None => None,
        };
        Ok(Effect::Lines { ports, change: change(fault, down)? })
    }

    fn partition(&self, groups: &[Vec<String>]) -> Result<Effect, String> {
        let mut group_of = vec![0; self.cities.len()];
        let mut seen = BTreeSet::new();
        for (number, names) in groups.iter().enumerate() {
            for name in names {
                let city = self.known_city(name)?;
                if !seen.insert(city) {
                    return Err(format!("\"{name}\" is in two groups of the partition"));
                }
                group_of[city] = number + 1;
            }
        }
        if group_of.iter().all(|&group| group == group_of[0]) {
            return Err("this partition divides nothing; expected groups of cities".to_owned());
        }
        Ok(Effect::Partition(group_of))
    }

    fn withdrawal(&self, fault: &Fault, prefix: &str) -> Result<Effect, String> {
        if fault.down.is_some() || fault.loss.is_some() || fault.rtt.is_some() || fault.rate.is_some() {
            return Err("withdraw has no further effect; leave out down, loss, rtt and rate".to_owned());
        }
        let anycast = self.anycast(prefix).ok_or_else(|| {
            let known: Vec<_> = self.anycast.iter().map(|any| any.name.as_str()).collect();
            format!("no anycast prefix \"{prefix}\"{}", suggestion(prefix, known))
        })?;
        let announced = &self.anycast[anycast].hosts;
        let hosts = match &fault.host {
            None if announced.len() == 1 => announced.clone(),
            None => {
                return Err(
                    "several hosts announce this prefix; add host to choose the one that withdraws it"
                        .to_owned(),
                );
            }
            Some(name) => {
                let host = self.known_host(name)?;
                if !announced.contains(&host) {
                    return Err(format!("host \"{name}\" does not announce \"{prefix}\""));
                }
                vec![host]
            }
        };
        Ok(Effect::Withdraw { anycast, hosts, transient: fault.transient })
    }

    fn known_city(&self, name: &str) -> Result<CityId, String> {
        self.city(name).ok_or_else(|| {
            let hint = suggestion(name, self.cities.iter().map(|city| city.name.as_str()));
            format!("no host lives in \"{name}\"{hint}")
        })
    }

    fn known_host(&self, name: &str) -> Result<HostId, String> {
        self.host(name).ok_or_else(|| {
            let hint = suggestion(name, self.hosts.iter().map(|host| host.name.as_str()));
            format!("no host \"{name}\"{hint}")
        })
    }
}

fn kind(down: Option<Down>, quiet: DownKind) -> Result<Option<DownKind>, String> {
    match down {
        None => Ok(None),
        Some(Down::Plain(true)) => Ok(Some(quiet)),
        Some(Down::Plain(false)) => Err("down = false is not a fault".to_owned()),
        Some(Down::Kind(kind)) => Ok(Some(kind)),
    }
}

fn change(fault: &Fault, down: Option<LinkDown>) -> Result<Change, String> {
    let change = Change { loss: fault.loss, rtt: fault.rtt, rate: fault.rate, down };
    if change.is_empty() {
        return Err("this fault changes nothing; expected loss, rtt, rate or down".to_owned());
    }
    Ok(change)
}

fn only_down(fault: &Fault, place: &str) -> Result<(), String> {
    let is_plain = fault.loss.is_none() && fault.rtt.is_none() && fault.rate.is_none();
    match kind(fault.down, DownKind::Silent)? {
        Some(DownKind::Silent) if is_plain => Ok(()),
        _ => Err(format!("{place} can only be down; expected down = true")),
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some([a, b]) = &self.between {
            write!(f, "{a}-{b}: ")?;
        } else if let Some(city) = &self.city {
            write!(f, "{city}: ")?;
        } else if let Some(prefix) = &self.withdraw {
            let host = self.host.as_ref().map_or_else(String::new, |host| format!(" from {host}"));
            return write!(f, "{prefix} withdrawn{host}");
        } else if let Some(groups) = &self.partition {
            let groups: Vec<_> = groups.iter().map(|group| group.join(", ")).collect();
            return write!(f, "partition {}", groups.join(" | "));
        } else {
            write!(f, "{}", self.host.as_deref().unwrap_or_default())?;
            if let Some(access) = &self.access {
                write!(f, "'s {access}")?;
            }
            write!(f, ": ")?;
        }
        let kind = match self.down {
            None => None,
            Some(Down::Plain(_)) => Some("down"),
            Some(Down::Kind(DownKind::Silent)) => Some("down in silence"),
            Some(Down::Kind(DownKind::Unreachable)) => Some("unreachable"),
            Some(Down::Kind(DownKind::Carrier)) => Some("no carrier"),
            Some(Down::Kind(DownKind::Killed)) => Some("killed"),
            Some(Down::Kind(DownKind::Frozen)) => Some("frozen"),
        };
        let rest = Change { loss: self.loss, rtt: self.rtt, rate: self.rate, down: None };
        let parts = [kind.map(str::to_owned), (!rest.is_empty()).then(|| rest.to_string())];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}
