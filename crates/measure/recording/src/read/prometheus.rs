//! Reads a histogram of Prometheus' text format.
//!
//! Of one scrape it is the events since the program started; of several, those between the first
//! and the last. Of several histograms the user must choose: `--column latency=NAME`, or
//! `NAME{label="value"}` for one set of labels.

use std::collections::BTreeMap;

use super::{
    Frame, Input, Options,
    column_mapping::{ColumnMapping, Field},
    lines::Lines,
    summary::{Bin, latency_only, mean, of_bins},
};
use crate::{Error, Metric, Place, Sink, Unit, error::counted};

mod line;

use line::{Kind, Line};

pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"# HELP ") || line.starts_with(b"# TYPE ") || line::is_bucket(line)
}

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let mut scrapes = Scrapes::default();
    while let Some(line) = lines.next()? {
        let (number, is_whole) = (line.number, line.terminated);
        let Ok(line) = Line::of(&String::from_utf8_lossy(line.text)) else {
            if !is_whole {
                break;
            }
            let found = "another line than a sample".to_owned();
            return Err(Error::Number { place: lines.place(number, 1), found, expected: A_SAMPLE });
        };
        if line.is_some_and(|line| !scrapes.take(line)) {
            let found = format!("more than {MOST_BUCKETS} buckets");
            let place = lines.place(number, 1);
            return Err(Error::Number { place, found, expected: "a scrape of fewer histograms" });
        }
    }
    let place = lines.place(1, 1);
    latency_only(options.metric, "a Prometheus histogram", place.clone())?;
    let chosen = scrapes.choose(options, &place)?;
    let mut warnings = Vec::new();
    let histogram = scrapes.sum(&chosen, &place, &mut warnings)?;
    sink.metric(Metric::Latency);
    histogram.hand_over(chosen.unit, scrapes.count(), &place, sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Default)]
struct Scrapes {
    /// By the text of the series without its bound.
    series: BTreeMap<String, Series>,
    buckets: usize,
    begun: u64,
}

#[derive(Default)]
struct Series {
    name: usize,
    /// By the bits of the bound, which order positive numbers.
    buckets: BTreeMap<u64, Change>,
    sum: Change,
}

#[derive(Default, Clone, Copy)]
struct Change {
    first: f64,
    last: f64,
    seen: u64,
}

impl Change {
    fn take(&mut self, value: f64, scrape: &mut u64) {
        self.seen += 1;
        *scrape = (*scrape).max(self.seen);
        // A series that appears later began at 0.
        if self.seen == 1 && *scrape <= 1 {
            self.first = value;
        }
        self.last = value;
    }

    /// Counts from 0 in a file of one scrape, and after a reset of the counter.
    fn added(self, scrapes: u64, is_anew: bool) -> f64 {
        if scrapes <= 1 || is_anew { self.last } else { self.last - self.first }
    }
}

struct Chosen {
    series: Vec<String>,
    unit: Unit,
}

impl Scrapes {
    fn count(&self) -> u64 {
        self.begun
    }

    /// Returns false if there is no room for the line.
    fn take(&mut self, line: Line) -> bool {
        if matches!(line.kind, Kind::Sum) && !self.series.contains_key(&line.series) {
            // Of a summary, or in front of the buckets, where no program writes it.
            return true;
        }
        let series = self.series.entry(line.series).or_default();
        series.name = line.name;
        match line.kind {
            Kind::Sum => series.sum.take(line.value, &mut self.begun),
            Kind::Bucket(bound) => {
                let before = series.buckets.len();
                series.buckets.entry(bound.to_bits()).or_default().take(line.value, &mut self.begun);
                self.buckets += series.buckets.len() - before;
            }
        }
        self.buckets <= MOST_BUCKETS
    }

    fn choose(&self, options: &Options, place: &Place) -> Result<Chosen, Error> {
        if self.series.is_empty() {
            let found = "this is Prometheus text without a histogram".to_owned();
            return Err(Error::Empty { place: place.clone(), found, expected: A_HISTOGRAM });
        }
        let is_latency = |mapping: &&ColumnMapping| mapping.field == Field::Metric(Metric::Latency);
        let mapping = options.columns.iter().find(is_latency);
        let is_meant = |(text, series): &(&String, &Series)| {
            mapping.is_none_or(|mapping| {
                [text.as_str(), &text[..series.name]]
                    .iter()
                    .any(|text| text.eq_ignore_ascii_case(&mapping.header))
            })
        };
        let meant: Vec<_> = self.series.iter().filter(is_meant).collect();
        let is_one_name = meant.windows(2).all(|pair| {
            let [one, other] = [pair[0], pair[1]].map(|(text, series)| &text[..series.name]);
            one == other
        });
        let ([first, ..], true) = (&meant[..], is_one_name && (meant.len() == 1 || mapping.is_some())) else {
            let mut listed: Vec<&str> = self.series.keys().map(String::as_str).take(SHOWN).collect();
            let more = format!("and {} more", self.series.len().saturating_sub(SHOWN));
            if self.series.len() > SHOWN {
                listed.push(&more);
            }
            return Err(Error::Metric {
                place: place.clone(),
                found: format!("the histograms {}", listed.join(", ")),
                expected: "--column latency=NAME with the name of one, or with its labels where only some of that name count"
                    .to_owned(),
            });
        };
        let name = &first.0[..first.1.name];
        let unit = mapping.and_then(|mapping| mapping.unit).or_else(|| unit_of(name)).or(options.unit);
        let Some(unit) = unit else {
            let expected = "the unit of its bounds (--unit s, ms, us or ns)".to_owned();
            return Err(Error::Metric {
                place: place.clone(),
                found: format!("the histogram {name}"),
                expected,
            });
        };
        Ok(Chosen { series: meant.into_iter().map(|(text, _)| text.clone()).collect(), unit })
    }

    fn sum(&self, chosen: &Chosen, place: &Place, warnings: &mut Vec<String>) -> Result<Histogram, Error> {
        let (mut histogram, mut bounds) = (Histogram::default(), None);
        for series in chosen.series.iter().filter_map(|text| self.series.get(text)) {
            let own: Vec<u64> = series.buckets.keys().copied().collect();
            if bounds.get_or_insert_with(|| own.clone()) != &own {
                let found = "histograms of one name with different bounds".to_owned();
                return Err(Error::Number {
                    place: place.clone(),
                    found,
                    expected: "the same bounds in all",
                });
            }
            let is_anew = series.buckets.values().any(|change| change.last < change.first);
            if is_anew {
                warnings.push(
                    "The counts fall between the scrapes: the program was started anew, and only its events since then count."
                        .to_owned(),
                );
            }
            let mut below = 0.0;
            for (&bound, change) in &series.buckets {
                let upto = change.added(self.begun, is_anew);
                let count = whole(upto - below).ok_or_else(|| Error::Number {
                    place: place.clone(),
                    found: "counts that fall where the bounds rise".to_owned(),
                    expected: "for each bound, all events up to it",
                })?;
                let sum = histogram.counts.entry(bound).or_insert(0);
                *sum = sum.saturating_add(count);
                below = upto;
            }
            histogram.sum += series.sum.added(self.begun, is_anew);
        }
        if chosen.series.len() > 1 {
            warnings.push(format!("{} sets of labels are summed up.", chosen.series.len()));
        }
        Ok(histogram)
    }
}

#[derive(Default)]
struct Histogram {
    counts: BTreeMap<u64, u64>,
    sum: f64,
}

impl Histogram {
    fn hand_over(
        self,
        unit: Unit,
        scrapes: u64,
        place: &Place,
        sink: &mut dyn Sink,
        warnings: &mut Vec<String>,
    ) -> Result<(), Error> {
        let (mut bins, mut low_ms, mut beyond) = (Vec::new(), 0.0, 0);
        let refuse = |found: &str| {
            let (found, expected) = (found.to_owned(), "bounds that are times, and counts of events");
            Error::Number { place: place.clone(), found, expected }
        };
        for (bound, count) in self.counts {
            let bound = f64::from_bits(bound);
            if bound.is_infinite() {
                beyond = count;
                continue;
            }
            let high_ms = unit.milliseconds(bound).ok_or_else(|| refuse("a bound beyond 30 000 years"))?;
            bins.push(Bin { low_ms, high_ms, count });
            low_ms = high_ms;
        }
        bins.push(Bin { low_ms, high_ms: low_ms, count: beyond });
        let mut counts = of_bins(&bins).ok_or_else(|| refuse("more events than can be"))?;
        if counts.buckets.is_empty() {
            return Ok(());
        }
        let stated_ms = unit.milliseconds(self.sum / counts.events() as f64).filter(|ms| *ms > 0.0);
        let since =
            if scrapes > 1 { "between the first scrape and the last" } else { "since the program started" };
        warnings.push(format!(
            "A histogram has no samples: {} {since} are counted at the middles of their buckets.{}",
            counted(counts.events(), "event"),
            mean(&counts.buckets, stated_ms)
        ));
        if beyond > 0 {
            counts.relative_error = BEYOND;
            warnings.push(format!(
                "{} took longer than the last bound, {low_ms} ms: how long is unknown, and they are counted at it.",
                counted(beyond, "event")
            ));
        }
        sink.counts(&counts)
    }
}

fn unit_of(name: &str) -> Option<Unit> {
    let suffixes = [
        ("_milliseconds", Unit::Ms),
        ("_microseconds", Unit::Us),
        ("_nanoseconds", Unit::Ns),
        ("_seconds", Unit::S),
    ];
    let long = suffixes.into_iter().find(|(suffix, _)| name.ends_with(suffix)).map(|(_, unit)| unit);
    long.or_else(|| Unit::of(name).map(|(_, unit)| unit))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked, and limited to 2^53")]
fn whole(count: f64) -> Option<u64> {
    (0.0..9e15).contains(&count).then_some(count as u64)
}

const MOST_BUCKETS: usize = 200_000;

const SHOWN: usize = 20;

/// The error of values without an upper limit: callers divide by the remainder.
const BEYOND: f64 = 0.999;

const A_SAMPLE: &str = "a sample such as http_request_duration_seconds_bucket{le=\"0.5\"} 17";
const A_HISTOGRAM: &str = "lines such as http_request_duration_seconds_bucket{le=\"0.5\"} 17";

#[cfg(test)]
mod tests;
