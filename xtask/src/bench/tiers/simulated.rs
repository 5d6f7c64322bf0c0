//! Requests per second of `longhaul edge simulate`. Each request of a trace counts once per topology.

use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use crate::{
    bench::{
        program::{longhaul, run},
        row,
    },
    root,
};

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn bench() -> anyhow::Result<()> {
    let arms = [
        ("one in two misses", &["--zipf", "0.9"][..], "s3-fifo", ">= 1000000"),
        ("one in two misses", &["--zipf", "0.9"], "lru", "-"),
        ("one in five misses", &["--zipf", "1.1", "--objects", "100000"], "s3-fifo", ">= 1000000"),
        ("one in five misses", &["--zipf", "1.1", "--objects", "100000"], "lru", "-"),
    ];
    let plan = root().join("scenarios/plans/tiers.toml");
    let mut rounds = vec![(vec![], vec![]); arms.len()];
    for round in 0..ROUNDS {
        let mut order: Vec<_> = (0..arms.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for arm in order {
            let (_, trace, policy, _) = arms[arm];
            let mut command = longhaul();
            command.args(["edge", "simulate"]).arg(&plan).args(["--origin", "newyork", "--json"]);
            command.args(["--requests", "2000000", "--rate", "5000", "--policy", policy]).args(trace);
            let start = Instant::now();
            let ran = run(&mut command)?;
            let seconds = start.elapsed().as_secs_f64();
            let result: Value = serde_json::from_str(&ran.output)?;
            let requests = result["requests"].as_f64().context("a simulation has requests")?;
            let topologies = result["topologies"].as_array().context("a simulation has topologies")?;
            let answered = requests * topologies.len() as f64;
            rounds[arm].0.push(answered / seconds);
            rounds[arm].1.push(ran.cpu_us / answered);
        }
    }
    for ((what, _, policy, goal), (rates, costs)) in arms.into_iter().zip(rounds) {
        row(&format!("requests simulated, {what}, {policy}"), goal, "/s", rates);
        row("processor time of each", "-", "us", costs);
    }
    Ok(())
}

const ROUNDS: usize = 3;
