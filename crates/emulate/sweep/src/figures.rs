//! The measured values of a cell: of one run or of several. Pure.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trafficgen::slow_reader::{Kind, Passage, Recording};

/// Values of one connection, measured at the reader. Values that the programme does not produce or the
/// kernel does not report are absent.
///
/// For several runs each value is the median; ranges and maxima cover all runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Bytes read.
    pub bytes: u64,
    /// Lowest and highest read rate over one second in unlimited phases, Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_mbps: Option<[f64; 2]>,
    /// Mean read rate in unlimited phases, Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_mean_mbps: Option<f64>,
    /// Lowest and highest network rate in those seconds, without data from the receive buffer, Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_mbps: Option<[f64; 2]>,
    /// Mean read rate in limited phases, Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_mbps: Option<f64>,
    /// Time from the end of a slow phase until the network rate has recovered, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_s: Option<f64>,
    /// Maximum of those times, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_max_s: Option<f64>,
    /// Number of times that the network rate did not recover before the next slow phase.
    pub restarts_missed: usize,
    /// Longest time that the reader waited for data, ms.
    pub max_pause_ms: f64,
    /// Largest advertised window, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u32>,
    /// The largest receive buffer, bytes: payload and the kernel's metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf_bytes: Option<u32>,
    /// Memory of the receive queue divided by its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_ratio: Option<f64>,
    /// Number of times that the receive buffer was full and the kernel pruned it (TcpExt `PruneCalled`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prunes: Option<u64>,
    /// Packets merged to free buffer space (TcpExt `TCPRcvCollapsed`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collapses: Option<u64>,
    /// Packets that the socket dropped because the buffer was full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<u32>,
}

impl Figures {
    pub(super) fn of(recording: &Recording) -> Self {
        let summary = &recording.summary;
        Self {
            bytes: summary.bytes,
            fast_mbps: summary.fast_mbps,
            fast_mean_mbps: fast_mean(&recording.phases),
            network_mbps: summary.network_mbps,
            slow_mbps: summary.slow_mbps,
            restart_s: summary.restart_s,
            restart_max_s: summary.restart_max_s,
            restarts_missed: summary.restarts_missed,
            max_pause_ms: summary.max_pause_ms,
            window_bytes: summary.window_bytes,
            rcvbuf_bytes: summary.rcvbuf_bytes,
            metadata_ratio: summary.metadata_ratio,
            prunes: recording.counters.get("PruneCalled").copied(),
            collapses: recording.counters.get("TCPRcvCollapsed").copied(),
            drops: summary.drops,
        }
    }

    pub(super) fn of_all(runs: &[&Self]) -> Option<Self> {
        Some(Self {
            bytes: middle(runs, |run| Some(run.bytes))?,
            fast_mbps: range(runs, |run| run.fast_mbps),
            fast_mean_mbps: middle(runs, |run| run.fast_mean_mbps),
            network_mbps: range(runs, |run| run.network_mbps),
            slow_mbps: middle(runs, |run| run.slow_mbps),
            restart_s: middle(runs, |run| run.restart_s),
            restart_max_s: runs.iter().filter_map(|run| run.restart_max_s).reduce(f64::max),
            restarts_missed: runs.iter().map(|run| run.restarts_missed).sum(),
            max_pause_ms: runs.iter().map(|run| run.max_pause_ms).fold(0.0, f64::max),
            window_bytes: middle(runs, |run| run.window_bytes),
            rcvbuf_bytes: middle(runs, |run| run.rcvbuf_bytes),
            metadata_ratio: middle(runs, |run| run.metadata_ratio),
            prunes: middle(runs, |run| run.prunes),
            collapses: middle(runs, |run| run.collapses),
            drops: middle(runs, |run| run.drops),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^53 bytes are 9 PB")]
fn fast_mean(phases: &[Passage]) -> Option<f64> {
    let fast = || phases.iter().filter(|phase| phase.kind == Kind::Fast);
    let seconds: f64 = fast().map(|phase| phase.duration_s).sum();
    let bytes: u64 = fast().map(|phase| phase.bytes).sum();
    (seconds > 0.0).then(|| bytes as f64 * 8.0 / 1e6 / seconds)
}

/// For an even number of runs the lower of the two middle values, which is a measured value.
fn middle<T: PartialOrd>(runs: &[&Figures], figure: impl Fn(&Figures) -> Option<T>) -> Option<T> {
    let mut values: Vec<T> = runs.iter().filter_map(|run| figure(run)).collect();
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    let middle = values.len().checked_sub(1)? / 2;
    values.into_iter().nth(middle)
}

fn range(runs: &[&Figures], figure: impl Fn(&Figures) -> Option<[f64; 2]>) -> Option<[f64; 2]> {
    let ranges = runs.iter().filter_map(|run| figure(run));
    ranges.reduce(|[lo, hi], [low, high]| [lo.min(low), hi.max(high)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bytes: u64, fast: [f64; 2], restart_s: Option<f64>, pause: f64) -> Figures {
        Figures {
            bytes,
            fast_mbps: Some(fast),
            restart_s,
            restart_max_s: restart_s,
            restarts_missed: usize::from(restart_s.is_none()),
            max_pause_ms: pause,
            ..Figures::default()
        }
    }

    #[test]
    fn of_several_runs_the_middle_and_the_extremes() {
        let runs = [
            run(30, [4.0, 500.0], Some(4.0), 300.0),
            run(10, [6.0, 400.0], None, 900.0),
            run(20, [5.0, 450.0], Some(5.0), 310.0),
        ];
        let all = Figures::of_all(&runs.each_ref()).unwrap();
        assert_eq!(
            all,
            Figures {
                bytes: 20,
                fast_mbps: Some([4.0, 500.0]),
                restart_s: Some(4.0),
                restart_max_s: Some(5.0),
                restarts_missed: 1,
                max_pause_ms: 900.0,
                ..Figures::default()
            }
        );
        assert_eq!(Figures::of_all(&[]), None);
        assert_eq!(Figures::of_all(&[&runs[1]]), Some(runs[1].clone()));
    }
}
