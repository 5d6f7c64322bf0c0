//! Latency of the idle and the loaded line, and jitter.
//!
//! A sample is the time from the last byte of a request without a body to the first byte of its
//! response, minus the processing time reported by the server.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::five_numbers::{Spread, quantile};

/// The load of the line during a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum During {
    /// No traffic of the test.
    Idle,
    /// A download.
    Download,
    /// An upload.
    Upload,
}

/// The connection of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// The connection that carries the transfer, or is idle. Requires HTTP/2 or HTTP/3.
    Same,
    /// A separate connection, which fair queueing serves before a loaded one.
    Separate,
}

/// A latency sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Time since the start of the test, s.
    pub at_s: f64,
    /// The load.
    pub during: During,
    /// The connection.
    pub on: On,
    /// Round-trip time, ms.
    pub ms: f64,
}

/// The latency results of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Idle latency, ms. Null if not measured.
    pub idle_ms: Option<Spread>,
    /// Latency during downloads, ms: the median on a separate connection, as other users of the line
    /// observe it, or on the same connection if there is no other, as in a browser with HTTP/2. Null if no
    /// download took long enough.
    pub loaded_down_ms: Option<f64>,
    /// Latency during uploads, ms.
    pub loaded_up_ms: Option<f64>,
    /// Mean difference of consecutive idle samples, ms. Null with fewer than two samples.
    pub jitter_ms: Option<f64>,
    /// All statistics of latency under load.
    #[serde(default)]
    pub loaded: Vec<Loaded>,
    /// All samples, in chronological order.
    pub samples: Vec<Sample>,
}

/// Latency with the line loaded in one direction, on one kind of connection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loaded {
    /// The direction of the load.
    pub during: During,
    /// The connection.
    pub on: On,
    /// Statistics, ms.
    pub ms: Spread,
}

impl Latency {
    /// Statistics of samples in chronological order.
    pub fn of(samples: Vec<Sample>) -> Self {
        let of = |during, on| -> Vec<f64> {
            let wanted = samples.iter().filter(|sample| sample.during == during && sample.on == on);
            wanted.map(|sample| sample.ms).collect()
        };
        let idle = of(During::Idle, On::Same);
        let loaded = |during| {
            quantile(&of(during, On::Separate), 0.5).or_else(|| quantile(&of(during, On::Same), 0.5))
        };
        let kinds =
            [During::Download, During::Upload].map(|during| [(during, On::Separate), (during, On::Same)]);
        let kinds = kinds.into_iter().flatten().filter_map(|(during, on)| {
            let ms = Spread::of(&of(during, on))?;
            Some(Loaded { during, on, ms })
        });
        Self {
            idle_ms: Spread::of(&idle),
            loaded_down_ms: loaded(During::Download),
            loaded_up_ms: loaded(During::Upload),
            jitter_ms: jitter(&idle),
            loaded: kinds.collect(),
            samples,
        }
    }
}

/// The minimum idle round-trip time, if measured.
pub fn round_trip(samples: &[Sample]) -> Option<Duration> {
    let idle = samples.iter().filter(|sample| sample.during == During::Idle && sample.on == On::Same);
    let least = idle.map(|sample| sample.ms).reduce(f64::min)?;
    Duration::try_from_secs_f64(least / 1e3).ok()
}

/// Mean difference of consecutive samples.
pub fn jitter(samples: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = samples.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    #[expect(clippy::cast_precision_loss, reason = "a test has some thousands of samples at most")]
    let n = differences.len() as f64;
    (!differences.is_empty()).then(|| differences.iter().sum::<f64>() / n)
}

/// Response time minus the server's processing time, ms. A processing time that exceeds the
/// response time is ignored.
pub fn way_there_and_back(took: Duration, servers_own: Option<Duration>) -> f64 {
    took.checked_sub(servers_own.unwrap_or_default()).unwrap_or(took).as_secs_f64() * 1e3
}

/// The period of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy {
    /// Start.
    pub from: Duration,
    /// End.
    pub to: Duration,
}

/// Whether a sample sent at `sent` falls into a transfer that took at least `loaded_from`.
pub fn is_under_load(sent: Duration, transfers: &[Busy], loaded_from: Duration) -> bool {
    let long = transfers.iter().filter(|busy| busy.to.saturating_sub(busy.from) >= loaded_from);
    long.into_iter().any(|busy| (busy.from..busy.to).contains(&sent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_the_mean_step() {
        // |20 - 10|, |13 - 20|, |14 - 13|
        assert_eq!(jitter(&[10.0, 20.0, 13.0, 14.0]), Some(6.0));
        assert_eq!(jitter(&[10.0]), None);
    }

    #[test]
    fn the_servers_own_time_is_no_latency() {
        let ms = Duration::from_millis;
        assert_eq!(way_there_and_back(ms(25), Some(ms(5))), 20.0);
        assert_eq!(way_there_and_back(ms(25), None), 25.0);
        assert_eq!(way_there_and_back(ms(25), Some(ms(26))), 25.0, "more than it took");
    }

    #[test]
    fn a_sample_tells_of_load_while_a_long_transfer_runs() {
        let ms = Duration::from_millis;
        let transfers = [Busy { from: ms(0), to: ms(100) }, Busy { from: ms(200), to: ms(450) }];
        for (sent, expected) in [(50, false), (150, false), (200, true), (449, true), (450, false)] {
            assert_eq!(is_under_load(ms(sent), &transfers, ms(250)), expected, "{sent}");
        }
    }

    #[test]
    fn what_was_not_sampled_is_absent() {
        let sample = |during, on, ms| Sample { at_s: 0.0, during, on, ms };
        let latency = Latency::of(vec![
            sample(During::Idle, On::Same, 20.0),
            sample(During::Download, On::Same, 300.0),
            sample(During::Download, On::Separate, 90.0),
            sample(During::Download, On::Separate, 110.0),
            sample(During::Idle, On::Same, 22.0),
            sample(During::Upload, On::Same, 50.0),
        ]);
        assert_eq!(latency.idle_ms.unwrap().p50, 21.0);
        assert_eq!((latency.loaded_down_ms, latency.loaded_up_ms), (Some(100.0), Some(50.0)));
        assert_eq!(latency.jitter_ms, Some(2.0));
        let kinds: Vec<_> = latency.loaded.iter().map(|loaded| (loaded.during, loaded.on)).collect();
        assert_eq!(kinds.len(), 3);
        assert_eq!(kinds[..2], [(During::Download, On::Separate), (During::Download, On::Same)]);
        assert_eq!(Latency::of(Vec::new()).loaded_up_ms, None);
    }
}
