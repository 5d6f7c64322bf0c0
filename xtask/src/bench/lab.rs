//! A planet for a benchmark, stopped on drop, and its status.

use std::{
    fmt::Write as _,
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::root;

pub(crate) struct Planet {
    name: String,
    _folder: TempDir,
}

impl Planet {
    pub(crate) fn up(name: &str, world: &str) -> anyhow::Result<Self> {
        Self::up_with(name, world, &[])
    }

    pub(super) fn up_with(name: &str, world: &str, files: &[(&str, &str)]) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        for (file, text) in files {
            fs::write(folder.path().join(file), text)?;
        }
        let file = folder.path().join("world.toml");
        fs::write(&file, world)?;
        longhaul(&["lab", "up", &file.display().to_string(), "--detach", "--name", name])?;
        Ok(Self { name: name.to_owned(), _folder: folder })
    }

    pub(crate) fn exec(&self, host: &str) -> Command {
        self.exec_with(host, &["--"])
    }

    pub(crate) fn exec_detached(&self, host: &str) -> Command {
        self.exec_with(host, &["--detach", "--"])
    }

    fn exec_with(&self, host: &str, words: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(["lab", "exec", "--planet", &self.name, host]).args(words);
        command
    }

    pub(super) fn status(&self) -> anyhow::Result<Value> {
        Ok(serde_json::from_str(&longhaul(&["lab", "status", "--planet", &self.name, "--json"])?)?)
    }

    pub(crate) fn fidelity(&self) -> anyhow::Result<Fidelity> {
        Ok(Fidelity(self.status()?["fidelity"].take()))
    }

    /// Mean round trip in ms of pings of 84 bytes (IPv4) from one host to another.
    pub(super) fn ping(&self, from: &str, to: &str, count: u32, interval_s: f64) -> anyhow::Result<f64> {
        ping(self.exec(from), to, count, interval_s)
    }

    pub(super) fn down(&self) -> anyhow::Result<()> {
        longhaul(&["lab", "down", "--planet", &self.name]).map(drop)
    }
}

impl Drop for Planet {
    fn drop(&mut self) {
        let _ = Command::new(binary())
            .args(["lab", "down", "--planet", &self.name])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

pub(crate) struct Fidelity(Value);

impl Fidelity {
    pub(crate) fn reasons(&self) -> Vec<String> {
        let reasons = self.0["reasons"].as_array().into_iter().flatten();
        reasons.filter_map(|reason| reason.as_str().map(str::to_owned)).collect()
    }

    pub(super) fn lateness_us(&self, at: &str) -> f64 {
        self.0["lateness_us"][at].as_f64().unwrap_or(0.0)
    }
}

pub(super) fn ping(mut at: Command, to: &str, count: u32, interval_s: f64) -> anyhow::Result<f64> {
    let (count, interval) = (count.to_string(), interval_s.to_string());
    let output = at.args(["ping", "-4", "-n", "-q", "-c", &count, "-i", &interval, to]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let mean = text.rsplit("= ").next().and_then(|numbers| numbers.split('/').nth(1)?.parse().ok());
    mean.with_context(|| format!("ping printed: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

pub(super) fn pairs(settings: &str, links: impl IntoIterator<Item = String>) -> String {
    let mut world = format!("[world]\n{settings}\n");
    for (pair, link) in links.into_iter().enumerate() {
        for (end, lat) in [("s", 0), ("c", 1)] {
            let _ = write!(
                world,
                "[[city]]\nname = \"{end}{pair}\"\nlat = {lat}.0\nlon = {pair}.0\n\
                 [[host]]\nname = \"{end}{pair}\"\ncity = \"{end}{pair}\"\n"
            );
        }
        let _ = write!(world, "[[link]]\nbetween = [\"s{pair}\", \"c{pair}\"]\n{link}\n");
    }
    world
}

pub(super) fn longhaul(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(binary()).args(arguments).output().context("cannot run longhaul")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "longhaul {} failed: {}", arguments.join(" "), said.trim());
    Ok(String::from_utf8(output.stdout)?)
}

pub(super) fn binary() -> PathBuf {
    root().join("target/release/longhaul")
}
