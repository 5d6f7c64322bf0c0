//! One cell of the grid: measured and expected values.

use std::fmt;

use serde_json::{Value, json};

use super::binomial;

#[derive(Debug)]
pub(super) struct Cell {
    pub rtt_ms: u64,
    pub rate: &'static str,
    /// Fraction of the segments.
    pub loss: f64,
    /// The round trip, and twice the serialisation time of 84 + 38 bytes.
    pub expected_ping_ms: f64,
    pub ping_ms: f64,
    pub sent: u64,
    pub lost: u64,
    /// Only for cells without loss.
    pub goodput: Option<[f64; 2]>,
    pub valid: bool,
    pub reasons: Vec<String>,
}

impl Cell {
    pub(super) fn ping_error_us(&self) -> f64 {
        (self.ping_ms - self.expected_ping_ms) * 1000.0
    }

    pub(super) fn goodput_error_percent(&self) -> Option<f64> {
        self.goodput.map(|[seen, expected]| (seen / expected - 1.0) * 100.0)
    }

    pub(super) fn loss_chance(&self) -> f64 {
        binomial::two_sided(self.lost, self.sent, self.loss)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(super) fn loss_text(&self) -> String {
        let share = self.lost as f64 / self.sent.max(1) as f64;
        format!("{}/{} = {:.3} %", self.lost, self.sent, share * 100.0)
    }

    pub(super) fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        if !self.valid {
            complaints.push(format!("INVALID: {}", self.reasons.join(", ")));
        }
        if !(-1.0..=MOST_PING_ERROR_US).contains(&self.ping_error_us()) {
            complaints.push(format!("ping off by {:+.0} us", self.ping_error_us()));
        }
        if self.goodput_error_percent().is_some_and(|error| error.abs() > MOST_GOODPUT_ERROR_PERCENT) {
            complaints.push("goodput".to_owned());
        }
        if self.loss_chance() < LEAST_LOSS_CHANCE {
            complaints.push(format!("loss at {} %", self.loss * 100.0));
        }
        complaints
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "rtt_ms": self.rtt_ms,
            "rate": self.rate,
            "loss": self.loss,
            "ping_ms": self.ping_ms,
            "expected_ping_ms": self.expected_ping_ms,
            "ping_error_us": self.ping_error_us(),
            "udp_sent": self.sent,
            "udp_lost": self.lost,
            "loss_chance": self.loss_chance(),
            "goodput_bps": self.goodput.map(|[seen, _]| seen),
            "expected_goodput_bps": self.goodput.map(|[_, expected]| expected),
            "goodput_error_percent": self.goodput_error_percent(),
            "valid": self.valid,
            "reasons": self.reasons,
            "complaints": self.complaints(),
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms, {}, {} %", self.rtt_ms, self.rate, self.loss * 100.0)
    }
}

/// The machine adds 0.1 to 0.5 ms to a measured round trip (docs/world-fidelity.md).
const MOST_PING_ERROR_US: f64 = 500.0;

const MOST_GOODPUT_ERROR_PERCENT: f64 = 0.5;

/// With 1e-4 per cell, about one run in a hundred reports a false deviation.
const LEAST_LOSS_CHANCE: f64 = 1e-4;
