//! `[[probe]]`: individually recorded requests from one or several hosts.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use claim::{Fold, Measure, Query, Source, Statistic, Subject, Tempo, Unit};
use probe::{
    Catalogue, Family,
    client::{Field, Protocol, Trust},
    load::{Arrival, Config, Connections, Pace},
};
use recording::Metric;
use serde::Deserialize;
use toml::Spanned;
use units::{Bytes, Frequency};
use world::Diagnostic;

pub use self::outage::{Outage, Outages};
pub(crate) use self::read::read;
use crate::{
    check::Check,
    folder::{Folder, words},
    measurement::{Measures, Task},
    program::Job,
};

mod answers;
mod outage;
mod read;

pub(crate) const SOURCE: Source = Source::new("probe");

pub(crate) const NAMES: &str = "request., experienced. or outage. with mean, max or a percentile such as p99.9, \
     a phase such as connect. or first_interim. with the same, request.share[label=value], experienced.faster_than. with a side, connections.fallback";

/// A scenario's probes model independent visitors; `longhaul probe` measures one server, which
/// equal intervals sample best.
const ARRIVAL: Arrival = Arrival::Poisson;

/// Absent keys have the defaults of `longhaul probe`, except [`ARRIVAL`] and the duration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub side: Spanned<String>,
    pub from: Spanned<Vec<Spanned<String>>>,
    pub url: Spanned<String>,
    pub rate: Option<Frequency>,
    pub concurrency: Option<Spanned<NonZeroUsize>>,
    #[serde(default = "crate::measurement::default_duration", with = "units::duration")]
    pub duration: Duration,
    pub arrival: Option<Arrival>,
    pub connections: Option<Connections>,
    pub objects: Option<Spanned<u32>>,
    pub zipf: Option<Spanned<f64>>,
    pub requests: Option<Spanned<NonZeroU32>>,
    pub protocol: Option<Protocol>,
    pub family: Option<Family>,
    #[serde(default)]
    pub insecure: bool,
    #[serde(default)]
    pub record: Vec<Field>,
    pub after: Option<Spanned<String>>,
}

impl Table {
    /// A number of objects needs a placeholder in the URL, and vice versa.
    fn check_objects(&self, check: &Check<'_>) -> Result<(), Diagnostic> {
        let has_place = self.url.get_ref().contains(Catalogue::PLACE);
        let wrong = |span, message: &str| Err(check.document.mistake(span, message.to_owned()));
        match (&self.objects, &self.zipf) {
            (Some(objects), _) if !has_place => {
                wrong(objects.span(), "the url has no {} for the number of an object")
            }
            (Some(objects), _) if !(1..=Catalogue::MOST).contains(objects.get_ref()) => {
                wrong(objects.span(), &format!("expected 1 to {} objects", Catalogue::MOST))
            }
            (_, Some(zipf)) if !(0.0..=10.0).contains(zipf.get_ref()) => {
                wrong(zipf.span(), "expected an exponent from 0, all alike, to 10")
            }
            (None, Some(zipf)) => {
                wrong(zipf.span(), "zipf is about objects: add objects, how many there are")
            }
            (None, _) if has_place => wrong(
                self.url.span(),
                "the url has a {} for the number of an object: add objects, how many there are",
            ),
            _ => Ok(()),
        }
    }

    fn config(&self, seed: u64) -> Config {
        let pace = match &self.concurrency {
            Some(concurrency) => Pace::Closed { concurrency: concurrency.get_ref().get() },
            None => Pace::Open {
                rate: self.rate.unwrap_or_else(Config::default_rate),
                arrival: self.arrival.unwrap_or(ARRIVAL),
            },
        };
        let zipf = self.zipf.as_ref().map_or(Catalogue::ZIPF, |zipf| *zipf.get_ref());
        let catalogue = self.objects.as_ref().map(|objects| Catalogue { objects: *objects.get_ref(), zipf });
        let mut config = Config { pace, duration: Some(self.duration), seed, catalogue, ..Config::default() };
        let requests = self.requests.as_ref().map_or(NonZeroU32::MIN, |requests| *requests.get_ref());
        config.set_connections(self.connections.unwrap_or(config.connections()), requests);
        config.client.record.clone_from(&self.record);
        let http = &mut config.client.http;
        http.protocol = self.protocol.unwrap_or(http.protocol);
        http.family = self.family.unwrap_or(http.family);
        if self.insecure {
            http.trust = Trust::Anyone;
        }
        config
    }
}

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
    /// Pace, client options and duration.
    pub config: Config,
    /// The side whose measurements must end before this measurement begins.
    pub after: Option<Spanned<String>>,
}

pub(crate) fn check(check: &Check<'_>, tables: &[Table]) -> Result<Vec<Probe>, Diagnostic> {
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
        probe.check_objects(check)?;
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
                after: probe.after.clone(),
            });
        }
    }
    Ok(checked)
}

impl Probe {
    pub(crate) fn arguments(&self) -> Vec<String> {
        let (config, http) = (&self.config, &self.config.client.http);
        let mut flags = match &config.pace {
            Pace::Open { rate, arrival } => {
                vec![("--rate", rate.to_string()), ("--arrival", arrival.name().to_owned())]
            }
            Pace::Replay(_) => Vec::new(),
            Pace::Closed { concurrency } => vec![("--concurrency", concurrency.to_string())],
        };
        flags.extend(config.duration.map(|duration| ("--duration", units::duration::show(duration))));
        flags.push(("--connections", config.connections().name().to_owned()));
        flags.extend(config.page.map(|requests| ("--requests", requests.to_string())));
        if let Some(Catalogue { objects, zipf }) = config.catalogue {
            flags.extend([("--objects", objects.to_string()), ("--zipf", zipf.to_string())]);
        }
        flags.push(("--protocol", http.protocol.name().to_owned()));
        flags.extend(config.client.record.iter().map(|field| ("--record", field.to_string())));
        flags.push(("--seed", config.seed.to_string()));
        let mut arguments: Vec<String> =
            flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect();
        arguments.extend(flag(http.family).map(str::to_owned));
        if http.trust == Trust::Anyone {
            arguments.push("--insecure".to_owned());
        }
        arguments
    }

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

    fn after(&self) -> Option<&Spanned<String>> {
        self.after.as_ref()
    }

    fn task(&self, folder: &Folder<'_>, _: Duration, log_limit: Bytes) -> Task {
        let mut command = words(&["longhaul", "probe", &self.url, "--quiet", "--label", &self.side]);
        command.extend(words(&["--output", &folder.file(&self.file()).to_string_lossy()]));
        command.extend(self.arguments());
        let log = folder.log(&format!("probe-{}-from-{}", self.side, self.host));
        let job = Job { host: self.host.clone(), command, log, log_limit, result: None };
        let after = self.after.as_ref().map(|after| after.get_ref().clone());
        Task { after, ..Task::ours(&self.side, job) }
    }
}

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

fn phase((metric, statistic): (&str, &str)) -> Option<(Metric, Statistic)> {
    Some((Metric::from_name(metric)?, Statistic::parse(statistic)?))
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
