//! A store in NATS beside the client of NATS's own authors alone: what HTTP, tokens, versions and the index of keys add.

use std::{net::TcpStream, process::Command, thread, time::Duration};

use anyhow::{Context, ensure};

use super::{Edge, ROUNDS, free, wrk};
use crate::bench::{
    program::{Running, is_installed, run},
    row,
};

/// Writes of 100 bytes by 64 at once, and reads by 16 of keys that the edge has no copy of, by turns with `nats bench kv` against the same server.
pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    for (program, from) in [
        ("nats-server", "apt-get install nats-server"),
        ("nats", "go install github.com/nats-io/natscli/nats@latest"),
    ] {
        ensure!(is_installed(program), "{program} is not installed: {from}");
    }
    let nats = Nats::start()?;
    // As little memory as may be, so that few of the keys have a copy.
    let edge = Edge::with_store(&format!("\"{}\"\nmemory = \"1MiB\"", nats.address))?;
    let write =
        edge.script("write.lua", &numbered("wrk.method = 'PUT'\nwrk.body = string.rep('v', 100)\n"))?;
    let read = edge.script("read.lua", &numbered(""))?;
    let keys = KEYS.to_string();
    for (what, script, connections, peer) in [
        ("writes of 100 bytes, 64 at once", &write, 64, &["put", "--size", "100", "--clients", "64"][..]),
        (
            "reads without a copy, 16 at once",
            &read,
            16,
            &["get", "--clients", "16", "--randomize", &keys][..],
        ),
    ] {
        let [mut ours, mut theirs, mut ratios] = [vec![], vec![], vec![]];
        for _ in 0..ROUNDS {
            let (requests, seconds) = wrk(edge.store, script, connections)?;
            let their = nats.rate(&[peer, &["--msgs", &keys]].concat())?;
            let our = requests / seconds;
            ours.push(our);
            theirs.push(their);
            ratios.push(their / our);
        }
        row(&format!("{what}: store in NATS"), "", "/s", ours);
        row(&format!("{what}: nats alone"), "", "/s", theirs);
        row(&format!("{what}: nats alone / store in NATS"), "<= 1.3", "x", ratios);
    }
    Ok(())
}

/// A script's requests, of one key after the other.
fn numbered(settings: &str) -> String {
    format!(
        "{settings}local n = 0\n\
         function request() n = n % {KEYS} + 1; return wrk.format(nil, '/k' .. n .. '?urlencoded=true') end"
    )
}

/// A server of NATS with a bucket, in a folder of its own.
struct Nats {
    address: String,
    _server: Running,
    _folder: tempfile::TempDir,
}

impl Nats {
    fn start() -> anyhow::Result<Self> {
        let (folder, at) = (tempfile::tempdir()?, free()?);
        let mut server = Command::new("nats-server");
        server.args(["-a", "127.0.0.1", "-p", &at.port().to_string(), "-js", "-sd"]).arg(folder.path());
        let nats =
            Self { address: format!("nats://{at}"), _server: Running::start(&mut server)?, _folder: folder };
        for _ in 0..100 {
            if TcpStream::connect(at).is_ok() {
                run(nats.command().args(["kv", "add", BUCKET, "--storage", "file"]))?;
                return Ok(nats);
            }
            thread::park_timeout(Duration::from_millis(50));
        }
        anyhow::bail!("nats-server did not start")
    }

    fn command(&self) -> Command {
        let mut command = Command::new("nats");
        command.args(["--server", &self.address, "--no-context"]);
        command
    }

    /// What its own bench does in a second.
    fn rate(&self, words: &[&str]) -> anyhow::Result<f64> {
        let said = run(self.command().args(["bench", "kv"]).args(words).args([
            "--bucket",
            BUCKET,
            "--no-progress",
        ]))?
        .output;
        let rate = said.split("aggregated stats: ").nth(1).and_then(|rest| rest.split(' ').next());
        rate.and_then(|rate| rate.replace(',', "").parse().ok()).with_context(|| format!("nats said: {said}"))
    }
}

const BUCKET: &str = "bench";
const KEYS: u32 = 20_000;
