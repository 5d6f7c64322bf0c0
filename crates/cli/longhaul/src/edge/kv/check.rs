//! `longhaul edge kv check`: verifies a store file.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use kv_server::FileCheck;

use super::file::{Progress, print};

/// Verify all blocks and keys of a store file, and list the damaged keys
///
/// No process may have the file open. The command does not change it. Exit code 1 means that the file is
/// damaged.
///
/// Example: longhaul edge kv check kv.redb
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The store's file
    file: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let progress = Progress::start()?;
        let inspection = kv_server::inspect(&self.file, |done, all| progress.set(done, all))?;
        drop(progress);
        let check = FileCheck::new(&self.file, inspection);
        print(&check, self.json, None)?;
        Ok(if check.is_intact { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
