//! What a link carries, and how long it takes with nothing else on it, as the terminal's test finds it.

use std::fmt::Write as _;

use anyhow::{Context, ensure};
use speed::{bandwidth::Bandwidth, result::Outcome};

use super::{
    super::median,
    line::{Line, Link},
    verdict::{Truth, Verdicts},
};

/// A whole test: both rates within 2 %, the idle latency within 0.3 ms of what ping sees.
pub(super) fn judge(link: &Link, verdicts: &mut Verdicts) -> anyhow::Result<()> {
    let line = Line::up(link)?;
    let before = round_trip(&line, TERMINALS)?;
    let outcome = line.test("full")?;
    let ping = f64::midpoint(before, round_trip(&line, TERMINALS)?);
    let doubts = line.doubts()?;
    rates(link, verdicts, &outcome, ("", 0.02), &doubts);
    idle(link, verdicts, &outcome, (ping, "idle latency"), &doubts);
    Ok(())
}

/// Both rates, which may be off by this share.
pub(super) fn rates(
    link: &Link,
    verdicts: &mut Verdicts,
    outcome: &Outcome,
    (who, share): (&'static str, f64),
    doubts: &[String],
) {
    let names =
        if who.is_empty() { ["download", "upload"] } else { ["download, browser", "upload, browser"] };
    for (what, direction) in names.into_iter().zip([&outcome.download, &outcome.upload]) {
        let mbits = link.carries() / 1e6;
        let truth = Truth { what, unit: "Mbit/s", is: mbits, within: mbits * share };
        let found = direction.bps_p90.map(|bps| bps / 1e6);
        verdicts.judge(&link.name(), &truth, found, doubts, &limited(direction));
    }
}

/// The median latency of the idle line, beside that of ping.
pub(super) fn idle(
    link: &Link,
    verdicts: &mut Verdicts,
    outcome: &Outcome,
    (ping, what): (f64, &'static str),
    doubts: &[String],
) {
    let truth = Truth { what, unit: "ms", is: ping, within: 0.3 };
    let found = outcome.latency.idle_ms.map(|ms| ms.p50);
    verdicts.judge(&link.name(), &truth, found, doubts, "");
}

/// What the test says of why it is not more.
fn limited(direction: &Bandwidth) -> String {
    let by = direction.limited_by.as_deref().filter(|by| *by != "network");
    let mut said = by.map_or_else(String::new, |by| format!("; limited by the {by}"));
    if let Some(limits) = direction.limits.filter(|limits| limits.retransmitted >= 0.001) {
        // Writing to a String cannot fail.
        let _ = write!(said, "; {:.1} % sent again", limits.retransmitted * 100.0);
    }
    said
}

/// The median round trip of packets that are together as long as this request for nothing and its answer, ms: on a slow line their bits take
/// longer than the way.
pub(super) fn round_trip(line: &Line, request: usize) -> anyhow::Result<f64> {
    let bytes = (request + ANSWER + 2 * HEADERS) / 2 - HEADERS_OF_PING;
    // Of one packet alone it tells the time to a microsecond, of several only together.
    let each = format!("for n in $(seq 40); do ping -4 -n -q -c 1 -s {bytes} server; done");
    let output = line.at_home().args(["sh", "-c", &each]).output().context("ping cannot be run")?;
    let text = String::from_utf8(output.stdout)?;
    let times: Vec<f64> = text
        .lines()
        .filter_map(|line| line.strip_prefix("rtt min/avg/max/mdev = ")?.split('/').next()?.parse().ok())
        .collect();
    ensure!(!times.is_empty(), "ping said: {text}");
    Ok(median(&times))
}

/// Bytes of a request for nothing over HTTP/1.1, as the terminal's client writes it and as Chromium does, and of the head of its answer; seen
/// with tcpdump.
pub(super) const TERMINALS: usize = 51;
pub(super) const CHROMIUMS: usize = 507;
const ANSWER: usize = 184;
/// Of IPv4, and of TCP with time stamps.
const HEADERS: usize = 52;
/// Of IPv4 and ICMP.
const HEADERS_OF_PING: usize = 28;
