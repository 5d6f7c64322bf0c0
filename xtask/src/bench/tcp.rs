//! What TCP is measured with, measured itself: how fast the reader and its sender are, and what looking costs.
//!
//! What needs no distance runs on the loopback of a network namespace of its own, so that no other connections, ports
//! and counters are in the figures. Needs root, iperf3, ip and ss.

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

/// Does this in a network namespace that has a loopback and nothing else, and that goes with the last of its programs. They
/// are started from the calling thread of `work`.
fn alone<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    let inside = || {
        unshare(CloneFlags::CLONE_NEWNET).context("cannot make a network namespace (it takes root)")?;
        let status =
            Command::new("ip").args(["link", "set", "lo", "up"]).status().context("cannot run ip")?;
        ensure!(status.success(), "ip cannot switch loopback on");
        work()
    };
    thread::scope(|scope| scope.spawn(inside).join().expect("no panic"))
}

/// Says of what was printed why it was not measured as it should be, if so.
fn admit(doubts: &[String]) {
    doubts.iter().for_each(|doubt| println!("| in the rows above, INVALID: {doubt} | | | | | |"));
}
