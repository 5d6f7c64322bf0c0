//! What `longhaul ping` prints: a line a target.

use std::fmt::Write;

use probe::ping::{RoundTrips, Summary, TargetSummary};

use crate::output::{RED, paint};

pub(super) fn summary(summary: &Summary) -> String {
    let name = |target: &TargetSummary| {
        let address = target.address.to_string();
        if target.host == address { address } else { format!("{} ({address})", target.host) }
    };
    let width = summary.targets.iter().map(|target| name(target).chars().count()).max().unwrap_or(0);
    let mut text = format!(
        "{:width$}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n",
        "ms", "sent", "answered", "min", "mean", "p50", "p99", "max"
    );
    for target in &summary.targets {
        let _ = write!(text, "{:width$}{:>8}", name(target), target.sent);
        let answered = format!("{:>10}", target.received);
        text += &if target.received < target.sent { paint(&answered, RED) } else { answered };
        text += &target.rtt_ms.as_ref().map_or_else(|| format!("{:>10}", "-").repeat(5), round_trips);
        let _ = writeln!(text, "{}", remarks(target));
    }
    if summary.targets.iter().filter_map(|target| target.rtt_ms.as_ref()).any(|rtt| rtt.thin_above <= 99.0) {
        text += "~ fewer than 10 samples beyond\n";
    }
    text
}

fn round_trips(rtt: &RoundTrips) -> String {
    let percentile =
        |ms: f64, percentile: f64| format!("{ms:.3}{}", if percentile >= rtt.thin_above { "~" } else { "" });
    format!(
        "{:>10.3}{:>10.3}{:>10}{:>10}{:>10.3}",
        rtt.min,
        rtt.mean,
        percentile(rtt.p50, 50.0),
        percentile(rtt.p99, 99.0),
        rtt.max
    )
}

/// What there is besides answers in time.
fn remarks(target: &TargetSummary) -> String {
    let failures = target.failed_by_reason.iter().map(|(reason, n)| (*n, reason.as_str()));
    let others =
        [(target.duplicates, "duplicate"), (target.late, "after the timeout"), (target.damaged, "damaged")];
    let remarks: Vec<_> =
        failures.chain(others).filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if remarks.is_empty() { String::new() } else { format!("  {}", remarks.join(", ")) }
}
