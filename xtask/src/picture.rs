//! Pictures for the README: the report of the tutorial's comparison, a map, and a speed test.

use anyhow::Context;

use crate::{root, run};

/// Needs built pages (`make web`), Chromium, and a machine that can run planets.
pub(crate) fn picture() -> anyhow::Result<()> {
    run(".", "cargo", &["build", "--quiet", "--package", "longhaul"])?;
    let folder = tempfile::tempdir()?;
    let within = folder.path().to_str().context("the folder for temporary files has no plain name")?;
    let program = root().join("target/debug/longhaul");
    let program = program.to_str().context("the project's folder has no plain name")?;
    run(within, program, &["example", "pub"])?;
    let sides =
        ["compare", "pub/provider-a.csv", "pub/provider-b.csv", "--requests", "180", "--required", "50%"];
    run(within, program, &[&sides[..], &["--html", "report.html"]].concat())?;
    let page = folder.path().join("report.html");
    let page = page.to_str().context("the folder for temporary files has no plain name")?;
    run("web", "node", &["scripts/picture.mjs", page, "../docs/pictures/report.png"])?;
    let map =
        ["lab", "map", "scenarios/worlds/anycast.toml", "--width", "900", "-o", "docs/pictures/map.svg"];
    run(".", program, &map)?;
    speed(within, program)
}

fn speed(within: &str, program: &str) -> anyhow::Result<()> {
    let docs = std::fs::read_to_string(root().join("docs/speed.md"))?;
    let world = docs.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("```"));
    let (world, _) = world.context("docs/speed.md has no world in it")?;
    std::fs::write(std::path::Path::new(within).join("line.toml"), world)?;
    run(within, program, &["lab", "up", "line.toml", "--detach"])?;
    let drawn = drawn(within, program);
    run(within, program, &["lab", "down", "--planet", "line"])?;
    drawn
}

fn drawn(within: &str, program: &str) -> anyhow::Result<()> {
    let at = |host| ["lab", "exec", host, "--planet", "line"];
    let serve = ["speed", "serve", "--listen", "0.0.0.0:443", "--tls"];
    run(within, program, &[&at("server")[..], &["--detach", "--", program], &serve].concat())?;
    let draw = ["node", "scripts/speed_picture.mjs", "https://server/", "../docs/pictures/speed.png"];
    run("web", program, &[&at("home")[..], &["--"], &draw].concat())
}
