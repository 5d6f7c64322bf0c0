//! Counts the samples of a probe while its recording is read. Pure.

use std::collections::BTreeMap;

use claim::{Evidence, Object, WAITS};
use recording::{Metric, Sample};
use serde_json::json;

use super::{Outage, Probe};
use crate::emulator::{Exchange, Peer, Timed};

pub(super) struct Answers<'l> {
    labels: &'l [String],
    metric: Metric,
    timed: Timed,
    evidence: Evidence,
    answers_s: Vec<f64>,
    opened: u64,
    fallbacks: u64,
    samples: u64,
    failures: BTreeMap<String, u64>,
}

impl<'l> Answers<'l> {
    pub(super) fn new(labels: &'l [String], metric: Metric) -> Self {
        let mut evidence = Evidence::default();
        for label in labels.iter().filter(|label| ALWAYS.contains(&label.as_str())) {
            evidence.label(label);
        }
        Self {
            labels,
            metric,
            timed: Timed::default(),
            evidence,
            answers_s: Vec::new(),
            opened: 0,
            fallbacks: 0,
            samples: 0,
            failures: BTreeMap::new(),
        }
    }

    pub(super) fn count(&mut self, sample: &Sample) {
        self.samples += 1;
        self.evidence.event();
        for label in self.labels {
            if let Some(value) = sample.label(label) {
                self.evidence.labelled(label, &value);
            }
        }
        if let Some(reason) = &sample.error {
            match self.failures.get_mut(reason) {
                Some(count) => *count += 1,
                None => drop(self.failures.insert(reason.clone(), 1)),
            }
        }
        self.time(sample);
        self.opened += u64::from(sample.fallback.is_some());
        self.fallbacks += u64::from(sample.fallback == Some(true));
        let answered = sample.started_ns.zip(sample.get(Metric::Total));
        self.answers_s.extend(answered.map(|(started, took)| as_f64(started.saturating_add(took)) / 1e9));
    }

    /// The position of a phase in the request is unknown; the bound for the request is also one for
    /// each phase.
    fn time(&mut self, sample: &Sample) {
        let Some(value) = sample.get(self.metric) else { return };
        let Some(started) = sample.started_ns else { return self.timed.push_unknown() };
        let is_response = self.metric == Metric::Response;
        let from = sample.intended_ns.filter(|_| is_response).unwrap_or(started);
        let until = started.saturating_add(sample.get(Metric::Total).unwrap_or(value));
        let whole_ms = as_f64(until.saturating_sub(from)) / 1e6;
        let shaken_hands = [sample.connect_ns, sample.tls_ns, sample.quic_ns];
        let server = sample.remote.as_deref().and_then(|remote| remote.parse().ok());
        let exchange = Exchange {
            value_ms: whole_ms,
            round_trips: shaken_hands.iter().flatten().fold(1, |round_trips, _| round_trips + 1),
            span_ns: [from, until],
            waits_ns: waits(sample, started),
        };
        self.timed.push(exchange, server.map_or(Peer::ANY, Peer::tcp));
    }

    pub(super) fn take_timed(&mut self) -> Timed {
        std::mem::take(&mut self.timed)
    }

    pub(super) fn failures(&self) -> Option<String> {
        let all_failed = self.samples > 0 && self.failures.values().sum::<u64>() == self.samples;
        let reasons = self.failures.iter().map(|(reason, n)| format!("{n} {reason}"));
        all_failed.then(|| reasons.collect::<Vec<_>>().join(", "))
    }

    pub(super) fn finish(mut self, probe: &Probe, end_s: f64) -> (Outage, Evidence) {
        let outage = Outage::longest(&probe.host, self.answers_s, end_s);
        let (longest_s, opened, fallbacks) = (outage.longest_s, self.opened, self.fallbacks);
        let value = json!({ "longest_s": longest_s, "opened": opened, "fallbacks": fallbacks });
        self.evidence.object(Object::new(probe.side.clone(), value));
        (outage, self.evidence)
    }
}

fn waits(sample: &Sample, started: u64) -> [[u64; 2]; WAITS] {
    let Some(headers) = sample.final_headers_ns else { return [[0; 2]; WAITS] };
    let answered = started.saturating_add(headers);
    let asked = answered.saturating_sub(sample.wait_ns.unwrap_or_default());
    let connected = asked.saturating_sub(sample.send_ns.unwrap_or_default());
    let hands = [sample.connect_ns, sample.tls_ns, sample.quic_ns].map(Option::unwrap_or_default);
    let mut begun = started.saturating_add(sample.dns_ns.unwrap_or_default());
    // The positions of the pauses between handshakes are unknown.
    let pauses = connected.saturating_sub(hands.iter().fold(begun, |at, &hand| at.saturating_add(hand)));
    let [tcp, tls, quic] = hands.map(|took| {
        let from = begun;
        begun = begun.saturating_add(took);
        if took == 0 { [0; 2] } else { [from, begun.saturating_add(pauses)] }
    });
    [tcp, tls, quic, [asked, answered]]
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
fn as_f64(nanos: u64) -> f64 {
    nanos as f64
}

/// Labels that a probe always writes if they apply.
const ALWAYS: [&str; 7] = ["status", "error", "protocol", "reused", "remote", "family", "fallback"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_of_a_request() {
        let new = Sample {
            dns_ns: Some(5),
            connect_ns: Some(100),
            tls_ns: Some(110),
            send_ns: Some(3),
            wait_ns: Some(120),
            final_headers_ns: Some(350),
            ..Sample::default()
        };
        assert_eq!(waits(&new, 1000), [[1005, 1117], [1105, 1227], [0, 0], [1230, 1350]]);
        let reused = Sample { wait_ns: Some(120), final_headers_ns: Some(130), ..Sample::default() };
        assert_eq!(waits(&reused, 1000), [[0; 2], [0; 2], [0; 2], [1010, 1130]]);
        assert_eq!(waits(&Sample::default(), 1000), [[0; 2]; WAITS]);
    }
}
