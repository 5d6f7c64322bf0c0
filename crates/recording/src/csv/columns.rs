//! Which columns of a CSV file count, by the names in its first row.

use std::io::Read;

use super::{fields, number};
use crate::{Error, Metric, detect::EXPECTED, lines::Lines};

/// What the first row says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub delimiter: u8,
    /// How many columns each row must have.
    pub count: usize,
    /// The column of the metric, from 0.
    pub value: usize,
    pub metric: Metric,
    pub unit: Unit,
    /// The column of start times and its unit.
    pub started: Option<(usize, Unit)>,
    /// The column that says why an event failed.
    pub error: Option<usize>,
    /// False for a lone column of numbers, whose first row is data.
    pub has_header: bool,
    pub warnings: Vec<String>,
}

/// The unit of a column, from the end of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Ns,
    Us,
    Ms,
    S,
}

impl Unit {
    /// Splits "latency_ms" into "latency" and milliseconds.
    fn of(name: &str) -> Option<(&str, Self)> {
        let units = [("_ns", Self::Ns), ("_us", Self::Us), ("_ms", Self::Ms), ("_s", Self::S)];
        units.into_iter().find_map(|(suffix, unit)| Some((name.strip_suffix(suffix)?, unit)))
    }

    /// The value in milliseconds; `None` above 1e15 ms. Divides where it can: 1e3 and 1e6 are exact, their inverses are
    /// not.
    pub(super) fn milliseconds(self, value: f64) -> Option<f64> {
        let milliseconds = match self {
            Self::Ns => value / 1e6,
            Self::Us => value / 1e3,
            Self::Ms => value,
            Self::S => value * 1e3,
        };
        (milliseconds <= MOST_MS).then_some(milliseconds)
    }

    /// What a cell must be, for messages.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Ns => "a number of nanoseconds from 0 to 1e21",
            Self::Us => "a number of microseconds from 0 to 1e18",
            Self::Ms => "a number of milliseconds from 0 to 1e15",
            Self::S => "a number of seconds from 0 to 1e12",
        }
    }
}

impl Columns {
    /// Finds the columns by the first row, which is text. `wanted` must be there if it is given; otherwise it is
    /// `latency`, or `ttfb`, or the only metric that there is.
    pub(super) fn find<R: Read>(
        first: &[u8],
        lines: &Lines<R>,
        wanted: Option<Metric>,
    ) -> Result<Self, Error> {
        let delimiter = delimiter(first);
        let names: Vec<String> = fields(first, delimiter)
            .map(|(_, name)| String::from_utf8_lossy(name).trim().to_ascii_lowercase())
            .collect();
        if names.iter().all(|name| looks_like_data(name)) {
            return Self::without_header(&names, lines, wanted);
        }
        let (value, metric, unit, warning) = choose(&names, lines, wanted)?;
        let started = names.iter().enumerate().find_map(|(index, name)| {
            Unit::of(name).filter(|(stem, _)| *stem == STARTED).map(|(_, unit)| (index, unit))
        });
        Ok(Self {
            delimiter,
            count: names.len(),
            value,
            metric,
            unit,
            started,
            error: names.iter().position(|name| name == "error"),
            has_header: true,
            warnings: warning.into_iter().collect(),
        })
    }

    fn without_header<R: Read>(
        names: &[String],
        lines: &Lines<R>,
        wanted: Option<Metric>,
    ) -> Result<Self, Error> {
        if names.len() > 1 {
            let found = format!("{} columns of numbers and no header row", names.len());
            return Err(Error::NotARecording { place: lines.place(1, 1), found, expected: EXPECTED });
        }
        let metric = wanted.unwrap_or(Metric::Latency);
        let warning =
            format!("There is no header row; the numbers are taken for the {metric} in milliseconds.");
        Ok(Self {
            delimiter: b',',
            count: 1,
            value: 0,
            metric,
            unit: Unit::Ms,
            started: None,
            error: None,
            has_header: false,
            warnings: vec![warning],
        })
    }
}

/// The first of tab, comma and semicolon that the first row has: names contain none of them.
fn delimiter(first: &[u8]) -> u8 {
    [b'\t', b',', b';']
        .into_iter()
        .find(|&delimiter| memchr::memchr(delimiter, first).is_some())
        .unwrap_or(b',')
}

/// Numbers, and what wrongly stands in the place of numbers, are no names.
fn looks_like_data(name: &str) -> bool {
    let unsigned = name.trim_start_matches(['-', '+']);
    number::parse(unsigned.as_bytes()).is_some() || name.is_empty() || unsigned.parse::<f64>().is_ok()
}

type Choice = (usize, Metric, Unit, Option<String>);

/// The column of the metric.
fn choose<R: Read>(names: &[String], lines: &Lines<R>, wanted: Option<Metric>) -> Result<Choice, Error> {
    let measured: Vec<(usize, &str, Unit)> = names
        .iter()
        .enumerate()
        .filter_map(|(index, name)| Unit::of(name).map(|(stem, unit)| (index, stem, unit)))
        .filter(|(_, stem, _)| *stem != STARTED)
        .collect();
    let metrics: Vec<(usize, Metric, Unit)> = measured
        .iter()
        .filter_map(|&(index, stem, unit)| Metric::from_name(stem).map(|metric| (index, metric, unit)))
        .collect();
    let of = |metric| metrics.iter().find(|(_, found, _)| *found == metric);
    let chosen = match wanted {
        Some(metric) => of(metric),
        None => of(Metric::Latency).or_else(|| of(Metric::Ttfb)).or(match metrics.as_slice() {
            [only] => Some(only),
            _ => None,
        }),
    };
    if let Some(&(index, metric, unit)) = chosen {
        if metrics.iter().filter(|(_, found, _)| *found == metric).count() > 1 {
            return Err(undecided(names, lines, format!("one column of {metric}")));
        }
        return Ok((index, metric, unit, None));
    }
    if let ([(index, _, unit)], [], None | Some(Metric::Latency)) =
        (measured.as_slice(), metrics.as_slice(), wanted)
    {
        let warning = format!("The column \"{}\" is taken for the latency.", names[*index]);
        return Ok((*index, Metric::Latency, *unit, Some(warning)));
    }
    let example = wanted.unwrap_or(if metrics.is_empty() { Metric::Latency } else { metrics[0].1 });
    let rule =
        if metrics.is_empty() || wanted.is_some() { "a column" } else { "a choice of metric, or one column" };
    Err(undecided(names, lines, format!("{rule} such as {example}_ms (or _us, _s, _ns)")))
}

fn undecided<R: Read>(names: &[String], lines: &Lines<R>, expected: String) -> Error {
    let noun = if names.len() == 1 { "the column" } else { "the columns" };
    let mut listed: Vec<String> =
        names.iter().take(SHOWN).map(|name| super::quoted(name.as_bytes())).collect();
    if names.len() > SHOWN {
        listed.push(format!("and {} more", names.len() - SHOWN));
    }
    Error::Metric { place: lines.place(1, 1), found: format!("{noun} {}", listed.join(", ")), expected }
}

/// The stem of the column of start times.
const STARTED: &str = "started";

/// How many columns a message lists.
const SHOWN: usize = 20;

/// 30 000 years, of latency or since 1970: more is a unit mistaken, or garbage.
const MOST_MS: f64 = 1e15;
