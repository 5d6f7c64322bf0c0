//! Three hundred cities: start-up time, memory, and reachability of all pairs.

use std::{
    fmt::Write as _,
    fs, thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use crate::{
    bench::{
        lab::{Planet, binary},
        row,
    },
    root,
};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    let cities = cities()?;
    let world = world(&cities);
    let (mut up, mut down, mut memory, mut status) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut answered, mut pinged) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let before = available_mb()?;
        let (planet, time) = timed(|| Planet::up("bench", &world))?;
        up.push(time.as_secs_f64());
        let (count, time) = timed(|| ping_all(&planet, cities.len()))?;
        answered.push(f64::from(u32::try_from(count)?));
        pinged.push(time.as_secs_f64());
        memory.push(before - available_mb()?);
        let (_, time) = timed(|| planet.status())?;
        status.push(time.as_secs_f64() * 1000.0);
        let ((), time) = timed(|| planet.down())?;
        down.push(time.as_secs_f64());
    }
    row("300 cities: up", "<= 3 s", "s", up);
    row("300 cities: decrease of MemAvailable in /proc/meminfo after all pings", "<= 1000 MB", "MB", memory);
    row("300 cities: pings with a reply, each host to each other", "89700", "", answered);
    row("300 cities: time for all pings, eight hosts concurrently", "", "s", pinged);
    row("300 cities: lab status --json with 89700 links in use", "", "ms", status);
    row("300 cities: down", "", "s", down);
    Ok(())
}

fn ping_all(planet: &Planet, hosts: usize) -> anyhow::Result<u64> {
    thread::scope(|scope| {
        let some = |first| {
            (first..hosts)
                .step_by(AT_A_TIME)
                .map(|from| ping_from(planet, from, hosts))
                .sum::<anyhow::Result<u64>>()
        };
        let running: Vec<_> = (0..AT_A_TIME).map(|first| scope.spawn(move || some(first))).collect();
        running.into_iter().map(|each| each.join().expect("no panic")).sum()
    })
}

fn ping_from(planet: &Planet, from: usize, hosts: usize) -> anyhow::Result<u64> {
    let mut command = planet.exec(&host(from));
    command.arg(binary()).args(["ping", "-4", "--count", "1", "--interval", "100ms", "--json"]);
    command.args((0..hosts).filter(|to| *to != from).map(host));
    let summary: serde_json::Value = serde_json::from_slice(&command.output()?.stdout)
        .with_context(|| format!("longhaul ping in {} gave no JSON", host(from)))?;
    summary["received"].as_u64().context("longhaul ping reported no replies")
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Duration)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}

/// The memory of the switch, the namespaces and the kernel slabs reduces it.
fn available_mb() -> anyhow::Result<f64> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: f64 =
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).context("no MemAvailable")?;
    Ok(kib * 1024.0 / 1e6)
}

fn cities() -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(root().join("crates/emulate/world/src/gazetteer/cities.csv"))?;
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let cities: Vec<_> =
        lines.filter_map(|line| line.split(',').next()).map(str::to_owned).take(CITIES).collect();
    ensure!(cities.len() == CITIES, "the gazetteer has only {} cities", cities.len());
    Ok(cities)
}

fn world(cities: &[String]) -> String {
    let mut world = String::new();
    for (index, city) in cities.iter().enumerate() {
        let _ = write!(world, "[[host]]\nname = \"{}\"\ncity = \"{city}\"\n", host(index));
    }
    world
}

fn host(index: usize) -> String {
    format!("h{index}")
}

const CITIES: usize = 300;
const AT_A_TIME: usize = 8;
