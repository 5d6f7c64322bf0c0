//! Reads the output of wrk with `--latency`: percentiles, the mean, the slowest and the number of
//! requests.
//!
//! The percentiles are of all responses. Of wrk2's output, its table of HdrHistogram is read
//! instead.

use std::io::Read;

use super::{
    Frame, Input, Options,
    lines::Lines,
    number,
    summary::{PercentileSummary, failures, latency_only},
};
use crate::{Error, Sink};

/// "Running 10s test @ http://127.0.0.1/".
pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"Running ") && memchr::memmem::find(line, b" test @ ").is_some()
}

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let mut run = Run::default();
    while let Some(line) = lines.next()? {
        let number = line.number;
        if is_header(line.text) {
            run.runs += 1;
        }
        if run.runs <= 1 && !run.take(&String::from_utf8_lossy(line.text)) {
            let found = "a figure of wrk that cannot be read".to_owned();
            return Err(Error::Number { place: lines.place(number, 1), found, expected: A_FIGURE });
        }
    }
    run.hand_over(&lines, options, sink)
}

#[derive(Default)]
struct Run {
    runs: u64,
    is_distribution: bool,
    points: PercentileSummary,
    requests: Option<u64>,
    errors: Vec<(&'static str, u64)>,
}

impl Run {
    /// Returns whether the line could be read.
    fn take(&mut self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        let first = words.next();
        if self.is_distribution {
            if let Some(percent) = first.and_then(|word| word.strip_suffix('%')) {
                let point = percent.parse().ok().zip(words.next().and_then(milliseconds));
                self.points.percentiles.extend(point);
                return point.is_some();
            }
            self.is_distribution = false;
        }
        match first {
            Some("Latency") if line.trim_start().starts_with("Latency Distribution") => {
                self.is_distribution = true;
            }
            Some("Latency") => {
                self.points.mean_ms = words.next().and_then(milliseconds);
                self.points.slowest_ms = words.nth(1).and_then(milliseconds);
                return self.points.slowest_ms.is_some();
            }
            Some("Socket") => return self.take_errors(line),
            Some(count) if words.next() == Some("requests") && words.next() == Some("in") => {
                self.requests = count.parse().ok();
                return self.requests.is_some();
            }
            _ => {}
        }
        true
    }

    /// "Socket errors: connect 0, read 3, write 0, timeout 12".
    fn take_errors(&mut self, line: &str) -> bool {
        let Some((_, errors)) = line.split_once(':') else { return true };
        errors.split(',').all(|error| {
            let Some((kind, count)) = error.trim().split_once(' ') else { return false };
            let kind = ["connect", "read", "write", "timeout"].into_iter().find(|known| *known == kind);
            let error = kind.zip(count.parse().ok());
            self.errors.extend(error);
            error.is_some()
        })
    }

    fn hand_over<R: Read>(
        mut self,
        lines: &Lines<R>,
        options: &Options,
        sink: &mut dyn Sink,
    ) -> Result<Frame, Error> {
        latency_only(options.metric, "wrk's text", lines.place(1, 1))?;
        let end = lines.place(lines.number() + 1, 1);
        if self.points.percentiles.is_empty() {
            let found = "this is wrk's text without percentiles".to_owned();
            return Err(Error::Empty { place: end, found, expected: A_DISTRIBUTION });
        }
        let Some(requests) = self.requests else {
            let found = "this is wrk's text without its number of requests".to_owned();
            return Err(Error::Empty { place: end, found, expected: A_NUMBER });
        };
        self.points.events = requests;
        let mut warnings = Vec::new();
        if self.runs > 1 {
            warnings.push(format!("The file has {} runs of wrk; only the first is read.", self.runs));
        }
        self.points.hand_over("wrk's text", lines.place(1, 1), sink, &mut warnings)?;
        failures(self.errors, sink, &mut warnings)?;
        Ok(Frame { warnings, ..Frame::default() })
    }
}

/// "44.05ms", "880.00us", "1.05s", "2.00m" or "1.00h".
fn milliseconds(text: &str) -> Option<f64> {
    number::with_unit(text.as_bytes())
}

const A_FIGURE: &str = "a number with a unit such as 44.05ms, or a count";
const A_DISTRIBUTION: &str = "\"Latency Distribution\", which wrk prints with --latency";
const A_NUMBER: &str = "a line such as \"172 requests in 2.00s, 137.11KB read\"";

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const TEXT: &str = "Running 2s test @ http://127.0.0.1:8080/
  1 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    45.94ms    6.54ms   1.01s    90.70%
    Req/Sec    86.05      7.64   101.00     85.00%
  Latency Distribution
     50%   44.05ms
     75%   48.00ms
     90%   52.00ms
     99%   60.06ms
  172 requests in 2.00s, 137.11KB read
  Socket errors: connect 0, read 1, write 0, timeout 2
  Non-2xx or 3xx responses: 6
Requests/sec:     85.98
Transfer/sec:     68.54KB
";

    #[test]
    fn percentiles_and_a_count() {
        let kept = read(TEXT).unwrap();
        assert_eq!(kept.format, Some(Format::Wrk));
        let buckets = [(44.05, 87), (48.0, 43), (52.0, 25), (60.06, 16), (1010.0, 1)];
        assert_eq!((kept.counts.len(), kept.points()), (1, buckets.to_vec()));
        let errors: Vec<_> = kept.samples.iter().map(|sample| sample.error.as_deref().unwrap()).collect();
        assert_eq!(errors, ["read", "timeout", "timeout"]);
        assert!(
            kept.warnings[0].starts_with("wrk's text has no samples: only 5 points"),
            "{:?}",
            kept.warnings
        );
        let twice = read(format!("{TEXT}{TEXT}")).unwrap();
        assert_eq!(twice.counts, kept.counts);
        assert!(twice.warnings[0].starts_with("The file has 2 runs of wrk"), "{:?}", twice.warnings);
    }

    #[test]
    fn what_is_missing_is_named() {
        let at = TEXT.find("  Latency Distribution").unwrap();
        let to = TEXT.find("  172 requests").unwrap();
        let refused = read([&TEXT[..at], &TEXT[to..]].concat()).unwrap_err();
        assert!(
            refused.contains("wrk's text without percentiles") && refused.contains("--latency"),
            "{refused}"
        );
        let refused = read(&TEXT[..to]).unwrap_err();
        assert!(refused.contains("without its number of requests"), "{refused}");
        let refused = read(TEXT.replace("48.00ms", "fast")).unwrap_err();
        assert!(refused.starts_with("x:8:1: found a figure of wrk"), "{refused}");
        let refused = read(TEXT.replace("48.00ms", "4.00ms")).unwrap_err();
        assert!(refused.contains("percentiles that fall"), "{refused}");
    }
}
