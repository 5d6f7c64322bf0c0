//! Cost of a detour: requests of one data centre to the origin, alternating between the direct path and a
//! path through another data centre.
//!
//! A detour adds exactly one round trip to Frankfurt and the processing time of the programs.

use std::{fmt::Write as _, fs, path::Path, process::Stdio};

use anyhow::ensure;
use recording::{Metric, Reader, Sample};

use super::network::{run, start, status, tables};
use crate::bench::{
    lab::{Planet, binary},
    row,
};

const CENTRES: [(&str, &str); 2] = [("lhr", "london"), ("fra", "frankfurt")];

pub(crate) fn bench() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let planet = planet()?;
    let serve = ["serve", "--listen", "0.0.0.0:80", "--body", "1KB"];
    let _origin = start(&planet, "origin", &serve)?;
    let networks = networks(folder.path())?;
    let _running = run(&planet, &CENTRES, &networks)?;
    // The first requests open connections and detect the broken path.
    let _ = (ask(&planet, "direct", folder.path())?, ask(&planet, "round", folder.path())?);
    let [mut direct, mut round, mut ratios, mut differences, mut trips] = [const { Vec::new() }; 5];
    for number in 0..ROUNDS {
        let in_turn = |first, then| {
            anyhow::Ok((ask(&planet, first, folder.path())?, ask(&planet, then, folder.path())?))
        };
        let (straight, through) = if number % 2 == 0 {
            in_turn("direct", "round")?
        } else {
            let (through, straight) = in_turn("round", "direct")?;
            (straight, through)
        };
        let trip = planet.ping("edge-lhr", "edge-fra", 10, 0.1)?;
        direct.push(straight);
        round.push(through);
        ratios.push(through / straight);
        differences.push(through - straight);
        trips.push((through - straight) / trip);
    }
    let asked = through_fra(&planet)?;
    ensure!(
        asked >= 0.9 * (ROUNDS * COUNT) as f64,
        "Frankfurt received {asked} times, so something else was measured"
    );
    let what = format!("the median of {COUNT} requests to an origin 60 ms away, directly");
    row(&what, "", "ms", direct);
    row("through a data centre 20 ms away, as far from the origin", "", "ms", round);
    row("detour / direct path", "", "x", ratios);
    row("detour minus direct path", "", "ms", differences);
    row("the same in round trips to that data centre", "<= 1 and what programs take", "", trips);
    let fidelity = planet.fidelity()?;
    row(
        "late by the planet's own doing, 99.9 % of packets",
        "-",
        "ms",
        vec![fidelity.lateness_us("99.9") / 1e3],
    );
    fidelity.reasons().iter().for_each(|why| println!("| in the rows above, INVALID: {why} | | | | | |"));
    planet.down()
}

fn planet() -> anyhow::Result<Planet> {
    let mut world = "[[host]]\nname = \"origin\"\ncity = \"newyork\"\n".to_owned();
    for (name, city) in CENTRES {
        write!(world, "[[host]]\nname = \"edge-{name}\"\ncity = \"{city}\"\n")?;
        write!(world, "[[link]]\nbetween = [\"{city}\", \"newyork\"]\nrtt = \"60ms\"\n")?;
    }
    world += "[[link]]\nbetween = [\"london\", \"frankfurt\"]\nrtt = \"20ms\"\n";
    for (name, net) in [("direct", "192.0.2"), ("round", "198.51.100")] {
        write!(world, "[[anycast]]\nname = \"{name}\"\nprefix = \"{net}.0/24\"\nhosts = [\"edge-lhr\"]\n")?;
    }
    Planet::up(&format!("bench-detour-{}", std::process::id()), &world)
}

fn networks(folder: &Path) -> anyhow::Result<Vec<String>> {
    let text = tables(folder, "round", &CENTRES)?;
    let zone = |name: &str, port: u16| {
        format!(
            "[[zone]]\nname = \"{name}\"\nhosts = [\"{name}\"]\norigin = [\"http://origin:{port}\"]\n\
             [[zone.rule]]\npath = \"/*\"\nbypass = true\n"
        )
    };
    let of = |(name, port): (&str, u16)| {
        let file = folder.join(format!("{name}.toml"));
        fs::write(&file, format!("{text}{}{}", zone("direct", 80), zone("round", port)))?;
        Ok(file.display().to_string())
    };
    [("lhr", 81), ("fra", 80)].into_iter().map(of).collect()
}

fn ask(planet: &Planet, zone: &str, folder: &Path) -> anyhow::Result<f64> {
    let file = folder.join("asked.jsonl");
    let mut command = planet.exec("edge-lhr");
    command.arg(binary()).args(["probe", &format!("http://{zone}/"), "--count", &COUNT.to_string()]);
    command.args(["--concurrency", "1", "--connections", "reuse", "--quiet"]);
    let status = command.arg("--output").arg(&file).stdout(Stdio::null()).status()?;
    ensure!(matches!(status.code(), Some(0 | 1)), "a probe failed: {status}");
    let samples: Vec<Sample> =
        Reader::new(fs::File::open(&file)?, file.display().to_string())?.collect::<Result<_, _>>()?;
    ensure!(samples.iter().all(|sample| sample.status == Some(200)), "some requests failed");
    let mut waits: Vec<_> =
        samples.iter().filter_map(|sample| Some(sample.get(Metric::Wait)? as f64 / 1e6)).collect();
    ensure!(waits.len() == COUNT, "{} of {COUNT} requests were made", waits.len());
    waits.sort_by(f64::total_cmp);
    Ok(waits[COUNT / 2])
}

fn through_fra(planet: &Planet) -> anyhow::Result<f64> {
    let status = status(planet, "fra").unwrap_or_default();
    Ok(status["requests_of_others"]["total"].as_f64().unwrap_or_default())
}

const ROUNDS: usize = 10;
const COUNT: usize = 41;
