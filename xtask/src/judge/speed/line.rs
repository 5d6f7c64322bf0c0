//! The links under test, their capacity, and a planet with one of them.

use std::{fs, path::PathBuf, process::Command, thread, time::Duration};

use anyhow::{Context, ensure};
use speedtest::result::Outcome;
use tempfile::TempDir;

use crate::{bench::lab::Planet, root};

pub(super) struct Link {
    pub(super) mbits: u32,
    pub(super) rtt_ms: u32,
    pub(super) queue_ms: u32,
    pub(super) loss_percent: f64,
    pub(super) congestion: &'static str,
}

impl Link {
    fn new(mbits: u32, rtt_ms: u32, queue_ms: u32, congestion: &'static str) -> Self {
        Self { mbits, rtt_ms, queue_ms, loss_percent: 0.0, congestion }
    }

    pub(super) fn name(&self) -> String {
        let Self { mbits, rtt_ms, queue_ms, loss_percent, congestion } = self;
        let loss = if *loss_percent > 0.0 { format!(", loss {loss_percent} %") } else { String::new() };
        format!("{mbits} Mbit/s, {rtt_ms} ms, queue {queue_ms} ms{loss}, {congestion}")
    }

    /// Of the 1538 bytes of a full segment on the wire, 1448 are body.
    pub(super) fn carries(&self) -> f64 {
        f64::from(self.mbits) * 1e6 * 1448.0 / 1538.0
    }

    /// Both ends have buffers for all data in flight, so that only the link limits the rate.
    fn world(&self) -> String {
        let Self { mbits, rtt_ms, queue_ms, loss_percent, congestion } = self;
        let under_way = u64::from(*mbits) * 125 * u64::from(rtt_ms + queue_ms);
        // The kernel accounts up to twice the bytes of a segment, and the window grows to twice the
        // acknowledged data.
        let buffer = (4 * under_way).max(6 << 20);
        let host = |name: &str, city: &str| {
            format!("[[host]]\nname = \"{name}\"\ncity = \"{city}\"\ncongestion = \"{congestion}\"\n")
        };
        format!(
            "[world]\nname = \"judged\"\n\
             sysctl = {{ \"net.ipv4.tcp_rmem\" = \"4096 131072 {buffer}\", \"net.ipv4.tcp_wmem\" = \"4096 16384 {buffer}\" }}\n\
             {}{}[[link]]\nbetween = [\"frankfurt\", \"london\"]\nrtt = \"{rtt_ms}ms\"\nrate = \"{mbits}Mbit\"\n\
             queue = \"{queue_ms}ms\"\nloss = \"{loss_percent}%\"\n",
            host("server", "frankfurt"),
            host("home", "london"),
        )
    }
}

/// Both ends use BBR, which fills a link regardless of the depth of its queue.
pub(super) fn grid() -> Vec<Link> {
    let mut links = Vec::new();
    for mbits in [1, 10, 100, 1000] {
        for rtt_ms in [1, 20, 100, 300] {
            links.extend([20, 300].map(|queue_ms| Link::new(mbits, rtt_ms, queue_ms, "bbr")));
        }
    }
    links
}

pub(super) fn deep() -> Vec<Link> {
    let links = [1, 10, 100].map(|mbits| [1, 20, 100].map(|rtt_ms| Link::new(mbits, rtt_ms, 300, "cubic")));
    links.into_iter().flatten().collect()
}

pub(super) fn lossy() -> Vec<Link> {
    vec![Link { loss_percent: 0.5, ..Link::new(20, 20, 100, "bbr") }]
}

pub(super) fn browsers() -> Vec<Link> {
    let links =
        [1, 10, 100, 1000].map(|mbits| [1, 20, 100].map(|rtt_ms| Link::new(mbits, rtt_ms, 20, "bbr")));
    links.into_iter().flatten().collect()
}

pub(super) struct Line {
    pub(super) planet: Planet,
    folder: TempDir,
}

impl Line {
    pub(super) fn up(link: &Link) -> anyhow::Result<Self> {
        let planet = Planet::up(&format!("judged-{}", std::process::id()), &link.world())?;
        let line = Self { planet, folder: tempfile::tempdir()? };
        let mut serve = line.planet.exec_detached("server");
        serve.arg(program()).args(["speed", "serve", "--listen", "0.0.0.0:8090"]);
        let started = serve.output().context("the server cannot be started")?;
        ensure!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        line.wait()?;
        Ok(line)
    }

    #[expect(clippy::disallowed_methods, reason = "a judge waits for a server, for a bounded time")]
    fn wait(&self) -> anyhow::Result<()> {
        let plan = self.plan("[[step]]\nlatency = 1\n")?;
        for _ in 0..50 {
            if self.test(&plan).is_ok() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(100));
        }
        self.test(&plan).map(drop)
    }

    pub(super) fn plan(&self, text: &str) -> anyhow::Result<String> {
        let file = self.folder.path().join("plan.toml");
        fs::write(&file, text)?;
        Ok(file.display().to_string())
    }

    pub(super) fn test(&self, plan: &str) -> anyhow::Result<Outcome> {
        let mut test = self.planet.exec("home");
        outcome(test.arg(program()).args(arguments(plan)))
    }

    pub(super) fn at_home(&self) -> Command {
        self.planet.exec("home")
    }

    pub(super) fn doubts(&self) -> anyhow::Result<Vec<String>> {
        Ok(self.planet.fidelity()?.reasons())
    }
}

pub(super) fn outcome(test: &mut Command) -> anyhow::Result<Outcome> {
    let output = test.output().context("a test cannot be run")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "a test failed: {}", said.trim());
    serde_json::from_slice(&output.stdout).context("a test printed no result")
}

pub(super) fn program() -> PathBuf {
    root().join("target/release/longhaul")
}

pub(super) fn arguments(plan: &str) -> [&str; 7] {
    ["speed", "test", URL, "--quiet", "--json", "--plan", plan]
}

pub(super) const URL: &str = "http://server:8090/";
