//! `longhaul edge kv delete`: deletes a key.

use std::process::ExitCode;

use clap::Args;

use super::Store;
use crate::output;

/// Delete a key, whether or not it has a value
///
/// Example: longhaul edge kv delete user/7 --namespace sessions
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The key
    key: String,
    #[command(flatten)]
    store: Store,
    /// Print the version of the deletion as JSON
    #[arg(long)]
    json: bool,
}

impl Delete {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let written = self.store.remote()?.delete(&self.key)?;
        if self.json {
            output::print_json(&output::named("longhaul.edge.kv.written/1", written))?;
        } else {
            output::print(&format!(
                "{}: deleted, version {}\n",
                written.key,
                written.version.unwrap_or_default()
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
