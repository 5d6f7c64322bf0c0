//! Extended tests against independent references, run by hand. For the edge: cache-tests.fyi, request
//! smuggling, a linter for responses, a soak test, kills at random times, random faults in a whole
//! network, and clients of the key-value store.
//!
//! `wild` compares the edge with nginx and Varnish.

pub(crate) mod cache_tests;
pub(crate) mod faults;
mod install;
pub(crate) mod kill;
pub(crate) mod kv;
pub(crate) mod lint;
pub(crate) mod recordings;
pub(crate) mod rubric;
pub(crate) mod smuggling;
pub(crate) mod soak;
pub(crate) mod speed;
pub(crate) mod wild;

use std::{
    fs,
    io::{BufRead, BufReader},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, bail, ensure};

use crate::root;

fn longhaul() -> Command {
    Command::new(root().join("target/release/longhaul"))
}

fn listening(command: &mut Command) -> anyhow::Result<Ended> {
    let mut program = Ended(command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?);
    let said = program.0.stderr.take().context("a program has a standard error")?;
    let mut lines = BufReader::new(said).lines();
    let listens = lines.any(|line| line.is_ok_and(|line| line.contains("listening on")));
    ensure!(listens, "{command:?} did not start");
    // Drains the remaining output, so that the program never blocks on a full pipe.
    thread::spawn(move || lines.for_each(drop));
    Ok(program)
}

fn data_centre(mut program: Command, folder: &Path, network: &str, more: &[&str]) -> anyhow::Result<Ended> {
    let file = folder.join("network.toml");
    fs::write(&file, network)?;
    listening(program.args(["edge", "run"]).args(more).arg(&file))
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// NaN if there are no values.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn accepts(port: u16) -> anyhow::Result<()> {
    for _ in 0..400 {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(());
        }
        thread::park_timeout(Duration::from_millis(50));
    }
    bail!("no listener at port {port} after 20 s")
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
