//! An edge without requests: time until it is ready, and memory that it uses.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
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
use crate::{
    bench::{
        figures::Spread,
        program::{longhaul, memory_mb},
    },
    root,
};

pub(super) struct Idle(Vec<Starts>);

struct Starts {
    program: &'static str,
    ready_ms: Spread,
    resident_mb: Spread,
    own_mb: Spread,
}

pub(super) fn measure(rounds: usize) -> anyhow::Result<Idle> {
    let folder = tempfile::Builder::new().prefix("longhaul-bench-").tempdir()?;
    certify(folder.path())?;
    let shipped = root().join("target/dist/longhaul");
    let mut programs = vec![("release build", PathBuf::from(longhaul().get_program()))];
    if shipped.exists() {
        programs.push(("as shipped", shipped));
    }
    let starts = |(name, program): (_, PathBuf)| Starts::of(name, &program, rounds.max(LEAST), folder.path());
    Ok(Idle(programs.into_iter().map(starts).collect::<Result<_, _>>()?))
}

impl Starts {
    fn of(program: &'static str, path: &Path, rounds: usize, folder: &Path) -> anyhow::Result<Self> {
        let (mut ready, mut resident, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            let start = once(path, folder)?;
            ready.push(start.ready_ms);
            resident.push(start.resident_mb);
            own.push(start.own_mb);
        }
        let of = |values: Vec<f64>| Spread::of(values).context("nothing was measured");
        Ok(Self { program, ready_ms: of(ready)?, resident_mb: of(resident)?, own_mb: of(own)? })
    }
}

struct Start {
    /// From process start until the edge reports that it is listening.
    ready_ms: f64,
    /// Measured one second later.
    resident_mb: f64,
    /// Without file-backed pages, which all processes of the same program share.
    own_mb: f64,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn once(program: &Path, folder: &Path) -> anyhow::Result<Start> {
    let file = folder.join("network.toml");
    let addresses = [free_address()?, free_address()?, free_address()?];
    fs::write(&file, configuration(folder, addresses))?;
    let mut command = Command::new(program);
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
    let ready_ms = begin.elapsed().as_secs_f64() * 1e3;
    ensure!(listens, "the edge did not start");
    thread::sleep(Duration::from_secs(1));
    let memory = |name| memory_mb(running.0.id(), name);
    Ok(Start { ready_ms, resident_mb: memory("VmRSS")?, own_mb: memory("RssAnon")? })
}

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

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Idle {
    pub(super) fn table(&self) -> String {
        let row = |starts: &Starts| {
            let Starts { program, ready_ms, resident_mb, own_mb } = starts;
            let [ready, resident, own] = [ready_ms, resident_mb, own_mb].map(|figure| figure.text(1));
            format!("\n| {program} | {ready} | {resident} | {own} | {} |", ready_ms.n)
        };
        let rows: String = self.0.iter().map(row).collect();
        format!(
            "| program | from exec to ready, ms | resident a second later, MB | of that its own, without pages of files, MB | n |\n\
             | --- | --- | --- | --- | --- |\n| goal | < 200 | < 20 | | |{rows}"
        )
    }

    pub(super) fn json(&self) -> Value {
        let of = |starts: &Starts| {
            json!({
                "program": starts.program,
                "ready_ms": spread(starts.ready_ms),
                "resident_mb": spread(starts.resident_mb),
                "own_mb": spread(starts.own_mb),
            })
        };
        self.0.iter().map(of).collect()
    }
}

const LEAST: usize = 5;
