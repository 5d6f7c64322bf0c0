//! A store in NATS, compared with the official NATS client: the cost that HTTP, tokens, versions and the key
//! index add.

use std::{net::TcpStream, process::Command, thread, time::Duration};

use anyhow::{Context, ensure};

use super::{Edge, ROUNDS, free, wrk};
use crate::bench::{
    edge::cpu::of_tree_us,
    program::{Running, is_installed, run},
    row,
};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    for (program, from) in [
        ("nats-server", "apt-get install nats-server"),
        ("nats", "go install github.com/nats-io/natscli/nats@latest"),
    ] {
        ensure!(is_installed(program), "{program} is not installed: {from}");
    }
    let nats = Nats::start()?;
    // The smallest memory limit, so that few keys have a local copy.
    let edge = Edge::with_store(&format!("\"{}\"\nmemory = \"1MiB\"", nats.address))?;
    let write =
        edge.script("write.lua", &numbered("wrk.method = 'PUT'\nwrk.body = string.rep('v', 100)\n"))?;
    let read = edge.script("read.lua", &numbered(""))?;
    for (what, script, connections, peer) in [
        ("writes of 100 bytes", &write, 64, "put"),
        ("reads without a copy", &read, 64, "get"),
        ("reads without a copy", &read, 16, "get"),
    ] {
        let what = format!("{what}, {connections} connections");
        let mut all = [const { Vec::new() }; 6];
        let cpu_us = || anyhow::Ok(of_tree_us(edge.server.id())? + of_tree_us(nats.server.id())?);
        for _ in 0..ROUNDS {
            let before = cpu_us()?;
            let (requests, seconds) = wrk(edge.store, script, connections)?;
            let our = (requests / seconds, (cpu_us()? - before) / requests);
            let their = nats.work(peer, connections)?;
            let figures = [our.0, their.0, their.0 / our.0, our.1, their.1, our.1 / their.1];
            all.iter_mut().zip(figures).for_each(|(all, figure)| all.push(figure));
        }
        let [ours, theirs, ratios, our_us, their_us, us_ratios] = all;
        row(&format!("{what}: store in NATS"), "", "/s", ours);
        row(&format!("{what}: nats alone"), "", "/s", theirs);
        row(&format!("{what}: nats alone / store in NATS"), "<= 1.3", "x", ratios);
        row(&format!("{what}: processor time, edge and nats-server"), "", "us", our_us);
        row(&format!("{what}: processor time, nats and nats-server"), "", "us", their_us);
        row(&format!("{what}: ratio of these processor times"), "", "x", us_ratios);
    }
    Ok(())
}

/// It builds the requests in advance, so that this work is not measured.
fn numbered(settings: &str) -> String {
    format!(
        "{settings}local n, requests = 0, {{}}\n\
         function init() for k = 1, {KEYS} do requests[k] = wrk.format(nil, '/k' .. k .. '?urlencoded=true') end end\n\
         function request() n = n % {KEYS} + 1; return requests[n] end"
    )
}

struct Nats {
    address: String,
    server: Running,
    _folder: tempfile::TempDir,
}

impl Nats {
    fn start() -> anyhow::Result<Self> {
        let (folder, at) = (tempfile::tempdir()?, free()?);
        let mut server = Command::new("nats-server");
        server.args(["-a", "127.0.0.1", "-p", &at.port().to_string(), "-js", "-sd"]).arg(folder.path());
        let nats =
            Self { address: format!("nats://{at}"), server: Running::start(&mut server)?, _folder: folder };
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

    fn work(&self, what: &str, clients: usize) -> anyhow::Result<(f64, f64)> {
        let before = of_tree_us(self.server.id())?;
        let said = run(self.command().args(["bench", "kv", what]).args([
            "--size",
            "100",
            "--clients",
            &clients.to_string(),
            "--randomize",
            &KEYS.to_string(),
            "--msgs",
            &MESSAGES.to_string(),
            "--bucket",
            BUCKET,
            "--no-progress",
        ]))?;
        let cpu_us = said.cpu_us + of_tree_us(self.server.id())? - before;
        let said = said.output;
        let rate = said.split("aggregated stats: ").nth(1).and_then(|rest| rest.split(' ').next());
        let rate = rate.and_then(|rate| rate.replace(',', "").parse().ok());
        Ok((rate.with_context(|| format!("nats said: {said}"))?, cpu_us / f64::from(MESSAGES)))
    }
}

const BUCKET: &str = "bench";
const KEYS: u32 = 20_000;
/// A round is long enough to make its start-up time negligible.
const MESSAGES: u32 = 100_000;
