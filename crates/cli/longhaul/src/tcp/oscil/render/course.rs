//! A connection over time, as lines of bars: reads, arrivals, window and queue.

use std::fmt::Write;

use tcp::timeline::Sample;
use trafficgen::slow_reader::{Passage, Recording, Second};
use units::show::{bytes, rate, time};

use crate::{
    lab::figures::whole,
    output::{DIM, paint},
    transfer::render::bar,
};

pub(super) fn course(recording: &Recording) -> String {
    let bins = Bins::of(recording.summary.duration_s);
    if bins.count < 2 {
        return String::new();
    }
    let mut text = String::from("\n");
    let mut row = |name: &str, values: Option<Vec<f64>>, show: &dyn Fn(u64) -> String| {
        let Some(values) = values else { return };
        let values: Vec<_> = values.into_iter().map(rounded_down).collect();
        let most = values.iter().copied().max().unwrap_or(0);
        let bars: String = values.iter().map(|value| bar(*value, most.max(1))).collect();
        let _ = writeln!(text, "  {name:10}{bars}  {}", paint(&format!("up to {}", show(most)), DIM));
    };
    let speed = |bytes: u64| rate(whole(bytes) * 8.0);
    row("read", Some(bins.rates(&recording.seconds, |second| Some(second.bytes))), &speed);
    row(
        "network",
        Some(bins.rates(&recording.seconds, |second| second.arrived_bytes.or(second.received_bytes))),
        &speed,
    );
    row("window", bins.most(&recording.samples, |sample| sample.tcp_info.as_ref()?.rcv_wnd), &bytes);
    row("queue", bins.most(&recording.samples, |sample| Some(sample.receive_queue_bytes)), &bytes);
    let _ = writeln!(text, "  {:10}{}", "phase", paint(&bins.names(&recording.phases), DIM));
    let _ = writeln!(text, "  0 to {}, {} per bar", time(recording.summary.duration_s), time(bins.width_s));
    text
}

struct Bins {
    count: usize,
    width_s: f64,
}

impl Bins {
    #[expect(clippy::cast_precision_loss, reason = "there are few")]
    fn of(duration_s: f64) -> Self {
        let count = usize::try_from(rounded_down(duration_s.ceil())).unwrap_or(MOST).clamp(1, MOST);
        Self { count, width_s: duration_s / count as f64 }
    }

    fn at(&self, t_s: f64) -> usize {
        usize::try_from(rounded_down((t_s / self.width_s).floor())).unwrap_or(usize::MAX).min(self.count - 1)
    }

    /// Assumes a constant rate within a second.
    #[expect(clippy::cast_precision_loss, reason = "there are few")]
    fn rates(&self, seconds: &[Second], bytes: impl Fn(&Second) -> Option<u64>) -> Vec<f64> {
        let mut rates = vec![0.0; self.count];
        for second in seconds {
            let (from, to) = (second.t_s, second.t_s + second.duration_s);
            let rate = whole(bytes(second).unwrap_or(0)) / second.duration_s;
            for (number, sum) in rates.iter_mut().enumerate().take(self.at(to) + 1).skip(self.at(from)) {
                let begin = number as f64 * self.width_s;
                let shared = (to.min(begin + self.width_s) - from.max(begin)).max(0.0);
                *sum += rate * shared / self.width_s;
            }
        }
        rates
    }

    fn most(&self, samples: &[Sample], value: impl Fn(&Sample) -> Option<u32>) -> Option<Vec<f64>> {
        let mut most = None;
        for (sample, value) in samples.iter().filter_map(|sample| Some((sample, value(sample)?))) {
            let most = most.get_or_insert_with(|| vec![0.0_f64; self.count]);
            let bin = &mut most[self.at(sample.t_ms / 1e3)];
            *bin = bin.max(f64::from(value));
        }
        most
    }

    fn names(&self, phases: &[Passage]) -> String {
        let mut line = vec![' '; self.count];
        for phase in phases {
            let bars =
                ((phase.t_s + phase.duration_s) / self.width_s).round() - (phase.t_s / self.width_s).round();
            let room = usize::try_from(rounded_down(bars)).unwrap_or(self.count).saturating_sub(1);
            line[self.at(phase.t_s)..]
                .iter_mut()
                .zip(phase.phase.chars().take(room))
                .for_each(|(to, letter)| *to = letter);
        }
        line.into_iter().collect::<String>().trim_end().to_owned()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "for display; what is too large is cut off"
)]
fn rounded_down(number: f64) -> u64 {
    number as u64
}

const MOST: usize = 60;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_kernel_does_not_tell_is_not_zero() {
        let sample = json!({"t_ms": 1500.0, "state": "established", "receive_queue_bytes": 7, "send_queue_bytes": 0,
            "counters": {}});
        let samples: [Sample; 1] = [serde_json::from_value(sample).unwrap()];
        let bins = Bins::of(2.0);
        assert_eq!(bins.most(&samples, |sample| sample.tcp_info.as_ref()?.rcv_wnd), None);
        assert_eq!(bins.most(&samples, |sample| Some(sample.receive_queue_bytes)), Some(vec![0.0, 7.0]));
    }
}
