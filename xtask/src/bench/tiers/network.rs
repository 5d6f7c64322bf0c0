//! Linked data centres in the cities of a planet.

use std::{fmt::Write as _, path::Path, thread, time::Duration};

use anyhow::bail;
use serde_json::Value;

use crate::bench::{
    lab::{Planet, binary, longhaul},
    program::Running,
};

pub(super) type Centres = [(&'static str, &'static str)];

pub(super) fn tables(folder: &Path, network: &str, centres: &Centres) -> anyhow::Result<String> {
    let authority = folder.join("authority").display().to_string();
    longhaul(&["edge", "ca", "new", &authority])?;
    let mut text = format!("[network]\nname = \"{network}\"\nauthority = \"{authority}/ca.pem\"\n");
    for ((name, city), last) in centres.iter().zip(2..) {
        longhaul(&["edge", "ca", "issue", &authority, name])?;
        write!(
            text,
            "[[data_centre]]\nname = \"{name}\"\ncity = \"{city}\"\nlisten = [\"0.0.0.0:80\"]\n\
             admin = \"127.0.0.1:4480\"\naddress = \"10.0.0.{last}:4400\"\n\
             link_certificate = \"{authority}/{name}.pem\"\nlink_key = \"{authority}/{name}-key.pem\"\n"
        )?;
    }
    Ok(text)
}

pub(super) fn start(planet: &Planet, host: &str, words: &[&str]) -> anyhow::Result<Running> {
    let mut command = planet.exec(host);
    command.arg(binary()).args(words);
    Running::start(&mut command)
}

pub(super) fn run(planet: &Planet, centres: &Centres, files: &[String]) -> anyhow::Result<Vec<Running>> {
    let mut running = Vec::new();
    for ((name, _), file) in centres.iter().zip(files) {
        let words = ["edge", "run", file, "--data-centre", name];
        running.push(start(planet, &format!("edge-{name}"), &words)?);
    }
    for _ in 0..100 {
        if centres.iter().all(|(name, _)| is_linked(planet, name, centres.len())) {
            return Ok(running);
        }
        thread::park_timeout(Duration::from_millis(100));
    }
    bail!("the data centres are not linked after 10 s")
}

/// `None` if it is not available.
pub(super) fn status(planet: &Planet, name: &str) -> Option<Value> {
    let mut command = planet.exec(&format!("edge-{name}"));
    let output = command.arg(binary()).args(["edge", "status", "--json"]).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

fn is_linked(planet: &Planet, name: &str, centres: usize) -> bool {
    status(planet, name).is_some_and(|status| {
        let up = status["links"].as_array().into_iter().flatten().filter(|link| link["up"] == true);
        up.count() + 1 == centres
    })
}
