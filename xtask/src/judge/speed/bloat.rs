//! Latency under load, compared with concurrent pings.

use std::fs;

use anyhow::{Context, ensure};
use speedtest::{
    latency::{During, On},
    result::Outcome,
};

use super::{
    super::median,
    line::{Line, Link, arguments, outcome, program},
    rate::{TERMINAL, round_trip},
    verdict::{Truth, Verdicts},
};

pub(super) fn judge(link: &Link, verdicts: &mut Verdicts) -> anyhow::Result<()> {
    let line = Line::up(link)?;
    // The transfers take about 8 s at any rate, so that the queue is filled several times.
    let megabytes = link.mbits;
    let plan = line.plan(&format!(
        "probe_every = \"200ms\"\n[[step]]\nlatency = 20\n[[step]]\ndownload = \"{megabytes}MB\"\n[[step]]\nupload = \"{megabytes}MB\"\n"
    ))?;
    let idle = round_trip(&line, TERMINAL)?;
    let (outcome, pings) = beside_pings(&line, &plan)?;
    let doubts = line.doubts()?;
    let idle_found = outcome.latency.idle_ms.map(|ms| ms.p50).context("no idle latency was measured")?;
    for (during, what) in
        [(During::Download, "added while downloading"), (During::Upload, "added while uploading")]
    {
        let (found, pinged) = pairs(&outcome, &pings, during)?;
        ensure!(found.len() >= 5, "only {} latency samples have a matching ping", found.len());
        let added = median(&pinged) - idle;
        let truth = Truth { what, unit: "ms", is: added, within: 0.1 * added.abs() };
        verdicts.judge(&link.name(), &truth, Some(median(&found) - idle_found), &doubts, "", None);
    }
    Ok(())
}

fn beside_pings(line: &Line, plan: &str) -> anyhow::Result<(Outcome, Vec<Ping>)> {
    let pings = tempfile::NamedTempFile::new()?;
    let script = format!(
        "ping -4 -n -D -i {EVERY} server >{} & \"$@\"; code=$?; kill -INT $!; exit $code",
        pings.path().display()
    );
    let mut test = line.at_home();
    let outcome = outcome(test.args(["sh", "-c", &script, "sh"]).arg(program()).args(arguments(plan)))?;
    let pings = fs::read_to_string(pings.path())?;
    Ok((outcome, pings.lines().filter_map(Ping::of).collect()))
}

fn pairs(outcome: &Outcome, pings: &[Ping], during: During) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let started = second_of_day(&outcome.started).context("the result of a test has no start time")?;
    let looks =
        outcome.latency.samples.iter().filter(|look| look.during == during && look.on == On::Separate);
    let pairs = looks.filter_map(|look| {
        let sent = (started + look.at_s) % DAY;
        let nearest = pings.iter().min_by(|a, b| (a.sent - sent).abs().total_cmp(&(b.sent - sent).abs()))?;
        ((nearest.sent - sent).abs() < 2.0 * EVERY).then_some((look.ms, nearest.ms))
    });
    Ok(pairs.unzip())
}

fn second_of_day(time: &str) -> Option<f64> {
    let clock = time.split_once('T')?.1.strip_suffix('Z')?;
    clock.split(':').try_fold(0.0, |seconds, part| Some(seconds * 60.0 + part.parse::<f64>().ok()?))
}

/// Send time in seconds since midnight, and duration in ms.
struct Ping {
    sent: f64,
    ms: f64,
}

impl Ping {
    /// Parses a line such as `[1764149009.123456] 64 bytes from 10.1.0.1: icmp_seq=3 ttl=63 time=20.4 ms`,
    /// whose timestamp is that of the reply.
    fn of(line: &str) -> Option<Self> {
        let (stamp, rest) = line.strip_prefix('[')?.split_once(']')?;
        let ms: f64 = rest.split_once("time=")?.1.split(' ').next()?.parse().ok()?;
        let answered: f64 = stamp.parse().ok()?;
        Some(Self { sent: (answered - ms / 1e3) % DAY, ms })
    }
}

const EVERY: f64 = 0.1;
const DAY: f64 = 86_400.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ping_was_sent_as_long_before_its_line_as_it_took() {
        let ping =
            Ping::of("[1764149009.500000] 64 bytes from 10.1.0.1: icmp_seq=3 ttl=63 time=250 ms").unwrap();
        // 1764149009 is 9 h 23 min 29 s after midnight, UTC.
        let midnight = 9.0 * 3600.0 + 23.0 * 60.0 + 29.0;
        assert!((ping.sent - (midnight + 0.25)).abs() < 1e-3, "{}", ping.sent);
        assert!(
            second_of_day("2025-11-26T09:23:29.500Z")
                .is_some_and(|second| (second - midnight - 0.5).abs() < 1e-6)
        );
        assert!(Ping::of("PING server (10.1.0.1) 56(84) bytes of data.").is_none());
    }
}
