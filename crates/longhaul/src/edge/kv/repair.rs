//! `longhaul edge kv repair`: a damaged file, replaced by what can be read of it.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use values::FileCheck;

use super::file::print;

/// Replace a damaged store file by a new one with all readable keys
///
/// The damaged file is kept under another name, FILE.damaged. No process may have it open. An intact file is not changed. Where another data centre
/// has a second store, the repaired one takes from it what it lacks.
///
/// Example: longhaul edge kv repair kv.redb
#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// The store's file
    file: PathBuf,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

impl Repair {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let (inspection, kept) = values::repair(&self.file)?;
        let done = match &kept {
            None => "nothing to repair".to_owned(),
            Some(kept) => format!("repaired; the damaged file is {}", kept.display()),
        };
        let check = FileCheck { kept, ..FileCheck::new(&self.file, inspection) };
        print(&check, self.json, Some(&done))?;
        Ok(ExitCode::SUCCESS)
    }
}
