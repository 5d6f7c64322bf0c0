//! `longhaul edge kv get`: prints the value of a key.

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::Args;

use super::Store;
use crate::output::{self, say};

/// Print the value of a key
///
/// Prints the bytes unchanged, without a line break at the end. Exits with 1 if there is no value.
///
/// Example: longhaul edge kv get user/7 --namespace sessions
#[derive(Debug, Args)]
pub(crate) struct Get {
    /// The key
    key: String,
    /// Write the value to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    store: Store,
    /// Print the value with its version, age and metadata as JSON
    #[arg(long, conflicts_with = "out")]
    json: bool,
}

impl Get {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let Some(came) = self.store.remote()?.get(&self.key)? else {
            say(&format!("there is no value of \"{}\"", self.key));
            return Ok(ExitCode::FAILURE);
        };
        if self.json {
            output::print_json(&output::named("longhaul.edge.kv.get/1", came.of(&self.key)))?;
        } else if let Some(file) = &self.out {
            fs::write(file, &came.value).with_context(|| format!("{}: cannot be written", file.display()))?;
        } else {
            output::print_bytes(&came.value)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
