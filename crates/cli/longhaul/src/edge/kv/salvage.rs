//! `longhaul edge kv salvage`: copies the readable contents of a damaged store file to a new file.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use kv_server::FileCheck;

use super::file::print;

/// Copy all readable keys of a damaged store file to a new file
///
/// The command does not change the damaged file. No process may have it open.
///
/// Example: longhaul edge kv salvage kv.redb salvaged.redb
#[derive(Debug, Args)]
pub(crate) struct Salvage {
    /// The damaged file
    file: PathBuf,
    /// The new file; it must not exist
    to: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Salvage {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let inspection = kv_server::salvage(&self.file, &self.to)?;
        let done = format!("what can be read is in {}", self.to.display());
        let check = FileCheck { salvaged_to: Some(self.to), ..FileCheck::new(&self.file, inspection) };
        print(&check, self.json, Some(&done))?;
        Ok(ExitCode::SUCCESS)
    }
}
