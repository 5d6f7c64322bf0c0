//! What a link carries, and how long it takes with nothing else on it, as the terminal's test finds it.

use std::{fmt::Write as _, process::Command};

use anyhow::{Context, ensure};
use speed::bandwidth::Bandwidth;

use super::{
    super::median,
    line::{Line, Link},
    verdict::{Peer, Truth, Verdicts},
};
use crate::bench::iperf;

/// A whole test: both rates within 2 %, the idle latency within 0.3 ms of what ping sees. Where a rate is too low, iperf3 tries what TCP can do.
pub(super) fn judge(link: &Link, verdicts: &mut Verdicts) -> anyhow::Result<()> {
    let line = Line::up(link)?;
    let before = round_trip(&line, TERMINAL)?;
    let outcome = line.test("full")?;
    let ping = f64::midpoint(before, round_trip(&line, TERMINAL)?);
    let doubts = line.doubts()?;
    for (what, direction, ends) in
        [("download", &outcome.download, ["home", "server"]), ("upload", &outcome.upload, ["server", "home"])]
    {
        let truth = carried(link, what, 0.02);
        let found = mbits(direction);
        let peer = if truth.is_missed(found) { Some(iperf3(&line, ends)?) } else { None };
        verdicts.judge(&link.name(), &truth, found, &doubts, &limited(direction), peer);
    }
    let truth = idle(ping, "idle latency");
    let found = outcome.latency.idle_ms.map(|ms| ms.p50);
    let peer = if truth.is_missed(found) { Some(echo(&line, TERMINAL)?) } else { None };
    verdicts.judge(&link.name(), &truth, found, &doubts, "", peer);
    Ok(())
}

/// What the link carries of bodies; a rate may be off by this share.
pub(super) fn carried(link: &Link, what: &'static str, share: f64) -> Truth {
    let mbits = link.carries() / 1e6;
    Truth { what, unit: "Mbit/s", is: mbits, within: mbits * share }
}

pub(super) fn mbits(direction: &Bandwidth) -> Option<f64> {
    direction.bps_p90.map(|bps| bps / 1e6)
}

/// What iperf3 gets over the same link, from the second to the first of these hosts: the mean of 15 s, 5 s after its beginning.
pub(super) fn iperf3(line: &Line, [receiver, sender]: [&str; 2]) -> anyhow::Result<Peer> {
    let at = |host| move || line.planet.exec(host);
    let outcome = iperf::run(&at(receiver), &at(sender), receiver, &["-t", "21"])?;
    Ok(Peer { who: "iperf3", found: outcome.steady(5, 15)? / 1e6 })
}

/// What two programs find that do nothing but ask and answer, in as many bytes; ping is answered by the kernel, which has not to wake anybody.
pub(super) fn echo(line: &Line, look: Look) -> anyhow::Result<Peer> {
    let run = |mut at: Command, words: &[&str]| at.args(["python3", "-c", ECHO]).args(words).output();
    let started = run(line.planet.exec_detached("server"), &["serve", &look.answer.to_string()])?;
    ensure!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    let output = run(line.at_home(), &["ask", &look.request.to_string(), "server"])?;
    let said = String::from_utf8_lossy(&output.stdout);
    let found = said.trim().parse();
    Ok(Peer {
        who: "an echo over TCP",
        found: found.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?,
    })
}

/// The median latency of the idle line has to be that of ping.
pub(super) fn idle(ping: f64, what: &'static str) -> Truth {
    Truth { what, unit: "ms", is: ping, within: 0.3 }
}

/// What the test says of why it is not more.
pub(super) fn limited(direction: &Bandwidth) -> String {
    let by = direction.limited_by.as_deref().filter(|by| *by != "network");
    let mut said = by.map_or_else(String::new, |by| format!("; limited by the {by}"));
    if let Some(limits) = direction.limits.filter(|limits| limits.retransmitted >= 0.001) {
        // Writing to a String cannot fail.
        let _ = write!(said, "; {:.1} % sent again", limits.retransmitted * 100.0);
    }
    said
}

/// The median round trip of packets that are together as long as a request for nothing and its answer, ms: on a slow line their bits take
/// longer than the way.
pub(super) fn round_trip(line: &Line, look: Look) -> anyhow::Result<f64> {
    let bytes = (look.request + look.answer + 2 * HEADERS) / 2 - HEADERS_OF_PING;
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

/// Bytes of a request for nothing over HTTP/1.1, and of the head of its answer.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
pub(super) struct Look {
    pub(super) request: usize,
    pub(super) answer: usize,
}

/// As the terminal's client writes it; seen with tcpdump.
pub(super) const TERMINAL: Look = Look { request: 51, answer: 184 };
const ECHO: &str = include_str!("echo.py");
/// Of IPv4, and of TCP with time stamps.
const HEADERS: usize = 52;
/// Of IPv4 and ICMP.
const HEADERS_OF_PING: usize = 28;
