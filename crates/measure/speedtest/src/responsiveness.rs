//! Round trips per minute under load, as defined in draft-ietf-ippm-responsiveness-09.
//!
//! Half of the figure is from probes on new connections, half from the loaded connection, without
//! the slowest 5 %. Earlier drafts averaged times before computing the rate, which yields less.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Durations of probes during load in one direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Probes {
    /// TCP handshakes of new connections, or QUIC handshakes.
    pub connect: Vec<Duration>,
    /// TLS handshakes of new connections; empty in clear text or over QUIC.
    pub tls: Vec<Duration>,
    /// Requests on new connections.
    pub http: Vec<Duration>,
    /// Requests on the loaded connection; empty over HTTP/1.1.
    pub own: Vec<Duration>,
}

/// The responsiveness of a line under load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Responsiveness {
    /// Round trips per minute in the worse direction. Null if it cannot be measured.
    pub value: Option<f64>,
    /// The formula, the probes, and the direction.
    pub method: String,
    /// Stability of the figure: the figure of each quarter of the probes is within 5 % of their mean
    /// ("high"), 20 % ("medium"), or neither ("low").
    pub confidence: Option<Confidence>,
    /// The reason for a missing figure.
    #[serde(skip)]
    pub missing: Option<&'static str>,
}

/// The reliability of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Unstable, or too few probes.
    Low,
    /// Variable.
    Medium,
    /// Stable.
    High,
}

impl Probes {
    /// Round trips per minute; `None` without probes on each kind of connection.
    pub fn rate(&self) -> Option<f64> {
        let parts = [&self.connect, &self.tls, &self.http];
        let means: Vec<f64> = parts.into_iter().filter_map(|part| trimmed_mean(part)).collect();
        let (false, Some(own)) = (self.http.is_empty(), trimmed_mean(&self.own)) else { return None };
        #[expect(clippy::cast_precision_loss, reason = "three at most")]
        let foreign = means.iter().sum::<f64>() / means.len() as f64;
        (foreign > 0.0 && own > 0.0).then(|| (60.0 / foreign + 60.0 / own) / 2.0)
    }

    fn confidence(&self) -> Confidence {
        let quarters: Option<Vec<f64>> = (0..PARTS).map(|number| self.part(number).rate()).collect();
        let Some(quarters) = quarters else { return Confidence::Low };
        #[expect(clippy::cast_precision_loss, reason = "four")]
        let n = quarters.len() as f64;
        let mean = quarters.iter().sum::<f64>() / n;
        let deviation = (quarters.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / n).sqrt();
        match deviation / mean {
            ..=0.05 => Confidence::High,
            ..=0.2 => Confidence::Medium,
            _ => Confidence::Low,
        }
    }

    fn part(&self, number: usize) -> Self {
        let part =
            |all: &[Duration]| all[all.len() * number / PARTS..all.len() * (number + 1) / PARTS].to_vec();
        Self {
            connect: part(&self.connect),
            tls: part(&self.tls),
            http: part(&self.http),
            own: part(&self.own),
        }
    }

    fn kinds(&self) -> String {
        let all = [
            ("connect", &self.connect),
            ("TLS", &self.tls),
            ("HTTP", &self.http),
            ("same connection", &self.own),
        ];
        let there = all.into_iter().filter(|(_, probes)| !probes.is_empty());
        there.map(|(kind, probes)| format!("{} {kind}", probes.len())).collect::<Vec<_>>().join(", ")
    }
}

impl Responsiveness {
    /// The responsiveness of both directions: the worse of the two.
    pub fn of(down: &Probes, up: &Probes) -> Self {
        let rates = [("download", down), ("upload", up)]
            .into_iter()
            .filter_map(|(direction, probes)| probes.rate().map(|rate| (rate, direction, probes)));
        let worst = rates.min_by(|(one, ..), (other, ..)| one.total_cmp(other));
        let Some((rate, direction, probes)) = worst else {
            let missing = if down.http.is_empty() && up.http.is_empty() {
                "there was no probe on a new connection while something was transferred"
            } else {
                "it takes probes on the connection that carries the transfer, which HTTP/1.1 has no room for; HTTP/2 and HTTP/3 have"
            };
            return Self { value: None, method: DRAFT.to_owned(), confidence: None, missing: Some(missing) };
        };
        let method = format!("{DRAFT}, {direction}: {}", probes.kinds());
        Self { value: Some(rate), method, confidence: Some(probes.confidence()), missing: None }
    }
}

/// In seconds, without the slowest 5 %; `None` if empty.
fn trimmed_mean(times: &[Duration]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.truncate((times.len() * 19).div_ceil(20));
    #[expect(clippy::cast_precision_loss, reason = "some thousands at most")]
    let n = sorted.len() as f64;
    (!sorted.is_empty()).then(|| sorted.iter().map(Duration::as_secs_f64).sum::<f64>() / n)
}

const DRAFT: &str = "draft-ietf-ippm-responsiveness-09";

const PARTS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ms: &[u64]) -> Vec<Duration> {
        ms.iter().map(|ms| Duration::from_millis(*ms)).collect()
    }

    #[test]
    fn the_check_value_of_the_draft() {
        // 60 000/60 = 1000 and 60 000/20 = 3000; the older formula gives 1500.
        let sixty = times(&[60]);
        let probes = Probes { connect: sixty.clone(), tls: sixty.clone(), http: sixty, own: times(&[20]) };
        assert!((probes.rate().unwrap() - 2000.0).abs() < 1e-9);
    }

    #[test]
    fn the_slowest_twentieth_is_left_out() {
        let mut twenty = vec![10; 19];
        twenty.push(10_000);
        assert!((trimmed_mean(&times(&twenty)).unwrap() - 0.01).abs() < 1e-12);
        assert!((trimmed_mean(&times(&[10, 30])).unwrap() - 0.02).abs() < 1e-12, "of two none is left out");
        assert_eq!(trimmed_mean(&[]), None);
    }

    #[test]
    fn clear_text_has_no_handshake_of_tls_and_http1_no_figure() {
        let clear = Probes { connect: times(&[30]), http: times(&[50]), own: times(&[40]), tls: Vec::new() };
        assert!((clear.rate().unwrap() - 1500.0).abs() < 1e-9, "60 000/40 of each");
        let http1 = Probes { own: Vec::new(), ..clear };
        let said = Responsiveness::of(&http1, &Probes::default());
        assert!(said.value.is_none() && said.missing.unwrap().contains("HTTP/1.1"));
    }

    #[test]
    fn the_worse_direction_counts_and_steadiness_is_told() {
        let steady = |ms: u64| Probes {
            connect: times(&[ms; 8]),
            tls: times(&[ms; 8]),
            http: times(&[ms; 8]),
            own: times(&[ms; 8]),
        };
        let both = Responsiveness::of(&steady(20), &steady(100));
        assert_eq!((both.value.map(f64::round), both.confidence), (Some(600.0), Some(Confidence::High)));
        assert!(
            both.method.contains("upload: 8 connect, 8 TLS, 8 HTTP, 8 same connection"),
            "{}",
            both.method
        );
        let wandering = Probes { own: times(&[20, 20, 40, 40, 80, 80, 300, 300]), ..steady(20) };
        assert_eq!(wandering.confidence(), Confidence::Low);
        assert_eq!(Probes { own: times(&[20]), ..steady(20) }.confidence(), Confidence::Low, "one probe");
    }
}
