//! Writes HdrHistogram percentile text, as the Java library's `outputPercentileDistribution`, in
//! milliseconds.

use std::io::{self, Write};

use units::show::relative;

use super::{Chosen, Output, Recorder, WriteOptions, Written};
use crate::{Counts, End, Error, Event, Header, Histogram, Metric, Sink, error::counted};

pub(super) struct Hgrm {
    output: Output,
    chosen: Chosen,
    histogram: Histogram,
}

impl Hgrm {
    pub(super) fn new(output: Output, options: &WriteOptions) -> Self {
        Self { output, chosen: Chosen::new(options.metric), histogram: Histogram::new(options.digits) }
    }
}

impl Sink for Hgrm {
    fn metric(&mut self, metric: Metric) {
        self.chosen.metric.get_or_insert(metric);
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        if let Some(ms) = self.chosen.value(event) {
            self.histogram.record(self.chosen.lost.round_for_histogram(ms, 1));
        }
        self.chosen.lose_time_and_labels(event);
        Ok(())
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        self.chosen.counts(counts);
        for bucket in &counts.buckets {
            let ns = self.chosen.lost.round_for_histogram(bucket.value_ms, bucket.count);
            self.histogram.record_n(ns, bucket.count);
        }
        self.chosen.lose_time_and_tags(counts);
        Ok(())
    }
}

impl Recorder for Hgrm {
    fn begin(&mut self, _: &Header) -> Result<(), Error> {
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &End) -> Result<Written, Error> {
        self.chosen.check()?;
        let rows = rows(&self.histogram);
        let failed = |source| Error::Write { path: None, line: 1, source };
        print(&mut self.output, &self.histogram, &rows).map_err(failed)?;
        self.output.finish(1)?;
        self.chosen.lost.say(precision(&self.histogram, &rows));
        self.chosen.lose_name_and_doubt(self.histogram.relative_error());
        Ok(self.chosen.written())
    }
}

fn print(output: &mut impl Write, histogram: &Histogram, rows: &[Row]) -> io::Result<()> {
    writeln!(
        output,
        "{:>12} {:>14} {:>10} {:>14}\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    )?;
    for &Row { value_ns, percentile, count } in rows {
        let value = value_ns as f64 / 1e6;
        write!(output, "{value:>12.DECIMALS$} {:.12} {count:>10}", percentile / 100.0)?;
        if percentile < 100.0 {
            write!(output, " {:>14.2}", 1.0 / (1.0 - percentile / 100.0))?;
        }
        writeln!(output)?;
    }
    let (mean, deviation) = moments(histogram);
    let largest = histogram.max() as f64 / 1e6;
    writeln!(output, "#[Mean    = {mean:>12.DECIMALS$}, StdDeviation   = {deviation:>12.DECIMALS$}]")?;
    writeln!(output, "#[Max     = {largest:>12.DECIMALS$}, Total count    = {:>12}]", histogram.count())?;
    let (buckets, parts) = histogram.shape();
    writeln!(output, "#[Buckets = {buckets:>12}, SubBuckets     = {parts:>12}]")
}

struct Row {
    value_ns: u64,
    percentile: f64,
    count: u64,
}

/// As Java's `PercentileIterator`: five steps from each percentile half-way to 100 %.
fn rows(histogram: &Histogram) -> Vec<Row> {
    let total = histogram.count();
    let (mut rows, mut count, mut level) = (Vec::new(), 0, 0.0);
    let mut last = 0;
    for (range, here) in histogram.ranges() {
        count += here;
        last = range.high();
        while level < 100.0 && count as f64 * 100.0 / total as f64 >= level {
            rows.push(Row { value_ns: last, percentile: level, count });
            let half_distances = ((100.0 / (100.0 - level)).ln() / 2.0_f64.ln()).floor() + 1.0;
            level += 100.0 / (TICKS * half_distances.exp2());
            if count == total {
                break;
            }
        }
    }
    if total > 0 {
        rows.push(Row { value_ns: last, percentile: 100.0, count });
    }
    rows
}

/// A row is at its bucket's upper end, a width from the lower.
fn precision(histogram: &Histogram, rows: &[Row]) -> String {
    let mut values: Vec<u64> = rows.iter().map(|row| row.value_ns).collect();
    values.dedup();
    format!(
        "Only {} of the distribution {} kept, within {}: where the values between two lie is not in the file.",
        counted(values.len() as u64, "point"),
        if values.len() == 1 { "is" } else { "are" },
        relative(2.0 * histogram.relative_error())
    )
}

/// Mean and standard deviation, ms.
fn moments(histogram: &Histogram) -> (f64, f64) {
    let total = histogram.count().max(1) as f64;
    let buckets = histogram.buckets();
    let mean = buckets.iter().map(|bucket| bucket.value_ms * bucket.count as f64).sum::<f64>() / total;
    let squares = buckets.iter().map(|bucket| (bucket.value_ms - mean).powi(2) * bucket.count as f64);
    (mean, (squares.sum::<f64>() / total).sqrt())
}

/// Nanoseconds. Java's output has as many decimals as significant digits, which loses short values.
const DECIMALS: usize = 6;

const TICKS: f64 = 5.0;
