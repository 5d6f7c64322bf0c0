//! Aggregates a stream of samples in constant memory.

use std::collections::BTreeMap;

use claim::Caveat;
use hdrhistogram::Histogram;
use recording::{Metric, Sample};

use super::{Phase, SCHEMA, Summary};
use crate::load::Live;

pub(crate) struct Tally {
    requests: u64,
    failed: u64,
    failed_by_reason: BTreeMap<String, u64>,
    status: BTreeMap<u16, u64>,
    protocol: BTreeMap<String, u64>,
    body_bytes: u64,
    phases: Vec<(Metric, Distribution)>,
    lateness: Distribution,
}

pub(crate) struct Run {
    pub(crate) url: String,
    pub(crate) duration_s: f64,
    pub(crate) cpu_share: f64,
    pub(crate) interrupted: bool,
    pub(crate) doubts: Vec<Caveat>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            requests: 0,
            failed: 0,
            failed_by_reason: BTreeMap::new(),
            status: BTreeMap::new(),
            protocol: BTreeMap::new(),
            body_bytes: 0,
            phases: Metric::ALL.into_iter().map(|metric| (metric, Distribution::new())).collect(),
            lateness: Distribution::new(),
        }
    }

    pub(crate) fn add(&mut self, sample: &Sample) {
        self.requests += 1;
        if let Some(reason) = &sample.error {
            self.failed += 1;
            // Reasons are short phrases of this program, so their number is bounded.
            count(&mut self.failed_by_reason, reason);
        }
        if let Some(status) = sample.status {
            *self.status.entry(status).or_default() += 1;
        }
        if let Some(protocol) = sample.labels.get("protocol") {
            count(&mut self.protocol, protocol);
        }
        self.body_bytes = self.body_bytes.saturating_add(sample.body_bytes.unwrap_or(0));
        for (metric, distribution) in &mut self.phases {
            if let Some(nanos) = sample.get(*metric) {
                distribution.add(nanos);
            }
        }
        if let (Some(intended), Some(started)) = (sample.intended_ns, sample.started_ns) {
            self.lateness.add(started.saturating_sub(intended));
        }
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failed
    }

    pub(crate) fn failed_because(&self, is_it: impl Fn(&str) -> bool) -> u64 {
        self.failed_by_reason.iter().filter(|(reason, _)| is_it(reason)).map(|(_, count)| count).sum()
    }

    pub(crate) fn lateness(&self, percentile: f64) -> Option<u64> {
        (self.lateness.n > 0).then(|| self.lateness.percentile(percentile))
    }

    pub(crate) fn live(&self) -> Option<Live> {
        let of = |wanted| self.phases.iter().find(|(metric, seen)| *metric == wanted && seen.n > 0);
        let (_, seen) = of(Metric::Response).or_else(|| of(Metric::Total))?;
        let [p50, p90, p99] = [50.0, 90.0, 99.0].map(|percent| seen.percentile(percent));
        Some(Live { p50, p90, p99, max: seen.max, late_p99: self.lateness(99.0) })
    }

    pub(crate) fn summary(self, run: Run) -> Summary {
        let phases = self.phases.iter();
        let phases = phases.filter_map(|(metric, seen)| Some((metric.name().to_owned(), seen.phase()?)));
        let reasons = claim::reasons(&run.doubts);
        Summary {
            schema: SCHEMA.to_owned(),
            url: run.url,
            duration_s: run.duration_s,
            n: self.requests,
            errors: self.failed,
            errors_by_reason: self.failed_by_reason,
            status: self.status.into_iter().map(|(status, count)| (status.to_string(), count)).collect(),
            protocol: self.protocol,
            body_bytes: self.body_bytes,
            phases: phases.collect(),
            lateness_ms: self.lateness.phase(),
            cpu_share: run.cpu_share,
            interrupted: run.interrupted,
            valid: reasons.is_empty(),
            reasons,
            doubts: run.doubts,
            method: METHOD.to_owned(),
        }
    }
}

struct Distribution {
    n: u64,
    sum: u128,
    min: u64,
    max: u64,
    histogram: Histogram<u64>,
}

impl Distribution {
    fn new() -> Self {
        let histogram =
            Histogram::new_with_bounds(1, HIGHEST_NS, 3).expect("1 <= HIGHEST_NS / 2 and 3 <= 5 digits");
        Self { n: 0, sum: 0, min: u64::MAX, max: 0, histogram }
    }

    fn add(&mut self, nanos: u64) {
        self.n += 1;
        self.sum += u128::from(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.histogram.saturating_record(nanos);
    }

    /// As in `compare`: linear between the two samples around (n - 1) p. To three digits.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "ranks are below 2^53, and values are three digits"
    )]
    fn percentile(&self, percent: f64) -> u64 {
        let position = percent / 100.0 * self.n.saturating_sub(1) as f64;
        let (below, part) = (position.floor() as u64, position.fract());
        let [low, high] = [below, below + 1].map(|rank| self.at_rank(rank) as f64);
        (low + (high - low) * part).round() as u64
    }

    #[expect(clippy::cast_precision_loss, reason = "ranks are below 2^53")]
    fn at_rank(&self, rank: u64) -> u64 {
        let quantile = (rank.min(self.n.saturating_sub(1)) as f64 + 0.5) / self.n.max(1) as f64;
        // A bucket's upper end may exceed every sample in it.
        self.histogram.value_at_quantile(quantile).clamp(self.min.min(self.max), self.max)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "53 bits of a count or of nanoseconds are enough for display"
    )]
    fn phase(&self) -> Option<Phase> {
        if self.n == 0 {
            return None;
        }
        let percentiles = PERCENTILES.map(|percent| (percent.to_string(), ms(self.percentile(percent))));
        Some(Phase {
            n: self.n,
            min_ms: ms(self.min),
            mean_ms: self.sum as f64 / self.n as f64 / NANOS_PER_MS,
            max_ms: ms(self.max),
            percentiles_ms: percentiles.into(),
            thin_above: (100.0 * (1.0 - ENOUGH_BEYOND / self.n as f64)).max(0.0),
        })
    }
}

fn count(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(name.to_owned(), 1)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
fn ms(nanos: u64) -> f64 {
    nanos as f64 / NANOS_PER_MS
}

const NANOS_PER_MS: f64 = 1e6;
const PERCENTILES: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9];
/// With fewer samples beyond it, a percentile is unreliable.
const ENOUGH_BEYOND: f64 = 10.0;
/// One hour. Percentiles treat longer times as this value; the maximum is exact.
const HIGHEST_NS: u64 = 3_600_000_000_000;
const METHOD: &str = "Percentiles are linear between the two nearest samples, from histograms of three significant digits \
                      (within 0.1 %); n, minimum, mean and maximum are exact. Phases that did not happen are left out, not counted as 0.";
