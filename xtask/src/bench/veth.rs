//! The peer of the planet benchmarks: two namespaces joined by veth, removed on drop. Needs root.

use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::{
    iperf::{self, Outcome},
    lab,
};

pub(super) struct Veth;

impl Veth {
    pub(super) fn up() -> anyhow::Result<Self> {
        let veth = Self;
        for line in [
            "netns add bench-a",
            "netns add bench-b",
            "link add veth0 netns bench-a type veth peer name veth0 netns bench-b",
            "-n bench-a addr add 10.99.0.1/24 dev veth0",
            "-n bench-b addr add 10.99.0.2/24 dev veth0",
            "-n bench-a link set veth0 up",
            "-n bench-b link set veth0 up",
        ] {
            let status = Command::new("ip").args(line.split(' ')).status().context("cannot run ip")?;
            ensure!(status.success(), "ip {line} failed (the veth baseline needs root)");
        }
        Ok(veth)
    }

    pub(super) fn iperf(&self, arguments: &[&str]) -> anyhow::Result<Outcome> {
        iperf::run(&|| exec("bench-a"), &|| exec("bench-b"), ADDRESS, arguments)
    }

    pub(super) fn ping(&self, count: u32, interval_s: f64) -> anyhow::Result<f64> {
        lab::ping(exec("bench-b"), ADDRESS, count, interval_s)
    }
}

impl Drop for Veth {
    fn drop(&mut self) {
        for namespace in ["bench-a", "bench-b"] {
            let _ = Command::new("ip").args(["netns", "del", namespace]).stderr(Stdio::null()).status();
        }
    }
}

fn exec(namespace: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace]);
    command
}

const ADDRESS: &str = "10.99.0.1";
