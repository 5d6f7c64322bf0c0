//! The output of `longhaul probe`: one request as a waterfall, or a run as a table.

use std::fmt::Write;

use probe::summary::{Phase, Summary};
use recording::{Metric, Sample};
use report::terminal::table::table;
use units::show::{bytes, count, latency, plural, time};

use crate::output::{RED, paint};

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of minutes are far below 2^53")]
pub(super) fn waterfall(url: &str, sample: &Sample, columns: usize) -> String {
    let url = sample.labels.get("url").map_or(url, String::as_str);
    let status = sample.status.map_or_else(String::new, |status| status.to_string());
    if let Some(error) = &sample.error {
        let location = sample.labels.get("location").map_or_else(String::new, |to| format!(": {to:?}"));
        let status = if location.is_empty() { String::new() } else { format!("{status}  ") };
        return format!("{url}  {status}{}{location}\n", paint(error, RED));
    }
    let protocol = sample.labels.get("protocol").map_or("", String::as_str);
    let remote = sample.remote.as_ref().map_or_else(String::new, |remote| {
        let note = if sample.fallback == Some(true) { ", after another address" } else { "" };
        format!("  from {remote}{note}")
    });
    let mut text =
        format!("{url}  {status}  {protocol}  {}{remote}\n", bytes(sample.body_bytes.unwrap_or_default()));
    let session = ["tls", "cipher"].iter().filter_map(|label| sample.labels.get(*label).cloned());
    let local = sample.local.as_ref().map(|local| format!("to our {local}"));
    let connection: Vec<_> = session.chain(local).collect();
    if !connection.is_empty() {
        let _ = writeln!(text, "  {}", connection.join(", "));
    }
    if let (Some(sent), Some(received)) = (sample.wire_sent_bytes, sample.wire_received_bytes) {
        let _ = writeln!(text, "  on the wire: {} sent, {} received", bytes(sent), bytes(received));
    }
    let phases = Metric::PHASES.map(|phase| (phase.name(), sample.phase(phase)));
    let total =
        sample.last_byte_ns.unwrap_or_else(|| phases.iter().filter_map(|(_, ns)| *ns).sum()).max(1) as f64;
    let width = columns.saturating_sub(BEFORE).clamp(LEAST, MOST) as f64;
    let columns = |ns: u64| (ns as f64 / total * width).round();
    let mut start = 0;
    for (name, ns) in phases {
        // A phase that did not happen is omitted; zero would mean that it took no time.
        let Some(ns) = ns else { continue };
        let (from, to) = (columns(start), columns(start + ns));
        start += ns;
        let bar = repeat(' ', from) + &repeat('█', (to - from).max(1.0));
        let _ = writeln!(text, "  {name:8}{:>9}  {bar}", time(ns as f64 / 1e9));
    }
    let _ = writeln!(text, "  {:8}{:>9}", "total", time(total / 1e9));
    let stamps = [
        ("interim response", sample.first_interim_ns),
        ("header", sample.final_headers_ns),
        ("first body byte", sample.first_body_byte_ns),
        ("last byte", sample.last_byte_ns),
    ];
    let stamps = stamps.into_iter().filter_map(|(name, ns)| Some((name, ns? as f64 / 1e9)));
    let stamps: Vec<_> = stamps.map(|(name, seconds)| format!("{name} {}", time(seconds))).collect();
    if !stamps.is_empty() {
        let _ = writeln!(text, "  at: {}", stamps.join(", "));
    }
    if let Some(timing) = &sample.server_timing {
        let _ = writeln!(text, "  server-timing: {timing}");
    }
    text
}

pub(super) fn summary(summary: &Summary) -> String {
    let mut text = format!(
        "{}: {} in {}, {} failed{}\n\n",
        summary.url,
        plural(summary.n, "request"),
        time(summary.duration_s),
        count(summary.errors),
        if summary.errors > 0 { format!(" ({})", reasons(summary)) } else { String::new() }
    );
    let header = ["ms", "n", "min", "mean", "p50", "p95", "p99", "max"].map(str::to_owned);
    let phases = Metric::ALL.iter().map(|metric| metric.name());
    let phases = phases.filter_map(|name| Some((name, summary.phases.get(name)?)));
    let lateness = summary.lateness_ms.iter().map(|lateness| ("lateness", lateness));
    text += &table(header, phases.chain(lateness).map(|(name, phase)| row(name, phase)));
    if summary.phases.values().any(|phase| phase.thin_above <= 99.0) {
        let _ = writeln!(text, "~ fewer than 10 samples beyond");
    }
    text
}

fn row(name: &str, phase: &Phase) -> [String; 8] {
    let percentile = |name: &str| {
        let value = phase.percentiles_ms.get(name).map_or_else(|| "-".to_owned(), |ms| latency(*ms));
        let is_thin = name.parse::<f64>().is_ok_and(|percentile| percentile >= phase.thin_above);
        if is_thin { value + "~" } else { value }
    };
    [
        name.to_owned(),
        count(phase.n),
        latency(phase.min_ms),
        latency(phase.mean_ms),
        percentile("50"),
        percentile("95"),
        percentile("99"),
        latency(phase.max_ms),
    ]
}

pub(super) fn reasons(summary: &Summary) -> String {
    let reasons: Vec<_> =
        summary.errors_by_reason.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    reasons.join(", ")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a column of the screen")]
fn repeat(what: char, times: f64) -> String {
    what.to_string().repeat(times.max(0.0) as usize)
}

/// Columns of a waterfall, and of the text before it.
const MOST: usize = 50;
const LEAST: usize = 10;
const BEFORE: usize = 22;
