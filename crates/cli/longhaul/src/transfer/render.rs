//! The output of `longhaul transfer send`: arrivals, the longest gap, and throughput over time.

use std::fmt::Write;

use trafficgen::transfer::{Interval, Summary};
use units::show::{bytes, plural, rate, time};

use crate::output::{RED, YELLOW, paint};

pub(super) fn summary(server: &str, summary: &Summary) -> String {
    let mut text = format!("{server} ({})  {}\n", summary.server, carrier(summary));
    let _ = writeln!(text, "  {:12}{}", "sent", bytes(summary.bytes_sent));
    if let Some(why) = &summary.unfinished {
        let unacknowledged = bytes(summary.bytes_unacknowledged.unwrap_or(summary.bytes_sent));
        let _ = writeln!(text, "  {}  {why}", paint("unfinished", RED));
        let _ = writeln!(text, "  {:12}{unacknowledged}: not known whether they arrived", "not acked");
    }
    if let Some(received) = summary.bytes_received {
        let _ = writeln!(text, "  {:12}{}{}", "received", bytes(received), losses(summary));
    }
    if let (Some(goodput), Some(duration)) = (summary.goodput_mbps, summary.duration_s) {
        let omitted =
            summary.omitted_s.map_or_else(String::new, |s| format!(", the first {} left out", time(s)));
        let _ = writeln!(text, "  {:12}{} over {}{omitted}", "goodput", rate(goodput * 1e6), time(duration));
    }
    if let Some(stall) = summary.stall {
        let _ = writeln!(
            text,
            "  {:12}{} without a byte, {} after the start",
            "stall",
            time(stall.longest_s),
            time(stall.at_s)
        );
    }
    if let Some(retransmits) = summary.retransmits {
        let least =
            summary.rtt_min_ms.map_or_else(String::new, |ms| format!(", least rtt {}", time(ms / 1e3)));
        let _ = writeln!(text, "  {:12}{}{least}", "sent again", plural(retransmits, "segment"));
    }
    if let Some(memory) = summary.memory {
        let (most, mean) = (bytes(memory.most_bytes), bytes(whole(memory.mean_bytes)));
        let _ = writeln!(text, "  {:12}{most} of the sender's kernel at most, {mean} on average", "memory");
    }
    text + &over_time(&summary.intervals)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "for display; it is not negative"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

fn carrier(summary: &Summary) -> String {
    let mut parts = vec![summary.protocol.clone()];
    if summary.fell_back {
        parts.push(paint("fell back to tcp", YELLOW));
    }
    parts.extend(summary.subflows.map(|n| plural(n, "subflow")));
    parts.extend(summary.congestion.clone());
    parts.join(", ")
}

fn losses(summary: &Summary) -> String {
    let of = |n: Option<u64>, what: &str| match n {
        None | Some(0) => format!(", none {what}"),
        Some(n) => paint(&format!(", {} {what}", bytes(n)), RED),
    };
    of(summary.bytes_lost, "lost") + &of(summary.bytes_bad, "bad")
}

fn over_time(intervals: &[Interval]) -> String {
    let (Some(last), true) = (intervals.last(), intervals.len() > 1) else { return String::new() };
    let group = intervals.len().div_ceil(WIDTH);
    let sums: Vec<u64> =
        intervals.chunks(group).map(|some| some.iter().map(|interval| interval.bytes).sum()).collect();
    let most = sums.iter().copied().max().unwrap_or(0).max(1);
    let bars: String = sums.iter().map(|&sum| bar(sum, most)).collect();
    let length = intervals[1].t_s - intervals[0].t_s;
    let width = length * f64::from(u32::try_from(group).unwrap_or(u32::MAX));
    let top = rate(bits(most) / width);
    format!("\n  {bars}\n  0 to {}, {} per bar; the highest is {top}\n", time(last.t_s + length), time(width))
}

pub(crate) fn bar(sum: u64, most: u64) -> char {
    let eighth = (u128::from(sum) * 8).div_ceil(u128::from(most));
    usize::try_from(eighth).ok().and_then(|eighth| BARS.get(eighth)).copied().unwrap_or('█')
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn bits(bytes: u64) -> f64 {
    bytes as f64 * 8.0
}

const BARS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

const WIDTH: usize = 60;
