//! An edge that nobody asks anything: how soon it is ready, and how much memory it has then.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::{
    report::spread,
    server::{fill, free_address},
    tls::{self, certify},
};
use crate::bench::{figures::Spread, program::longhaul};

/// What some starts came to.
pub(super) struct Idle {
    ready_ms: Spread,
    resident_mb: Spread,
}

/// Starts it so often, with TLS, HTTP/3 and an operator's address.
pub(super) fn measure(rounds: usize) -> anyhow::Result<Idle> {
    let folder = tempfile::Builder::new().prefix("longhaul-bench-").tempdir()?;
    certify(folder.path())?;
    let (mut ready, mut resident) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(LEAST) {
        let (ms, mb) = once(folder.path())?;
        ready.push(ms);
        resident.push(mb);
    }
    let of = |values: Vec<f64>| Spread::of(values).context("nothing was measured");
    Ok(Idle { ready_ms: of(ready)?, resident_mb: of(resident)? })
}

/// Milliseconds from the call that starts it to when it says that it listens, and megabytes a second later.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn once(folder: &Path) -> anyhow::Result<(f64, f64)> {
    let file = folder.join("network.toml");
    let addresses = [free_address()?, free_address()?, free_address()?];
    fs::write(&file, configuration(folder, addresses))?;
    let mut command = longhaul();
    command
        .args(["edge", "run"])
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let begin = Instant::now();
    let mut running = Ended(command.spawn().context("cannot run longhaul")?);
    let said = running.0.stderr.take().context("a program has a standard error")?;
    let mut lines = BufReader::new(said).lines();
    let listens = lines.any(|line| line.is_ok_and(|line| line.contains("listening on")));
    let ready = begin.elapsed().as_secs_f64() * 1e3;
    ensure!(listens, "the edge did not start");
    thread::sleep(Duration::from_secs(1));
    let status = fs::read_to_string(format!("/proc/{}/status", running.0.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().context("VmRSS is no number")?;
    Ok((ready, kib * 1024.0 / 1e6))
}

/// Our own configuration for a folder that has certificates, with TLS and an operator's address.
fn configuration(folder: &Path, [clear, tls, admin]: [SocketAddr; 3]) -> String {
    let tls = tls::listening(tls::OF_LONGHAUL, tls, folder);
    let values = [
        ("listen", &clear.to_string()),
        ("log-of-longhaul", &String::new()),
        ("tls-of-longhaul", &tls),
        ("disk-of-longhaul", &format!("admin = \"{admin}\"")),
        ("origin", &"127.0.0.1:9".to_owned()),
    ];
    fill(include_str!("peers/longhaul.toml"), &values.map(|(name, value)| (name, value.as_str())))
}

/// A program that is ended when it is no longer needed.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Idle {
    pub(super) fn table(&self) -> String {
        let Self { ready_ms, resident_mb } = self;
        format!(
            "| what | goal | n | median [least .. most] |\n| --- | --- | --- | --- |\n\
             | from exec to ready, ms | < 200 | {} | {} |\n| resident memory a second later, MB | < 20 | {} | {} |",
            ready_ms.n,
            ready_ms.text(1),
            resident_mb.n,
            resident_mb.text(1)
        )
    }

    pub(super) fn json(&self) -> Value {
        json!({ "ready_ms": spread(self.ready_ms), "resident_mb": spread(self.resident_mb) })
    }
}

/// Starts at least.
const LEAST: usize = 5;
