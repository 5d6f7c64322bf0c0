//! Connections per second of `tcp ports` with each strategy, compared with the maximum of the machine.
//!
//! Each connection is closed immediately, so every port is free.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::AsRawFd,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use nix::sys::socket::{self, Backlog, setsockopt, sockopt};
use serde_json::Value;

use super::{admit, alone};
use crate::bench::{lab::longhaul, row};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    let (mut runs, mut doubts) = (BTreeMap::new(), Vec::new());
    let (mut best, mut peer, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        // Each in a new namespace, where all ports are free.
        let measured: Value = serde_json::from_str(&alone(|| longhaul(&["tcp", "ports", "--json"]))?)?;
        ensure!(measured["ports"] == PORTS, "the range has {} ports, not {PORTS}", measured["ports"]);
        let fastest = add(&mut runs, &mut doubts, &measured)?;
        let bare = alone(|| bare(PORTS * 95 / 100))?;
        ratios.push(fastest / bare);
        best.push(fastest);
        peer.push(bare);
    }
    for (strategy, [rates, first, second]) in runs {
        row(&format!("{strategy}, {PORTS} ports to 95 %"), "", "connects/s", rates);
        row(&format!("{strategy}, median connect, first half"), "", "us", first);
        row(&format!("{strategy}, median connect, second half"), "", "us", second);
    }
    row("the fastest of them", ">= 30000", "connects/s", best);
    row("bare connects, all ports free", "", "connects/s", peer);
    row("fastest / bare connects", "", "", ratios);
    admit(&doubts);
    Ok(())
}

type Runs = BTreeMap<String, [Vec<f64>; 3]>;

fn add(runs: &mut Runs, doubts: &mut Vec<String>, measured: &Value) -> anyhow::Result<f64> {
    let mut fastest = 0.0;
    for run in measured["strategies"].as_array().into_iter().flatten() {
        let strategy = run["strategy"].as_str().context("a strategy has no name")?;
        let number = |what| run.pointer(what).and_then(Value::as_f64);
        let all = runs.entry(strategy.to_owned()).or_default();
        for (what, values) in ["/connects_per_s", "/first_half/p50_us", "/second_half/p50_us"].iter().zip(all)
        {
            values.push(number(what).with_context(|| format!("{strategy} has no {what}"))?);
        }
        fastest = number("/connects_per_s").unwrap_or_default().max(fastest);
        doubts.extend(run["invalid"].as_str().map(|reason| format!("{strategy}: {reason}")));
    }
    Ok(fastest)
}

/// Counts only the time of opening. Returns connections per second.
fn bare(connections: u32) -> anyhow::Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket::listen(&listener, Backlog::MAXALLOWABLE)?;
    let address = listener.local_addr()?;
    thread::scope(|scope| {
        scope.spawn(|| while listener.accept().is_ok() {});
        let busy = (0..connections).map(|_| connect(address)).sum::<anyhow::Result<Duration>>();
        socket::shutdown(listener.as_raw_fd(), socket::Shutdown::Both)?;
        Ok(f64::from(connections) / busy?.as_secs_f64())
    })
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn connect(address: SocketAddr) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let stream = TcpStream::connect(address)?;
    let time = start.elapsed();
    // Closed with a reset, so that the port is free immediately.
    setsockopt(&stream, sockopt::Linger, &nix::libc::linger { l_onoff: 1, l_linger: 0 })?;
    Ok(time)
}

/// Size of Linux's default range, 32768 to 60999.
const PORTS: u32 = 28_232;
const RUNS: usize = 3;
