//! Throughput of one connection of the speed test over loopback, compared with a single iperf3 stream.

use std::{fs, process::Command, thread::available_parallelism};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::{
    admit,
    quiet::{Quiet, Stretch},
    serve,
};
use crate::bench::{
    edge::cpu::of_tree_us,
    iperf,
    program::{Running, longhaul, run},
    row,
};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    let (server, address) = serve(&[])?;
    one("download", ">= 10 Gbit/s", &server, &address)?;
    one("upload", ">= 8 Gbit/s", &server, &address)
}

fn one(direction: &str, goal: &str, server: &Running, address: &str) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let plan = folder.path().join("plan.toml");
    fs::write(
        &plan,
        format!("longest_set = \"30s\"\n[[step]]\n{direction} = \"{BODY}\"\ncount = {COUNT}\n"),
    )?;
    let plan = plan.display().to_string();
    let url = format!("http://{address}");
    let (mut runs, mut theirs, mut doubts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let (ours, noise) = disturbed(|| Run::of(direction, server, &url, &plan))?;
        let (their, more) =
            disturbed(|| iperf::run(&here, &here, "127.0.0.1", &["-t", SECONDS])?.bits_per_second())?;
        doubts.extend([noise.doubt(), more.doubt()].into_iter().flatten());
        runs.push(Run { processors: noise.ours, ..ours });
        theirs.push(their / 1e9);
    }
    let of = |figure: fn(&Run) -> f64| runs.iter().map(figure).collect::<Vec<_>>();
    let ratios = runs.iter().zip(&theirs).map(|(run, their)| run.gigabits / their).collect();
    row(
        &format!("{direction}, HTTP/1.1, one connection: median of {COUNT} bodies of {BODY}"),
        goal,
        "Gbit/s",
        of(|run| run.gigabits),
    );
    row("iperf3, one stream", "", "Gbit/s", theirs);
    row(&format!("{direction} / iperf3, interleaved pairs"), ">= 0.6", "x", ratios);
    row("processor time for a gigabyte: server", "", "s", of(|run| run.server_s));
    row("processor time for a gigabyte: client", "", "s", of(|run| run.client_s));
    row(&format!("processors that both used, of {}", processors()), "", "", of(|run| run.processors));
    println!("| limited by: {} | | {} | | | |", bottleneck(&runs), runs.len());
    admit(&doubts);
    Ok(())
}

struct Run {
    gigabits: f64,
    server_s: f64,
    client_s: f64,
    processors: f64,
    limited_by: String,
}

impl Run {
    fn of(direction: &str, server: &Running, url: &str, plan: &str) -> anyhow::Result<Self> {
        let before = of_tree_us(server.id())?;
        let done = run(longhaul().args(["speed", "test", url, "--plan", plan, "--quiet", "--json"]))?;
        let server_us = of_tree_us(server.id())? - before;
        let outcome: Value = serde_json::from_str(&done.output).context("longhaul printed no JSON")?;
        let set = &outcome[direction]["sets"][0];
        ensure!(set["n"] == COUNT, "not all bodies were moved: {set}");
        let bytes = set["bytes"].as_f64().context("a set has no size")?;
        let gigabytes = bytes * f64::from(COUNT) / 1e9;
        Ok(Self {
            gigabits: set["p50"].as_f64().context("no body has a rate")? / 1e9,
            server_s: server_us / 1e6 / gigabytes,
            client_s: done.cpu_us / 1e6 / gigabytes,
            processors: 0.0,
            limited_by: outcome[direction]["limited_by"].as_str().unwrap_or("unknown").to_owned(),
        })
    }
}

fn bottleneck(runs: &[Run]) -> String {
    let all = processors() as f64;
    let full = runs.iter().filter(|run| run.processors >= 0.9 * all).count();
    let mut kernels: Vec<_> = runs.iter().map(|run| run.limited_by.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let kernel = format!("the sender's kernel waited for the {}", kernels.join(" or the "));
    if 2 * full > runs.len() {
        return format!("all processors were busy in {full} of {} runs; {kernel}", runs.len());
    }
    kernel
}

fn disturbed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Stretch)> {
    let quiet = Quiet::begin()?;
    let result = work()?;
    Ok((result, quiet.end()?))
}

fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

fn here() -> Command {
    Command::new("env")
}

const PAIRS: usize = 5;
const BODY: &str = "1GB";
const COUNT: u32 = 4;
const SECONDS: &str = "3";
