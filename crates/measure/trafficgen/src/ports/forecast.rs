//! Computes when the ports towards a destination are exhausted.
//!
//! The end that closes first keeps its port in `TIME_WAIT` for 60 s (`TCP_TIMEWAIT_LEN`). The
//! forecast ignores `net.ipv4.tcp_tw_reuse`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

/// When the ports are exhausted, if every connection is short and this end closes it first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Forecast {
    /// Connections per second.
    pub rate_per_s: f64,
    /// Sustainable rate per second: ports / 60 s.
    pub sustainable_per_s: f64,
    /// Time until no port is free. Absent if ports become free before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exhausted_after_s: Option<f64>,
}

impl Forecast {
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
        // 28 232 ports / 60 s = 470.53 per second; at 1000 per second they last 28.232 s.
        let fast = Forecast::at(1000.0, 28_232);
        assert!((fast.sustainable_per_s - 470.533).abs() < 0.001);
        assert_eq!(fast.exhausted_after_s, Some(28.232));
        assert_eq!(Forecast::at(470.0, 28_232).exhausted_after_s, None);
    }
}
