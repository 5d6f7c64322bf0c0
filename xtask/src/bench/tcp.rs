//! Benchmarks of the TCP tools: throughput of the reader and its sender, and the overhead of observation.
//!
//! Needs root, iperf3, ip and ss.

mod cost;
mod explain;
mod forms;
mod loopback;
mod oscil;
mod ports;
mod telemetry;

use std::{process::Command, thread};

use anyhow::{Context, ensure};
use nix::sched::{CloneFlags, unshare};

pub(super) use self::{
    explain::bench as explain, forms::bench as forms, loopback::bench as loopback, ports::bench as ports,
    telemetry::bench as telemetry,
};

/// Runs `work` in a network namespace that has only a loopback device and is removed with its last process.
/// `work` must start its processes from the calling thread.
fn alone<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    let inside = || {
        unshare(CloneFlags::CLONE_NEWNET).context("cannot create a network namespace (needs root)")?;
        let status =
            Command::new("ip").args(["link", "set", "lo", "up"]).status().context("cannot run ip")?;
        ensure!(status.success(), "ip cannot enable the loopback device");
        work()
    };
    thread::scope(|scope| scope.spawn(inside).join().expect("no panic"))
}

fn admit(doubts: &[String]) {
    doubts.iter().for_each(|doubt| println!("| in the rows above, INVALID: {doubt} | | | | | |"));
}
