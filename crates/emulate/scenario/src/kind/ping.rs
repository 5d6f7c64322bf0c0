//! `[[ping]]`: pings between hosts, and the difference between measured round trips and the
//! world's.

use std::{collections::BTreeMap, net::Ipv4Addr, num::NonZero, sync::Arc, time::Duration};

use claim::{Doubt, Evidence, Measure, Object, Query, Source, Statistic, Subject, Unit};
use recording::Metric;
use report::figures::{Column, Figures, Table as Shown};
use serde::Deserialize;
use toml::Spanned;
use units::{Bytes, show::count};
use world::{Diagnostic, HostId, Layout};

use self::tally::Tally;
pub use self::tally::{Pair, PingResult, RoundTripError};
use crate::{
    check::Check,
    emulator::{self, Exchange, Peer, Timed, milliseconds},
    error::Error,
    folder::{Folder, some, words},
    measurement::{Findings, Gaps, Inputs, Measures, ResultEntry, Task},
    program::Job,
};

mod tally;

pub(crate) const SOURCE: Source = Source::new("ping");

pub(crate) const NAMES: &str = "ping.answered, ping.error. with mean, max or a percentile";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub side: Spanned<String>,
    pub from: Spanned<Vec<Spanned<String>>>,
    /// "*" selects all. A host does not ping itself.
    pub to: Spanned<Vec<Spanned<String>>>,
    #[serde(default = "default_count")]
    pub count: NonZero<u32>,
    #[serde(default = "default_interval", with = "units::duration")]
    pub interval: Duration,
    #[serde(default = "default_timeout", with = "units::duration")]
    pub timeout: Duration,
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn share(received: u64, sent: u64) -> String {
    if sent > 0 { Unit::Share.show(received as f64 / sent as f64) } else { "-".to_owned() }
}

fn default_count() -> NonZero<u32> {
    NonZero::new(10).expect("10 is not 0")
}

fn default_interval() -> Duration {
    Duration::from_secs(1)
}

fn default_timeout() -> Duration {
    Duration::from_secs(2)
}

/// Pings from one host.
#[derive(Debug, Clone)]
pub struct Ping {
    /// The side.
    pub side: String,
    /// The sending host.
    pub host: String,
    /// The targets, in the order of the first round.
    pub targets: Vec<Target>,
    /// Pings per target.
    pub count: u32,
    /// Time between rounds.
    pub interval: Duration,
    /// A ping without a reply for this long is lost.
    pub timeout: Duration,
}

/// A host to ping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub host: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// The round trip in the world, without queues.
    pub rtt: Duration,
}

pub(crate) fn check(check: &Check<'_>, tables: &[Table]) -> Result<Vec<Ping>, Diagnostic> {
    let mut checked: Vec<Ping> = Vec::new();
    for ping in tables {
        let side = check.side(&ping.side)?;
        check.lasts(ping.interval, &ping.side)?;
        let to: Vec<HostId> = check.hosts(&ping.to)?.into_iter().map(|(host, _)| host).collect();
        let before = checked.len();
        for (from, span) in check.hosts(&ping.from)? {
            let host = check.layout.hosts[from].name.clone();
            let targets = targets(check.layout, from, &to);
            if targets.is_empty() {
                continue;
            }
            if checked.iter().any(|other| other.side == side && other.host == host) {
                let message = format!("{side} is pinged from \"{host}\" twice");
                return Err(check.document.mistake(span, message));
            }
            let (count, interval, timeout) = (ping.count.get(), ping.interval, ping.timeout);
            checked.push(Ping { side: side.clone(), host, targets, count, interval, timeout });
        }
        if checked.len() == before {
            let message = "there is nothing to ping, because a host does not ping itself; name another host";
            return Err(check.document.mistake(ping.to.span(), message));
        }
    }
    Ok(checked)
}

/// Begins with the next host in the world, so that hosts begin with different targets.
fn targets(layout: &Layout, from: HostId, to: &[HostId]) -> Vec<Target> {
    let (after, before): (Vec<HostId>, Vec<HostId>) =
        to.iter().copied().filter(|&host| host != from).partition(|&host| host > from);
    let target = |host: HostId| Target {
        host: layout.hosts[host].name.clone(),
        address: layout.first_port(host).v4,
        rtt: layout.rtt(from, host),
    };
    after.into_iter().chain(before).map(target).collect()
}

impl Ping {
    pub(crate) fn file(&self) -> String {
        format!("ping-{}-from-{}.jsonl", self.side, self.host)
    }
}

impl Measures for Ping {
    fn side(&self) -> &str {
        &self.side
    }

    fn hosts(&self) -> Vec<&str> {
        vec![&self.host]
    }

    fn lasts(&self) -> Duration {
        self.interval.saturating_mul(self.count)
    }

    /// Hosts spread their starts over one gap between two pings.
    fn spread(&self) -> Option<Duration> {
        Some(self.interval.div_f64(self.targets.len().max(1) as f64))
    }

    /// The targets are addresses, because resolving hundreds of names in hundreds of hosts is slow.
    fn task(&self, folder: &Folder<'_>, delay: Duration, log_limit: Bytes) -> Task {
        let mut command = words(&["longhaul", "ping", "--delay", &units::duration::show(delay)]);
        command.extend(self.targets.iter().map(|target| target.address.to_string()));
        let [interval, timeout] = [self.interval, self.timeout].map(units::duration::show);
        command.extend(words(&["--count", &self.count.to_string(), "--interval", &interval]));
        let output = folder.file(&self.file());
        command.extend(words(&["--timeout", &timeout, "--quiet", "--label", &self.side]));
        command.extend(words(&["--output", &output.to_string_lossy()]));
        let log = folder.log(&format!("ping-{}-from-{}", self.side, self.host));
        Task::ours(&self.side, Job { host: self.host.clone(), command, log, log_limit, result: None })
    }
}

pub(crate) fn subject(name: &str) -> Option<Result<Subject, String>> {
    if name == "ping.answered" {
        let [of, to] = ["json.received", "json.sent"].map(|path| path.parse().expect("both are paths"));
        return Some(Ok(Subject::new(SOURCE, name, Query::Ratio { of, to }, Unit::Share)));
    }
    let statistic = name.strip_prefix("ping.error.").and_then(Statistic::parse)?;
    let query = Query::Samples { of: "error", measure: Measure::of_samples(statistic) };
    let subject = Subject::new(SOURCE, name, query, Unit::Time);
    Some(Ok(subject.without("no ping of SIDE received a reply")))
}

pub(crate) fn read(pings: &[&Ping], reading: &Inputs<'_>, gaps: &mut Gaps) -> Result<Findings, Error> {
    let mut tallies: Vec<(&str, Tally)> = Vec::new();
    for ping in pings {
        let known = tallies.iter().position(|(side, _)| *side == ping.side);
        let index = known.unwrap_or_else(|| {
            tallies.push((&ping.side, Tally::new(&ping.side)));
            tallies.len() - 1
        });
        let counted = tally(&mut tallies[index].1, ping, reading);
        gaps.tolerate(&format!("{}, pings from {}", ping.side, ping.host), counted)?;
    }
    let mut found = Findings { conditions: conditions(pings), ..Findings::default() };
    let mut all = Vec::new();
    for (side, tally) in tallies {
        let (pinged, errors, without_error) = tally.finish();
        let detail = Arc::new(serde_json::to_value(&pinged).expect("counts have no keys but texts"));
        let mut evidence = Evidence::default();
        evidence.object(Object::new(side, Arc::clone(&detail)));
        errors
            .into_iter()
            .for_each(|errors| evidence.samples("error", Arc::new(errors), without_error.clone()));
        found.evidence.push((side.to_owned(), evidence));
        let host =
            pings.iter().find(|ping| ping.side == side).map_or_else(String::new, |ping| ping.host.clone());
        found.measured.push(ResultEntry { side: side.to_owned(), host, kind: SOURCE, detail });
        all.push(pinged);
    }
    found.figures = (!all.is_empty()).then(|| figures(&all));
    Ok(found)
}

fn tally(tally: &mut Tally, ping: &Ping, reading: &Inputs<'_>) -> Result<(), Error> {
    let numbers = ping.targets.iter().enumerate();
    let numbers: BTreeMap<String, usize> =
        numbers.map(|(number, target)| (target.address.to_string(), number)).collect();
    let path = reading.folder.file(&ping.file());
    let mut pings = Vec::new();
    let (mut timed, mut errors_ms) = (Timed::default(), Vec::new());
    let mut recording = recording::open(&path)?;
    for sample in &mut recording {
        let sample = sample?;
        let round_trip = sample.get(Metric::Latency);
        let target = sample.labels.get("target").and_then(|address| numbers.get(address));
        let Some(&target) = target else {
            if round_trip.is_some() {
                timed.push_unknown();
            }
            continue;
        };
        if let (Some(took), Some(started)) = (round_trip, sample.started_ns) {
            let Target { address, rtt, .. } = &ping.targets[target];
            let span = [started, started.saturating_add(took)];
            let sample = Exchange {
                value_ms: milliseconds(took),
                round_trips: 1,
                span_ns: span,
                waits_ns: [span, [0; 2], [0; 2], [0; 2]],
            };
            timed.push(sample, Peer::ping((*address).into()));
            errors_ms.push(tally::error_ms(took, rtt.as_secs_f64() * 1e3));
        } else if round_trip.is_some() {
            timed.push_unknown();
        }
        pings.push((target, round_trip));
    }
    let started = recording.end().and_then(|end| end.started_monotonic_ns);
    let own = reading.emulator.errors(reading.layout, &ping.host, &timed, started);
    if let Some(own) = &own {
        emulator::note(&path, own, |sample| sample.get(Metric::Latency).is_some())?;
    }
    let without =
        |own: Vec<f64>| errors_ms.iter().zip(own).map(|(error, own)| (error - own).max(0.0)).collect();
    tally.without_error(own.map(without));
    let world_ms = |target: &Target| (target.host.clone(), target.rtt.as_secs_f64() * 1e3);
    let targets: Vec<_> = ping.targets.iter().map(world_ms).collect();
    tally.count(&ping.host, &targets, pings);
    Ok(())
}

fn conditions(pings: &[&Ping]) -> Vec<(String, String)> {
    let mut sides: Vec<&str> = pings.iter().map(|ping| ping.side.as_str()).collect();
    sides.dedup();
    let line = |side: &str| {
        let pings: Vec<_> = pings.iter().filter(|ping| ping.side == side).collect();
        let hosts: Vec<&str> = pings.iter().map(|ping| ping.host.as_str()).collect();
        let (count, interval) = (pings[0].count, units::duration::show(pings[0].interval));
        (format!("{side}, pings"), format!("{count} to each, every {interval}, from {}", some(&hosts)))
    };
    sides.into_iter().map(line).collect()
}

fn figures(sides: &[PingResult]) -> Figures {
    let columns = [
        Column::text("pings"),
        Column::number("hosts").wide(),
        Column::number("pairs"),
        Column::number("answered"),
        Column::number("share").wide(),
        Column::number("error, median"),
        Column::number("p99"),
        Column::number("max"),
    ];
    let mut table = Shown::new("How many were answered", columns).note(
        "Error: the difference between a measured round trip and the world's, without queues and faults.",
    );
    let mut figures = Figures::new("Pings", "");
    for one in sides {
        let of = |figure: fn(&RoundTripError) -> Option<f64>| {
            let error = one.error_ms.as_ref().and_then(figure);
            error.map_or_else(|| "-".to_owned(), |ms| Unit::Time.show(ms))
        };
        table = table.row([
            one.side.clone(),
            count(one.hosts),
            count(one.pairs),
            format!("{} of {}", count(one.received), count(one.sent)),
            share(one.received, one.sent),
            of(|error| Some(error.p50)),
            of(|error| error.p99),
            of(|error| Some(error.max)),
        ]);
        if !one.silent.is_empty() {
            let pairs = one.silent.iter().map(|pair| [pair.from.clone(), pair.to.clone()]).collect();
            figures = figures.doubt(Doubt::Silent { pairs }.of(one.side.as_str()));
        }
    }
    figures.table(table)
}
