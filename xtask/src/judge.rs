//! What can be held against the edge: tests that are not ours, messages that two readers take differently, what a linter says of its answers,
//! an hour of load, a kill at any moment, faults by chance in a whole network, the clients of its key-value store; and against the speed test: the
//! rubric as others have it, and lines that are known; and against the decoders of recordings: a reader that shares nothing with them.
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

/// The program as it is shipped.
fn longhaul() -> Command {
    Command::new(root().join("target/release/longhaul"))
}

/// Starts a program that says where it listens, and waits until it does.
fn listening(command: &mut Command) -> anyhow::Result<Ended> {
    let mut program = Ended(command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?);
    let said = program.0.stderr.take().context("a program has a standard error")?;
    let mut lines = BufReader::new(said).lines();
    let listens = lines.any(|line| line.is_ok_and(|line| line.contains("listening on")));
    ensure!(listens, "{command:?} did not start");
    // Whatever else it says is read, so that it never waits for a reader.
    thread::spawn(move || lines.for_each(drop));
    Ok(program)
}

/// Starts a data centre with this network's file, which is written to the folder.
fn data_centre(mut program: Command, folder: &Path, network: &str, more: &[&str]) -> anyhow::Result<Ended> {
    let file = folder.join("network.toml");
    fs::write(&file, network)?;
    listening(program.args(["edge", "run"]).args(more).arg(&file))
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The middle one; not a number if there is none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Waits until somebody listens at a port of loopback.
fn accepts(port: u16) -> anyhow::Result<()> {
    for _ in 0..400 {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(());
        }
        thread::park_timeout(Duration::from_millis(50));
    }
    bail!("nobody listens at port {port} after 20 s")
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
