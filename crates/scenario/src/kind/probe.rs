//! `[[probe]]`: requests from one host or several, recorded one by one.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
    time::Duration,
};

use claim::{Claim, Evidence, Fold, Measure, Query, Source, Statistic, Subject, Tempo, Unit};
use probe::{
    Family,
    client::{Protocol, Trust},
    load::{Arrival, Config, Connections, Pace},
};
use recording::{Metric, Series, Wanted, read_series_beside};
use report::{
    SideInput,
    figures::{Column, Figures, Table as Shown},
};
use serde::Deserialize;
use toml::Spanned;
use units::{
    Bytes, Frequency,
    show::{count, time},
};
use world::Mistake;

use self::answers::Answers;
pub use self::outage::{Outage, Outages};
use crate::{
    check::Check,
    emulator::{self, Timed},
    error::Error,
    folder::{Folder, some, words},
    measurement::{Findings, Gaps, Inputs, Measures, ResultEntry, Task},
    program::Job,
};

mod answers;
mod outage;

/// The source that subjects of claims name.
pub(crate) const SOURCE: Source = Source::new("probe");

/// Subjects of claims, for error messages.
pub(crate) const NAMES: &str = "request., experienced. or outage. with mean, max or a percentile such as p99.9, \
     a phase such as connect. or first_interim. with the same, request.share[label=value], experienced.faster_than. with a side, connections.fallback";

/// How requests are spread over time by default. A scenario's probes are visitors of a page, who come independently of each
/// other; `longhaul probe` measures one server, for which equal intervals give the most even sampling.
const ARRIVAL: Arrival = Arrival::Poisson;

/// A measurement from one host or several. Keys that are absent have the defaults of `longhaul probe`, with two exceptions:
/// [`ARRIVAL`] and the duration, which is that of all measurements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// The side of the comparison.
    pub side: Spanned<String>,
    pub from: Spanned<Vec<Spanned<String>>>,
    pub url: Spanned<String>,
    /// Requests a second from each host.
    pub rate: Option<Frequency>,
    /// Requests at a time from each host: a closed loop.
    pub concurrency: Option<Spanned<NonZeroUsize>>,
    #[serde(default = "crate::measurement::default_duration", with = "units::duration")]
    pub duration: Duration,
    pub arrival: Option<Arrival>,
    pub connections: Option<Connections>,
    /// Requests of a page.
    pub requests: Option<Spanned<NonZeroU32>>,
    pub protocol: Option<Protocol>,
    /// Address family.
    pub family: Option<Family>,
    /// Accept any certificate.
    #[serde(default)]
    pub insecure: bool,
}

impl Table {
    /// The configuration of a host's probe.
    fn config(&self, seed: u64) -> Config {
        let pace = match &self.concurrency {
            Some(concurrency) => Pace::Closed { concurrency: concurrency.get_ref().get() },
            None => Pace::Open {
                rate: self.rate.unwrap_or_else(Config::default_rate),
                arrival: self.arrival.unwrap_or(ARRIVAL),
            },
        };
        let mut config = Config { pace, duration: Some(self.duration), seed, ..Config::default() };
        let requests = self.requests.as_ref().map_or(NonZeroU32::MIN, |requests| *requests.get_ref());
        config.set_connections(self.connections.unwrap_or(config.connections()), requests);
        let http = &mut config.client.http;
        http.protocol = self.protocol.unwrap_or(http.protocol);
        http.family = self.family.unwrap_or(http.family);
        if self.insecure {
            http.trust = Trust::Anyone;
        }
        config
    }
}

/// The flag for a family; none for both families.
fn flag(family: Family) -> Option<&'static str> {
    match family {
        Family::Any => None,
        Family::V4 => Some("--ipv4"),
        Family::V6 => Some("--ipv6"),
    }
}

/// Requests from one host.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The side.
    pub side: String,
    /// The host that sends the requests.
    pub host: String,
    /// The URL.
    pub url: String,
    /// How requests are made, and for how long.
    pub config: Config,
}

/// Checks that hosts and addresses exist in the world.
pub(crate) fn check(check: &Check<'_>, tables: &[Table]) -> Result<Vec<Probe>, Mistake> {
    let mut checked: Vec<Probe> = Vec::new();
    for probe in tables {
        let side = check.side(&probe.side)?;
        check.lasts(probe.duration, &probe.side)?;
        check.url(&probe.url)?;
        if let Some(concurrency) = &probe.concurrency
            && (probe.rate.is_some() || probe.arrival.is_some())
        {
            let message = "a closed loop (concurrency) has neither a rate nor an arrival: each request starts when one before it has ended";
            return Err(check.document.mistake(concurrency.span(), message.to_owned()));
        }
        let has_pages = probe.connections == Some(Connections::Pages);
        match &probe.requests {
            Some(requests) if !has_pages => {
                let message = "requests are those of a page: add connections = \"pages\"";
                return Err(check.document.mistake(requests.span(), message.to_owned()));
            }
            None if has_pages => {
                let message = "connections = \"pages\" needs requests: how many a page makes";
                return Err(check.document.mistake(probe.side.span(), message.to_owned()));
            }
            _ => {}
        }
        for (host, span) in check.hosts(&probe.from)? {
            let host = check.layout.hosts[host].name.clone();
            if checked.iter().any(|other| other.side == side && other.host == host) {
                let message = format!("{side} is measured from \"{host}\" twice");
                return Err(check.document.mistake(span, message));
            }
            checked.push(Probe {
                side: side.clone(),
                host,
                url: probe.url.get_ref().clone(),
                config: probe.config(check.probe_seed(checked.len())),
            });
        }
    }
    Ok(checked)
}

impl Probe {
    /// The flags of `longhaul probe` for its configuration.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let (config, http) = (&self.config, &self.config.client.http);
        let mut flags = match &config.pace {
            Pace::Open { rate, arrival } => {
                vec![("--rate", rate.to_string()), ("--arrival", arrival.name().to_owned())]
            }
            // A table has no key for it.
            Pace::Replay(_) => Vec::new(),
            Pace::Closed { concurrency } => vec![("--concurrency", concurrency.to_string())],
        };
        flags.extend(config.duration.map(|duration| ("--duration", units::duration::show(duration))));
        flags.push(("--connections", config.connections().name().to_owned()));
        flags.extend(config.page.map(|requests| ("--requests", requests.to_string())));
        flags.push(("--protocol", http.protocol.name().to_owned()));
        flags.push(("--seed", config.seed.to_string()));
        let mut arguments: Vec<String> =
            flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect();
        arguments.extend(flag(http.family).map(str::to_owned));
        if http.trust == Trust::Anyone {
            arguments.push("--insecure".to_owned());
        }
        arguments
    }

    /// The recording.
    pub(crate) fn file(&self) -> String {
        format!("{}-from-{}.jsonl", self.side, self.host)
    }
}

impl Measures for Probe {
    fn side(&self) -> &str {
        &self.side
    }

    fn hosts(&self) -> Vec<&str> {
        vec![&self.host]
    }

    fn lasts(&self) -> Duration {
        self.config.duration.unwrap_or_default()
    }

    fn task(&self, folder: &Folder<'_>, _: Duration, log_limit: Bytes) -> Task {
        let mut command = words(&["longhaul", "probe", &self.url, "--quiet", "--label", &self.side]);
        command.extend(words(&["--output", &folder.file(&self.file()).to_string_lossy()]));
        command.extend(self.arguments());
        let log = folder.log(&format!("probe-{}-from-{}", self.side, self.host));
        Task::ours(&self.side, Job { host: self.host.clone(), command, log, log_limit, result: None })
    }
}

/// The subject of a claim about requests, connections and outages.
pub(crate) fn subject(name: &str) -> Option<Result<Subject, String>> {
    let new = |query, unit| Subject::new(SOURCE, name, query, unit);
    if name == "connections.fallback" {
        let [of, to] = ["json.fallbacks", "json.opened"].map(|path| path.parse().expect("both are paths"));
        let subject = new(Query::Ratio { of, to }, Unit::Share);
        return Some(Ok(subject.without("SIDE opened no connection")));
    }
    if let Some(label) = name.strip_prefix("request.share[") {
        let (label, value) =
            label.strip_suffix(']')?.split_once('=').filter(|(label, _)| !label.is_empty())?;
        let (label, value) = (label.to_owned(), value.to_owned());
        return Some(Ok(new(Query::Share { label, value }, Unit::Share)));
    }
    if let Some(side) = name.strip_prefix("experienced.faster_than.").filter(|side| !side.is_empty()) {
        return Some(Ok(new(Query::FasterThan(side.to_owned()), Unit::Estimate)));
    }
    if let Some(over) = name.strip_prefix("outage.").and_then(Statistic::parse) {
        let paths = vec!["json.longest_s".parse().expect("this is a path")];
        return Some(Ok(new(Query::Number { paths, fold: Fold::Over(over) }, Unit::Time)));
    }
    if let Some((metric, statistic)) = name.split_once('.').and_then(phase) {
        let query = Query::Samples { of: metric.name(), measure: Measure::of_samples(statistic) };
        let subject = new(query, Unit::Time).tempo(Tempo::Faster);
        return Some(Ok(subject.without("no request of SIDE has this phase")));
    }
    let measure: Measure = name.parse().ok()?;
    let query = Query::Samples { of: "request", measure };
    Some(Ok(Subject::new(SOURCE, measure.to_string(), query, Unit::Time).tempo(Tempo::Faster)))
}

/// A metric of requests by its name, and what is asked of it.
fn phase((metric, statistic): (&str, &str)) -> Option<(Metric, Statistic)> {
    Some((Metric::from_name(metric)?, Statistic::parse(statistic)?))
}

/// Reads each recording once, and once more for each phase that claims are about: the metric for the comparison, the times of answers, the connections that were opened,
/// and the labels that claims are about.
pub(crate) fn read(probes: &[&Probe], reading: &Inputs<'_>, gaps: &mut Gaps) -> Result<Findings, Error> {
    let labels = labels(reading.claims);
    let mut sides: Vec<OfSide<'_>> = Vec::new();
    for &probe in probes {
        let known = sides.iter().position(|one| one.probes[0].side == probe.side);
        let place = known.unwrap_or_else(|| {
            sides.push(OfSide::default());
            sides.len() - 1
        });
        sides[place].read(probe, reading, &labels, gaps)?;
        for metric in phases(reading.claims, &probe.side) {
            sides[place].read_phase(metric, probe, reading, gaps)?;
        }
    }
    let mut found = Findings::default();
    let mut outages = Vec::new();
    for side in sides {
        outages.extend(side.finish(&mut found)?);
    }
    // Without errors, the longest time between two answers only reflects the rate of requests.
    found.figures = (!reading.faults.is_empty() && !outages.is_empty()).then(|| figures(&outages));
    for one in outages {
        found.measured.push(ResultEntry {
            side: one.side.clone(),
            host: one.hosts.first().map_or_else(String::new, |host| host.host.clone()),
            kind: SOURCE,
            detail: Arc::new(serde_json::to_value(one).expect("outages have no keys but texts")),
        });
    }
    Ok(found)
}

/// What the probes of one side recorded.
#[derive(Default)]
struct OfSide<'p> {
    /// Not empty once it is used.
    probes: Vec<&'p Probe>,
    series: Option<Series>,
    phases: BTreeMap<Metric, Series>,
    evidence: Evidence,
    outages: Vec<Outage>,
}

impl<'p> OfSide<'p> {
    fn read(
        &mut self,
        probe: &'p Probe,
        reading: &Inputs<'_>,
        labels: &[String],
        gaps: &mut Gaps,
    ) -> Result<(), Error> {
        self.probes.push(probe);
        let mut answers = Answers::new(labels, reading.metric);
        let path = reading.folder.file(&probe.file());
        let series = read_series_beside(&path, &Wanted::metric(reading.metric), &mut |sample| {
            answers.count(sample);
        });
        let is_there = !matches!(series, Err(recording::Error::Open { .. }));
        // Without a single answer there is nothing to compare, and the reasons of the failures help more than an
        // empty recording.
        let series = series.map_err(|error| match answers.failures() {
            Some(reasons) => Error::Unanswered { url: probe.url.clone(), host: probe.host.clone(), reasons },
            None => error.into(),
        });
        let series = gaps.tolerate(&format!("{} from {}", probe.side, probe.host), series)?;
        let timed = answers.take_timed();
        if is_there {
            let lasts = probe.lasts().as_secs_f64();
            let end_s = reading.partial.map_or(lasts, |partial| lasts.min(partial.after_s));
            let (outage, evidence) = answers.finish(probe, end_s);
            self.outages.push(outage);
            self.evidence.append(evidence);
        }
        let Some(mut series) = series else { return Ok(()) };
        let from = format!("from {}", probe.host);
        series.doubts = series.doubts.into_iter().map(|doubt| doubt.of(from.as_str())).collect();
        bound(&mut series, probe, reading, &timed);
        if let Some(errors) = &series.own_errors_ms {
            emulator::note(&path, errors, |sample| sample.get(reading.metric).is_some())?;
        }
        match &mut self.series {
            Some(known) => known.append(series)?,
            None => self.series = Some(series),
        }
        Ok(())
    }

    /// A phase that claims are about. Requests that do not have it are not among its samples.
    fn read_phase(
        &mut self,
        metric: Metric,
        probe: &Probe,
        reading: &Inputs<'_>,
        gaps: &mut Gaps,
    ) -> Result<(), Error> {
        let mut answers = Answers::new(&[], metric);
        let path = reading.folder.file(&probe.file());
        let series = read_series_beside(&path, &Wanted::metric(metric), &mut |sample| answers.count(sample));
        // Then the claim says that there is none.
        if matches!(series, Err(recording::Error::Metric { .. })) {
            return Ok(());
        }
        let what = format!("{metric} of {} from {}", probe.side, probe.host);
        let Some(mut series) = gaps.tolerate(&what, series.map_err(Error::from))? else { return Ok(()) };
        bound(&mut series, probe, reading, &answers.take_timed());
        match self.phases.entry(metric) {
            Entry::Occupied(mut known) => known.get_mut().append(series)?,
            Entry::Vacant(place) => drop(place.insert(series)),
        }
        Ok(())
    }

    /// Adds the result of the side, and returns its outages.
    fn finish(mut self, found: &mut Findings) -> Result<Option<Outages>, Error> {
        let side = &self.probes[0].side;
        if let Some(series) = self.series {
            let header = series.header.as_ref();
            found.start = found.start.take().or_else(|| header?.start.clone());
            let hosts: Vec<&str> = self.probes.iter().map(|probe| probe.host.as_str()).collect();
            let conditions = header.into_iter().flat_map(|header| &header.conditions);
            let how: Vec<String> = conditions
                .filter(|(name, _)| *name != "url")
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            found.conditions.push((side.clone(), format!("{} from {}", self.probes[0].url, some(&hosts))));
            found.conditions.push((format!("{side}, how"), how.join(", ")));
            let weak = series.doubts.iter().filter(|doubt| !doubt.invalidates()).cloned();
            found.doubts.extend(weak.map(|doubt| doubt.of(side.as_str())));
            let input = SideInput { label: side.clone(), ..SideInput::try_from(series)? };
            self.evidence.samples("request", Arc::clone(&input.distribution), input.without_error.clone());
            found.sides.push(input);
        }
        for (metric, series) in self.phases {
            let input = SideInput::try_from(series)?;
            self.evidence.samples(metric.name(), input.distribution, input.without_error);
        }
        found.evidence.push((side.clone(), self.evidence));
        Ok(Outages::new(side, self.outages))
    }
}

/// How much of each sample may be the emulator's own error.
fn bound(series: &mut Series, probe: &Probe, reading: &Inputs<'_>, timed: &Timed) {
    let started = series.end.as_ref().and_then(|end| end.started_monotonic_ns);
    series.own_errors_ms = reading.emulator.errors(reading.layout, &probe.host, timed, started);
}

/// Phases that claims about a side are about.
fn phases(claims: &[Claim], side: &str) -> BTreeSet<Metric> {
    let about_it = claims.iter().filter(|claim| claim.is_about(side));
    let asked = about_it.filter_map(|claim| match claim.subject.query() {
        Query::Samples { of, .. } if claim.subject.source() == SOURCE => Metric::from_name(of),
        _ => None,
    });
    asked.collect()
}

/// Labels that claims are about; their values are counted.
fn labels(claims: &[Claim]) -> Vec<String> {
    let asked = claims.iter().filter_map(|claim| match claim.subject.query() {
        Query::Share { label, .. } if claim.subject.source() == SOURCE => Some(label.clone()),
        _ => None,
    });
    let mut labels: Vec<String> = asked.collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// The table of outages.
fn figures(outages: &[Outages]) -> Figures {
    let columns = [
        Column::text("longest outage"),
        Column::number("hosts"),
        Column::number("median host"),
        Column::number("worst host"),
        Column::text(""),
    ];
    let mut table = Shown::new("Longest time without an answer", columns);
    for one in outages {
        let worst = one.hosts.iter().find(|host| host.longest_s >= one.max_s);
        let worst = worst.map(|host| format!("{} from {} on", host.host, time(host.at_s)));
        let [median, max] = [one.p50_s, one.max_s].map(time);
        let hosts = count(one.hosts.len() as u64);
        table = table.row([one.side.clone(), hosts, median, max, worst.unwrap_or_default()]);
    }
    Figures::new("Outages", "").table(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_may_be_about_a_phase() {
        let of = |name: &str| match subject(name)?.ok()?.query() {
            Query::Samples { of, .. } => Some(*of),
            _ => None,
        };
        assert_eq!(of("first_interim.p50"), Some("first_interim"));
        assert_eq!(of("connect.max"), Some("connect"));
        assert_eq!(of("request.p99"), Some("request"));
        assert_eq!(of("handshake.p50"), None);
        assert_eq!(of("connect.q3"), None);
    }
}
