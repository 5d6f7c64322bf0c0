//! The output of `longhaul ping`: a row per target.

use std::fmt::Write;

use probe::ping::{RoundTrips, Summary, TargetSummary};
use report::terminal::table::{Table, Words};
use units::show::{count, latency, share, time};

use crate::output::{PLAIN, RED};

pub(super) fn summary(summary: &Summary) -> String {
    let mut table = Table::new(1, ["ms", "sent", "answered", "min", "mean", "p50", "p99", "max", ""]);
    for target in &summary.targets {
        table.row(row(target));
    }
    let mut text = table.to_string();
    if summary.targets.iter().filter_map(|target| target.rtt_ms.as_ref()).any(|rtt| rtt.thin_above <= 99.0) {
        text += "~ fewer than 10 samples beyond\n";
    }
    for step in &summary.clock_steps {
        let by = time(step.step_ms.abs() / 1e3);
        let way = if step.step_ms < 0.0 { "back" } else { "forward" };
        let _ = writeln!(
            text,
            "the clock was set {way} by {by} after round {}; round trips are right all the same",
            step.after_seq
        );
    }
    text
}

fn row(target: &TargetSummary) -> [Words; 9] {
    let style = if target.received < target.sent { RED } else { PLAIN };
    let [min, mean, p50, p99, max] = round_trips(target.rtt_ms.as_ref());
    [
        name(target).into(),
        count(target.sent).into(),
        Words::styled(count(target.received), style),
        min.into(),
        mean.into(),
        p50.into(),
        p99.into(),
        max.into(),
        remarks(target).into(),
    ]
}

fn name(target: &TargetSummary) -> String {
    let address = target.address.to_string();
    if target.host == address { address } else { format!("{} ({address})", target.host) }
}

fn round_trips(rtt: Option<&RoundTrips>) -> [String; 5] {
    let Some(rtt) = rtt else { return std::array::from_fn(|_| "-".to_owned()) };
    let percentile =
        |ms: f64, percentile: f64| latency(ms) + if percentile >= rtt.thin_above { "~" } else { "" };
    [
        latency(rtt.min),
        latency(rtt.mean),
        percentile(rtt.p50, 50.0),
        percentile(rtt.p99, 99.0),
        latency(rtt.max),
    ]
}

fn remarks(target: &TargetSummary) -> String {
    let failures = target.failed_by_reason.iter().map(|(reason, n)| (*n, reason.as_str()));
    let others = [
        (target.duplicates, "duplicate"),
        (target.late, "after the timeout"),
        (target.reordered, "reordered"),
        (target.damaged, "damaged"),
        (target.forged, "from another address"),
    ];
    let loss = (target.loss.share > 0.0).then(|| format!("packet loss {}", share(target.loss.share)));
    let counted = failures.chain(others).filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    loss.into_iter().chain(counted).collect::<Vec<_>>().join(", ")
}
