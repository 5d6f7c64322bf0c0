//! Holds the names of a scenario file against its world.

use std::time::Duration;

use document::suggestion;
use toml::Spanned;
use units::Bytes;
use world::{Document, Effect, HostDown, HostId, Layout, Mistake, Timed, file::Fault};

use super::{Command, Measured, Ping, Probe, Program, Receiver, Seed, Target, Transfer, order};
use crate::file;

pub(super) struct Check<'d> {
    pub(super) document: &'d Document,
    pub(super) layout: &'d Layout,
    pub(super) seed: Option<Seed>,
}

impl Check<'_> {
    pub(super) fn program(&self, program: file::Program) -> Result<Program, Mistake> {
        self.host(&program.host)?;
        self.runs(&program.run)?;
        Ok(Program {
            host: program.host.into_inner(),
            command: program.run.into_inner(),
            ready: program.ready,
        })
    }

    pub(super) fn probes(&self, probes: &[file::Probe]) -> Result<Vec<Probe>, Mistake> {
        let mut checked: Vec<Probe> = Vec::new();
        for probe in probes {
            let side = self.side(&probe.side)?;
            self.lasts(probe.duration, &probe.side)?;
            self.url(&probe.url)?;
            for (host, span) in self.hosts(&probe.from)? {
                let host = self.layout.hosts[host].name.clone();
                if checked.iter().any(|other| other.side == side && other.host == host) {
                    let message = format!("{side} is measured from \"{host}\" twice");
                    return Err(self.document.mistake(span, message));
                }
                checked.push(Probe {
                    side: side.clone(),
                    host,
                    duration: probe.duration,
                    url: probe.url.get_ref().clone(),
                    arguments: arguments(probe, self.probe_seed(checked.len())),
                });
            }
        }
        Ok(checked)
    }

    pub(super) fn transfers(&self, transfers: &[file::Transfer]) -> Result<Vec<Transfer>, Mistake> {
        let mut checked: Vec<Transfer> = Vec::new();
        for transfer in transfers {
            let side = self.side(&transfer.side)?;
            self.lasts(transfer.duration, &transfer.side)?;
            self.host(&transfer.from)?;
            self.host(&transfer.to)?;
            let (from, to) = (transfer.from.get_ref(), transfer.to.get_ref());
            if checked.iter().any(|other| other.side == side && other.from == *from && other.to == *to) {
                let message = format!("{side} is transferred from \"{from}\" to \"{to}\" twice");
                return Err(self.document.mistake(transfer.from.span(), message));
            }
            if transfer.omit.is_some_and(|omit| omit >= transfer.duration) {
                let message = "nothing of this would count; omit less than its duration";
                return Err(self.document.mistake(transfer.side.span(), message));
            }
            let receiver = Receiver { rcvbuf: transfer.rcvbuf, window: transfer.window };
            let port = transfer.port.get();
            if checked.iter().any(|other| (&other.to, other.port) == (to, port) && other.receiver != receiver)
            {
                let message = format!(
                    "another transfer to port {port} of \"{to}\" has a different rcvbuf or window; give one of them a \
                     port of its own"
                );
                return Err(self.document.mistake(transfer.to.span(), message));
            }
            checked.push(Transfer {
                side,
                from: from.clone(),
                to: to.clone(),
                port,
                is_mptcp: transfer.protocol == file::Transport::Mptcp,
                duration: transfer.duration,
                bytes: transfer.bytes,
                omit: transfer.omit,
                congestion: transfer.congestion.clone(),
                notsent_lowat: transfer.notsent_lowat,
                receiver,
                after: transfer.after.as_ref().map(|after| after.get_ref().clone()),
            });
        }
        Ok(checked)
    }

    pub(super) fn pings(&self, pings: &[file::Ping]) -> Result<Vec<Ping>, Mistake> {
        let mut checked: Vec<Ping> = Vec::new();
        for ping in pings {
            let side = self.side(&ping.side)?;
            self.lasts(ping.interval, &ping.side)?;
            let to: Vec<HostId> = self.hosts(&ping.to)?.into_iter().map(|(host, _)| host).collect();
            let before = checked.len();
            for (from, span) in self.hosts(&ping.from)? {
                let host = self.layout.hosts[from].name.clone();
                let targets = self.targets(from, &to);
                if targets.is_empty() {
                    continue;
                }
                if checked.iter().any(|other| other.side == side && other.host == host) {
                    let message = format!("{side} is pinged from \"{host}\" twice");
                    return Err(self.document.mistake(span, message));
                }
                let (count, interval, timeout) = (ping.count.get(), ping.interval, ping.timeout);
                checked.push(Ping { side: side.clone(), host, targets, count, interval, timeout });
            }
            if checked.len() == before {
                let message = "nobody is pinged here, for no host pings itself; name another one";
                return Err(self.document.mistake(ping.to.span(), message));
            }
        }
        Ok(checked)
    }

    /// Whom a host pings: the others, first those that come after it in the world, so that not all begin with the same.
    fn targets(&self, from: HostId, to: &[HostId]) -> Vec<Target> {
        let (after, before): (Vec<HostId>, Vec<HostId>) =
            to.iter().copied().filter(|&host| host != from).partition(|&host| host > from);
        let target = |host: HostId| Target {
            host: self.layout.hosts[host].name.clone(),
            address: self.layout.first_port(host).v4,
            rtt: self.layout.rtt(from, host),
        };
        after.into_iter().chain(before).map(target).collect()
    }

    pub(super) fn commands(&self, commands: &[file::Command]) -> Result<Vec<Command>, Mistake> {
        let mut checked: Vec<Command> = Vec::new();
        for command in commands {
            let side = self.side(&command.side)?;
            self.lasts(command.duration, &command.side)?;
            self.host(&command.host)?;
            self.runs(&command.run)?;
            let mistake = |span, message: &str| Err(self.document.mistake(span, message));
            if checked.iter().any(|other| other.side == side) {
                let message = "another command measures this side; give each a side of its own";
                return mistake(command.side.span(), message);
            }
            if command.codes.get_ref().is_empty() {
                return mistake(
                    command.codes.span(),
                    "with no exit code has it measured; expected [0] or more",
                );
            }
            if command.timeout < command.duration {
                let message = "this may take less time than it will; raise timeout above duration";
                return mistake(command.side.span(), message);
            }
            checked.push(Command {
                side,
                host: command.host.get_ref().clone(),
                command: command.run.get_ref().clone(),
                codes: command.codes.get_ref().clone(),
                duration: command.duration,
                timeout: command.timeout,
                limit: self.limit(command.limit.as_ref())?,
                after: command.after.as_ref().map(|after| after.get_ref().clone()),
            });
        }
        Ok(checked)
    }

    /// How long all that is measured takes, if each side that something waits for is there and ends.
    pub(super) fn duration(
        &self,
        transfers: &[file::Transfer],
        commands: &[file::Command],
        measured: &Measured,
    ) -> Result<Duration, Mistake> {
        let transfers = transfers.iter().filter_map(|transfer| transfer.after.as_ref());
        let mut afters = transfers.chain(commands.iter().filter_map(|command| command.after.as_ref()));
        let sides = || measured.sides().into_iter().map(|(_, side)| side);
        if let Some(unknown) = afters.clone().find(|after| !sides().any(|side| side == after.get_ref())) {
            let hint = suggestion(unknown.get_ref(), sides());
            let message = format!("nothing measures the side \"{}\"{hint}", unknown.get_ref());
            return Err(self.document.mistake(unknown.span(), message));
        }
        order::duration(&measured.steps()).map_err(|side| {
            let span = afters.find(|after| after.get_ref() == side).map_or(0..0, Spanned::span);
            self.document.mistake(span, format!("\"{side}\" never ends, for it waits for what waits for it"))
        })
    }

    pub(super) fn fault(
        &self,
        fault: Spanned<Fault>,
        measured: &Measured,
        end: Duration,
    ) -> Result<Timed, Mistake> {
        let (span, fault) = (fault.span(), fault.into_inner());
        let mistake = |message: String| self.document.mistake(span.clone(), message);
        let effect = self.layout.effect(&fault).map_err(mistake)?;
        let at =
            fault.at.ok_or_else(|| mistake("this fault has no time; expected at = \"10s\"".to_owned()))?;
        if at >= end {
            return Err(mistake(format!(
                "this fault begins at {}, and measuring ends at {}",
                units::duration::show(at),
                units::duration::show(end)
            )));
        }
        if let Effect::Host { host, how: HostDown::Killed } = effect
            && measured.is_from(&self.layout.hosts[host].name)
        {
            return Err(mistake(format!(
                "this fault would kill what measures in \"{}\"; freeze the host, or take its line down",
                self.layout.hosts[host].name
            )));
        }
        Ok(Timed { at, lasts: fault.lasts, fault, effect })
    }

    /// How much output is kept.
    pub(super) fn limit(&self, limit: Option<&Spanned<Bytes>>) -> Result<Bytes, Mistake> {
        let Some(limit) = limit else { return Ok(OUTPUT) };
        if (LEAST_OUTPUT.0..=MOST_OUTPUT.0).contains(&limit.get_ref().0) {
            return Ok(*limit.get_ref());
        }
        let message = format!(
            "{} is no limit of output, which is kept in memory in part; expected {LEAST_OUTPUT} to {MOST_OUTPUT}",
            limit.get_ref()
        );
        Err(self.document.mistake(limit.span(), message))
    }

    /// The seed of a probe's schedule: each draws one of its own.
    fn probe_seed(&self, index: usize) -> u64 {
        let base = self.seed.map_or(0, |Seed(seed)| seed.wrapping_mul(SEEDS_APART));
        base.wrapping_add(index as u64 + 1)
    }

    fn side(&self, side: &Spanned<String>) -> Result<String, Mistake> {
        let name = side.get_ref();
        if is_file_name(name) {
            return Ok(name.clone());
        }
        let message = format!(
            "\"{name}\" cannot be a side's name; expected a-z, A-Z, 0-9, \".\", \"_\" and \"-\", as in a file's name"
        );
        Err(self.document.mistake(side.span(), message))
    }

    fn lasts(&self, duration: Duration, side: &Spanned<String>) -> Result<(), Mistake> {
        if duration.is_zero() {
            let message = "this takes no time and would measure nothing; give it more than 0 s";
            return Err(self.document.mistake(side.span(), message));
        }
        Ok(())
    }

    fn runs(&self, command: &Spanned<Vec<String>>) -> Result<(), Mistake> {
        if command.get_ref().is_empty() {
            let message = "a program and its arguments are expected";
            return Err(self.document.mistake(command.span(), message));
        }
        Ok(())
    }

    /// A URL must lead to a host or an anycast prefix of the world, by name or address: there is nobody else.
    fn url(&self, url: &Spanned<String>) -> Result<(), Mistake> {
        let mistake = |message: String| Err(self.document.mistake(url.span(), message));
        let Some((_, rest)) = url.get_ref().split_once("://") else {
            return mistake(format!(
                "\"{}\" is no URL; expected something like \"http://origin/\"",
                url.get_ref()
            ));
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.starts_with('[') {
            return Ok(());
        }
        let name = authority.split(':').next().unwrap_or_default();
        let is_address = name.parse::<std::net::Ipv4Addr>().is_ok();
        if is_address || self.layout.host(name).is_some() || self.layout.anycast(name).is_some() {
            return Ok(());
        }
        let anycast = self.layout.anycast.iter().map(|any| any.name.as_str());
        let hint = suggestion(name, self.host_names().chain(anycast));
        mistake(format!("the world has no host \"{name}\"{hint}"))
    }

    /// The hosts of a list, each with the place that names it. "*" at a name's end stands for whatever follows.
    fn hosts(
        &self,
        list: &Spanned<Vec<Spanned<String>>>,
    ) -> Result<Vec<(HostId, std::ops::Range<usize>)>, Mistake> {
        let mut hosts = Vec::new();
        for name in list.get_ref() {
            let Some(beginning) = name.get_ref().strip_suffix('*') else {
                hosts.push((self.host(name)?, name.span()));
                continue;
            };
            let found = self.host_names().enumerate().filter(|(_, host)| host.starts_with(beginning));
            let before = hosts.len();
            hosts.extend(found.map(|(host, _)| (host, name.span())));
            if hosts.len() == before {
                let message = format!("no host's name begins with \"{beginning}\"");
                return Err(self.document.mistake(name.span(), message));
            }
        }
        if hosts.is_empty() {
            return Err(self.document.mistake(list.span(), "at least one host is expected"));
        }
        Ok(hosts)
    }

    fn host(&self, name: &Spanned<String>) -> Result<HostId, Mistake> {
        self.layout.host(name.get_ref()).ok_or_else(|| {
            let hint = suggestion(name.get_ref(), self.host_names());
            self.document.mistake(name.span(), format!("unknown host \"{}\"{hint}", name.get_ref()))
        })
    }

    fn host_names(&self) -> impl Iterator<Item = &str> {
        self.layout.hosts.iter().map(|host| host.name.as_str())
    }
}

/// How much output is kept if the file does not say it: more than anybody reads, and of a command's JSON as much as this
/// program takes into memory with ease.
const OUTPUT: Bytes = Bytes(8_000_000);

/// A screen of it.
const LEAST_OUTPUT: Bytes = Bytes(4000);

/// Of a log half of this may be in memory, of a command's JSON some thirty times as much.
const MOST_OUTPUT: Bytes = Bytes(256_000_000);

/// Between the schedules of one seed and those of the next there is room for as many probes.
const SEEDS_APART: u64 = 1_000_000;

/// Names of sides become names of files.
fn is_file_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=60).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with(['.', '-'])
}

/// The command line of a probe.
fn arguments(probe: &file::Probe, seed: u64) -> Vec<String> {
    let mut arguments: Vec<String> = [
        ("--rate", probe.rate.to_string()),
        ("--duration", units::duration::show(probe.duration)),
        ("--arrival", probe.arrival.name().to_owned()),
        ("--connections", probe.connections.name().to_owned()),
        ("--protocol", probe.protocol.name().to_owned()),
        ("--seed", seed.to_string()),
    ]
    .into_iter()
    .flat_map(|(flag, value)| [flag.to_owned(), value])
    .collect();
    arguments.extend(probe.family.flag().map(str::to_owned));
    if probe.insecure {
        arguments.push("--insecure".to_owned());
    }
    arguments
}
