//! What the emulator can carry and how exact it is, with the unmodified iperf3 and ping as witnesses.
//!
//! Needs root, iperf3, ping and ip: the peer is a pair of namespaces joined by veth.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, bail, ensure};

use super::row;
use crate::root;

pub(super) fn bench() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let world = folder.path().join("bench.toml");
    fs::write(&world, WORLD)?;
    let planet = Planet::up(&world)?;

    let sydney =
        (0..3).map(|_| planet.iperf("sydney", &["-t", "15", "-C", "bbr"])).collect::<anyhow::Result<_>>()?;
    row("one flow, 300 ms, no rate limit, mean of 15 s", ">= 4 Gbit/s", "Gbit/s", sydney);

    let veth = Veth::up()?;
    let mut ratios = Vec::new();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        theirs.push(veth.iperf(&["-t", "5", "-C", "cubic"])?);
        ours.push(planet.iperf("paris", &["-t", "5", "-C", "cubic"])?);
        ratios.push(ours[ours.len() - 1] / theirs[theirs.len() - 1]);
    }
    row("one flow, 0.3 ms", "", "Gbit/s", ours);
    row("one flow, veth and nothing between", "", "Gbit/s", theirs);
    row("0.3 ms / veth, interleaved pairs", ">= 0.3", "", ratios);

    let shaped: Vec<f64> = (0..5)
        .map(|_| planet.iperf("madrid", &["-t", "10", "-O", "2", "-C", "cubic"]))
        .collect::<anyhow::Result<_>>()?;
    row(
        "goodput through 1 Gbit/s, 20 ms",
        "940-948",
        "Mbit/s",
        shaped.into_iter().map(|gbit| gbit * 1000.0).collect(),
    );

    let pings = (0..5).map(|_| planet.ping("sydney")).collect::<anyhow::Result<_>>()?;
    row("ping, 300 ms, mean of 50", "300.0-300.3", "ms", pings);
    Ok(())
}

/// Buffers for a window of 300 ms at 10 Gbit/s and more.
const WORLD: &str = r#"
[world]
name = "bench"
sysctl = { "net.ipv4.tcp_rmem" = "4096 1048576 1073741824", "net.ipv4.tcp_wmem" = "4096 1048576 1073741824" }

[[host]]
name = "london"
city = "london"

[[host]]
name = "sydney"
city = "sydney"

[[host]]
name = "paris"
city = "paris"

[[host]]
name = "madrid"
city = "madrid"

[[link]]
between = ["london", "sydney"]
rtt = "300ms"

[[link]]
between = ["london", "paris"]
rtt = "0.3ms"

[[link]]
between = ["london", "madrid"]
rtt = "20ms"
rate = "1Gbit"
queue = "50ms"
"#;

/// A planet that goes down when it is dropped.
struct Planet;

impl Planet {
    fn up(world: &Path) -> anyhow::Result<Self> {
        longhaul(&["lab", "up", &world.display().to_string(), "--detach"])?;
        Ok(Self)
    }

    /// Gbit/s from `host` to London, as the receiver counted them.
    fn iperf(&self, host: &str, arguments: &[&str]) -> anyhow::Result<f64> {
        let exec = |host: &str| {
            let mut command = Command::new(root().join("target/release/longhaul"));
            command.args(["lab", "exec", "--planet", "bench", host, "--"]);
            command
        };
        iperf(exec("london"), exec(host), "london", arguments)
    }

    /// Mean round trip from `host` to London in ms.
    fn ping(&self, host: &str) -> anyhow::Result<f64> {
        let text = longhaul(&[
            "lab", "exec", "--planet", "bench", host, "--", "ping", "-q", "-c", "50", "-i", "0.05", "london",
        ])?;
        let mean = text.rsplit("= ").next().and_then(|numbers| numbers.split('/').nth(1));
        mean.and_then(|mean| mean.parse().ok()).with_context(|| format!("ping said: {text}"))
    }
}

impl Drop for Planet {
    fn drop(&mut self) {
        // It is being cleaned up after; a failure is seen as a planet that is still up.
        let _ = longhaul(&["lab", "down", "--planet", "bench"]);
    }
}

/// Two namespaces joined by veth, which go when it is dropped.
struct Veth;

impl Veth {
    fn up() -> anyhow::Result<Self> {
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

    fn iperf(&self, arguments: &[&str]) -> anyhow::Result<f64> {
        let exec = |namespace| {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", namespace]);
            command
        };
        iperf(exec("bench-a"), exec("bench-b"), "10.99.0.1", arguments)
    }
}

impl Drop for Veth {
    fn drop(&mut self) {
        for namespace in ["bench-a", "bench-b"] {
            // It may not have been made.
            let _ = Command::new("ip").args(["netns", "del", namespace]).stderr(Stdio::null()).status();
        }
    }
}

/// A child that ends when it is dropped.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Gbit/s that iperf3's server received; `server` and `client` lead into the hosts.
#[expect(clippy::disallowed_methods, reason = "iperf3 does not say when it listens")]
fn iperf(mut server: Command, mut client: Command, address: &str, arguments: &[&str]) -> anyhow::Result<f64> {
    let server =
        server.args(["iperf3", "-s", "-1"]).stdout(Stdio::null()).spawn().context("cannot start iperf3")?;
    let _server = Ending(server);
    std::thread::sleep(Duration::from_millis(500));
    let output = client.args(["iperf3", "-J", "-c", address]).args(arguments).output()?;
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).context("iperf3 gave no JSON")?;
    match json.pointer("/end/sum_received/bits_per_second").and_then(serde_json::Value::as_f64) {
        Some(bits) => Ok(bits / 1e9),
        None => bail!("iperf3 failed: {}", json.get("error").unwrap_or(&json)),
    }
}

/// What a `longhaul` command prints.
fn longhaul(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(root().join("target/release/longhaul"))
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "longhaul {} failed", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}
