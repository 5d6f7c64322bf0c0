//! Writes an HdrHistogram interval log, V2, in nanoseconds.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{Chosen, Output, Recorder, WriteOptions, Written, precision};
use crate::{
    Counts, End, Error, Event, Header, Histogram, Metric, Sample, Sink,
    histogram::encoding::{Decoder, encode},
    read::{EPOCH_NS, LONGEST_LINE, rfc3339},
};

pub(super) struct Hlog {
    output: Output,
    chosen: Chosen,
    digits: u8,
    interval_ms: u64,
    tag: Option<String>,
    start_ms: Option<u64>,
    /// Few, because a histogram takes a fifth of a megabyte.
    open: BTreeMap<Interval, Histogram>,
    /// All are kept, so that lines come in order and each interval has one; a second of a thousand
    /// events takes a kilobyte.
    packed: BTreeMap<Interval, Packed>,
    decoder: Decoder,
}

/// In the order of the lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Interval {
    /// Since 1970, or since the recording's start if that is unknown.
    start_ms: u64,
    /// 0 for events without a time.
    length_ms: u64,
    tag: Option<String>,
}

struct Packed {
    base64: String,
    max_ns: u64,
}

impl Packed {
    fn of(histogram: &Histogram) -> Self {
        Self { base64: encode(histogram), max_ns: histogram.max() }
    }

    fn open(&self, decoder: &mut Decoder, digits: u8) -> Histogram {
        let mut histogram = Histogram::new(digits);
        let decoded = decoder.decode(self.base64.as_bytes()).expect("it was encoded here");
        for &(range, count) in &decoded.counts {
            histogram.record_n(range.low, count);
        }
        histogram
    }
}

impl Hlog {
    pub(super) fn new(output: Output, options: &WriteOptions) -> Self {
        Self {
            output,
            chosen: Chosen::new(options.metric),
            digits: options.digits,
            interval_ms: milliseconds(options.interval_s).max(1),
            tag: options.tag.clone(),
            start_ms: None,
            open: BTreeMap::new(),
            packed: BTreeMap::new(),
            decoder: Decoder::default(),
        }
    }

    fn interval(&self, sample: &Sample) -> Interval {
        let label = self.tag.as_deref().and_then(|name| sample.label(name));
        let tag = label.map(|value| word(&value)).filter(|tag| !tag.is_empty());
        let begin = self.start_ms.unwrap_or(0);
        let Some(started_ns) = sample.started_ns else {
            return Interval { start_ms: begin, length_ms: 0, tag };
        };
        let started_ms = started_ns / 1_000_000;
        let aligned = |ms: u64| ms - ms % self.interval_ms;
        let start_ms = match started_ns > EPOCH_NS {
            false => begin.saturating_add(aligned(started_ms)),
            true if started_ms >= begin => begin + aligned(started_ms - begin),
            true => aligned(started_ms),
        };
        Interval { start_ms, length_ms: self.interval_ms, tag }
    }

    fn histogram(&mut self, interval: Interval) -> &mut Histogram {
        if !self.open.contains_key(&interval) && self.open.len() >= MOST_OPEN {
            // The oldest: most files go forwards.
            if let Some((oldest, histogram)) = self.open.pop_first() {
                self.packed.insert(oldest, Packed::of(&histogram));
            }
        }
        let known = self.packed.remove(&interval);
        self.open.entry(interval).or_insert_with(|| match known {
            Some(packed) => packed.open(&mut self.decoder, self.digits),
            None => Histogram::new(self.digits),
        })
    }

    fn print(&mut self, end: &End) -> Result<u64, Error> {
        while let Some((interval, histogram)) = self.open.pop_first() {
            self.packed.insert(interval, Packed::of(&histogram));
        }
        let mut lines = 0;
        let failed = |lines| move |source| Error::Write { path: None, line: lines, source };
        // Without a date, times are relative to the recording's start.
        let first_ms = self.packed.keys().map(|interval| interval.start_ms).min().unwrap_or(0);
        let base_ms = self.start_ms.filter(|start| *start <= first_ms).unwrap_or(first_ms);
        let base_ms = if base_ms > EPOCH_NS / 1_000_000 { base_ms } else { 0 };
        let mut head = String::from("#[Histogram log format version 1.3]\n#[Unit: ns]\n");
        if base_ms > 0 {
            for name in ["BaseTime", "StartTime"] {
                head += &format!("#[{name}: {} (seconds since epoch)]\n", seconds(base_ms));
            }
        }
        head += "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
        self.output.write_all(head.as_bytes()).map_err(failed(1))?;
        lines += head.lines().count() as u64;
        for (interval, Packed { base64, max_ns }) in &self.packed {
            lines += 1;
            let tag = interval.tag.as_ref().map_or_else(String::new, |tag| format!("Tag={tag},"));
            let length_ms = match interval.length_ms {
                0 => end.duration_ns / 1_000_000,
                length => length,
            };
            let (start, length) = (seconds(interval.start_ms.saturating_sub(base_ms)), seconds(length_ms));
            let line = format!("{tag}{start},{length},{:.3},{base64}\n", *max_ns as f64 / 1e6);
            if line.len() > LONGEST_LINE {
                let problem =
                    format!("an interval takes {} bytes, and a line has at most {LONGEST_LINE}", line.len());
                return Err(failed(lines)(io::Error::new(io::ErrorKind::InvalidInput, problem)));
            }
            self.output.write_all(line.as_bytes()).map_err(failed(lines))?;
        }
        Ok(lines)
    }
}

impl Sink for Hlog {
    fn metric(&mut self, metric: Metric) {
        self.chosen.metric.get_or_insert(metric);
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        let sample = event.sample;
        if let Some(ms) = self.chosen.value(event) {
            let ns = self.chosen.lost.round_for_histogram(ms, 1);
            let interval = self.interval(sample);
            self.histogram(interval).record(ns);
        }
        if sample.labels.keys().any(|name| Some(name) != self.tag.as_ref()) {
            self.chosen.lost.note("Labels");
        }
        Ok(())
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        self.chosen.counts(counts);
        let begin = self.start_ms.unwrap_or(0);
        let interval = match counts.started_s.map(milliseconds) {
            None => Interval { start_ms: begin, length_ms: 0, tag: None },
            Some(started) => {
                let start_ms =
                    if started > EPOCH_NS / 1_000_000 { started } else { begin.saturating_add(started) };
                Interval { start_ms, length_ms: counts.length_s.map_or(0, milliseconds), tag: None }
            }
        };
        let tag = counts.tag.as_deref().map(word).filter(|tag| !tag.is_empty());
        // The histogram and the losses are both parts of this.
        let lost = &mut self.chosen.lost;
        let rounded: Vec<(u64, u64)> = counts
            .buckets
            .iter()
            .map(|bucket| (lost.round_for_histogram(bucket.value_ms, bucket.count), bucket.count))
            .collect();
        let histogram = self.histogram(Interval { tag, ..interval });
        rounded.into_iter().for_each(|(ns, count)| histogram.record_n(ns, count));
        Ok(())
    }
}

impl Recorder for Hlog {
    fn begin(&mut self, header: &Header) -> Result<(), Error> {
        self.start_ms = header.start.as_deref().and_then(rfc3339).map(|ns| ns / 1_000_000);
        Ok(())
    }

    fn finish(mut self: Box<Self>, end: &End) -> Result<Written, Error> {
        self.chosen.check()?;
        let lines = self.print(end)?;
        self.output.finish(lines)?;
        let relative_error = Histogram::new(self.digits).relative_error();
        self.chosen.lost.say(precision(relative_error));
        self.chosen.lose_name_and_doubt(relative_error);
        Ok(self.chosen.written())
    }
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// Invalid times are 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating, as documented")]
fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64
}

/// A tag contains no character that ends it.
fn word(text: &str) -> String {
    text.replace(|c: char| c == ',' || c.is_whitespace() || c.is_control(), "_")
}

const MOST_OPEN: usize = 64;
