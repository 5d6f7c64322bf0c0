//! `longhaul edge kv repair`: replaces a damaged store file by its readable contents.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use kv_server::FileCheck;

use super::file::print;

/// Replace a damaged store file by a new one with all readable keys
///
/// The damaged file is kept as FILE.damaged. No process may have it open. An intact file is not changed. If
/// another data centre has a second store, the repaired store fetches the missing keys from there.
///
/// Example: longhaul edge kv repair kv.redb
#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// The store's file
    file: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Repair {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let (inspection, kept) = kv_server::repair(&self.file)?;
        let done = match &kept {
            None => "nothing to repair".to_owned(),
            Some(kept) => format!("repaired; the damaged file is {}", kept.display()),
        };
        let check = FileCheck { kept, ..FileCheck::new(&self.file, inspection) };
        print(&check, self.json, Some(&done))?;
        Ok(ExitCode::SUCCESS)
    }
}
