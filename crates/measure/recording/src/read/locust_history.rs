//! Reads Locust's history (`locust --csv NAME`, the file `NAME_stats_history.csv`): a row a second
//! for all requests, or with `--csv-full-history` for each name, with counts so far and percentiles
//! of the ten seconds before.
//!
//! Of each ten seconds one row is read, so the events of a window count once.

use std::collections::BTreeMap;

use super::{
    Frame, Input, Labels, Options,
    locust::failed_among,
    summary::{PercentileSummary, failures, latency_only},
    table::{Row, Table},
};
use crate::{Counts, Error, Metric, Sink, error::counted};

pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"Timestamp,User Count,Type,Name,Requests/s,")
}

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut table = Table::open(input, b',', NAMES)?;
    let mut sums = Windows::default();
    let mut named: BTreeMap<String, Windows> = BTreeMap::new();
    while let Some(row) = table.next()? {
        let second = Second::of(&table, &row)?;
        match table.text(&row, NAME).unwrap_or_default() {
            "Aggregated" | "Total" if table.text(&row, TYPE).is_none() => sums.take(second),
            _ if options.labels == Labels::None => {}
            name if named.len() < MOST_NAMES || named.contains_key(name) => {
                named.entry(name.to_owned()).or_default().take(second);
            }
            _ => {
                let found = format!("more than {MOST_NAMES} names");
                let place = table.place(&row, NAME);
                return Err(Error::Number { place, found, expected: "rows of some names of requests" });
            }
        }
    }
    latency_only(options.metric, "Locust's history", table.begin())?;
    sink.metric(Metric::Latency);
    let all: Vec<(Option<String>, Windows)> = match named.is_empty() {
        true => vec![(None, sums)],
        false => named.into_iter().map(|(name, windows)| (Some(name), windows)).collect(),
    };
    let (mut failed, mut missing, mut windows) = (0_u64, 0_u64, 0);
    for (name, mut of_name) in all {
        of_name.end();
        windows += of_name.counts.len() as u64;
        (failed, missing) = (failed.saturating_add(of_name.failed), missing.saturating_add(of_name.missing));
        for counts in of_name.counts {
            sink.counts(&Counts { tag: name.clone(), ..counts })?;
        }
    }
    let mut warnings = vec![format!(
        "Locust's history has no samples: percentiles of {} of ten seconds are known, and events between two are counted at the \
         upper one.",
        counted(windows, "window")
    )];
    if missing > 0 {
        warnings.push(format!("{} without percentiles left out.", counted(missing, "request")));
    }
    warnings.extend(failed_among(failed));
    failures([("failed", failed)], sink, &mut warnings)?;
    warnings.append(&mut table.warnings);
    Ok(Frame { warnings, ..Frame::default() })
}

struct Second {
    /// Seconds since 1970.
    at_s: u64,
    total: u64,
    failed: u64,
    /// Percent and milliseconds; empty where the row has "N/A".
    percentiles: Vec<(f64, f64)>,
    slowest_ms: f64,
}

impl Second {
    fn of(table: &Table<'_, COLUMNS>, row: &Row) -> Result<Self, Error> {
        let count = |column| table.number(row, column, "a whole number", |text| text.parse::<u64>().ok());
        let milliseconds = |column| match table.text(row, column) {
            None | Some("N/A") => Ok(None),
            _ => {
                let parse = |text: &str| text.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms >= 0.0);
                table.number(row, column, "a number of milliseconds, or N/A", parse)
            }
        };
        let mut percentiles = Vec::new();
        for (column, percent) in (FIRST_PERCENTILE..).zip(PERCENTS) {
            percentiles.extend(milliseconds(column)?.map(|ms| (percent, ms)));
        }
        let slowest_ms = milliseconds(SLOWEST)?.unwrap_or(0.0);
        // A window without requests has zeros.
        if slowest_ms == 0.0 {
            percentiles.clear();
        }
        Ok(Self {
            at_s: count(TIME)?.unwrap_or(0),
            total: count(REQUESTS)?.unwrap_or(0),
            failed: count(FAILURES)?.unwrap_or(0),
            percentiles,
            slowest_ms,
        })
    }
}

#[derive(Default)]
struct Windows {
    /// Where the last window ended, and the requests and failures until then.
    last: Option<(u64, u64, u64)>,
    pending: Option<Second>,
    counts: Vec<Counts>,
    failed: u64,
    missing: u64,
}

impl Windows {
    fn take(&mut self, second: Second) {
        let (begin_s, ..) = *self.last.get_or_insert((second.at_s, 0, 0));
        let is_whole = second.at_s >= begin_s.saturating_add(WINDOW_S) && !second.percentiles.is_empty();
        self.pending = Some(second);
        if is_whole {
            self.end();
        }
    }

    fn end(&mut self) {
        let (Some((begin_s, total, failed)), Some(second)) = (self.last, self.pending.take()) else { return };
        // Statistics may be set back.
        let since = |before: u64, now: u64| now.checked_sub(before).unwrap_or(now);
        let (events, of_failed) = (since(total, second.total), since(failed, second.failed));
        self.last = Some((second.at_s, second.total, second.failed));
        self.failed = self.failed.saturating_add(of_failed.min(events));
        let answered = events - of_failed.min(events);
        let limited = |(percent, ms): (f64, f64)| (percent, ms.min(second.slowest_ms));
        let summary = PercentileSummary {
            events: answered,
            slowest_ms: Some(second.slowest_ms),
            percentiles: second.percentiles.into_iter().map(limited).collect(),
            ..PercentileSummary::default()
        };
        if summary.percentiles.is_empty() {
            self.missing = self.missing.saturating_add(answered);
        } else if let Some((counts, _)) = summary.counts("")
            && self.counts.len() < MOST_WINDOWS
        {
            let length_s = second.at_s.saturating_sub(begin_s);
            let times = (Some(begin_s as f64), Some(length_s as f64));
            self.counts.push(Counts { started_s: times.0, length_s: times.1, ..counts });
        }
    }
}

const NAMES: [&str; COLUMNS] = [
    "Timestamp",
    "Type",
    "Name",
    "50%",
    "66%",
    "75%",
    "80%",
    "90%",
    "95%",
    "98%",
    "99%",
    "99.9%",
    "99.99%",
    "100%",
    "Total Request Count",
    "Total Failure Count",
];
const COLUMNS: usize = 16;
const TIME: usize = 0;
const TYPE: usize = 1;
const NAME: usize = 2;
const FIRST_PERCENTILE: usize = 3;
const PERCENTS: [f64; 10] = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99];
const SLOWEST: usize = 13;
const REQUESTS: usize = 14;
const FAILURES: usize = 15;

/// CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW of Locust.
const WINDOW_S: u64 = 10;

const MOST_NAMES: usize = 10_000;
const MOST_WINDOWS: usize = 300_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Format,
        read::json::testing::{read, read_with},
    };

    const HISTORY: &str = "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%,Total Request Count,Total Failure Count,Total Median Response Time,Total Average Response Time,Total Min Response Time,Total Max Response Time,Total Average Content Size
1741944400,0,,Aggregated,0.0,0.0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,0,0,0,0.0,0,0,0
1741944401,6,GET,/a,0.0,0.0,0,0,0,0,0,0,0,0,0,0,0,10,0,5,19.7,1.0,207.4,6349.1
1741944401,6,,Aggregated,0.0,0.0,0,0,0,0,0,0,0,0,0,0,0,10,0,5,19.7,1.0,207.4,6349.1
1741944405,6,,Aggregated,9.0,0.0,5,5,6,6,8,9,9,9,9,9,9,50,0,5,19.7,1.0,207.4,6349.1
1741944410,6,GET,/a,9.0,0.0,10,10,10,10,20,20,20,20,20,20,20,101,1,5,19.7,1.0,207.4,6349.1
1741944410,6,,Aggregated,9.0,0.0,10,10,10,10,20,20,20,20,20,20,20,101,1,5,19.7,1.0,207.4,6349.1
1741944414,6,,Aggregated,9.0,0.0,30,30,30,30,30,30,30,30,30,30,30,121,1,5,19.7,1.0,207.4,6349.1
";

    #[test]
    fn a_window_of_ten_seconds_counts_once() {
        let kept = read_with(HISTORY, &Options::default()).unwrap();
        assert_eq!(kept.format, Some(Format::LocustHistory));
        // Of 100 events all up to the 80th percentile took 10 ms: the ranks to ceil(0.8 x 99) = 80.
        let windows: Vec<_> =
            kept.counts.iter().map(|counts| (counts.started_s, counts.length_s, counts.events())).collect();
        assert_eq!(
            windows,
            [(Some(1_741_944_400.0), Some(10.0), 100), (Some(1_741_944_410.0), Some(4.0), 20)]
        );
        assert_eq!(kept.points(), [(10.0, 81), (20.0, 19)]);
        assert_eq!((kept.counts[1].buckets.len(), kept.samples.len()), (1, 1));
        let kept = read(HISTORY).unwrap();
        let tags: Vec<_> =
            kept.counts.iter().map(|counts| (counts.tag.as_deref(), counts.events())).collect();
        assert_eq!(tags, [(Some("/a"), 100)]);
    }

    #[test]
    fn requests_without_percentiles_are_named() {
        let until = HISTORY.find("1741944405").unwrap();
        let kept = read_with(&HISTORY[..until], &Options::default()).unwrap();
        assert_eq!(
            (kept.counts.len(), kept.warnings[1].as_str()),
            (0, "10 requests without percentiles left out.")
        );
        let said = read(HISTORY.replace(",9,9,9,9,9,9,50", ",9,9,slow,9,9,9,50")).unwrap_err();
        assert!(said.contains("found \"slow\"; expected a number of milliseconds, or N/A"), "{said}");
    }
}
