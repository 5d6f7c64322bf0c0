//! `longhaul speed score`: rates existing figures without a test.

use std::{
    io::Read,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::Value;
use speedtest::{
    result::{Judgement, Outcome, SCHEMA},
    rubric::Measured,
};

use super::render;
use crate::output;

/// Rate the figures of a line, without a test
///
/// The file contains the output of `longhaul speed test --json`, or one JSON object with any of download_bps,
/// upload_bps, idle_ms, loaded_down_ms, loaded_up_ms, jitter_ms and loss_ratio.
///
/// Example: longhaul speed score line.json
#[derive(Debug, Args)]
pub(crate) struct Score {
    /// The file; - is standard input
    file: PathBuf,
    /// Print the scores as one JSON object
    #[arg(long)]
    json: bool,
}

impl Score {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let measured = read(&self.file)?;
        if let Err((field, why)) = measured.check() {
            bail!("{}: {field} cannot be: {why}", self.file.display());
        }
        let judgement = Judgement::of(measured);
        if self.json {
            output::print_json(&output::named("longhaul.speed.score/1", judgement))?;
        } else {
            output::print(&render::judgement(&judgement))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn read(file: &Path) -> anyhow::Result<Measured> {
    let shown = file.display();
    let text = if file == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().take(config_file::LARGEST).read_to_string(&mut text);
        read.context("standard input cannot be read")?;
        text
    } else {
        config_file::read_text(file).with_context(|| format!("{shown}: cannot be read"))?
    };
    let placed = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let said = error.to_string();
        let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
        anyhow::anyhow!("{shown}:{line}:{column}: {what}")
    };
    let value: Value = serde_json::from_str(&text).map_err(placed)?;
    match value.get("schema").and_then(Value::as_str) {
        Some(SCHEMA) => Ok(serde_json::from_str::<Outcome>(&text).map_err(placed)?.measured()),
        Some(other) => bail!("{shown}: \"{other}\" is not what a speed test prints, \"{SCHEMA}\""),
        None => serde_json::from_str(&text).map_err(placed),
    }
}
