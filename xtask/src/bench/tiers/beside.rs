//! Compares the simulation with a planet: the same requests through three data centres, and the difference of
//! latency.
//!
//! The requests are sequential. A planet adds its reported lateness and the processing time of the
//! programs, which the simulation omits.

use std::{fmt::Write as _, fs, path::Path, process::Stdio};

use anyhow::{Context, bail, ensure};
use recording::{Metric, Reader, Sample};
use serde_json::Value;

use super::network::{run, start, tables};
use crate::bench::{
    lab::{Planet, binary, longhaul},
    row,
};

const CENTRES: [(&str, &str); 3] = [("lhr", "london"), ("fra", "frankfurt"), ("nyc", "newyork")];

const TURNS: [(usize, &str, &str); 5] =
    [(0, "80", "1"), (1, "80", "2"), (2, "60", "3"), (0, "60", "4"), (1, "60", "5")];

pub(crate) fn bench() -> anyhow::Result<()> {
    let mut differences = vec![[vec![], vec![]]; CENTRES.len()];
    let mut hits = vec![];
    let (mut lateness, mut reasons) = (vec![], vec![]);
    for round in 0..ROUNDS {
        let folder = tempfile::tempdir()?;
        let network = network(folder.path())?;
        let planet = planet(round)?;
        let asked = ask(&planet, &network, folder.path())?;
        let fidelity = planet.fidelity()?;
        lateness.push(fidelity.lateness_us("99.9") / 1e3);
        reasons.extend(fidelity.reasons());
        planet.down()?;
        let simulated = simulate(&asked, &network, folder.path())?;
        hits.push(asked.iter().filter(|(_, sample)| is_hit(sample)).count() as f64 - simulated.hits);
        for (at, differences) in differences.iter_mut().enumerate() {
            let own = asked.iter().filter(|(from, _)| *from == at);
            let mut waits: Vec<_> =
                own.filter_map(|(_, sample)| sample.get(Metric::Wait)).map(|ns| ns as f64 / 1e6).collect();
            waits.sort_by(f64::total_cmp);
            let [median, mean] = simulated.latency(CENTRES[at].1)?;
            differences[0].push(waits[(waits.len() - 1) / 2] - median);
            differences[1].push(waits.iter().sum::<f64>() / waits.len() as f64 - mean);
        }
    }
    row("hits on a planet minus simulated hits", "0", "", hits);
    for ((_, city), [medians, means]) in CENTRES.iter().zip(differences) {
        row(
            &format!("latency in {city}, planet minus simulation: median"),
            "<= 1 and what is late",
            "ms",
            medians,
        );
        row("the mean", "<= 1 and what is late", "ms", means);
    }
    row("lateness of the planet, p99.9 of packets", "-", "ms", lateness);
    reasons.iter().for_each(|reason| println!("| in the rows above, INVALID: {reason} | | | | | |"));
    Ok(())
}

fn is_hit(sample: &Sample) -> bool {
    sample.cache.as_deref() == Some("hit")
}

/// Detours are disabled, because a slow connection would trigger one.
fn network(folder: &Path) -> anyhow::Result<String> {
    let mut text = tables(folder, "small", &CENTRES)?;
    text += "[[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"http://origin:80\"]\n\
             tiers = { lhr = \"nyc\", fra = \"nyc\" }\ndetours = \"off\"\n[[zone.rule]]\npath = \"/*\"\nedge_ttl = \"1h\"\n";
    let file = folder.join("network.toml");
    fs::write(&file, text)?;
    Ok(file.display().to_string())
}

fn planet(round: usize) -> anyhow::Result<Planet> {
    let mut world = "[[host]]\nname = \"origin\"\ncity = \"newyork\"\n".to_owned();
    for kind in ["edge", "visitor"] {
        for (name, city) in CENTRES {
            write!(world, "[[host]]\nname = \"{kind}-{name}\"\ncity = \"{city}\"\n")?;
        }
    }
    world += "[[anycast]]\nname = \"edge\"\nprefix = \"192.0.2.0/24\"\n\
              hosts = [\"edge-lhr\", \"edge-fra\", \"edge-nyc\"]\n";
    Planet::up(&format!("bench-tiers-{round}-{}", std::process::id()), &world)
}

fn ask(planet: &Planet, network: &str, folder: &Path) -> anyhow::Result<Vec<(usize, Sample)>> {
    let _origin = start(planet, "origin", &["serve", "--listen", "0.0.0.0:80", "--body", "1KB"])?;
    let _running = run(planet, &CENTRES, &CENTRES.map(|_| network.to_owned()))?;
    let mut asked = Vec::new();
    for (turn, (at, count, seed)) in TURNS.into_iter().enumerate() {
        let file = folder.join(format!("{turn}.jsonl"));
        let mut command = planet.exec(&format!("visitor-{}", CENTRES[at].0));
        command.arg(binary()).args(["probe", "http://edge/{}", "--objects", "60", "--seed", seed]);
        command.args(["--concurrency", "1", "--connections", "reuse", "--count", count, "--quiet"]);
        let status = command.arg("--output").arg(&file).stdout(Stdio::null()).status()?;
        ensure!(matches!(status.code(), Some(0 | 1)), "a probe failed: {status}");
        for sample in Reader::new(fs::File::open(&file)?, file.display().to_string())? {
            asked.push((at, sample?));
        }
    }
    ensure!(asked.iter().all(|(_, sample)| sample.status == Some(200)), "some requests failed");
    Ok(asked)
}

struct Simulated {
    hits: f64,
    side: Value,
}

impl Simulated {
    fn latency(&self, city: &str) -> anyhow::Result<[f64; 2]> {
        let found = self.side["cities"].as_array().into_iter().flatten().find(|one| one["name"] == city);
        let latency = &found.with_context(|| format!("no requests from {city}"))?["latency"];
        Ok(["p50_ms", "mean_ms"].map(|field| latency[field].as_f64().unwrap_or_default()))
    }
}

fn simulate(asked: &[(usize, Sample)], network: &str, folder: &Path) -> anyhow::Result<Simulated> {
    let mut trace = "time,key,size,city\n".to_owned();
    for (time, (at, sample)) in asked.iter().enumerate() {
        let object = sample.labels.get("object").context("each request was for an object")?;
        writeln!(trace, "{time},/{object},1000,{}", CENTRES[*at].1)?;
    }
    let file = folder.join("trace.csv");
    fs::write(&file, trace)?;
    let words = ["edge", "simulate", network, "--origin", "newyork", "--json", "--trace"];
    let said = longhaul(&[&words[..], &[&file.display().to_string()]].concat())?;
    let mut result: Value = serde_json::from_str(&said)?;
    let sides = result["topologies"].as_array_mut().context("a simulation has topologies")?;
    let Some(side) = sides.iter_mut().find(|side| side["name"] == "custom") else { bail!("there is a map") };
    let side = side.take();
    let lower = side["tiers"].as_array().into_iter().flatten().find(|tier| tier["name"] == "lower");
    Ok(Simulated { hits: lower.map_or(0.0, |tier| tier["hits"].as_f64().unwrap_or_default()), side })
}

const ROUNDS: usize = 3;
