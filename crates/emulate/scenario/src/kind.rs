//! The kinds of measurement.
//!
//! A new kind needs a file, a line in each list of this file, and a table in [`crate::file::File`].

use claim::{Source, Subject};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use world::Diagnostic;

use crate::{
    check::Check,
    error::Error,
    measurement::{Findings, Gaps, Inputs, Measures},
    program::Program,
};

pub(crate) mod command;
pub(crate) mod kv;
pub(crate) mod ping;
pub(crate) mod probe;
pub(crate) mod speed;
pub(crate) mod transfer;

/// A measurement with all names checked.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a scenario has a handful of them")]
pub enum Measurement {
    /// Requests from one host.
    Probe(probe::Probe),
    /// Bytes from one host to another.
    Transfer(transfer::Transfer),
    /// Pings from one host.
    Ping(ping::Ping),
    /// A speed test between two hosts.
    Speed(speed::Speed),
    /// A writer or a reader of a key-value store.
    Kv(kv::Kv),
    /// A program that prints one JSON value.
    Command(command::Command),
}

#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub probe: Vec<probe::Table>,
    pub transfer: Vec<transfer::Table>,
    pub ping: Vec<ping::Table>,
    pub speed: Vec<speed::Table>,
    pub kv: Vec<kv::Table>,
    pub command: Vec<command::Table>,
}

impl Measurement {
    /// The source of its results.
    pub fn source(&self) -> Source {
        match self {
            Self::Probe(_) => probe::SOURCE,
            Self::Transfer(_) => transfer::SOURCE,
            Self::Ping(_) => ping::SOURCE,
            Self::Speed(_) => speed::SOURCE,
            Self::Kv(_) => kv::SOURCE,
            Self::Command(_) => command::SOURCE,
        }
    }

    pub(crate) fn measures(&self) -> &dyn Measures {
        match self {
            Self::Probe(probe) => probe,
            Self::Transfer(transfer) => transfer,
            Self::Ping(ping) => ping,
            Self::Speed(speed) => speed,
            Self::Kv(kv) => kv,
            Self::Command(command) => command,
        }
    }
}

pub(crate) fn check(check: &Check<'_>, tables: &Tables) -> Result<Vec<Measurement>, Diagnostic> {
    let mut all = Vec::new();
    all.extend(probe::check(check, &tables.probe)?.into_iter().map(Measurement::Probe));
    all.extend(transfer::check(check, &tables.transfer)?.into_iter().map(Measurement::Transfer));
    all.extend(ping::check(check, &tables.ping)?.into_iter().map(Measurement::Ping));
    all.extend(speed::check(check, &tables.speed)?.into_iter().map(Measurement::Speed));
    all.extend(kv::check(check, &tables.kv)?.into_iter().map(Measurement::Kv));
    all.extend(command::check(check, &tables.command)?.into_iter().map(Measurement::Command));
    Ok(all)
}

pub(crate) fn programs(all: &[Measurement]) -> Vec<Program> {
    [transfer::servers(&transfers(all)), speed::servers(&speeds(all))].concat()
}

pub(crate) fn subject(name: &str) -> Result<Subject, String> {
    let kinds =
        [probe::subject, transfer::subject, ping::subject, speed::subject, kv::subject, command::subject];
    kinds.into_iter().find_map(|kind| kind(name)).unwrap_or_else(|| {
        let names =
            [probe::NAMES, transfer::NAMES, ping::NAMES, speed::NAMES, kv::NAMES, command::NAMES].join(", ");
        Err(format!("\"{name}\" is not a measure; expected {names}"))
    })
}

pub(crate) fn read(
    all: &[Measurement],
    reading: &Inputs<'_>,
    gaps: &mut Gaps,
) -> Result<Vec<(Source, Findings)>, Error> {
    Ok(vec![
        (probe::SOURCE, probe::read(&probes(all), reading, gaps)?),
        (transfer::SOURCE, transfer::read(&transfers(all), reading, gaps)?),
        (ping::SOURCE, ping::read(&pings(all), reading, gaps)?),
        (speed::SOURCE, speed::read(&speeds(all), reading, gaps)?),
        (kv::SOURCE, kv::read(&kvs(all), reading, gaps)?),
        (command::SOURCE, command::read(&commands(all), reading, gaps)?),
    ])
}

/// The lists of `result.json` with measured results.
pub fn lists() -> [List; 5] {
    [
        List::of::<probe::Outages>(
            probe::SOURCE,
            "outages",
            "The longest time without an answer of each host, by side.",
        ),
        List::of::<transfer::TransferResult>(transfer::SOURCE, "transfers", "The results of transfers."),
        List::of::<ping::PingResult>(ping::SOURCE, "pings", "The results of pings, one entry per side."),
        List::of::<speed::SpeedResult>(speed::SOURCE, "speeds", "The results of speed tests."),
        List::of::<command::CommandResult>(command::SOURCE, "commands", "The output of commands."),
    ]
}

/// A list of `result.json`.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// The kind of measurement.
    pub source: Source,
    /// The list's name.
    pub name: &'static str,
    /// A description.
    pub what: &'static str,
    /// The schema of the list.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

impl List {
    fn of<T: JsonSchema>(source: Source, name: &'static str, what: &'static str) -> Self {
        Self { source, name, what, schema: |generator| generator.subschema_for::<Vec<T>>() }
    }
}

pub(crate) fn probes(all: &[Measurement]) -> Vec<&probe::Probe> {
    of(all, |one| if let Measurement::Probe(probe) = one { Some(probe) } else { None })
}

pub(crate) fn transfers(all: &[Measurement]) -> Vec<&transfer::Transfer> {
    of(all, |one| if let Measurement::Transfer(transfer) = one { Some(transfer) } else { None })
}

pub(crate) fn pings(all: &[Measurement]) -> Vec<&ping::Ping> {
    of(all, |one| if let Measurement::Ping(ping) = one { Some(ping) } else { None })
}

pub(crate) fn speeds(all: &[Measurement]) -> Vec<&speed::Speed> {
    of(all, |one| if let Measurement::Speed(speed) = one { Some(speed) } else { None })
}

pub(crate) fn kvs(all: &[Measurement]) -> Vec<&kv::Kv> {
    of(all, |one| if let Measurement::Kv(kv) = one { Some(kv) } else { None })
}

pub(crate) fn commands(all: &[Measurement]) -> Vec<&command::Command> {
    of(all, |one| if let Measurement::Command(command) = one { Some(command) } else { None })
}

fn of<T>(all: &[Measurement], pick: fn(&Measurement) -> Option<&T>) -> Vec<&T> {
    all.iter().filter_map(pick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_and_printed() {
        for (text, source) in [
            ("request.p50", "probe"),
            ("request.share[cache=hit]", "probe"),
            ("experienced.mean", "probe"),
            ("experienced.faster_than.other.side", "probe"),
            ("connections.fallback", "probe"),
            ("outage.max", "probe"),
            ("outage.p50", "probe"),
            ("transfer.stall", "transfer"),
            ("transfer.duration", "transfer"),
            ("transfer.goodput", "transfer"),
            ("transfer.memory", "transfer"),
            ("transfer.lost", "transfer"),
            ("ping.answered", "ping"),
            ("ping.error.p99", "ping"),
            ("speed.added", "speed"),
            ("json.runs[name=first].restart_s", "command"),
        ] {
            let subject = subject(text).unwrap();
            assert_eq!((subject.to_string().as_str(), subject.source().name()), (text, source));
        }
        for text in [
            "outage",
            "outage.p100",
            "transfer.p50",
            "ping.error",
            "stall",
            "experienced.faster_than.",
            "request.share",
            "request.share[cache]",
            "request.share[=hit]",
        ] {
            assert!(subject(text).unwrap_err().contains("is not a measure"), "{text}");
        }
        assert!(subject("json").unwrap_err().contains("is not a place in JSON"));
    }
}
