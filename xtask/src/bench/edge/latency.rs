//! Latency that a cache adds at half of its maximum load, or at the highest rate that the load generator
//! sustains. An open loop sends the same requests through Longhaul, through nginx, and directly to the
//! origin.

use std::{net::SocketAddr, path::Path, process::Command};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::{
    Cores, Options,
    guard::Guard,
    load,
    origin::Origin,
    report::spread,
    scenario::{HOST, SCENARIOS, Scenario, URLS},
    server::{Kind, Server},
};
use crate::bench::{figures::Spread, program::longhaul};

pub(super) struct Latency {
    what: &'static str,
    /// Half of the maximum rate of the slower proxy.
    rate: u32,
    /// `None` if the load generator was late.
    p50_us: Vec<(&'static str, Vec<Option<f64>>)>,
}

pub(super) fn measure(options: &Options, cores: Cores) -> anyhow::Result<Vec<Latency>> {
    let works = SCENARIOS.iter().filter(|scenario| ["hit-1k", "proxied-1k"].contains(&scenario.name));
    works
        .map(|work| of_work(work, options, cores).with_context(|| format!("latency of {}", work.name)))
        .collect()
}

fn of_work(work: &'static Scenario, options: &Options, cores: Cores) -> anyhow::Result<Latency> {
    let folder = tempfile::Builder::new().prefix("longhaul-bench-").tempdir()?;
    let mut guard = Guard::over(folder.path())?;
    let origin = Origin::start(cores.load, folder.path(), &mut guard)?;
    let mut places = vec![("the origin alone", origin.address)];
    let (mut servers, mut rate) = (Vec::new(), f64::INFINITY);
    for kind in [Kind::Longhaul, Kind::Nginx] {
        let server = Server::start(kind, work, origin.address, cores.server, folder.path(), &mut guard)?;
        load::run(work, server.loaded, 1, cores.load, folder.path())?;
        let loaded = load::run(work, server.loaded, options.seconds, cores.load, folder.path())?;
        #[expect(clippy::cast_precision_loss, reason = "requests of a run fit")]
        let carried = loaded.requests as f64 / loaded.seconds;
        rate = rate.min(carried / 2.0);
        places.push((kind.name(), server.loaded));
        servers.push(server);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate of requests fits")]
    let rate = (rate as u32).min(MOST);
    // The Host field of the probe contains the port, so the probe itself must fill each cache.
    for (_, place) in &places {
        probe(work, *place, rate, options.seconds, cores.load, folder.path())?;
    }
    let mut p50_us: Vec<_> = places.iter().map(|(name, _)| (*name, Vec::new())).collect();
    for round in 0..options.rounds {
        let mut order: Vec<_> = (0..places.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            let median = probe(work, places[place].1, rate, options.seconds, cores.load, folder.path())?;
            p50_us[place].1.push(median);
        }
    }
    Ok(Latency { what: work.what, rate, p50_us })
}

/// Requests per second that the load generator can send on schedule with half a core, next to an origin.
const MOST: u32 = 20_000;

/// The median of one run, from the first byte of a request to the last byte of its response, on
/// persistent connections.
fn probe(
    work: &Scenario,
    server: SocketAddr,
    rate: u32,
    seconds: u32,
    core: usize,
    folder: &Path,
) -> anyhow::Result<Option<f64>> {
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).arg(longhaul().get_program()).arg("probe");
    command.arg(format!("http://{HOST}:{}/{}/{{}}", server.port(), work.folder));
    command.args(["--resolve", &format!("{HOST}:{}:{}", server.port(), server.ip())]);
    command.args(["--objects", &URLS.to_string(), "--zipf", "0", "--connections", "reuse", "--json"]);
    command.args(["--rate", &format!("{rate}/s"), "--for", &format!("{seconds}s")]);
    for (name, value) in work.headers.iter().filter(|(name, _)| *name != "Host") {
        command.args(["-H", &format!("{name}: {value}")]);
    }
    let output = command.current_dir(folder).output().context("cannot run taskset")?;
    let said: Value = serde_json::from_slice(&output.stdout).context("longhaul printed no JSON")?;
    ensure!(said["errors"] == 0, "requests failed: {}", said["errors_by_reason"]);
    let median = said.pointer("/phases/total/percentiles_ms/50").and_then(Value::as_f64);
    let median = median.context("no median of the total")? * 1e3;
    Ok(Some(median).filter(|_| said["valid"] == true))
}

impl Latency {
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "{}; {} requests/s, evenly spread\n\n| server | n | p50, us | above the origin alone, us |\n| --- | --- | --- | --- |\n",
            self.what, self.rate
        );
        for (name, values) in &self.p50_us {
            let shown =
                |values: Vec<f64>| Spread::of(values).map_or_else(String::new, |spread| spread.text(0));
            let valid: Vec<_> = values.iter().flatten().copied().collect();
            let added = if name == &self.p50_us[0].0 { Vec::new() } else { self.added(values) };
            text += &format!("| {name} | {} | {} | {} |\n", valid.len(), shown(valid), shown(added));
        }
        text
    }

    fn added(&self, values: &[Option<f64>]) -> Vec<f64> {
        let pairs = values.iter().zip(&self.p50_us[0].1);
        pairs.filter_map(|(through, alone)| Some((*through)? - (*alone)?)).collect()
    }

    pub(super) fn json(&self) -> Value {
        let servers: Vec<_> = self
            .p50_us
            .iter()
            .map(|(name, values)| {
                let added = Spread::of(self.added(values)).map(spread);
                json!({ "asked_of": name, "p50_us": values, "added_us": added })
            })
            .collect();
        json!({ "what": self.what, "requests_per_s": self.rate, "servers": servers })
    }
}
