//! Metrics of continuous probes: counters, and histograms of the phases. Memory depends on neither
//! time nor the number of requests.

mod buckets;
mod otlp;
mod prometheus;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http_stack::client::Phase;
use recording::{Metric, Sample};

use self::buckets::{BOUNDS, Buckets};
pub use self::{otlp::otlp, prometheus::prometheus};
use crate::client::{Failure, Target};

/// The metrics of one target; clones share them.
#[derive(Debug, Clone)]
pub struct Metrics(Arc<Mutex<Counts>>);

#[derive(Debug, Clone)]
struct Counts {
    target: String,
    method: String,
    server: (String, u16),
    requests: u64,
    failures: BTreeMap<String, u64>,
    responses: BTreeMap<Kind, Buckets>,
    has_succeeded: Option<bool>,
    lateness: Buckets,
    phases: BTreeMap<&'static str, Buckets>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    status: u16,
    /// "1.1", "2" or "3".
    version: Option<&'static str>,
}

impl Metrics {
    /// The metrics of a target without requests.
    pub fn of(target: &Target) -> Self {
        let (method, server) = (target.method.to_string(), (target.origin.host.clone(), target.origin.port));
        Self(Arc::new(Mutex::new(Counts {
            target: target.to_string(),
            method,
            server,
            requests: 0,
            failures: COMMON_FAILURES.map(|failure| (failure.to_string(), 0)).into(),
            responses: BTreeMap::new(),
            has_succeeded: None,
            lateness: Buckets::default(),
            phases: BTreeMap::new(),
        })))
    }

    pub(crate) fn add(&self, sample: &Sample) {
        self.counts().add(sample);
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn add(&mut self, sample: &Sample) {
        self.requests += 1;
        self.has_succeeded = Some(sample.error.is_none());
        if let Some(reason) = &sample.error {
            *self.failures.entry(reason.clone()).or_default() += 1;
        }
        if let (Some(intended), Some(started)) = (sample.intended_ns, sample.started_ns) {
            self.lateness.add(started.saturating_sub(intended));
        }
        for (metric, name) in PHASES {
            if let Some(nanos) = sample.get(metric) {
                self.phases.entry(name).or_default().add(nanos);
            }
        }
        if let (Some(nanos), Some(status)) = (sample.get(Metric::Total), sample.status) {
            let protocol = sample.labels.get("protocol").map(String::as_str);
            let version =
                VERSIONS.iter().find(|(name, _)| Some(*name) == protocol).map(|(_, version)| *version);
            self.responses.entry(Kind { status, version }).or_default().add(nanos);
        }
    }
}

/// Exported from the start: an alert would miss a counter that appears with its first failure.
const COMMON_FAILURES: [Failure; 8] = [
    Failure::Timeout(Phase::Dns),
    Failure::Timeout(Phase::Connect),
    Failure::Timeout(Phase::Tls),
    Failure::Timeout(Phase::Wait),
    Failure::Timeout(Phase::Load),
    Failure::Http(http_stack::Failure::Refused),
    Failure::Http(http_stack::Failure::Reset),
    Failure::Http(http_stack::Failure::Closed(http_stack::Stage::Head)),
];

/// The names of Prometheus' blackbox exporter; the last two are additional.
const PHASES: [(Metric, &str); 7] = [
    (Metric::Dns, "resolve"),
    (Metric::Connect, "connect"),
    (Metric::Tls, "tls"),
    (Metric::Wait, "processing"),
    (Metric::Load, "transfer"),
    (Metric::Quic, "quic"),
    (Metric::Send, "send"),
];

const VERSIONS: [(&str, &str); 3] = [("http/1.1", "1.1"), ("h2", "2"), ("h3", "3")];

#[cfg(test)]
mod tests;
