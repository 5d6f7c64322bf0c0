//! Transfers: what arrived, the longest silence, and throughput over time with the faults beneath it.

use std::fmt::Write;

use scenario::{FaultMark, Transferred};

use super::table::{RED, paint, table};
use crate::text::{count, grouped, label, plain};

/// The table of transfers, and a line of bars for each.
pub(super) fn transfers(transfers: &[Transferred], faults: &[FaultMark]) -> String {
    if transfers.is_empty() {
        return String::new();
    }
    let header =
        ["transfer", "goodput", "longest stall", "lost", "took", "memory", "over"].map(str::to_owned);
    let mut text = table(header, transfers.iter().map(row));
    for transfer in transfers {
        if let Some(why) = &transfer.summary.unfinished {
            let name = label(&transfer.side, LABEL);
            let _ = writeln!(text, "{} {name}: {}", paint("unfinished", RED), plain(why));
        }
    }
    text + &Lines::new(transfers).map_or_else(String::new, |lines| lines.draw(transfers, faults))
}

fn row(transfer: &Transferred) -> [String; 7] {
    let summary = &transfer.summary;
    let absent = || "not known".to_owned();
    let lost = summary.bytes_lost.zip(summary.bytes_bad).map(|(lost, bad)| lost + bad);
    [
        label(&transfer.side, LABEL),
        summary.goodput_mbps.map_or_else(absent, megabits),
        summary.stall.map_or_else(absent, |stall| format!("{:.2} s at {:.1} s", stall.longest_s, stall.at_s)),
        lost.map_or_else(absent, |bytes| format!("{} B", count(bytes))),
        summary.took_s.map_or_else(absent, |seconds| format!("{seconds:.2} s")),
        summary.memory.map_or_else(absent, |memory| megabytes(memory.most_bytes)),
        carrier(transfer),
    ]
}

/// "mptcp, 2 subflows", "mptcp that fell back to tcp".
fn carrier(transfer: &Transferred) -> String {
    let summary = &transfer.summary;
    match summary.subflows {
        _ if summary.fell_back => "mptcp that fell back to tcp".to_owned(),
        Some(1) => format!("{}, 1 subflow", summary.protocol),
        Some(subflows) => format!("{}, {subflows} subflows", summary.protocol),
        None => summary.protocol.clone(),
    }
}

fn megabits(rate: f64) -> String {
    format!("{} Mbit/s", grouped(&format!("{rate:.1}"), ' '))
}

/// Some is never shown as none.
fn megabytes(bytes: u64) -> String {
    let tenths = (bytes.saturating_add(50_000) / 100_000).max(u64::from(bytes > 0));
    format!("{}.{} MB", count(tenths / 10), tenths % 10)
}

/// Lines of bars on the same scales.
struct Lines {
    /// What a bar stands for, s.
    bar_s: f64,
    /// The highest bar, Mbit/s.
    top: f64,
}

impl Lines {
    /// `None` if nothing arrived.
    fn new(transfers: &[Transferred]) -> Option<Self> {
        let starts = |transfer: &Transferred, index: usize| Some(transfer.summary.intervals.get(index)?.t_s);
        let steps = transfers.iter().filter_map(|one| Some(starts(one, 1)? - starts(one, 0)?));
        let step = steps.reduce(f64::max)?;
        let ends = transfers.iter().filter_map(|transfer| transfer.summary.intervals.last());
        let end = ends.map(|interval| interval.t_s).fold(0.0, f64::max);
        // Whole intervals, lest some bars have one more than others.
        let mut lines = Self { bar_s: (end / WIDTH / step).ceil().max(1.0) * step, top: 0.0 };
        let bars = transfers.iter().flat_map(|transfer| lines.bars(transfer));
        lines.top = bars.fold(0.0, f64::max);
        (lines.top > 0.0).then_some(lines)
    }

    /// Mbit/s of each bar.
    fn bars(&self, transfer: &Transferred) -> Vec<f64> {
        let mut bars = Vec::new();
        for interval in &transfer.summary.intervals {
            let place = self.column(interval.t_s);
            bars.resize(bars.len().max(place + 1), 0.0);
            bars[place] += bits(interval.bytes) / self.bar_s / 1e6;
        }
        bars
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=WIDTH")]
    fn column(&self, at_s: f64) -> usize {
        // A hair more, for 0.3 / 0.1 is less than 3.
        (at_s / self.bar_s + 1e-9).clamp(0.0, WIDTH) as usize
    }

    fn draw(&self, transfers: &[Transferred], faults: &[FaultMark]) -> String {
        let mut text = "\n".to_owned();
        for transfer in transfers {
            let bars: String = self.bars(transfer).into_iter().map(|rate| bar(rate / self.top)).collect();
            let _ = writeln!(text, " {:LABEL$} {bars}", label(&transfer.side, LABEL));
        }
        for fault in faults.iter().take(FAULTS) {
            let (from, until) = (self.column(fault.at_s), self.column(fault.until_s.unwrap_or(f64::MAX)));
            let (before, during) = (" ".repeat(from), "━".repeat((until - from).max(1)));
            let _ = writeln!(text, " {:LABEL$} {before}{during} {}", "", label(&fault.label, FAULT));
        }
        let (bar_s, top) = (self.bar_s, megabits(self.top));
        text + &format!(" {:LABEL$} {bar_s:.2} s a bar; the highest is {top}\n", "")
    }
}

/// From nothing to the most; a dot where nothing came.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of eight eighths")]
fn bar(share: f64) -> char {
    BARS[(share * 8.0).ceil().clamp(0.0, 8.0) as usize]
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn bits(bytes: u64) -> f64 {
    bytes as f64 * 8.0
}

const BARS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Bars in a line.
const WIDTH: f64 = 60.0;
/// Faults with a line of their own.
const FAULTS: usize = 4;
const FAULT: usize = 40;
const LABEL: usize = 14;

#[cfg(test)]
mod tests {
    use super::*;

    /// One bar a second: ten at 8 Mbit/s, five at nothing, the rest at half.
    fn transfer(side: &str) -> Transferred {
        let bytes = |second: u32| match second {
            0..10 => 1_000_000,
            10..15 => 0,
            _ => 500_000,
        };
        let intervals: Vec<_> =
            (0..=60).map(|second| serde_json::json!({ "t_s": second, "bytes": bytes(second) })).collect();
        let summary = serde_json::json!({
            "schema": "longhaul.transfer/1", "server": "10.0.0.2:5201", "protocol": "mptcp", "fell_back": false,
            "bytes_sent": 33_000_000, "bytes_received": 33_000_000, "bytes_lost": 0, "bytes_bad": 12,
            "goodput_mbps": 4.4, "took_s": 61.04,
            "memory": { "most_bytes": 4_260_000, "mean_bytes": 2e6, "looks": 600 }, "stall": { "longest_s": 5.25, "at_s": 9.9 }, "subflows": 2, "intervals": intervals,
        });
        Transferred {
            side: side.to_owned(),
            from: "phone".to_owned(),
            to: "server".to_owned(),
            summary: serde_json::from_value(summary).unwrap(),
        }
    }

    #[test]
    fn faults_lie_beneath_what_they_did() {
        let fault = FaultMark { label: "phone's cable: down".to_owned(), at_s: 10.0, until_s: Some(15.0) };
        let text = transfers(&[transfer("two lines")], &[fault]);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert!(
            lines[2].contains("4.4 Mbit/s   5.25 s at 9.9 s   12 B   61.04 s   4.3 MB   mptcp, 2 subflows"),
            "{text}"
        );
        // 60 s on 60 bars: a second each; half of the highest is four eighths.
        let bars = "█".repeat(10) + &"·".repeat(5) + &"▄".repeat(46);
        assert_eq!(lines[4], format!(" two lines      {bars}"), "{text}");
        assert_eq!(lines[5], format!("{}━━━━━ phone's cable: down", " ".repeat(16 + 10)), "{text}");
        assert_eq!(lines[6], format!("{}1.00 s a bar; the highest is 8.0 Mbit/s", " ".repeat(16)), "{text}");
    }

    #[test]
    fn what_nobody_knows_is_not_0() {
        let mut unfinished = transfer("tcp");
        unfinished.summary.unfinished = Some("the path broke".to_owned());
        (unfinished.summary.bytes_lost, unfinished.summary.stall) = (None, None);
        unfinished.summary.intervals.clear();
        let text = transfers(&[unfinished], &[]);
        assert!(text.contains("4.4 Mbit/s       not known   not known"), "{text}");
        assert!(text.contains("tcp: the path broke"), "{text}");
        assert!(!text.contains("a bar"), "{text}");
    }
}
