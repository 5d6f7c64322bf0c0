//! Rate and idle latency, measured by the command line test.

use std::{fmt::Write as _, process::Command};

use anyhow::{Context, ensure};
use speedtest::bandwidth::Bandwidth;

use super::{
    super::median,
    line::{Line, Link},
    verdict::{Peer, Truth, Verdicts},
};
use crate::bench::iperf;

/// A complete test: both rates must be within 2 %, the idle latency within 0.3 ms of ping. If a rate is too
/// low, iperf3 measures the same link.
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

pub(super) fn carried(link: &Link, what: &'static str, share: f64) -> Truth {
    let mbits = link.carries() / 1e6;
    Truth { what, unit: "Mbit/s", is: mbits, within: mbits * share }
}

pub(super) fn mbits(direction: &Bandwidth) -> Option<f64> {
    direction.bps_p90.map(|bps| bps / 1e6)
}

/// The rate of iperf3 over the same link, from the second of these hosts to the first: the mean of 15 s after
/// 5 s.
pub(super) fn iperf3(line: &Line, [receiver, sender]: [&str; 2]) -> anyhow::Result<Peer> {
    let at = |host| move || line.planet.exec(host);
    let outcome = iperf::run(&at(receiver), &at(sender), receiver, &["-t", "21"])?;
    Ok(Peer { who: "iperf3", found: outcome.steady(5, 15)? / 1e6 })
}

/// Latency between two user-space programs that only exchange messages of the same size; ping is handled in
/// the kernel without waking a process.
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

pub(super) fn idle(ping: f64, what: &'static str) -> Truth {
    Truth { what, unit: "ms", is: ping, within: 0.3 }
}

pub(super) fn limited(direction: &Bandwidth) -> String {
    let by = direction.limited_by.as_deref().filter(|by| *by != "network");
    let mut said = by.map_or_else(String::new, |by| format!("; limited by the {by}"));
    if let Some(limits) = direction.limits.filter(|limits| limits.retransmitted >= 0.001) {
        let _ = write!(said, "; {:.1} % sent again", limits.retransmitted * 100.0);
    }
    said
}

/// In ms, for packets with the total size of an empty request and its response: on a slow link, the
/// serialisation time exceeds the propagation delay.
pub(super) fn round_trip(line: &Line, look: Look) -> anyhow::Result<f64> {
    let bytes = (look.request + look.answer + 2 * HEADERS) / 2 - HEADERS_OF_PING;
    // ping reports microseconds for one packet, but not for each of several.
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

/// Bytes of an empty HTTP/1.1 request, and of the head of its response.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
pub(super) struct Look {
    pub(super) request: usize,
    pub(super) answer: usize,
}

/// Measured with tcpdump.
pub(super) const TERMINAL: Look = Look { request: 51, answer: 184 };
const ECHO: &str = include_str!("echo.py");
/// IPv4, and TCP with timestamps.
const HEADERS: usize = 52;
/// IPv4 and ICMP.
const HEADERS_OF_PING: usize = 28;
