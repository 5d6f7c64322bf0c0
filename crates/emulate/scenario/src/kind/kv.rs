//! `[[kv]]`: writers and readers of a key-value store, and the staleness of each read.
//!
//! They are open loops of `longhaul probe`, which records the version in each response.

use std::{num::NonZero, time::Duration};

use claim::{Fold, Measure, Number, Query, Source, Statistic, Subject, Tempo, Unit};
use serde::Deserialize;
use toml::Spanned;
use units::{Bytes, Frequency};
use world::Diagnostic;

pub(crate) use self::read::read;
use crate::{
    check::Check,
    folder::{Folder, words},
    measurement::{Measures, Task},
    program::Job,
};

mod join;
mod read;

pub(crate) const SOURCE: Source = Source::new("kv");

pub(crate) const NAMES: &str =
    "kv.staleness. or kv.latency. with mean, max or a percentile, kv.errors, kv.lost";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub side: Spanned<String>,
    /// Each through the data centre on the same host.
    pub writers: Spanned<Vec<Spanned<String>>>,
    pub readers: Spanned<Vec<Spanned<String>>>,
    pub store: Spanned<String>,
    pub token: Spanned<String>,
    #[serde(default = "default_port")]
    pub port: NonZero<u16>,
    #[serde(default = "default_keys")]
    pub keys: Spanned<u32>,
    #[serde(default)]
    pub fill: bool,
    #[serde(default = "default_zipf")]
    pub zipf: Spanned<f64>,
    #[serde(default = "default_write_rate")]
    pub write_rate: Frequency,
    #[serde(default = "default_read_rate")]
    pub read_rate: Frequency,
    #[serde(default = "crate::measurement::default_duration", with = "units::duration")]
    pub duration: Duration,
    pub after: Option<Spanned<String>>,
}

fn default_port() -> NonZero<u16> {
    NonZero::new(4490).expect("4490 is not 0")
}

fn default_keys() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}

fn default_zipf() -> Spanned<f64> {
    Spanned::new(0..0, 0.0)
}

fn default_write_rate() -> Frequency {
    "1/s".parse().expect("this is a rate")
}

fn default_read_rate() -> Frequency {
    "10/s".parse().expect("this is a rate")
}

/// The role of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Writes all keys before the others begin.
    First,
    /// Writes.
    Writer,
    /// Reads.
    Reader,
    /// Reads all keys when the others have ended.
    Last,
}

/// The requests of one host.
#[derive(Debug, Clone)]
pub struct Kv {
    /// The side in claims, and the prefix of its keys.
    pub name: String,
    /// The first and the last step have separate names, because other measurements may wait for the
    /// side.
    pub side: String,
    /// The role of the host.
    pub role: Role,
    /// The host.
    pub host: String,
    token: String,
    port: u16,
    /// Number of keys.
    pub keys: u32,
    zipf: f64,
    /// Request rate of this host.
    pub rate: Frequency,
    /// Duration of the requests.
    pub duration: Duration,
    seed: u64,
    /// The side whose measurements must end before this measurement begins.
    pub after: Option<Spanned<String>>,
}

pub(crate) fn check(check: &Check<'_>, tables: &[Table]) -> Result<Vec<Kv>, Diagnostic> {
    let mut checked: Vec<Kv> = Vec::new();
    for table in tables {
        let mistake = |span, message: String| Err(check.document.mistake(span, message));
        let side = check.side(&table.side)?;
        check.lasts(table.duration, &table.side)?;
        if checked.iter().any(|other| other.name == side) {
            let message = "another [[kv]] measures this side; give each a different side".to_owned();
            return mistake(table.side.span(), message);
        }
        if !(1..=MOST_KEYS).contains(table.keys.get_ref()) {
            return mistake(table.keys.span(), format!("expected 1 to {MOST_KEYS} keys"));
        }
        if !(0.0..=10.0).contains(table.zipf.get_ref()) {
            return mistake(table.zipf.span(), "expected an exponent from 0, all alike, to 10".to_owned());
        }
        let is_plain = |byte: u8| byte.is_ascii_graphic();
        if table.token.get_ref().is_empty() || !table.token.get_ref().bytes().all(is_plain) {
            let message = "expected a token: letters, digits and signs, without spaces".to_owned();
            return mistake(table.token.span(), message);
        }
        check.host(&table.store)?;
        let name = |host: usize| check.layout.hosts[host].name.clone();
        let mut parts = Vec::new();
        for (role, list) in [(Role::Writer, &table.writers), (Role::Reader, &table.readers)] {
            for (host, span) in check.hosts(list)? {
                if parts.contains(&(role, name(host))) {
                    return mistake(span, format!("\"{}\" is named twice", name(host)));
                }
                parts.push((role, name(host)));
            }
        }
        if table.fill
            && let Some((_, writer)) = parts.first().cloned()
        {
            parts.insert(0, (Role::First, writer));
        }
        parts.push((Role::Last, table.store.get_ref().clone()));
        let first = format!("{side}.first");
        let begin = if table.fill {
            Some(Spanned::new(table.side.span(), first.clone()))
        } else {
            table.after.clone()
        };
        for (role, host) in parts {
            let (step, after) = match role {
                Role::Last => (format!("{side}.last"), Some(table.side.clone())),
                Role::First => (first.clone(), table.after.clone()),
                Role::Writer | Role::Reader => (side.clone(), begin.clone()),
            };
            checked.push(Kv {
                name: side.clone(),
                side: step,
                role,
                host,
                token: table.token.get_ref().clone(),
                port: table.port.get(),
                keys: *table.keys.get_ref(),
                zipf: *table.zipf.get_ref(),
                rate: if role == Role::Writer { table.write_rate } else { table.read_rate },
                duration: if matches!(role, Role::First | Role::Last) { LAST } else { table.duration },
                // Probes use the first seeds.
                seed: check.probe_seed(SEEDS_FROM + checked.len()),
                after,
            });
        }
    }
    Ok(checked)
}

impl Kv {
    pub(crate) fn file(&self) -> String {
        let role = match self.role {
            Role::First => "first",
            Role::Writer => "writes",
            Role::Reader => "reads",
            Role::Last => "last",
        };
        format!("kv-{}-{role}-{}.jsonl", self.name, self.host)
    }

    /// Requests that cover all keys, when each draws a random key: a key is missed with probability
    /// e^-20.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 27 000")]
    fn requests_of_all(&self) -> u64 {
        let keys = f64::from(self.keys);
        if self.keys == 1 { 1 } else { (keys * (keys.ln() + 20.0)).ceil() as u64 }
    }
}

impl Measures for Kv {
    fn side(&self) -> &str {
        &self.side
    }

    fn hosts(&self) -> Vec<&str> {
        vec![&self.host]
    }

    fn after(&self) -> Option<&Spanned<String>> {
        self.after.as_ref()
    }

    fn lasts(&self) -> Duration {
        self.duration
    }

    fn task(&self, folder: &Folder<'_>, _: Duration, log_limit: Bytes) -> Task {
        let url = format!("http://127.0.0.1:{}/{}-{{}}?urlencoded=true", self.port, self.name);
        let mut command = words(&["longhaul", "probe", &url, "--quiet", "--label", &self.name]);
        command.extend(words(&["--output", &folder.file(&self.file()).to_string_lossy()]));
        command.extend(words(&["--header", &format!("Authorization: Bearer {}", self.token)]));
        command.extend(words(&["--record", "kv-version", "--record", "kv-source", "--record", "kv-age"]));
        let is_of_all = matches!(self.role, Role::First | Role::Last);
        let zipf = if is_of_all { 0.0 } else { self.zipf };
        command.extend(words(&["--objects", &self.keys.to_string(), "--zipf", &zipf.to_string()]));
        command.extend(words(&["--connections", "reuse", "--seed", &self.seed.to_string()]));
        let (rate, duration) = (self.rate.to_string(), units::duration::show(self.duration));
        command.extend(match self.role {
            Role::First | Role::Last => {
                words(&["--concurrency", "1", "--count", &self.requests_of_all().to_string()])
            }
            Role::Reader | Role::Writer => {
                words(&["--rate", &rate, "--arrival", "poisson", "--duration", &duration])
            }
        });
        if matches!(self.role, Role::First | Role::Writer) {
            command.extend(words(&["--method", "PUT", "--body", VALUE]));
        }
        let log = folder.log(self.file().trim_end_matches(".jsonl"));
        let job = Job { host: self.host.clone(), command, log, log_limit, result: None };
        let after = self.after.as_ref().map(|after| after.get_ref().clone());
        Task { after, ..Task::ours(&self.side, job) }
    }
}

pub(crate) fn subject(name: &str) -> Option<Result<Subject, String>> {
    if let Some(subject) = Subject::of_table(SOURCE, &NUMBERS, name) {
        return Some(Ok(subject));
    }
    let (of, statistic) = name.strip_prefix("kv.")?.split_once('.')?;
    let of = [STALENESS, LATENCY].into_iter().find(|known| *known == of)?;
    let query = Query::Samples { of, measure: Measure::of_samples(Statistic::parse(statistic)?) };
    let tempo = if of == LATENCY { Tempo::Faster } else { Tempo::Shorter };
    let subject = Subject::new(SOURCE, name, query, Unit::Time).tempo(tempo);
    Some(Ok(subject.without("no read of SIDE succeeded")))
}

const NUMBERS: [Number; 2] = [number("kv.errors", &["json.errors"]), number("kv.lost", &["json.lost"])];

const fn number(name: &'static str, paths: &'static [&'static str]) -> Number {
    Number { name, paths, fold: Fold::First, unit: Unit::Number, tempo: Tempo::Shorter, without: "" }
}

const STALENESS: &str = "staleness";
const LATENCY: &str = "latency";

/// Reading all keys takes about 27 000 requests.
const MOST_KEYS: u32 = 1000;

/// Upper bound of the first writes or the last reads, for the progress display.
const LAST: Duration = Duration::from_secs(1);

const SEEDS_FROM: usize = 100_000;

/// 64 bytes: a typical session or flag.
const VALUE: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_about_distributions_and_counts() {
        for name in ["kv.staleness.p50", "kv.staleness.max", "kv.latency.p99.9", "kv.errors", "kv.lost"] {
            assert_eq!(subject(name).unwrap().unwrap().to_string(), name);
        }
        for name in ["kv.staleness", "kv.age.p50", "kv.latency.p100", "kv.", "staleness.p50"] {
            assert!(subject(name).is_none(), "{name}");
        }
    }
}
