//! Runs unmodified iperf3 and reads its two reports.

use std::{
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

pub(crate) struct Outcome {
    client: Value,
    server: Value,
}

impl Outcome {
    pub(super) fn bits_per_second(&self) -> anyhow::Result<f64> {
        let back = number(&self.client, "/end/sum_received_bidir_reverse/bits_per_second").unwrap_or(0.0);
        Ok(number(&self.client, "/end/sum_received/bits_per_second")? + back)
    }

    /// Excludes the last interval, which is usually shorter.
    pub(crate) fn steady(&self, skip: usize, take: usize) -> anyhow::Result<f64> {
        Ok(self.sum("/sum/bytes", skip, take)? * 8.0 / self.sum("/sum/seconds", skip, take)?)
    }

    /// UDP only.
    pub(super) fn steady_loss(&self, skip: usize, take: usize) -> anyhow::Result<f64> {
        Ok(self.sum("/sum/lost_packets", skip, take)? / self.sum("/sum/packets", skip, take)?)
    }

    fn sum(&self, what: &str, skip: usize, take: usize) -> anyhow::Result<f64> {
        let intervals = self.server["intervals"].as_array().context("iperf3 reported no intervals")?;
        let whole = intervals.len().saturating_sub(1).min(skip + take);
        ensure!(whole > skip, "iperf3 reported {} intervals, too few to leave out {skip}", intervals.len());
        intervals[skip..whole].iter().map(|interval| number(interval, what)).sum()
    }

    /// UDP only.
    pub(super) fn lost(&self) -> anyhow::Result<(u64, u64)> {
        let count =
            |what| self.client.pointer(what).and_then(Value::as_u64).context("iperf3 counted no packets");
        Ok((count("/end/sum/packets")?, count("/end/sum/lost_packets")?))
    }
}

pub(crate) type At<'a> = &'a (dyn Fn() -> Command + Sync);

pub(crate) fn run(server: At, client: At, address: &str, arguments: &[&str]) -> anyhow::Result<Outcome> {
    let listening = server()
        .args(["iperf3", "-s", "-1", "-J"])
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start iperf3")?;
    let mut listening = Ending(Some(listening));
    wait_for_listener(server)?;
    let output = client().args(["iperf3", "-J", "-c", address]).args(arguments).output()?;
    let client: Value = serde_json::from_slice(&output.stdout).context("iperf3 gave no JSON")?;
    if let Some(error) = client.get("error") {
        bail!("iperf3 failed: {error}");
    }
    let child = listening.0.take().expect("it was put there above");
    let server = serde_json::from_slice(&child.wait_with_output()?.stdout).context("iperf3 gave no JSON")?;
    Ok(Outcome { client, server })
}

/// iperf3 does not report when it is listening, so this polls the kernel's socket table.
#[expect(clippy::disallowed_methods, reason = "nothing tells when a program begins to listen")]
fn wait_for_listener(at: At) -> anyhow::Result<()> {
    for _ in 0..200 {
        let output = at().args(["cat", "/proc/net/tcp", "/proc/net/tcp6"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        // The local address ends with the port, 5201; state 0A is LISTEN.
        if text.lines().any(|line| line.contains(":1451 ") && line.contains(" 0A ")) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(10));
    }
    bail!("iperf3 does not listen")
}

fn number(report: &Value, what: &str) -> anyhow::Result<f64> {
    report.pointer(what).and_then(Value::as_f64).with_context(|| format!("iperf3 reported no {what}"))
}

struct Ending(Option<Child>);

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
