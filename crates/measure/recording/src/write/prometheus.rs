//! Writes a histogram in Prometheus text exposition format, with the bucket boundaries of its
//! native histograms: powers of two, each split into 2^schema parts of equal ratio.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use units::show::relative;

use super::{Chosen, Output, Recorder, WriteOptions, Written};
use crate::{Counts, End, Error, Event, Header, Metric, Sink};

pub(super) struct Prometheus {
    output: Output,
    chosen: Chosen,
    side: Option<String>,
    schema: i8,
    buckets: BTreeMap<i32, u64>,
    sum_s: f64,
}

impl Prometheus {
    pub(super) fn new(output: Output, options: &WriteOptions) -> Self {
        Self {
            output,
            chosen: Chosen::new(options.metric),
            side: options.side.clone(),
            schema: options.schema.clamp(-4, 8),
            buckets: BTreeMap::new(),
            sum_s: 0.0,
        }
    }

    fn record(&mut self, milliseconds: f64, count: u64) {
        let seconds = milliseconds / 1e3;
        *self.buckets.entry(index(seconds, self.schema)).or_default() += count;
        self.sum_s += seconds * count as f64;
    }

    fn print(&mut self) -> io::Result<()> {
        let metric = self.chosen.name();
        let name = format!("longhaul_{metric}_seconds");
        let side = self.side.as_deref().map(|side| format!("side=\"{}\"", escaped(side)));
        let alone = side.as_ref().map_or_else(String::new, |side| format!("{{{side}}}"));
        let before = side.map_or_else(String::new, |side| format!("{side},"));
        let output = &mut self.output;
        writeln!(output, "# HELP {name} Times of events ({metric}).")?;
        writeln!(output, "# TYPE {name} histogram")?;
        let mut count = 0;
        if let (Some((&first, _)), Some((&last, _))) =
            (self.buckets.first_key_value(), self.buckets.last_key_value())
        {
            for index in first..=last {
                count += self.buckets.get(&index).copied().unwrap_or(0);
                writeln!(output, "{name}_bucket{{{before}le=\"{}\"}} {count}", upper(index, self.schema))?;
            }
        }
        writeln!(output, "{name}_bucket{{{before}le=\"+Inf\"}} {count}")?;
        writeln!(output, "{name}_sum{alone} {}", self.sum_s)?;
        writeln!(output, "{name}_count{alone} {count}")?;
        writeln!(output, "# HELP longhaul_failed_total Events that failed.")?;
        writeln!(output, "# TYPE longhaul_failed_total counter")?;
        writeln!(output, "longhaul_failed_total{alone} {}", self.chosen.failed)
    }
}

impl Sink for Prometheus {
    fn metric(&mut self, metric: Metric) {
        self.chosen.metric.get_or_insert(metric);
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        if let Some(ms) = self.chosen.value(event) {
            self.record(ms, 1);
        }
        self.chosen.lose_time_and_labels(event);
        Ok(())
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        self.chosen.counts(counts);
        for bucket in &counts.buckets {
            self.record(bucket.value_ms, bucket.count);
        }
        self.chosen.lose_time_and_tags(counts);
        Ok(())
    }
}

impl Recorder for Prometheus {
    fn begin(&mut self, header: &Header) -> Result<(), Error> {
        if self.side.is_none() {
            self.side.clone_from(&header.label);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &End) -> Result<Written, Error> {
        self.print().map_err(|source| Error::Write { path: None, line: 1, source })?;
        self.output.finish(1)?;
        if self.chosen.relative_error > 0.0 {
            self.chosen.lost.say(format!(
                "The input has each value within {}, so that some lie in the bucket next to theirs.",
                relative(self.chosen.relative_error)
            ));
        }
        let width = relative((-f64::from(self.schema)).exp2().exp2() - 1.0);
        self.chosen
            .lost
            .say(format!("Values within a bucket are no longer distinguished: each is {width} wide."));
        // They are in the file.
        self.chosen.samples += std::mem::take(&mut self.chosen.failed);
        Ok(self.chosen.written())
    }
}

/// Above base^(i-1), at or below base^i, with base 2^(2^-schema). Values below a nanosecond are in
/// the bucket of a nanosecond.
#[expect(clippy::cast_possible_truncation, reason = "from -30 * 256 to 40 * 256")]
fn index(seconds: f64, schema: i8) -> i32 {
    let value = seconds.clamp(1e-9, 1e12);
    let guess = (value.log2() * f64::from(schema).exp2()).ceil() as i32;
    // The logarithm may round across a boundary.
    [guess - 1, guess].into_iter().find(|&index| value <= upper(index, schema)).unwrap_or(guess + 1)
}

/// In seconds.
fn upper(index: i32, schema: i8) -> f64 {
    (f64::from(index) * (-f64::from(schema)).exp2()).exp2()
}

/// `\`, `"` and line ends are escaped.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn boundaries() {
        assert_eq!((upper(0, 3), upper(-8, 3), upper(8, 3)), (1.0, 0.5, 2.0));
        assert_eq!([0.5, 0.500_001, 1.0, 1.000_001].map(|value| index(value, 3)), [-8, -7, 0, 1]);
        assert_eq!(index(0.0, 3), index(1e-9, 3));
        assert_eq!((index(3.0, -1), upper(1, -1)), (1, 4.0));
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket(value in 1e-9..1e12, schema in -4_i8..=8) {
            let index = index(value, schema);
            prop_assert!(value <= upper(index, schema) && value > upper(index - 1, schema));
        }
    }
}
