//! When the ports towards a destination run out.
//!
//! Whoever closes a connection first keeps its port in `TIME_WAIT` for 60 s (`TCP_TIMEWAIT_LEN`, a constant of the kernel).
//! `net.ipv4.tcp_tw_reuse` can shorten that where both ends send timestamps; what follows is without it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

/// When the ports run out, if every connection is short and this end closes it first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Forecast {
    /// Connections a second.
    pub rate_per_s: f64,
    /// How many a second there can be for ever: ports / 60 s.
    pub sustainable_per_s: f64,
    /// After so long no port is left. Absent: the first ones are free again before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exhausted_after_s: Option<f64>,
}

impl Forecast {
    /// At this rate with so many ports.
    pub(super) fn at(rate_per_s: f64, ports: usize) -> Self {
        let ports = super::number::as_f64(ports);
        let after = ports / rate_per_s;
        let wait = TIME_WAIT.as_secs_f64();
        Self {
            rate_per_s,
            sustainable_per_s: ports / wait,
            exhausted_after_s: (after < wait).then_some(after),
        }
    }
}

/// `TCP_TIMEWAIT_LEN` of include/net/tcp.h.
const TIME_WAIT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_range() {
        // 28 232 ports / 60 s = 470.53 a second; at 1000 a second they last 28.232 s.
        let fast = Forecast::at(1000.0, 28_232);
        assert!((fast.sustainable_per_s - 470.533).abs() < 0.001);
        assert_eq!(fast.exhausted_after_s, Some(28.232));
        assert_eq!(Forecast::at(470.0, 28_232).exhausted_after_s, None);
    }
}
