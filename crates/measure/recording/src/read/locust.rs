//! Reads Locust's statistics (`locust --csv NAME`, the file `NAME_stats.csv`): the aggregated row
//! or, if labels are requested, the row of each name, with the name as its tag.
//!
//! Locust rounds the times behind the percentiles to two digits, and includes failures, also
//! statuses of 400 and more.

use super::{
    Frame, Input, Labels, Options,
    summary::{PercentileSummary, failures, latency_only},
    table::{Row, Table},
};
use crate::{Error, Metric, Sink, error::counted};

pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"Type,Name,Request Count,Failure Count,Median Response Time,")
}

pub(super) fn other_file(line: &[u8]) -> Option<&'static str> {
    let headers: [(&[u8], &str); 2] = [
        (b"Method,Name,Error,Occurrences", "Locust's list of failures"),
        (b"Count,Message,Traceback,Nodes", "Locust's list of exceptions"),
    ];
    headers.into_iter().find(|(header, _)| line.starts_with(header)).map(|(_, file)| file)
}

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut table = Table::open(input, b',', NAMES)?;
    let mut sums = None;
    let mut rows = Vec::new();
    while let Some(row) = table.next()? {
        match table.text(&row, NAME) {
            Some("Aggregated" | "Total") if table.text(&row, TYPE).is_none_or(|kind| kind == "None") => {
                sums = Some(row);
            }
            _ if rows.len() < MOST_ROWS => rows.push(row),
            _ => {
                let found = format!("more than {MOST_ROWS} rows");
                let place = table.place(&row, TYPE);
                return Err(Error::Number { place, found, expected: "a row for each name of a request" });
            }
        }
    }
    if options.labels == Labels::None || rows.is_empty() {
        rows = sums.map_or(rows, |sums| vec![sums]);
    }
    sink.metric(Metric::Latency);
    let (mut warnings, mut failed) = (Vec::new(), 0_u64);
    for row in &rows {
        latency_only(options.metric, SOURCE, table.place(row, NAME))?;
        failed = failed.saturating_add(hand_over(&table, row, rows.len() > 1, sink, &mut warnings)?);
    }
    warnings.extend(failed_among(failed));
    failures([("failed", failed)], sink, &mut warnings)?;
    warnings.append(&mut table.warnings);
    Ok(Frame { warnings, ..Frame::default() })
}

pub(super) fn failed_among(failed: u64) -> Option<String> {
    (failed > 0).then(|| {
        format!(
            "Locust counts responses with a status of 400 or more as failures, and all failures among its percentiles: {}.",
            counted(failed, "request")
        )
    })
}

/// Returns the number of failed requests.
fn hand_over(
    table: &Table<'_, COLUMNS>,
    row: &Row,
    is_tagged: bool,
    sink: &mut dyn Sink,
    warnings: &mut Vec<String>,
) -> Result<u64, Error> {
    let count = |column| {
        let count = table.number(row, column, "a count of requests", |text| text.parse::<u64>().ok());
        Ok::<_, Error>(count?.unwrap_or(0))
    };
    let milliseconds = |column| {
        let parse = |text: &str| text.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms >= 0.0);
        table.number(row, column, "a number of milliseconds", parse)
    };
    let (all, failed) = (count(REQUESTS)?, count(FAILURES)?);
    if all <= failed {
        return Ok(failed.min(all));
    }
    let (fastest_ms, slowest_ms) = (milliseconds(MIN)?, milliseconds(MAX)?);
    let mut percentiles = Vec::new();
    for (column, percent) in (FIRST_PERCENTILE..).zip(PERCENTS) {
        // Rounded, so that they may lie beyond the extremes.
        let limited = |ms: f64| ms.max(fastest_ms.unwrap_or(ms)).min(slowest_ms.unwrap_or(ms));
        if table.text(row, column) != Some("N/A") {
            percentiles.extend(milliseconds(column)?.map(|ms| (percent, limited(ms))));
        }
    }
    let mean_ms = milliseconds(MEAN)?;
    let points = PercentileSummary { events: all - failed, fastest_ms, slowest_ms, mean_ms, percentiles };
    let source = match table.text(row, NAME).filter(|_| is_tagged) {
        Some(name) => format!("Locust's row {name:?}"),
        None => SOURCE.to_owned(),
    };
    let place = table.place(row, FIRST_PERCENTILE);
    let (found, expected) = ("percentiles that fall".to_owned(), "values that rise");
    let (mut counts, said) = points.counts(&source).ok_or(Error::Number { place, found, expected })?;
    warnings.extend(said);
    counts.tag = table.text(row, NAME).filter(|_| is_tagged).map(str::to_owned);
    sink.counts(&counts)?;
    Ok(failed)
}

const NAMES: [&str; COLUMNS] = [
    "Type",
    "Name",
    "Request Count",
    "Failure Count",
    "Average Response Time",
    "Min Response Time",
    "Max Response Time",
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
];
const COLUMNS: usize = 17;
const TYPE: usize = 0;
const NAME: usize = 1;
const REQUESTS: usize = 2;
const FAILURES: usize = 3;
const MEAN: usize = 4;
const MIN: usize = 5;
const MAX: usize = 6;
const FIRST_PERCENTILE: usize = 7;
const PERCENTS: [f64; 10] = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99];

const MOST_ROWS: usize = 100_000;

const SOURCE: &str = "Locust's file";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Format,
        read::json::testing::{read, read_with},
    };

    const STATS: &str = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%
GET,/,79,3,46,45.9,7.5,68.6,700.0,26.6,1.01,46,46,49,49,50,58,62,69,69,69,69
GET,\"b, all\",75,0,46,48.2,42.2,61.8,700.0,25.3,0.0,46,49,50,51,53,57,57,62,62,62,62
,Aggregated,154,3,46,47.0,7.5,68.6,700.0,51.9,1.01,46,49,49,50,53,57,61,62,69,69,69
";

    #[test]
    fn the_aggregated_row_or_one_for_each_name() {
        let kept = read_with(STATS, &Options::default()).unwrap();
        assert_eq!(kept.format, Some(Format::Locust));
        let buckets = [
            (7.5, 1),
            (46.0, 75),
            (49.0, 38),
            (50.0, 7),
            (53.0, 15),
            (57.0, 8),
            (61.0, 4),
            (62.0, 2),
            // 69 is beyond the slowest, which is not rounded.
            (68.6, 1),
        ];
        assert_eq!((kept.counts.len(), kept.points()), (1, buckets.to_vec()));
        assert_eq!(kept.samples.len(), 3);
        assert_eq!(kept.samples[0].error.as_deref(), Some("failed"));
        assert!(
            kept.warnings[1].contains("all failures among its percentiles: 3 requests"),
            "{:?}",
            kept.warnings
        );
        let kept = read(STATS).unwrap();
        let tags: Vec<_> =
            kept.counts.iter().map(|counts| (counts.tag.as_deref(), counts.events())).collect();
        assert_eq!(tags, [(Some("/"), 76), (Some("b, all"), 75)]);
    }

    #[test]
    fn what_is_wrong_or_another_file_is_named() {
        let refused = read(STATS.replace("45.9", "slow")).unwrap_err();
        assert!(
            refused.starts_with("x:2:15: found \"slow\"; expected a number of milliseconds"),
            "{refused}"
        );
        let refused = read("Method,Name,Error,Occurrences\n").unwrap_err();
        assert!(refused.contains("Locust's list of failures") && refused.contains("_stats.csv"), "{refused}");
    }
}
